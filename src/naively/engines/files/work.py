"""What is done with a piece: its rows become a summary, by several threads if columns allow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively._optional import need
from naively.axes import Axes
from naively.engines.files.cells import RowError, checked_weights, encode, read_text
from naively.engines.files.mixing import columns_of
from naively.engines.files.pieces import Piece
from naively.engines.files.plan import Plan
from naively.exceptions import NaivelyError
from naively.rows import Targets
from naively.statistics import ClassWeight, Moments
from naively.statistics.class_weight import check_weight
from naively.summary import Summary

__all__ = ["Part", "Stopped", "Work", "raise_not_finite"]

pa = need("pyarrow", "reading files", extra="files")


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The pass was stopped while this piece was being read."""


class Part(NamedTuple):
    """The moments of some columns."""

    owners: Targets
    class_weight: NDArray[np.float64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Work:
    """How pieces of a file become summaries.

    Attributes
    ----------
    plan : Plan
        The columns.
    constants : dict
        Columns that the file's path holds.
    is_text : bool
        Whether labels are read as text.
    stop : Event
        Set when nobody wants the result any more.
    """

    plan: Plan
    constants: Mapping[str, Any]
    is_text: bool
    stop: Event

    def tasks(self, piece: Piece) -> Sequence[Callable[[], Any]]:
        """Return what can be done in parallel; `joined` puts the results together."""
        features = self.plan.features
        if piece.width is None:
            return [partial(self._all_columns, piece)]
        owners = _Once(lambda: self._owners(self._batches(piece, self._keys())))
        starts = range(0, len(features), piece.width)
        groups = [features[j : j + piece.width] for j in starts]
        return [partial(self._some_columns, piece, owners, names) for names in groups]

    def joined(self, parts: Sequence[Any]) -> tuple[Summary, int]:
        """Return the summary of a piece, and how many rows it has."""
        owners, class_weight, values = parts[0]
        if len(parts) > 1:
            values = np.concatenate([part.values for part in parts], axis=2)
        classes = owners.classes
        if owners.weights is not None and not class_weight.all():  # as if those rows were not there
            seen = class_weight > 0
            classes, class_weight, values = classes[seen], class_weight[seen], values[:, seen]
        found = ClassWeight(class_weight), Moments(np.ascontiguousarray(values))
        return Summary.of(self.plan.schema, Axes(classes), *found), owners.codes.size

    # --- inside -------------------------------------------------------------------------------

    def _keys(self) -> list[str]:
        wish = self.plan.wish
        return [name for name in (wish.target, wish.weight) if name is not None]

    def _batches(self, piece: Piece, names: Sequence[str]) -> list[Any]:
        stored = [name for name in names if name not in self.constants]
        return list(piece.read(stored or self._any_column()))

    def _any_column(self) -> list[str]:
        """Return a column that is there, to count rows by."""
        return [name for name in self.plan.features if name not in self.constants][:1]

    def _owners(self, batches: Sequence[Any]) -> Targets:
        wish, constants = self.plan.wish, self.constants
        n_rows = sum(batch.num_rows for batch in batches)
        if not n_rows:
            return Targets(np.zeros(0, np.int64), np.zeros(0, np.int32), None)
        if wish.target in constants:
            classes, _ = encode(pa.chunked_array([[constants[wish.target]]]), wish.target)
            codes = np.zeros(n_rows, np.int32)
        else:
            column = pa.chunked_array([batch.column(wish.target) for batch in batches])
            classes, codes = (read_text if self.is_text else encode)(column, wish.target)
        if wish.weight is None:
            return Targets(classes, codes, None)
        columns = [columns_of(batch, [wish.weight], constants)[0] for batch in batches]
        return Targets(classes, codes, checked_weights(np.concatenate(columns), wish.weight))

    def _all_columns(self, piece: Piece) -> Part:
        batches = self._batches(piece, [*self._keys(), *self.plan.features])
        return self._accumulated(batches, self._owners(batches), self.plan.features)

    def _some_columns(self, piece: Piece, owners: _Once, names: Sequence[str]) -> Part:
        stored = [name for name in names if name not in self.constants] or self._any_column()
        return self._accumulated(piece.read(stored), owners(), names)

    def _accumulated(self, batches: Any, owners: Targets, names: Sequence[str]) -> Part:
        classes, codes, given = owners
        class_weight, values = np.zeros(classes.size), np.zeros((4, classes.size, len(names)))
        at = 0
        for batch in batches:
            if self.stop.is_set():
                raise Stopped
            columns = columns_of(batch, names, self.constants)
            rows = slice(at, at + batch.num_rows)
            its = None if given is None else given[rows]
            if not _kernel.summarize(columns, codes[rows], its, class_weight, values):
                raise_not_finite(columns, names, at)
            at = rows.stop
        check_weight(class_weight)
        if not np.isfinite(values).all():
            raise_too_large(values, classes, names)
        return Part(owners, class_weight, values)


class _Once:
    """A value that several threads want and the first of them makes."""

    def __init__(self, make: Callable[[], Targets]) -> None:
        self._make, self._lock, self._made = make, Lock(), list[Targets]()

    def __call__(self) -> Targets:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]


def raise_not_finite(columns: Sequence[NDArray[Any]], names: Sequence[str], start: int) -> None:
    """Say which cell is infinite, or that some are too large for a variance."""
    for name, column in zip(names, columns, strict=False):
        infinite = np.isinf(column)
        if infinite.any():
            advice = "Naive Bayes needs finite numbers; NaN is allowed and means missing."
            at = start + int(np.argmax(infinite))
            raise RowError(at, f"column {name!r} holds infinity", advice)
    sizes = [np.max(np.abs(np.nan_to_num(column)), initial=0.0) for column in columns]
    raise NaivelyError(
        f"column {names[int(np.argmax(sizes))]!r} holds numbers so large that their variance "
        f"exceeds every float64, such as {max(sizes):g}. Rescale it."
    )


def raise_too_large(
    values: NDArray[np.float64], classes: NDArray[Any], names: Sequence[str]
) -> None:
    """Say in which class and column the cells are finite, and their squares are not."""
    k, j = np.argwhere(~np.isfinite(values).all(axis=0))[0]
    raise NaivelyError(
        f"column {names[j]!r} holds numbers so large in class {classes[k].item()!r} that their "
        "variance exceeds every float64. Rescale it, or the weights."
    )
