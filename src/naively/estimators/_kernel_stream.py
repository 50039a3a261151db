"""Running statistics of single rows in the kernel, and the summary that is taken from them.

The kernel's `RowStream` reads a dict, a list or an array of one row, adds its cells to sums, and
answers from these sums: it keeps no model, and recomputes only what a row has changed. What it
does not take at a glance (new labels, NumPy's numbers, text, infinity) is made plain in Python, or
is an error that names the column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import labels
from naively.axes import Axes
from naively.estimators._plain_row import as_list
from naively.estimators._row_buffer import is_all, raise_never_learned
from naively.schema import Schema
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
from naively.summary import Summary

__all__ = ["KernelStream", "NotPlainError"]

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
