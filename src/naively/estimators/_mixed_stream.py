"""Single rows of numbers, categories and text, as `NaiveBayes` collects them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.engines.tables import read, schema_of
from naively.estimators._mixed import MixedClassifier
from naively.estimators._plain_row import number_cell
from naively.estimators.choice import check_columns, with_options
from naively.exceptions import NaivelyError
from naively.kinds import held_by_objects, kind_of
from naively.labels import is_missing
from naively.measure import measure
from naively.rows import Targets
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["MixedStream"]

_PLAIN = {str: "text", bool: "boolean", int: "number", float: "number"}


class MixedStream(MixedClassifier):
    """What a row of any cells is, and how rows are measured together."""

    if TYPE_CHECKING:
        families: Any

    def _cell(self, cell: Any, name: str) -> Any:
        """Return a cell as it is; None where it is missing."""
        dates = () if self._state is None else self._state.summary.schema.dates
        if dates or hasattr(cell, "isoformat"):
            name = f"column {dates[0]!r}" if dates else name
            raise NaivelyError(
                f"single rows of a stream cannot hold dates; got {name}. Give the "
                "parts of dates (year, month, ...) as columns, or use partial_fit."
            )
        if is_missing(cell):
            return None
        if type(cell) not in _PLAIN:
            kind_of(held_by_objects([cell]), name)
        if self._held_by(cell) == "number":
            number_cell(cell, name)
        return cell

    def _held_by(self, cell: Any) -> str:
        """Return what a cell is: all of a column are the same."""
        return _PLAIN.get(type(cell)) or held_by_objects([cell]).what

    def _measure_rows(
        self, rows: list[Any], targets: Targets, columns: Schema, known: Schema | None
    ) -> Summary:
        cells = np.empty((len(rows), columns.n_columns), dtype=object)
        for i, row in enumerate(rows):
            cells[i] = row if isinstance(row, list) else [*map(row.get, columns.names or ())]
        if known is not None:
            schema = schema_of(cells, known)
            return measure(read(cells, schema, n_jobs=self.n_jobs), targets, schema)
        given, names = self._kinds(), columns.names
        places = {name: j for j, name in enumerate(names or range(columns.n_columns))}
        at = {places[name]: kind for name, kind in given.items() if name in places}
        written = schema_of(cells, given=at).dates  # text that looks like dates is text here
        at |= {int(j): "category" for j in written}
        schema = replace(schema_of(cells, given=at), names=names)
        if len(at) == len(given):
            check_columns(given, schema)
        schema = with_options(schema, self.families)
        return self._measure(read(cells, schema, n_jobs=self.n_jobs), schema, targets)
