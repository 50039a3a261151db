"""The sum of the summaries of batches, which are many and small beside it."""

from __future__ import annotations

from naively.schema import Schema
from naively.statistics import Sample
from naively.statistics.sample import EVERYTHING
from naively.statistics.statistic import TooLargeError
from naively.summary import Summary

__all__ = ["BatchSum", "absorbed"]


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
