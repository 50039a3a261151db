"""A single row of a stream, read and measured in little time.

Most rows of a stream bring no new category. Their cells are plain Python objects, which are looked
up among the categories seen, and what is measured of them has the axes of what was learned, so that
adding it moves nothing. `naively.engines.memory.tables` reads any rows, and those that are left to
it here: with new categories, columns of other types, or cells that are an error.

>>> seen, schema = [np.array(["Bonn", "Ulm"])], Schema(2, kinds=("number", "category"))
>>> read([[30, "Ulm"]], schema, seen)
SingleRow(numbers=array([[30.]]), places=[1])
>>> read([[30, "Jena"]], schema, seen) is None
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.labels import are_booleans, is_text
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.engines.memory import frames
from naively.engines.memory.frames import is_frame, row_of
from naively.statistics import Sample
from naively.statistics.axes import Axes
from naively.statistics.sample import hashes_of
from naively.statistics.statistic import Block, NotFiniteError
from naively.statistics.summary import Summary

_NUMBERS = {float, int, type(None)}
_MISSING = -1
_FEW_CLASSES = 16  # of which a row may have statistics that are zero


class SingleRow(NamedTuple):
    """Numbers, of which NaN is missing, and places among categories, of which -1 is missing."""

    numbers: NDArray[np.float64]
    places: list[int]


def read(X: Any, schema: Schema, categories: Sequence[NDArray[Any]]) -> SingleRow | None:
    """Return the row of a table of one row that needs no more than lookups; None for all others."""
    cells = None if schema.undecided or schema.texts else _cells_of(X, schema)
    if cells is None or len(cells) != schema.n_columns:
        return None
    numbers = [cells[j] for j in schema.numbers]
    if not {*map(type, numbers)} <= _NUMBERS:
        return None
    places = [_place(cells[j], seen) for j, seen in zip(schema.categories, categories, strict=True)]
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return None
    try:
        return SingleRow(np.array([numbers], dtype=np.float64), known)
    except OverflowError:  # an integer beyond every float64
        return None


def measure(row: SingleRow, classes: NDArray[Any], like: Summary, bound: int) -> Summary | None:
    """Return the summary of a row, on the axes of another; None where a number is infinite.

    The row is sampled if its hash is below the bound.
    """
    places, schema = np.array([row.places], np.int32).reshape(1, -1), like.schema
    axes, code = _axes(classes, like)
    rows = Rows((1, schema.n_columns), row.numbers, places)
    block = Block(rows, code, None, schema, axes, [], bound, False)
    try:
        found = {kind: kind.measure(block) for kind in like.statistics if kind is not Sample}
    except NotFiniteError:
        return None
    if schema.sample:
        found[Sample] = _sampled(row, code, like, bound)
    return Summary(schema, axes, found)


def _axes(classes: NDArray[Any], like: Summary) -> tuple[Axes, NDArray[np.int32]]:
    """Return axes of a row, and its class there: those of the other, if its classes are few."""
    known, axes = like.classes, like.axes
    if known.size <= _FEW_CLASSES and known.dtype.kind == classes.dtype.kind:
        at = known.searchsorted(classes)
        if at[0] < known.size and known[at[0]] == classes[0]:
            return axes, at.astype(np.int32)
    return Axes(classes, axes.vocabularies, axes.words), np.zeros(1, np.int32)


def _sampled(row: SingleRow, code: NDArray[np.int32], like: Summary, bound: int) -> Sample:
    places, found = np.array([row.places], np.int32), np.empty(1, np.uint64)
    pairs = zip(row.places, like.categories, strict=True)
    hashes = [hashes_of(seen[place : place + 1]) for place, seen in pairs]  # of -1, none
    _kernel.hash_rows(row.numbers, np.minimum(places, 0), hashes, found)
    if not found[0] < bound:
        none = Sample.zero(like.schema.sample, row.numbers.shape[1], places.shape[1], 0)
        return replace(none, bound=bound)
    cells = row.numbers + 0.0, places  # -0.0 becomes 0.0, which is the same cell
    return Sample(like.schema.sample, bound, found, np.ones(1), code, *cells)


def _cells_of(X: Any, schema: Schema) -> Sequence[Any] | None:
    """Return the cells of the only row as Python's objects, if they can be had at little cost."""
    if type(X) is np.ndarray:
        return X[0].tolist() if X.ndim == 2 and len(X) == 1 and X.dtype.kind in "fiuO" else None
    if type(X) is list:
        return X[0] if len(X) == 1 and type(X[0]) in (list, tuple) else None
    if not is_frame(X) or X.shape[0] != 1:
        return None
    if schema.names not in (None, frames.names_of(X)):
        return None
    return row_of(X, schema.held)


def _place(cell: Any, seen: NDArray[Any]) -> int | None:
    """Return the place of a cell among categories, -1 if it is missing, and None otherwise."""
    kind = type(cell)
    if cell is None or (kind is float and cell != cell):
        return _MISSING
    if (kind is str and is_text(seen)) or (kind is bool and are_booleans(seen)):
        at = int(seen.searchsorted(cell))
        if at < seen.size and seen.item(at) == cell:
            return at
    return None
