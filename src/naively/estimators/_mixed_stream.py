"""Single rows of numbers, categories and text, as `NaiveBayes` collects them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.dates import split_name
from naively.engines.date_columns import check_distinct
from naively.engines.tables import read, schema_of
from naively.estimators._mixed import MixedClassifier
from naively.estimators._plain_row import number_cell
from naively.estimators.choice import with_options
from naively.kinds import DATES, held_by_objects, kind_of
from naively.labels import is_missing
from naively.measure import measure
from naively.rows import Targets
from naively.schema import Kind, Schema
from naively.summary import Summary

__all__ = ["MixedStream"]

_PLAIN = {str: "text", bool: "boolean", int: "number", float: "number"}


class MixedStream(MixedClassifier):
    """What a row of any cells is, and how rows are measured together."""

    if TYPE_CHECKING:
        families: Any

    def _cell(self, cell: Any, name: str) -> Any:
        """Return a cell as it is; None where it is missing."""
        if is_missing(cell):
            return None
        if type(cell) not in _PLAIN and self._held_by(cell) not in DATES:
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
        names = columns.names or tuple(map(str, range(columns.n_columns)))
        given = _by_place(self._kinds(), columns)
        schema = schema_of(cells, given=given)
        sources = {split[0] for name in names if (split := split_name(name)) is not None}
        if twice := {int(j) for j in schema.dates if names[int(j)] in sources}:  # text, then
            schema = schema_of(cells, given=given | dict.fromkeys(twice, "category"))
        if schema.dates:
            schema = _renamed(schema, names)
        elif columns.names is not None:
            schema = replace(schema, names=names)
        schema = with_options(schema, self.families)
        return self._measure(read(cells, schema, n_jobs=self.n_jobs), schema, targets)


def _by_place(given: Mapping[Any, Kind], columns: Schema) -> dict[Any, Kind]:
    """Return what columns hold by their places; also as text, and for the parts of dates."""
    places = {name: j for j, name in enumerate(columns.names or range(columns.n_columns))}
    found: dict[Any, Kind] = {}
    for name, kind in given.items():
        source, part = split_name(str(name)) or (None, "")
        if name in places:
            found |= {places[name]: kind, str(places[name]): kind}
        elif source in places:
            found[f"{places[source]}.{part}"] = kind
    return found


def _renamed(schema: Schema, names: tuple[str, ...]) -> Schema:
    """Return a schema with the names of columns, which are called by their places in it."""
    sources = [*map(schema.input, schema.names or ())]
    parts = [name[len(j) :] for name, j in zip(schema.names or (), sources, strict=True)]
    renamed = tuple(names[int(j)] + part for j, part in zip(sources, parts, strict=True))
    check_distinct(renamed)
    return replace(schema, names=renamed, dates=tuple(names[int(j)] for j in schema.dates))
