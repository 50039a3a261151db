"""Queries that are written as SQL, as Ibis tables: lazy, and part of larger expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from naively.errors import need

ibis = need("ibis", "reading tables inside a database", extra="sql")

_DIALECTS = {"pyspark": "spark"}  # what Ibis calls otherwise


def dialect_of(table: Any) -> str:
    """Return the SQL dialect of the database that holds an Ibis table."""
    name: str = table.get_backend().name
    return _DIALECTS.get(name, name)


def view(table: Any, query: Callable[[str], str], schema: Mapping[str, Any]) -> Any:
    """Return a query on a table as another table, whose columns and types are given.

    `Table.sql` does this, too, but first asks the database for the types, which are known here.
    Both tables have names of their own. So their SQL is written once, however often a larger query
    refers to them.
    """
    name, operations = ibis.util.gen_name("naively"), ibis.expr.operations
    found = operations.SQLStringView(
        parent=table.alias(name).op(), query=query(name), schema=ibis.schema(dict(schema))
    )
    return found.to_expr().alias(f"{name}_found")
