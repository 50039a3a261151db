"""One row as it was given: a list, a dictionary, or a table that has one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.data.rows import Rows
from naively.data.sparse import is_sparse
from naively.engines.memory import frames
from naively.engines.memory.native import is_frame
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.interface import row_for, rows_for
from naively.inspection.explanations.explained_rows import ExplainedRows


@dataclass(frozen=True, eq=False)
class GivenRow:
    """A row, and the same as the model reads it.

    Attributes
    ----------
    given : dict or list
        The cells, by name or in order.
    names : list of str
        Of the columns.
    table : Rows
        What the scorer of the model reads.
    cells : dict
        By the place of its column, each cell as it is shown.
    """

    given: dict[str, Any] | list[Any]
    names: list[str]
    table: Rows
    cells: dict[int, Any]

    @classmethod
    def read(cls, estimator: SummaryClassifier, row: Any) -> GivenRow:
        """Read a row as `predict_one` takes it, or a table of one row as `predict` does."""
        schema = estimator.summary_.schema
        given, is_table = _plain(row)
        table = rows_for(estimator, row).table if is_table else row_for(estimator, row)
        cells = ExplainedRows(estimator.model_, table, np.zeros(1, np.intp)).cells(0)
        table = estimator.model_.known(table)
        if schema.dates and isinstance(given, list):  # a date is not changed, but its parts
            given = [cells.get(j) for j in range(schema.n_columns)]
        names = [str(name) for name in schema.names or range(schema.n_columns)]
        names = names if schema.names else [f"column {name}" for name in names]
        return cls(given, names, table, cells)

    def cell(self, j: int) -> Any:
        """Return the cell of a column; sparse rows have 0 where they hold nothing."""
        return self.cells.get(j, 0.0)

    def changed(self, cells: dict[int, Any]) -> dict[str, Any] | list[Any]:
        """Return the row with other cells in some columns."""
        if isinstance(self.given, dict):
            return {**self.given, **{self.names[j]: cell for j, cell in cells.items()}}
        return [cells.get(j, cell) for j, cell in enumerate(self.given)]


def _plain(row: Any) -> tuple[dict[str, Any] | list[Any], bool]:
    """Return the cells of a row, and whether it is a table of one."""
    if isinstance(row, dict):
        return dict(row), False
    if is_sparse(row):
        dense = np.atleast_2d(row.toarray())
        _check_one(dense.shape[0])
        return dense[0].tolist(), row.ndim == 2
    if is_frame(row):
        _check_one(frames.shape_of(row)[0])
        cells = [frames.cells_of(column)[0] for column in frames.columns_of(row)]
        names = frames.names_of(row)
        return (cells if names is None else dict(zip(names, cells, strict=True))), True
    if isinstance(row, str) or np.ndim(np.asarray(row, dtype=object)) != 2:
        return ([row] if isinstance(row, str) or not np.iterable(row) else list(row)), False
    _check_one(len(row))
    return list(row[0]), True


def _check_one(n_rows: int) -> None:
    if n_rows != 1:
        raise NaivelyError(f"a counterfactual is of one row; got a table of {n_rows:,} rows.")
