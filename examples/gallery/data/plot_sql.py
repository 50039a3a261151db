"""
Score inside a database
=======================

A model becomes one SELECT. DuckDB runs it here; PostgreSQL, SQLite, Spark, BigQuery and Snowflake
have their own dialects.
"""

import duckdb
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from naively import GaussianNB

iris = load_iris(as_frame=True)
flowers = iris.data.set_axis(["sepal_length", "sepal_width", "petal_length", "petal_width"], axis=1)
model = GaussianNB().fit(flowers, iris.target_names[iris.target])

query = model.to_sql("flowers", dialect="duckdb", label="species", keep=["petal_length"])
scored = duckdb.sql(query).df()
print(scored.head())

fig, ax = plt.subplots()
for name in model.classes_:
    ax.plot(scored["petal_length"], scored[f"p_{name}"], "o", alpha=0.5, label=name)
ax.set(xlabel="petal length", ylabel="probability")
_ = ax.legend()
