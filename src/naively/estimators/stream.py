r"""Learning from single rows: `learn_one`, `forget_one`, and what is predicted for one row.

Where the kernel has running statistics for a model, a row is read, added and predicted by a single
call, and the model is never read as a whole: see `_kernel_stream`. Other models (calibrated ones,
priors that are given, tables of mixed columns) collect rows: see `_row_buffer`. In both, the
summary is taken when somebody asks for it, and is what one batch of the same rows gives. After any
other change of the estimator the stream begins again from the new summary.

Running statistics of single rows in the kernel, and the summary that is taken from them.

The kernel's `RowStream` reads a dict, a list or an array of one row, adds its cells to sums, and
answers from these sums: it keeps no model, and recomputes only what a row has changed. What it
does not take at a glance (new labels, NumPy's numbers, text, infinity) is made plain in Python, or
is an error that names the column.

Single rows that wait to be measured together: streams of models the kernel cannot keep by row.

The rows that came since are measured when somebody asks, and added to the summary of all before,

.. math:: S = d^n S_0 + \sum_i d^{\,n-1-i} S(x_i)

where d is the decay and n the number of rows that wait: by the laws of summaries, what one batch of
all rows gives. The first `FIRST` rows of a stream decide together what columns hold and where the
bins of histograms meet, as those of `fit` do. In a window all rows wait, and none is added for
good.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Set
from copy import copy
from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.axes import Axes
from naively.data.dates import read_objects, split_name
from naively.data.kinds import DATES, NUMBER, UNDECIDED, Kind
from naively.data.rows import Targets
from naively.data.schema import Schema
from naively.engines.memory.devices import is_on_device, on_host
from naively.errors import NaivelyError
from naively.estimators.plain_row import (
    Row,
    as_list,
    filled_row,
    is_same_row,
    named_cells,
    number_cell,
    plain_row,
    plain_weight,
)
from naively.estimators.prediction import PredictionMixin
from naively.statistics import (
    ClassWeight,
    Documents,
    MissingCells,
    Moments,
    Occurrences,
    Statistic,
    Tallies,
)
from naively.statistics.counts import Counts
from naively.statistics.summary import Summary

_STALE = 0.1  # of the rows of a stream: so many may have come since a calibrated model was read


class StreamMixin(PredictionMixin):
    """The methods that learn and forget single rows, and answer for them."""

    calibration: Any = None
    decay: float
    window: int | None
    _alone: ClassVar[Kind | None] = None  # what all columns hold, where they hold the same
    _absent: ClassVar[Any] = None  # the cell of a column that a dict lacks
    _read_at = 0  # the rows of the stream when a calibrated model was last read

    if TYPE_CHECKING:

        def _check_params(self) -> None: ...
        def _measure(self, table: Any, schema: Schema, targets: Targets) -> Summary: ...
        def _sample_size(self) -> int: ...
        def _counting(self) -> dict[str, Any]: ...

    def learn_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Learn from one row of a stream, in a microsecond or two.

        Labels and columns may come at any time. A column that is new is missing in all rows before,
        and one that is not in a dict is missing; where cells are counts, both are 0.

        Parameters
        ----------
        row : dict, list, tuple or array of shape (n_columns,)
            Cells, by column name or in order. None and NaN are missing.
        label : str, int or bool
            Its class.
        weight : float, default=1.0
            Its weight, finite and >= 0; a row of weight 0 is left out.
        """
        rows = self._rows
        if rows is None or rows.learn(row, label, weight):
            self._change_with_care("learn", row, label, weight)
        else:
            self._behind = True
        return self

    def forget_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Remove one row as if it had never been seen; exact up to rounding.

        Parameters
        ----------
        row, label
            As they were given to `learn_one`.
        weight : float, default=1.0
            What the row counts now: less than at first, if there is a decay. In a window, rows
            have the weight that they were learned with.
        """
        self._learned()
        self._change_with_care("forget", row, label, weight)
        return self

    def predict_one(self, row: Any) -> Any:
        """Return the class of one row, in microseconds.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            Cells, in order or by column name. None and NaN are missing. After `learn_one`, a dict
            may lack columns, and those that it has besides are ignored.
        """
        rows = self._rows
        if rows is not None:
            found = rows.label(row)
            if found is None:
                found = rows.label(self._asked(row))
            if found is not None:
                return found
        model = self._recent()
        return model._label_one(model._filled(row))

    def predict_proba_one(self, row: Any) -> NDArray[np.float64]:
        """Return p(k | x) of one row, one number per class.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            As for `predict_one`.
        """
        rows = self._rows
        if rows is not None:
            out = np.empty(0)
            while out.size != rows.n_classes:  # another thread may learn a new class meanwhile
                out = np.empty(rows.n_classes)
                if rows.proba(row, out) or rows.proba(self._asked(row), out):
                    return out
        model = self._recent()
        return model._proba_one(model._filled(row))

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator; a stream goes on with them.

        A smaller window forgets its oldest rows at once. A larger one grows with the next rows.
        Rows that were learned without a window are not kept, and never leave the model.

        Parameters
        ----------
        **params
            The parameters, by name.
        """
        self._pause_stream()
        super().set_params(**params)  # type: ignore[misc]
        if self.window is None:
            self._kept = []
        elif "window" in params and self._kept:
            self._live()
            self._behind = True
        return self

    # --- inside -------------------------------------------------------------------------------

    def _kernel_rows(self) -> Any:
        """Return the kernel's stream for the parameters as they are; None where it has none."""
        return None

    def _kinds(self) -> dict[Any, Kind]:
        """Return what some columns must hold, by name or by place."""
        return {}

    def _stream_schema(self, columns: Schema) -> Schema:
        """Return what is measured of columns, of which names or number are known."""
        kinds = (self._alone or UNDECIDED,) * columns.n_columns
        given: Any = {"kinds": kinds, "sample": self._sample_size(), **self._counting()}
        return Schema(columns.n_columns, columns.names, **given)

    def _cell(self, cell: Any, name: str) -> Any:
        """Return a plain cell of a row, or raise."""
        return number_cell(cell, name)

    def _held_by(self, cell: Any) -> str:
        """Return what a plain cell is: all of a column are the same."""
        return "number"

    def _change_with_care(self, how: str, row: Any, label: Any, weight: Any) -> None:
        """Learn or forget a row that the kernel has not taken at a glance."""
        weight, stream = plain_weight(weight), self._live()
        plain = plain_row(row, stream.columns, self._cell)
        label = on_host(label)[()] if is_on_device(label) else label
        if not weight:
            return
        try:
            getattr(stream, how)(plain, label, weight)
        except NotPlainError:
            self._pause_stream()
            self._stream = self._buffer()
            getattr(self._stream, how)(plain, label, weight)
        self._streams = self._behind = True

    def _live(self) -> Any:
        """Return the stream, begun from what was learned otherwise if need be."""
        if self._stream is None:
            self._check_params()
            rows = self._kernel_rows() if self._is_measured_as_here() else None
            if rows is None:
                self._stream = self._buffer()
            else:
                self._stream, self._rows = KernelStream(rows, self._stream_schema), rows
                if self._state is not None:
                    self._stream.load(self._state.summary, self._kept)
            self._kept = []
        return self._stream

    def _is_measured_as_here(self) -> bool:
        """Whether what was learned has the statistics of a stream, and no others."""
        if self._state is None:
            return True
        schema = self._state.summary.schema
        return schema == self._stream_schema(Schema(schema.n_columns, schema.names))

    def _buffer(self) -> RowBuffer:
        summary = None if self._state is None else self._state.summary
        return RowBuffer(self, summary, self._kept)

    def _measure_rows(
        self, rows: list[Any], targets: Targets, columns: Schema, known: Schema | None
    ) -> Summary:
        """Measure plain rows, under a schema if one is known."""
        return self._measure(
            self._matrix(rows, columns), known or self._stream_schema(columns), targets
        )

    def _matrix(self, rows: list[Any], columns: Schema) -> NDArray[np.float64]:
        """Return rows of numbers as an array."""
        absent = np.nan if self._absent is None else self._absent
        return np.array(
            [
                row if isinstance(row, list) else [row.get(j, absent) for j in columns.names or ()]
                for row in rows
            ],
            dtype=np.float64,
        ).reshape(len(rows), columns.n_columns)

    def _asked(self, row: Any) -> Any:
        """Return a row of plain cells, or as it is where there is something wrong with it."""
        try:
            return plain_row(row, self._stream.columns, self._cell)
        except NaivelyError:
            return row

    def _recent(self) -> Self:
        """Return an estimator to ask: a calibrated one may be of a few rows ago."""
        stream = self._stream
        if isinstance(stream, RowBuffer) and self.calibration is not None and self._behind:
            n = stream.n_rows
            if self._state is not None and n - self._read_at <= _STALE * n:
                return self._copied()
            self._read_at = n
        return self._snapshot()

    def _filled(self, row: Any) -> Any:
        """Return a row that is asked about; of a stream, a dict need not have the columns."""
        schema = self.summary_.schema
        row = named_cells(row, schema)
        return filled_row(row, schema, self._absent) if self._streams else row


