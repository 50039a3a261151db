"""Queries in a database's own words, as Ibis expressions: lazy, and part of larger ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from naively._optional import need

__all__ = ["dialect_of", "view"]

ibis = need("ibis", "reading tables inside a database", extra="sql")

_DIALECTS = {"pyspark": "spark"}  # that are called otherwise


def dialect_of(table: Any) -> str:
    """Return what the database of an Ibis table speaks."""
    name: str = table.get_backend().name
    return _DIALECTS.get(name, name)


def view(table: Any, query: Callable[[str], str], schema: Mapping[str, Any]) -> Any:
    """Return a query on a table as another table.

    `Table.sql` does this, too, but first asks the database for the types, which are known here.
    Both tables have names of their own, so that they are written once, however often they are
    named in what is built on them.

    Parameters
    ----------
    table : ibis Table
        Any expression.
    query : callable
        Given what the table is called, it writes the query.
    schema : mapping
        The query's columns and their types.
    """
    name, operations = ibis.util.gen_name("naively"), ibis.expr.operations
    found = operations.SQLStringView(
        parent=table.alias(name).op(), query=query(name), schema=ibis.schema(dict(schema))
    )
    return found.to_expr().alias(f"{name}_found")
