r"""Single rows that wait to be measured together: streams of models the kernel cannot keep by row.

The rows that came since are measured when somebody asks, and added to the summary of all before,

.. math:: S = d^n S_0 + \sum_i d^{\,n-1-i} S(x_i)

where d is the decay and n the number of rows that wait: by the laws of summaries, what one batch of
all rows gives. The first `FIRST` rows of a stream decide together what columns hold and where the
bins of histograms meet, as those of `fit` do. In a window all rows wait, and none is added for
good.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from copy import copy
from dataclasses import replace
from math import isclose
from typing import Any, NamedTuple

import numpy as np

from naively import labels
from naively.dates import read_objects, split_name
from naively.estimators._plain_row import Row, as_list, is_same_row, number_cell
from naively.exceptions import NaivelyError
from naively.kinds import DATES
from naively.rows import Targets
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["FIRST", "RowBuffer", "WaitingRow", "is_all", "raise_never_learned"]

FIRST = 1000
_FAR = 1e100  # a number that may make a variance exceed every float64


class WaitingRow(NamedTuple):
    """A plain row, its label, what it counted when it came, and how many rows came before it."""

    row: Row
    label: Any
    weight: float
    number: int


class RowBuffer:
    """Rows that wait, and the summary of those before.

    Parameters
    ----------
    owner : StreamMixin
        Its parameters are the stream's, and it measures rows.
    summary : Summary or None
        What was learned before.
    kept : list of (row, label, weight)
        Those of them that are in the window.
    """

    def __init__(self, owner: Any, summary: Summary | None, kept: list[Any]) -> None:
        self._measure_rows, self._schema_of = owner._measure_rows, owner._stream_schema
        self._read = owner._read
        self._decay, self._held_by, self._absent = owner.decay, owner._held_by, owner._absent
        self._window = None if owner.window is None else int(owner.window)
        self._given = owner._kinds()
        self._held: dict[Any, str] = {} if summary is None else _held_in(summary)
        self._before, self._waiting = summary, deque[WaitingRow](maxlen=self._window)
        self._classes = np.empty(0, np.int64) if summary is None else summary.classes
        self._names: dict[str, None] | None = None
        self._dates = set() if summary is None else {*summary.schema.dates}
        self._n_columns = 0
        self.n_rows, self._since = 0, 0  # when what was before was last added to
        if summary is not None:
            names = summary.schema.inputs
            self._names = None if names is None else dict.fromkeys(names)
            self._n_columns = summary.schema.n_columns if names is None else len(names)
            waiting = [WaitingRow(row, label, w, -1) for row, label, w in kept]
            self._waiting.extend(waiting)
            if is_all(kept, summary):
                self._before = None
            elif waiting:
                self._before = summary - self._measured(waiting, summary.schema)

    @property
    def columns(self) -> Schema | None:
        """The columns so far; None before the first row."""
        if self._before is None and not (self.n_rows or self._waiting):
            return None
        return Schema(self._n_columns, None if self._names is None else tuple(self._names))

    def learn(self, row: Row, label: Any, weight: float) -> None:
        """Add a row, or raise where it cannot be added to the others."""
        names = self._names or range(len(row))
        items = row.items() if isinstance(row, dict) else zip(names, row, strict=True)
        held = self._checked({name: cell for name, cell in items if cell is not None})
        if any(map(_is_far, row.values() if isinstance(row, dict) else row)):
            trial = copy(self)
            trial._waiting = self._waiting.copy()
            trial._names = None if self._names is None else self._names.copy()
            trial._append(row, label, weight)
            self._read(trial.summary())  # a variance may exceed every float64
        self._append(row, label, weight)
        self._held |= held
        self._dates |= {str(name) for name, what in held.items() if what in DATES}
        if self._window is None and len(self._waiting) >= FIRST:
            self._settle(self.summary())

    def _checked(self, cells: dict[Any, Any]) -> dict[Any, str]:
        """Return what cells are, or raise where their columns hold something else."""
        known = None if self._before is None else self._before.schema
        held = {}
        for name, cell in cells.items():
            if known is not None and str(name) in known.dates:
                read_objects([cell], f"column {name!r}")
                continue
            if self._given.get(name) == "number":
                number_cell(cell, f"column {name!r}")
            held[name] = what = self._held_by(cell)
            if self._held.get(name, what) != what:
                raise NaivelyError(
                    f"column {name!r} must hold the same in all rows; got a {what} after a "
                    f"{self._held[name]}. Leave the row out, or name the column otherwise."
                )
            if known is not None and what in DATES:
                raise NaivelyError(
                    f"column {name!r} holds dates, and is not among the columns of the first rows. "
                    "Give their parts (year, month, ...) as columns, or fit again."
                )
        names = self._names or {}
        dates = {str(name) for name, what in held.items() if what in DATES} - self._dates
        self._check_parts({*cells, *names} if dates else cells.keys() - names.keys(), dates)
        return held

    def _check_parts(self, names: Set[Any], dates: set[str]) -> None:
        """Raise where a column has the name that a part of dates gets."""
        for name in names if dates or self._dates else ():
            source = (split_name(str(name)) or ("",))[0]
            if source in dates or source in self._dates:
                raise NaivelyError(
                    f"column {name!r} has the name of a part of the dates in another column. "
                    "Rename it."
                )

    def _append(self, row: Row, label: Any, weight: float) -> None:
        found, _ = labels.encode([label])
        self._classes = labels.union(self._classes, found)
        if isinstance(row, dict):
            self._names = {} if self._names is None else self._names
            self._names.update(dict.fromkeys(row))
            self._n_columns = len(self._names)
        else:
            self._n_columns = len(row)
        self._waiting.append(WaitingRow(row, as_list(found)[0], weight, self.n_rows))
        self.n_rows += 1

    def forget(self, row: Row, label: Any, weight: float) -> None:
        """Remove a row, or raise where it was never added."""
        found, _ = labels.encode([label])
        its = as_list(found)[0]
        for i, waiting in enumerate(reversed(self._waiting), 1):
            if waiting.label == its and self._is_same(waiting, row, weight):
                if self._before is None and len(self._waiting) == 1:
                    before = self.summary()  # of no rows nobody could tell what columns hold
                    self._settle(before - before)
                else:
                    del self._waiting[-i]
                return
        if self._window is not None or self._before is None:
            raise_never_learned(its, weight)
        before = self.summary()
        gone = self._measured([WaitingRow(row, its, weight, self.n_rows - 1)], before.schema)
        self._settle(before - gone)

    def _is_same(self, waiting: WaitingRow, row: Row, weight: float) -> bool:
        """Whether a row that waits is this one, and counts as much, which a window does not ask."""
        if self._window is None and not isclose(self._now(waiting), weight, rel_tol=1e-12):
            return False
        return is_same_row(waiting.row, row, self._absent)

    def kept(self) -> list[tuple[Row, Any, float]]:
        """Return the rows of the window, and what they count now."""
        if self._window is None:
            return []
        return [(waiting.row, waiting.label, self._now(waiting)) for waiting in self._waiting]

    def summary(self) -> Summary:
        """Return what was learned so far."""
        if self._before is None:
            found = self._measured(list(self._waiting), None)
            return found + Summary.zero(found.schema, self._classes)
        before = self._widened(self._before)
        if self._decay != 1:
            before = self._decay ** (self.n_rows - self._since) * before
        if self._waiting:
            before = before + self._measured(list(self._waiting), before.schema)
        return before + Summary.zero(before.schema, self._classes)

    def _settle(self, summary: Summary) -> None:
        """Add the rows that wait to those before, for good."""
        self._before, self._since = summary, self.n_rows
        self._waiting.clear()

    def _now(self, waiting: WaitingRow) -> float:
        """Return what a row counts by now."""
        age = self.n_rows - 1 - waiting.number if waiting.number >= 0 else self.n_rows
        return float(waiting.weight * self._decay**age)

    def _widened(self, before: Summary) -> Summary:
        """Return a summary with the columns that came since, in which nothing was seen."""
        schema, columns = before.schema, self.columns
        n_before = schema.n_columns if schema.inputs is None else len(schema.inputs)
        if columns is None or columns.n_columns == n_before:
            return before
        n_new = columns.n_columns - n_before
        new = (columns.names or ())[-n_new:]
        held = zip(new, self._schema_of(columns).held[-n_new:], strict=True)
        kinds = (*schema.held, *(self._given.get(name, kind) for name, kind in held))
        names = (*(schema.names or ()), *new)
        wide = replace(schema, n_columns=len(names), names=names, kinds=kinds)
        return before._with_columns(wide, [*range(schema.n_columns), *([-1] * n_new)])

    def _measured(self, rows: list[WaitingRow], schema: Schema | None) -> Summary:
        classes, codes = labels.encode([row.label for row in rows])
        weights = np.array([*map(self._now, rows)])
        targets = Targets(classes, codes, None if (weights == 1).all() else weights)
        plain = [row.row for row in rows]
        if schema is not None and schema.inputs is not None:
            return self._measured_where_present(plain, targets, schema)
        columns = Schema(self._n_columns, None if self._names is None else tuple(self._names))
        found: Summary = self._measure_rows(plain, targets, columns, schema)
        return found

    def _measured_where_present(self, rows: list[Row], targets: Targets, schema: Schema) -> Summary:
        """Measure rows in the columns that some of them have, of which there may be few."""
        at = [*range(schema.n_columns)]
        if all(isinstance(row, dict) for row in rows) and not 0 < schema.sample < len(rows):
            present = set[str]().union(*rows)
            at = [j for j in at if schema.input((schema.names or ())[j]) in present] or at
        narrow = schema.columns(at)
        columns = Schema(len(narrow.inputs or ()), narrow.inputs)
        found: Summary = self._measure_rows(rows, targets, columns, narrow)
        kinds, origin = [*schema.held], [-1] * schema.n_columns
        for i, (j, kind) in enumerate(zip(at, found.schema.held, strict=True)):
            kinds[j], origin[j] = kind, i
        return found._with_columns(schema.decided(kinds), origin)


def is_all(kept: list[tuple[Any, Any, float]], summary: Summary) -> bool:
    """Whether the rows of a window are all that a summary holds."""
    weight = sum(weight for *_, weight in kept)
    return bool(kept) and bool(np.isclose(weight, summary.weight, rtol=1e-9))


def _held_in(summary: Summary) -> dict[Any, str]:
    """Return what columns of numbers, booleans and text hold, by name or by place."""
    schema = summary.schema
    names = schema.names or range(schema.n_columns)
    found = {names[j]: "number" for j in schema.numbers} | {names[j]: "text" for j in schema.texts}
    for j, seen in zip(schema.categories, summary.categories, strict=True):
        found[names[j]] = "boolean" if seen.dtype.kind == "b" else "text"
        if seen.dtype.kind in "iuf" or not seen.size:
            del found[names[j]]
    return found


def _is_far(cell: Any) -> bool:
    return isinstance(cell, float | int) and abs(cell) > _FAR


def raise_never_learned(label: Any, weight: float) -> None:
    """Raise where a row is to be forgotten that was never learned."""
    raise NaivelyError(
        f"cannot forget: no such row of class {label!r} and weight {weight:g} was learned, or it "
        "is no longer kept. Forget only what was learned."
    )
