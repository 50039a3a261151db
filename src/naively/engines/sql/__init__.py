"""Tables inside a database, by Ibis: DuckDB, PostgreSQL, SQLite, Spark SQL, BigQuery, Snowflake ...

`summarize` lets the database add up the rows, and fetches the sums alone; `predict` is an Ibis
expression that stays there.

Examples
--------
>>> import ibis
>>> from naively import GaussianNB
>>> people = ibis.memtable({"height": [1.6, 1.7, 1.8, 1.9], "sex": ["f", "f", "m", "m"]})
>>> model = GaussianNB.from_summary(summarize(people, target="sex"))
>>> predict(model, people, label="guess").filter(lambda t: t.guess != t.sex).count().execute()
0
"""

from naively.engines.sql.predict import predict
from naively.engines.sql.summarize import summarize

__all__ = ["predict", "summarize"]
