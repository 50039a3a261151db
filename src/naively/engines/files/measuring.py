"""Pieces whose rows are measured whole: moments, categories, histograms, and a sample of rows.

A row's hash reads all of its columns, so a piece is the work of one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from naively.engines.files.mixing import columns_of, mixed_rows
from naively.engines.files.pieces import Piece, combined
from naively.engines.files.work import Stopped, Work, raise_not_finite
from naively.exceptions import NaivelyError
from naively.measure import measure
from naively.rows import Targets
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["MixedWork"]


@dataclass(frozen=True)
class MixedWork(Work):
    """How pieces of a file become summaries of any columns.

    Attributes
    ----------
    bound : callable
        It tells above which hash rows are no longer wanted in the sample of the whole pass.
    """

    bound: Callable[[], int]

    def tasks(self, piece: Piece) -> Sequence[Callable[[], Any]]:
        """Return the one thing to do."""
        return [partial(self._measured, piece)]

    def joined(self, parts: Sequence[Any]) -> tuple[Summary, int]:
        """Return the summary of a piece, and how many rows it has."""
        summary, rows = parts[0]
        return summary, rows

    def summaries(self, piece: Piece) -> Iterator[tuple[Summary, int]]:
        """Yield the summary of one batch of rows after the other, and its number of rows."""
        owners, batches = self._rows(piece)
        at, bound = 0, self.bound()
        for batch in batches:
            if self.stop.is_set():
                raise Stopped
            summary = self._measure(batch, owners, at, bound)
            yield summary, batch.num_rows
            at += batch.num_rows
            if summary.sample is not None:
                bound = min(bound, summary.sample.bound)

    # --- inside -------------------------------------------------------------------------------

    def _measured(self, piece: Piece) -> tuple[Summary, int]:
        total, rows = Summary.zero(self.plan.schema), 0
        for summary, n in self.summaries(piece):
            total, rows = total + summary, rows + n
        return total, rows

    def _rows(self, piece: Piece) -> tuple[Targets, Any]:
        """Return whose the rows are, and batches of them; all at once if that costs the same."""
        features = self.plan.features
        if piece.width is None:
            batches = combined(self._batches(piece, [*self._keys(), *features]))
            return self._owners(batches), batches
        owners = self._owners(self._batches(piece, self._keys()))
        stored = [name for name in features if name not in self.constants]
        return owners, (piece.read_rows or piece.read)(stored or self._any_column())

    def _measure(self, batch: Any, owners: Targets, at: int, bound: int) -> Summary:
        classes, codes, given = owners
        schema = self._decided(batch)
        gone = {self.plan.features[j] for j in schema.undecided}
        names = [name for name in self.plan.features if name not in gone]
        forms = {name: self.plan.categories.get(name) for name in names}
        table, rows = mixed_rows(batch, forms, self.constants), slice(at, at + batch.num_rows)
        weights = None if given is None else given[rows]
        try:
            targets = Targets(classes, codes[rows], weights)
            return measure(table, targets, schema, n_jobs=1, bound=bound, untyped=self.is_text)
        except NaivelyError:
            columns = table.numbers[:]
            if any(np.isinf(column).any() for column in columns):
                raise_not_finite(columns, [n for n, form in forms.items() if form is None], at)
            raise

    def _decided(self, batch: Any) -> Schema:
        """Let cells decide: where types do not say what a column holds, it is read as numbers."""
        schema = self.plan.schema
        if not schema.undecided:
            return schema
        kinds = list(schema.kinds or ())
        for j in schema.undecided:
            (cells,) = columns_of(batch, [self.plan.features[j]], self.constants)
            kinds[j] = "undecided" if np.isnan(cells).all() else "number"
        return schema.decided(kinds)
