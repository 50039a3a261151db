r"""Streams of single rows: what is learned, forgotten and predicted row by row.

Where the kernel has running sums for a model (moments, counts, codes), it reads, adds and answers a
row by a single call, and the model is never read as a whole: `KernelStream`. Rows of other models
(calibrated ones, priors that are given, tables of mixed columns) wait until somebody asks, and are
measured together: `BufferedStream`. In both, the summary is taken when somebody asks for it, and is
what one batch of the same rows gives. After any other change of the estimator the stream begins
again from the new summary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from copy import copy
from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.dates import read_objects, split_name
from naively.data.kinds import DATES, NUMBER
from naively.data.labels import are_booleans
from naively.data.rows import Targets
from naively.data.schema import Schema
from naively.engines.memory.devices import is_on_device, on_host
from naively.errors import NaivelyError
from naively.estimators.parameters import check_parameters
from naively.estimators.plain_rows import (
    Row,
    is_same_row,
    number_cell,
    plain_row,
    plain_weight,
)
from naively.estimators.state import State, copied, end_stream, snapshot
from naively.statistics import (
    ClassWeight,
    Documents,
    MissingCells,
    Moments,
    Occurrences,
    Statistic,
    Tallies,
)
from naively.statistics.axes import Axes
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.estimators.estimator import SummaryClassifier

_STALE_SHARE = (
    0.1  # of the rows of a stream: so many may have come since a calibrated model was read
)


def change(estimator: SummaryClassifier, verb: str, row: Any, label: Any, weight: Any) -> None:
    """Learn or forget a row that the kernel has not taken at a glance."""
    weight, stream = plain_weight(weight), live(estimator)
    plain = plain_row(row, stream.columns, estimator._cell)
    label = on_host(label)[()] if is_on_device(label) else label
    if not weight:
        return
    try:
        getattr(stream, verb)(plain, label, weight)
    except NotPlainError:
        state = end_stream(estimator)
        stream = BufferedStream(estimator, state)
        estimator.state_ = replace(state, stream=stream, window=[])
        getattr(stream, verb)(plain, label, weight)
    if not estimator.state_.takes_some_columns:  # before others may take the stream's summary
        estimator.state_ = replace(estimator.state_, takes_some_columns=True)
    stream.is_ahead = True


def live(estimator: SummaryClassifier) -> Stream:
    """Return the stream, begun from what was learned otherwise if need be."""
    state = estimator.state_
    if state.stream is None:
        check_parameters(estimator)
        rows = estimator._kernel_rows() if _is_measured_as_here(estimator, state.summary) else None
        stream: Stream
        if rows is None:
            stream = BufferedStream(estimator, state)
        else:
            stream = KernelStream(rows, estimator, state)
        state = estimator.state_ = replace(state, stream=stream, window=[])
    assert state.stream is not None
    return state.stream


def _is_measured_as_here(estimator: SummaryClassifier, summary: Summary | None) -> bool:
    """Whether what was learned has the statistics of a stream, and no others."""
    if summary is None:
        return True
    schema = summary.schema
    return bool(schema == estimator._stream_schema(Schema(schema.n_columns, schema.names)))


def plain_or_same(estimator: SummaryClassifier, row: Any) -> Any:
    """Return a row of plain cells, or as it is where there is something wrong with it."""
    try:
        return plain_row(row, live(estimator).columns, estimator._cell)
    except NaivelyError:
        return row


def recent(estimator: SummaryClassifier) -> Any:
    """Return an estimator to ask: a calibrated one may be of a few rows ago."""
    state = estimator.state_
    stream = state.stream
    if isinstance(stream, BufferedStream) and stream.is_ahead and estimator.calibration is not None:
        if (
            state.summary is not None
            and stream.n_rows - stream.read_at < _STALE_SHARE * stream.n_rows
        ):
            return copied(estimator)
        stream.read_at = stream.n_rows
    return snapshot(estimator)


# --- rows that the kernel adds up -----------------------------------------------------------------


_COUNTS: dict[Any, tuple[Any, ...]] = {
    "occurrences": (Occurrences,),
    "documents": (Documents, MissingCells),
}
_DONE, _UNKNOWN_LABEL, _NOT_PLAIN, _NEVER_LEARNED = range(4)


class NotPlainError(Exception):
    """A row has numbers that are too large or too small for the kernel's short way."""


