"""The rows of a piece become a summary.

Where moments are all that is measured, columns are independent, and several threads read some of
them each. Otherwise a piece is the task of one thread: a row's hash reads all of its columns.

Tables of hashed words that the threads of a pass share.

The sum of the summaries of batches, which are many and small beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from queue import Empty, LifoQueue
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.kinds import NUMBER, UNDECIDED
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.files.cells import Batch, number_columns, raise_not_finite
from naively.engines.files.plan import ColumnPlan, part_of
from naively.engines.files.readers import OpenFile
from naively.engines.files.sources import FilePiece, are_text
from naively.errors import NaivelyError
from naively.statistics import ClassWeight, Documents, Moments, Occurrences, Sample
from naively.statistics.axes import Axes
from naively.statistics.hashed_texts import HashedCounts, HashedTexts, are_hashed_words
from naively.statistics.measure import measure
from naively.statistics.sample import EVERYTHING
from naively.statistics.statistic import TooLargeError
from naively.statistics.summary import Summary
from naively.statistics.weights import check_weight

# It gives rows other classes by what they hold; it is told which columns of numbers always count.
Regroup = Callable[[Rows, Sequence[int], Targets], Targets]


class PieceSummary(NamedTuple):
    """The summary of some rows, and how many they are."""

    summary: Summary
    n_rows: int


class _ColumnSums(NamedTuple):
    """The sums of some columns of numbers."""

    targets: Targets
    class_weight: NDArray[np.float64]
    moments: NDArray[np.float64]


@dataclass(frozen=True)
class Summarizer:
    """How the pieces of files become summaries."""

    plan: ColumnPlan
    # it tells above which hash rows are no longer wanted in the sample of the whole pass
    bound: Callable[[], int]
    counts: SharedCounts | None = None  # where hashed words of the whole pass are counted
    regroup: Regroup | None = None  # what rows hold decides their classes, too

    def tasks(self, opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Callable[[], Any]]]:
        """Yield the tasks of a piece; `joined` puts their results together."""
        if piece.width is None or self.regroup is not None or not self.plan.is_of_numbers:
            yield [partial(self._all_columns, opened, piece)]
            return
        features, keys, width = self.plan.features, self.plan.keys, piece.width
        targets = cache(lambda: self.plan.targets(opened, list(opened.batches(piece, keys))))
        groups = [features[j : j + width] for j in range(0, len(features), width)]
        yield [partial(self._some_columns, opened, piece, targets, names) for names in groups]

    def joined(self, parts: Sequence[Any]) -> PieceSummary:
        """Return the summary of a piece from the results of its tasks."""
        if isinstance(parts[0], PieceSummary):
            return parts[0]
        targets, class_weight, moments = parts[0]
        if len(parts) > 1:
            moments = np.concatenate([part.moments for part in parts], axis=2)
        axes = Axes(targets.classes)
        found = ClassWeight(class_weight), Moments(np.ascontiguousarray(moments))
        summary = Summary.of(self.plan.schema, axes, *found)
        return PieceSummary(
            summary.ordered(empty_classes=targets.weights is None), targets.codes.size
        )

    def summaries(self, opened: OpenFile, piece: FilePiece) -> Iterator[PieceSummary]:
        """Yield the summary of one batch of rows after the other, without words."""
        for batch, targets, at in self.plan.rows(opened, piece):
            summary = self._measured(opened, batch, targets, at, self.bound(), "none")
            yield PieceSummary(summary, batch.num_rows)

    # --- all columns of a piece ---------------------------------------------------------------

    def _all_columns(self, opened: OpenFile, piece: FilePiece) -> PieceSummary:
        schema = self.plan.schema
        counts: HashedCounts | SharedCounts | None = self.counts
        is_large = piece.width is not None  # so that a table of its own is small beside it
        if (
            counts is None
            and is_large
            and not self.plan.request.weight
            and are_hashed_words(schema)
        ):
            counts = HashedCounts(schema)
        total, rows, bound = BatchSum(schema), 0, self.bound()
        for batch, targets, at in self.plan.rows(opened, piece):
            bound = min(bound, total.bound)
            total.add(self._measured(opened, batch, targets, at, bound, counts or "rows"))
            rows += batch.num_rows
        if counts is None or counts is self.counts:
            return PieceSummary(total.total(), rows)
        return PieceSummary(total.total() + counts.summary(), rows)

    def _measured(
        self,
        opened: OpenFile,
        batch: Batch,
        targets: Targets,
        at: int,
        bound: int,
        counts: HashedCounts | SharedCounts | Literal["rows", "none"],
    ) -> Summary:
        """Summarize a batch; words are added to the counts, or not counted at all."""
        schema = self._decided(batch)
        counting = counts if isinstance(counts, str) else "elsewhere"
        rows = self.plan.table(batch, schema, counting=counting)
        if self.regroup is not None:
            targets = self.regroup(rows, self.plan.always_numbers(schema), targets)
        how: dict[str, Any] = {"untyped": are_text([opened.file], self.plan.request.target)}
        if not isinstance(counts, str):
            assert isinstance(rows.texts, HashedTexts)
            counts.add(rows.texts, targets)
            how["without"] = (Occurrences, Documents)
        try:
            return measure(rows, targets, schema, n_jobs=1, bound=bound, **how)
        except NaivelyError:
            self.plan.check_finite(rows, schema, at)
            raise

    def _decided(self, batch: Batch) -> Schema:
        """Let cells decide: where types do not say what a column holds, it is read as numbers."""
        schema = self.plan.schema
        if not schema.undecided:
            return schema
        kinds = list(schema.kinds or ())
        for j in schema.undecided:
            (cells,) = number_columns(batch, [self.plan.features[j]])
            kinds[j] = UNDECIDED if np.isnan(cells).all() else NUMBER
        return schema.decided(kinds)

    # --- some columns of a piece --------------------------------------------------------------

    def _some_columns(
        self,
        opened: OpenFile,
        piece: FilePiece,
        targets_of_all: Callable[[], Targets],
        names: Sequence[str],
    ) -> _ColumnSums:
        targets, at = targets_of_all(), 0
        n_classes = targets.classes.size
        class_weight, moments = np.zeros(n_classes), np.zeros((4, n_classes, len(names)))
        for batch in opened.batches(piece, names):
            columns = number_columns(batch, names)
            _, codes, weights = part_of(targets, at, batch.num_rows)
            if not _kernel.summarize(columns, codes, weights, class_weight, moments):
                raise_not_finite(columns, names, at)
            at += batch.num_rows
        check_weight(class_weight)
        if not np.isfinite(moments).all():
            k, j = np.argwhere(~np.isfinite(moments).all(axis=0))[0]
            raise NaivelyError(
                f"column {names[j]!r} holds numbers so large in class "
                f"{targets.classes.item(k)!r} that their variance exceeds the range of float64. "
                "Rescale it, or the weights."
            )
        return _ColumnSums(targets, class_weight, moments)


# --- Tables of hashed words that the threads of a pass share ------------------------------------


_MAX_TABLE_BYTES = 1 << 29  # of all tables, but one of them there must be


class SharedCounts:
    """Counts that several threads add to: as many tables as there are threads, or as memory allows.

    Sums of whole numbers are exact: which thread counts which rows does not change a bit.
    """

    def __init__(self, schema: Schema, threads: int) -> None:
        self._schema, self._made = schema, list[HashedCounts]()
        self._free: LifoQueue[HashedCounts] = LifoQueue()
        self._room, self._lock = threads, Lock()

    def add(self, rows: HashedTexts, targets: Targets) -> None:
        """Count the words of rows that have no weights, in a table that nobody else uses."""
        counts = self._table(targets.classes.size)
        try:
            counts.add(rows, targets)
        finally:
            self._free.put(counts)

    def _table(self, n_classes: int) -> HashedCounts:
        with self._lock:
            try:
                return self._free.get_nowait()
            except Empty:
                size = 8 * n_classes * sum(one.hashed or 0 for one in self._schema.options)
                if len(self._made) < max(1, min(self._room, _MAX_TABLE_BYTES // max(1, size))):
                    self._made.append(HashedCounts(self._schema))
                    return self._made[-1]
        return self._free.get()

    def summary(self) -> Summary:
        """Return the sum of all; they are given up."""
        total = self._made.pop() if self._made else HashedCounts(self._schema)
        while self._made:
            total.absorb(self._made.pop())
        return total.summary()


# --- The sum of the summaries of batches, which are many and small beside it --------------------


class BatchSum:
    """A sum that is made in the memory of its own; sampled rows wait until they are many.

    Law: the total is that of ``+``.
    """

    def __init__(self, schema: Schema) -> None:
        self._sum: Summary | None = None
        self._zero = Summary.zero(schema)
        self._waiting: list[Sample] = []

    @property
    def bound(self) -> int:
        """The hash above which no row comes into the sample any more."""
        sample = None if self._sum is None else self._sum.sample
        return EVERYTHING if sample is None else sample.bound

    def add(self, summary: Summary) -> None:
        """Add a batch."""
        if self._sum is None:
            self._sum = summary
            return
        sample = summary.sample
        if sample is None or summary.axes != self._sum.axes or summary.schema != self._sum.schema:
            self._sum = absorbed(self.total(), summary)
            return
        nothing = Sample.zero(*Sample.shape(summary.schema, summary.axes))
        self._sum = absorbed(self._sum, summary.with_statistic(nothing))
        self._waiting.append(sample)
        if 2 * sum(map(len, self._waiting)) > sample.size:
            self.total()

    def total(self) -> Summary:
        """Return the sum so far, which is given up when more is added."""
        if self._sum is None:
            return self._zero
        if self._waiting and self._sum.sample is not None:
            self._sum = self._sum.with_statistic(Sample.sum([self._sum.sample, *self._waiting]))
            self._waiting.clear()
        return self._sum


def absorbed(total: Summary, more: Summary) -> Summary:
    """Return the sum, in the memory of the total where nothing moves; that is given up."""
    if total.schema != more.schema or total.axes != more.axes:
        return total + more
    try:
        pairs = [(mine, more.statistics[kind]) for kind, mine in total.statistics.items()]
        return Summary.of(total.schema, total.axes, *(mine.absorbed(its) for mine, its in pairs))
    except TooLargeError:
        return total + more  # which says what is too large
