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

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["predict", "summarize"]

if TYPE_CHECKING:
    from naively.engines.sql.predictions import predict
    from naively.engines.sql.summaries import summarize

_homes = {"predict": "predictions", "summarize": "summaries"}


def __getattr__(name: str) -> Any:  # exports read the dialects here, and need no Ibis
    if name not in _homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_homes[name]}"), name)