class KernelStream:
    """Running sums in the kernel, with their labels and their schema.

    The kernel's `RowStream` reads a dict, a list or an array of one row, adds its cells to sums,
    and answers from these sums: it keeps no model, and recomputes only what a row has changed. What
    it does not take at a glance (new labels, NumPy's numbers, text, infinity) is made plain in
    Python, or is an error that names the column.

    Parameters
    ----------
    rows : _kernel.RowStream
        What adds up rows.
    estimator : SummaryClassifier
        Decides what is measured of columns.
    state : State
        What it has learned before, with those rows that are in the window.
    """

    def __init__(self, rows: Any, estimator: SummaryClassifier, state: State) -> None:
        self.rows, self._schema_of = rows, estimator._stream_schema
        self.is_ahead = False  # of the summary that was taken last
        self._classes: NDArray[Any] = np.empty(0, np.int64)
        self._fresh: dict[Any, None] = {}  # labels of the same type that came since, to be united
        if state.summary is not None:
            self._load(state.summary, state.window)

    @property
    def columns(self) -> Schema | None:
        """The columns so far; None before the first row."""
        if not self.rows.has_columns:
            return None
        names = self.rows.names
        return Schema(self.rows.n_columns, None if names is None else tuple(map(str, names)))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels so far, sorted."""
        if self._fresh:
            fresh, self._fresh = [*self._fresh], {}
            self._classes = labels.union(self._classes, labels.encode(fresh)[0])
        return self._classes

    def learn(self, row: Any, label: Any, weight: float) -> None:
        """Add a row whose cells are plain numbers."""
        outcome = self.rows.learn(row, label, weight)
        if outcome == _UNKNOWN_LABEL:
            outcome = self.rows.learn(row, self._known(label), weight)
        if outcome != _DONE:
            raise NotPlainError

    def forget(self, row: Any, label: Any, weight: float) -> None:
        """Remove a row, or raise where it was never added."""
        plain_label = _plain_label(label)
        outcome = self.rows.forget(row, plain_label, weight)
        if outcome == _NOT_PLAIN:
            raise NotPlainError
        if outcome != _DONE:
            raise_never_learned(plain_label, weight)

    def kept(self) -> list[tuple[Any, Any, float]]:
        """Return the rows of the window, and what they count now."""
        rows: list[tuple[Any, Any, float]] = self.rows.kept()
        return rows

    def summary(self) -> Summary:
        """Return what was learned so far."""
        schema, classes = self._schema_of(self.columns or Schema(0)), self.classes
        weight, *tables = self.rows.tables()
        class_weight = ClassWeight(weight[:, 0])
        if not schema.n_columns:
            return Summary.zero(schema, classes).with_statistic(class_weight)
        axes, sums = Axes(classes), list[Statistic]()
        if schema.categories:  # of all codes, those that have weight
            seen = [np.flatnonzero(table.any(axis=0)) for table in tables]
            axes = Axes(classes, tuple(seen))
            weights = [table[:, codes] for table, codes in zip(tables, seen, strict=True)]
            sums.append(Tallies(np.concatenate(weights, axis=1)))
        elif schema.counted:
            of_kinds = zip(_COUNTS[schema.counted], tables, strict=True)
            sums += [kind(table.shape, (table, ())) for kind, table in of_kinds]
        else:
            sums.append(Moments(np.stack(tables)))
        return Summary.of(schema, axes, class_weight, *sums)

    def _load(self, summary: Summary, window: list[tuple[Any, Any, float]]) -> None:
        """Begin with a summary, and with those of its rows that are in the window."""
        schema, self._classes = summary.schema, summary.classes
        tables: list[NDArray[np.float64]] = []
        if schema.counted and schema.n_columns:
            tables += [summary[kind].values for kind in _COUNTS[schema.counted]]
        elif schema.categories:
            for j, codes in enumerate(summary.categories):
                tables.append(np.zeros((len(summary.classes), _n_codes(codes))))
                tables[-1][:, codes.astype(np.intp)] = summary.tally(j)
        elif schema.n_columns:
            tables += [*summary.moments.values]
        self.rows.load(
            None if schema.names is None else list(schema.names),
            schema.n_columns,
            labels.listed(summary.classes),
            [summary.class_weight[:, np.newaxis], *tables],
            window,
            _is_all(window, summary),
        )

    def _known(self, label: Any) -> Any:
        """Return a label as it is kept, having made a class of it if it is new."""
        encoded, _ = labels.encode([label])
        kept = labels.listed(encoded)[0]
        kinds = {array.dtype.kind for array in (self._classes, encoded)}
        if self._classes.size and (kinds <= {"U", "O"} or kinds in ({"i"}, {"f"}, {"S"})):
            self._fresh[kept] = None
            self.rows.add_class(kept)
        else:
            self._classes = labels.union(self.classes, encoded)
            every = labels.listed(self._classes)
            kept = every[int(labels.positions(encoded, self._classes)[0])]
            for one in every:
                self.rows.add_class(one)
        if label == kept:
            self.rows.accept(label)
        return kept


def _n_codes(codes: NDArray[Any]) -> int:
    return int(codes[-1]) + 1 if codes.size else 0


def _plain_label(label: Any) -> Any:
    return labels.listed(labels.encode([label])[0])[0]


# --- rows that wait to be measured together -------------------------------------------------------


FIRST_ROWS = 1000
_MAX_SAFE_NUMBER = 1e100  # a number that may make a variance exceed every float64


class WaitingRow(NamedTuple):
    """A plain row, its label, what it counted when it came, and how many rows came before it."""

    row: Row
    label: Any
    weight: float
    number: int


class BufferedStream:
    r"""Rows that wait, and the summary of those before.

    The rows that came since are measured when somebody asks, and added to the summary before,

    .. math:: S = d^n S_0 + \sum_i d^{\,n-1-i} S(x_i)

    where d is the decay and n the number of rows that wait: by the laws of summaries, what one
    batch of all rows gives. The first `FIRST_ROWS` of a stream decide together what columns hold
    and where the bins of histograms meet, as those of `fit` do. In a window all rows wait, and none
    is added for good.

    Parameters
    ----------
    estimator : SummaryClassifier
        Its parameters are the stream's, and it measures rows.
    state : State
        What it has learned before, with those rows that are in the window.
    """

    rows = None  # the kernel has none

    def __init__(self, estimator: SummaryClassifier, state: State) -> None:
        summary, kept = state.summary, state.window
        self._estimator, self._given = estimator, estimator.fixed_kinds()
        self._decay, self._absent = estimator.decay, estimator._absent
        self._window = None if estimator.window is None else int(estimator.window)
        self.is_ahead, self.read_at = False, 0  # when a calibrated model was read for answers
        self._held: dict[Any, str] = {} if summary is None else _held_in(summary)
        self._before: Summary | None = summary
        self._waiting = deque[WaitingRow](maxlen=self._window)
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
            if _is_all(kept, summary):
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
            vars(trial).update(_waiting=copy(self._waiting), _names=copy(self._names))
            trial._append(row, label, weight)
            self._estimator._read(trial.summary())  # a variance may exceed every float64
        self._append(row, label, weight)
        self._held |= held
        self._dates |= {str(name) for name, what in held.items() if what in DATES}
        if self._window is None and len(self._waiting) >= FIRST_ROWS:
            self._settle(self.summary())

    def _checked(self, cells: dict[Any, Any]) -> dict[Any, str]:
        """Return what cells are, or raise where their columns hold something else."""
        known = None if self._before is None else self._before.schema
        held = {}
        for name, cell in cells.items():
            if known is not None and str(name) in known.dates:
                read_objects([cell], f"column {name!r}")
                continue
            if self._given.get(name) is NUMBER:
                number_cell(cell, f"column {name!r}")
            held[name] = what = self._estimator._held_by(cell)
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
        encoded, _ = labels.encode([label])
        self._classes = labels.union(self._classes, encoded)
        if isinstance(row, dict):
            self._names = {} if self._names is None else self._names
            self._names.update(dict.fromkeys(row))
            self._n_columns = len(self._names)
        else:
            self._n_columns = len(row)
        self._waiting.append(WaitingRow(row, labels.listed(encoded)[0], weight, self.n_rows))
        self.n_rows += 1

    def forget(self, row: Row, label: Any, weight: float) -> None:
        """Remove a row, or raise where it was never added."""
        label = _plain_label(label)
        for i, waiting in enumerate(reversed(self._waiting), 1):
            if waiting.label == label and self._is_same(waiting, row, weight):
                if self._before is None and len(self._waiting) == 1:
                    before = self.summary()  # of no rows nobody could tell what columns hold
                    self._settle(before - before)
                else:
                    del self._waiting[-i]
                return
        if self._window is not None or self._before is None:
            raise_never_learned(label, weight)
        before = self.summary()
        gone = self._measured([WaitingRow(row, label, weight, self.n_rows - 1)], before.schema)
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
            measured = self._measured(list(self._waiting), None)
            return measured + Summary.zero(measured.schema, self._classes)
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
        held = zip(new, self._estimator._stream_schema(columns).held[-n_new:], strict=True)
        kinds = (*schema.held, *(self._given.get(name, kind) for name, kind in held))
        names = (*(schema.names or ()), *new)
        wide = replace(schema, n_columns=len(names), names=names, kinds=kinds)
        return before.under(wide, [*range(schema.n_columns), *([-1] * n_new)])

    def _measured(self, rows: list[WaitingRow], schema: Schema | None) -> Summary:
        classes, codes = labels.encode([row.label for row in rows])
        weights = np.array([*map(self._now, rows)])
        targets = Targets(classes, codes, None if (weights == 1).all() else weights)
        plain = [row.row for row in rows]
        if schema is not None and schema.inputs is not None:
            return self._measured_where_present(plain, targets, schema)
        columns = Schema(self._n_columns, None if self._names is None else tuple(self._names))
        return self._measured_under(plain, targets, columns, schema)

    def _measured_under(
        self, rows: list[Row], targets: Targets, columns: Schema, schema: Schema | None
    ) -> Summary:
        """Measure the cells of some columns, under a schema if one is known."""
        names, absent = columns.names or (), self._absent
        cells = [
            r if isinstance(r, list) else [r.get(name, absent) for name in names] for r in rows
        ]
        return self._estimator._measure_cells(cells, targets, columns, schema)

    def _measured_where_present(self, rows: list[Row], targets: Targets, schema: Schema) -> Summary:
        """Measure rows in the columns that some of them have, of which there may be few."""
        at = [*range(schema.n_columns)]
        if all(isinstance(row, dict) for row in rows) and not 0 < schema.sample < len(rows):
            present = set[str]().union(*rows)
            at = [j for j in at if schema.input((schema.names or ())[j]) in present] or at
        narrow = schema.columns(at)
        columns = Schema(len(narrow.inputs or ()), narrow.inputs)
        measured = self._measured_under(rows, targets, columns, narrow)
        kinds, origin = [*schema.held], [-1] * schema.n_columns
        for i, (j, kind) in enumerate(zip(at, measured.schema.held, strict=True)):
            kinds[j], origin[j] = kind, i
        return measured.under(schema.decided(kinds), origin)


def _is_all(kept: list[tuple[Any, Any, float]], summary: Summary) -> bool:
    """Whether the rows of a window are all that a summary holds."""
    weight = sum(weight for *_, weight in kept)
    return bool(kept) and bool(np.isclose(weight, summary.weight, rtol=1e-9))


def _held_in(summary: Summary) -> dict[Any, str]:
    """Return what columns of numbers, booleans and text hold, by name or by place."""
    schema = summary.schema
    names = schema.names_or_places
    held = {names[j]: "number" for j in schema.numbers} | {names[j]: "text" for j in schema.texts}
    for j, seen in zip(schema.categories, summary.categories, strict=True):
        held[names[j]] = "boolean" if are_booleans(seen) else "text"
        if seen.dtype.kind in "iuf" or not seen.size:
            del held[names[j]]
    return held


def _is_far(cell: Any) -> bool:
    return isinstance(cell, float | int) and abs(cell) > _MAX_SAFE_NUMBER


def raise_never_learned(label: Any, weight: float) -> None:
    """Raise where a row is to be forgotten that was never learned."""
    raise NaivelyError(
        f"cannot forget: no such row of class {label!r} and weight {weight:g} was learned, or it "
        "is no longer kept. Forget only what was learned."
    )


Stream = KernelStream | BufferedStream
