"""Tables inside a database, by Ibis: DuckDB, PostgreSQL, SQLite, Spark SQL, BigQuery, Snowflake ...

`summarize` lets the database add up the rows, and fetches only the sums; `predict` returns a table
of the same database.

Examples
--------
>>> import ibis
>>> people = ibis.memtable({"height": [1.6, 1.7, 1.8, 1.9], "sex": ["f", "f", "m", "m"]})
>>> summarize(people, target="sex")
<Summary of weight 4: 1 columns, 2 classes ('f', 'm')>
"""

from naively.engines.sql.predictions import predict
from naively.engines.sql.summaries import summarize

__all__ = ["predict", "summarize"]