# --- Running statistics of single rows in the kernel, and the summary that is taken from them ---


_COUNTS: dict[Any, tuple[type[Counts], ...]] = {
    "occurrences": (Occurrences,),
    "documents": (Documents, MissingCells),
}
_DONE, _UNKNOWN_LABEL, _NOT_PLAIN, _NEVER_LEARNED = range(4)


class NotPlainError(Exception):
    """A row has numbers that are too large or too small for the kernel's short way."""


class KernelStream:
    """A stream of the kernel, with its labels and its schema.

    Parameters
    ----------
    rows : _kernel.RowStream
        What adds up rows.
    schema_of : callable
        Returns what is measured, given the columns.
    """

    def __init__(self, rows: Any, schema_of: Callable[[Schema], Schema]) -> None:
        self._rows, self._schema_of = rows, schema_of
        self._classes: NDArray[Any] = np.empty(0, np.int64)
        self._fresh: dict[Any, None] = {}  # labels of the same type that came since, to be united

    @property
    def columns(self) -> Schema | None:
        """The columns so far; None before the first row."""
        if not self._rows.has_columns:
            return None
        names = self._rows.names
        return Schema(self._rows.n_columns, None if names is None else tuple(map(str, names)))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels so far, sorted."""
        if self._fresh:
            fresh, self._fresh = [*self._fresh], {}
            self._classes = labels.union(self._classes, labels.encode(fresh)[0])
        return self._classes

    def learn(self, row: Any, label: Any, weight: float) -> None:
        """Add a row whose cells are plain numbers."""
        outcome = self._rows.learn(row, label, weight)
        if outcome == _UNKNOWN_LABEL:
            outcome = self._rows.learn(row, self._known(label), weight)
        if outcome != _DONE:
            raise NotPlainError

    def forget(self, row: Any, label: Any, weight: float) -> None:
        """Remove a row, or raise where it was never added."""
        found, _ = labels.encode([label])
        its = as_list(found)[0]
        outcome = self._rows.forget(row, its, weight)
        if outcome == _NOT_PLAIN:
            raise NotPlainError
        if outcome != _DONE:
            raise_never_learned(its, weight)

    def kept(self) -> list[tuple[Any, Any, float]]:
        """Return the rows of the window, and what they count now."""
        found: list[tuple[Any, Any, float]] = self._rows.kept()
        return found

    def summary(self) -> Summary:
        """Return what was learned so far."""
        schema = self._schema_of(self.columns or Schema(0))
        weight = np.empty(self.classes.size)
        self._rows.class_weight(weight)
        if not schema.n_columns:
            return Summary.zero(schema, self.classes).with_statistic(ClassWeight(weight))
        if schema.categories:
            axes, tallies = self._tallies(schema)
            return Summary.of(schema, axes, ClassWeight(weight), tallies)
        found = self._counts(schema) if schema.counted else [self._moments(schema)]
        return Summary.of(schema, Axes(self.classes), ClassWeight(weight), *found)

    def load(self, summary: Summary, kept: list[tuple[Any, Any, float]]) -> None:
        """Begin with a summary, and with those of its rows that are in the window."""
        names = summary.schema.names
        self._rows.set_columns(None if names is None else list(names), summary.schema.n_columns)
        self._classes = summary.classes
        self._rows.set_classes(as_list(summary.classes))
        self._rows.set_class_weight(summary.class_weight, not is_all(kept, summary))
        if summary.schema.counted:
            for kind in _COUNTS[summary.schema.counted]:
                self._rows.set_counts(summary[kind].values, kind is MissingCells)
        elif summary.schema.categories:
            self._set_tallies(summary)
        elif summary.schema.n_columns:
            self._rows.set_moments(summary.moments.values)
        for row in kept:
            self._rows.keep(*row)
        self._rows.trim()

    def _moments(self, schema: Schema) -> Moments:
        moments = np.empty((4, self.classes.size, schema.n_columns))
        self._rows.moments(moments)
        return Moments(moments)

    def _counts(self, schema: Schema) -> list[Statistic]:
        found: list[Statistic] = []
        for kind in _COUNTS[schema.counted]:
            width = self.classes.size, schema.n_columns
            values = np.empty(width)
            self._rows.counts(values, kind is MissingCells)
            found.append(kind(width, (values, ())))
        return found

    def _tallies(self, schema: Schema) -> tuple[Axes, Tallies]:
        """Return the codes that have weight, by column, and their weights."""
        seen, weights = [], [np.empty((self.classes.size, 0))]
        for j in range(schema.n_columns):
            values = np.empty((self.classes.size, self._rows.n_codes(j)))
            self._rows.codes(j, values)
            seen.append(np.flatnonzero(values.any(axis=0)))
            weights.append(values[:, seen[-1]])
        return Axes(self.classes, tuple(seen)), Tallies(np.concatenate(weights, axis=1))

    def _set_tallies(self, summary: Summary) -> None:
        for j, codes in enumerate(summary.categories):
            values = np.zeros((self.classes.size, int(codes[-1]) + 1 if codes.size else 0))
            values[:, codes.astype(np.intp)] = summary.tally(j)
            self._rows.set_codes(j, values)

    def _known(self, label: Any) -> Any:
        """Return a label as it is kept, having made a class of it if it is new."""
        found, _ = labels.encode([label])
        kept = as_list(found)[0]
        kinds = {array.dtype.kind for array in (self._classes, found)}
        if self._classes.size and (kinds <= {"U", "O"} or kinds in ({"i"}, {"f"}, {"S"})):
            self._fresh[kept] = None
            self._rows.add_class(kept)
        else:
            self._classes = labels.union(self.classes, found)
            kept = as_list(self._classes)[int(labels.positions(found, self._classes)[0])]
            self._rows.set_classes(as_list(self._classes))
        if label == kept:
            self._rows.accept(label)
        return kept


# --- Single rows that wait to be measured together ----------------------------------------------


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
            if self._given.get(name) is NUMBER:
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
