"""Execute queries, and read what they return."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.labels import is_missing
from naively.errors import NaivelyError


def execute(query: Any) -> Any:
    """Execute an Ibis expression, and return its result as a pandas frame.

    An error of the database, such as a lost connection, becomes a `NaivelyError` with its cause.
    Ibis can return Arrow tables, too, but then PostgreSQL uses a cursor, and one core.
    """
    try:
        return query.execute()
    except Exception as error:  # every database has its own
        raise _unanswered(error) from error


def exact(query: Any, names: Iterable[str]) -> Any:
    """Return a query whose integers and decimals in some columns are text: pandas rounds them."""
    kinds = {name: query[name].type() for name in names}
    named = [name for name, kind in kinds.items() if kind.is_integer() or kind.is_decimal()]
    return query.mutate(**{name: query[name].cast("string") for name in named})


def exact_cells(cells: Any, kind: Any) -> NDArray[np.object_]:
    """Return cells that an `exact` query gave, of a column of this type; None for NULL and NaN."""
    number: Any = None
    if kind is not None and (kind.is_integer() or kind.is_decimal()):
        number = int if kind.is_integer() else Decimal
    known = [number(cell) if isinstance(cell, str) and number else cell for cell in cells]
    found = np.empty(len(known), dtype=object)
    found[:] = [None if is_missing(cell) else cell for cell in known]
    return found


def streamed(query: Any) -> Any:
    """Execute an Ibis expression, and return its rows as a stream of Arrow batches.

    A relation of DuckDB streams by itself; Ibis's way to do it is not that of every version.
    """
    backend = query.get_backend()
    try:
        if hasattr(backend, "_to_duckdb_relation"):
            relation = backend._to_duckdb_relation(query)
            if hasattr(relation, "__arrow_c_stream__"):
                return relation
        return query.to_pyarrow_batches()
    except Exception as error:
        raise _unanswered(error) from error


def _unanswered(error: Exception) -> NaivelyError:
    said = str(error).strip().partition("\n")[0].rstrip(".")
    return NaivelyError(
        f"the database must answer; got {type(error).__name__}: {said}. If the connection was "
        "lost, connect again and repeat the call: nothing was changed."
    )


def floats(result: Any, name: str) -> NDArray[np.float64]:
    """Return a column of a result; NULL becomes NaN."""
    return result[name].to_numpy(dtype=np.float64, na_value=np.nan)


def class_places(result: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the place of each row's label among sorted classes.

    A label that is not among them was written after the classes were read.
    """
    if not len(result):
        return np.empty(0, np.intp)
    found, codes = labels.encode(result["y"].tolist())
    if not labels.contained(found, classes).all():
        raise NaivelyError(
            "a table must not change while it is read; got labels that were not there before. "
            "Repeat the call, or read a copy."
        )
    return labels.positions(found, classes)[codes]
