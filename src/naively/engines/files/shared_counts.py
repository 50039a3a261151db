"""Tables of hashed words that the threads of a pass share."""

from __future__ import annotations

from queue import Empty, LifoQueue
from threading import Lock

from naively.hashed_texts import HashedCounts, HashedTexts
from naively.rows import Targets
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["SharedCounts"]

_MOST_BYTES = 1 << 29  # of all tables, but one of them there must be


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
                if len(self._made) < max(1, min(self._room, _MOST_BYTES // max(1, size))):
                    self._made.append(HashedCounts(self._schema))
                    return self._made[-1]
        return self._free.get()

    def summary(self) -> Summary:
        """Return the sum of all; they are given up."""
        total = self._made.pop() if self._made else HashedCounts(self._schema)
        while self._made:
            total.absorb(self._made.pop())
        return total.summary()
