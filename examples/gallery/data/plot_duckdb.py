"""
Learn inside a database
=======================

The rows stay in DuckDB. One aggregate query returns the sums, and the model is read off them.
PostgreSQL, SQLite and others work in the same way, through Ibis.
"""

import duckdb
import ibis
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import naively
from naively import GaussianNB
from naively.engines import sql

iris = load_iris(as_frame=True)
flowers = iris.data.assign(species=iris.target_names[iris.target])
database = duckdb.connect()
database.sql("CREATE TABLE flowers AS SELECT * FROM flowers")
table = ibis.duckdb.from_connection(database).table("flowers")

model = GaussianNB.from_summary(naively.summarize(table, target="species"))
here = GaussianNB().fit(iris.data, flowers["species"])
print("largest difference of means:", np.abs(model.theta_ - here.theta_).max())

# %%
# The answers are a query of the same database:
scored = sql.predict(model, table, label="answer")
counts = scored.group_by("species", "answer").agg(rows=scored.count()).execute()
print(counts)

fig, ax = plt.subplots(layout="constrained")
ax.bar(counts["species"] + " → " + counts["answer"], counts["rows"])
ax.tick_params("x", rotation=30)
_ = ax.set(ylabel="rows", xlabel="species and answer")
