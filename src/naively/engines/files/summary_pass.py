"""The pass that summarizes files: summaries of pieces are added in the order of the rows.

The order of the sum is that of the files and of the rows in them, whatever the threads do and
wherever the pass was interrupted: the same bits always.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from naively import remote
from naively._optional import later
from naively.engines.files import checkpoint as checkpoints
from naively.engines.files.batch_sum import BatchSum
from naively.engines.files.cells import RowError, settled, typed
from naively.engines.files.checkpoint import PassState
from naively.engines.files.column_plan import FORMS, ColumnPlan
from naively.engines.files.first_rows import FirstRows
from naively.engines.files.piece_summary import PieceSummary, Regroup, Summarizer
from naively.engines.files.read_ahead import FilePass, FileStep, Progress, errors_in, pieces
from naively.engines.files.request import Request, SchemaFromFirstRows
from naively.engines.files.shared_counts import SharedCounts
from naively.engines.files.sources import BadFileError, are_text
from naively.exceptions import NaivelyError
from naively.hashed_texts import are_hashed_words
from naively.remote import shown
from naively.schema import Schema
from naively.statistics.sample import EVERYTHING
from naively.summary import Summary

__all__ = ["FIRST", "SECONDS", "SummaryPass"]

pa = later("pyarrow", "reading files", extra="files")

SECONDS = 3.0  # between two checkpoints
FIRST = 1 << 15  # rows that are looked at where they decide what is measured


class SummaryPass:
    """A pass over files that summarizes them, and how far it has come."""

    def __init__(
        self,
        first: FirstRows,
        request: Request,
        schema: Schema | SchemaFromFirstRows | None = None,
        *,
        plan: ColumnPlan | None = None,
        skip_bad_files: bool = False,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        regroup: Regroup | None = None,
    ) -> None:
        self.first, self.request, self.schema = first, request, schema
        self.regroup = regroup
        self.skip_bad_files, self.checkpoint, self.progress = skip_bad_files, checkpoint, progress
        self._saved_at = monotonic()
        resumed = self._resumed()
        self.plan = self._decided(self._checked(plan), resumed)
        self.state = resumed or PassState.beginning(self.plan.schema)
        # Where the state need not be whole after each piece, the sum is made beside it.
        apart = checkpoint is not None or skip_bad_files
        self._sum = None if apart else BatchSum(self.plan.schema)
        if not _agree(self.state.summary.schema, self.plan.schema):
            raise NaivelyError(
                f"the checkpoint {str(checkpoint)!r} is of other columns. Remove it to start again."
            )

    def run(self, n_jobs: int | None) -> PassState:
        """Read everything, from the checkpoint on if there is one."""
        state, files = self.state, self.first.files
        start = len(state.finished)
        goes_on = start < len(files) and state.current == files[start].identity
        position = state.position if goes_on else None
        try:
            with FilePass(self.first, n_jobs) as passing:
                passing.skipped |= {name for name, _ in state.bad}
                counts = self._shared_counts(passing.threads)
                how = self._bound, counts, self.regroup
                summarizer = Summarizer(self.plan, passing.stop, *how)
                for step in passing.steps(summarizer, start, position):
                    self._take(step, summarizer, passing)
            self._finish(counts)
        finally:
            self._save()
        return self.state

    # --- before: what to read, and from where -------------------------------------------------

    def _resumed(self) -> PassState | None:
        if self.checkpoint is None:
            return None
        if any(file.size is None for file in self.first.files):
            raise NaivelyError("a checkpoint needs files, which can be read again; got a stream.")
        if remote.is_remote(self.checkpoint):
            raise NaivelyError(
                f"a checkpoint must be a file of this machine; got {shown(self.checkpoint)!r}."
            )
        if not Path(self.checkpoint).exists():
            return None
        state = checkpoints.load(self.checkpoint, self._asked())
        return state.resumed(self.first.files, str(self.checkpoint))

    def _asked(self) -> dict[str, Any]:
        """Return what must be the same when a pass goes on, as JSON knows it."""
        return json.loads(json.dumps(asdict(self.request) | asdict(self.first.dialect)))

    def _checked(self, plan: ColumnPlan | None) -> ColumnPlan:
        """Choose the columns, if the caller has not."""
        if plan is None:
            self._check_first_files()
            fixed = self.schema if isinstance(self.schema, Schema) else None
            plan = ColumnPlan.of(self.first, self.request, fixed)
        self._check_first_files()  # more of them may have been looked at
        plan.check_some(self.first.where)
        return plan

    def _check_first_files(self) -> None:
        if not self.skip_bad_files:
            self.first.check_sound()

    def _decided(self, plan: ColumnPlan, resumed: PassState | None) -> ColumnPlan:
        """Return what is measured: if it depends on the first rows, they are measured before."""
        if not isinstance(self.schema, SchemaFromFirstRows) or self.schema.complete is None:
            return plan
        sampling = replace(plan, schema=replace(plan.schema, sample=self.schema.sample))
        first = self._summary_of_first_rows(sampling)
        text = are_text(self.first.files, self.request.target)
        decided = self.schema.complete(typed(first, None) if text else settled(first))
        before = None if resumed is None else resumed.summary.schema
        if before is not None and (before.edges is None) == (decided.edges is None):
            # Its edges may be of rows that have been skipped since.
            before = before.decided(decided.held, decided)
            decided = replace(decided, edges=before.edges, knots=before.knots)
        found = zip(first.schema.categories, first.categories, strict=True)
        forms = {plan.features[j]: FORMS.get(names.dtype.kind, "str") for j, names in found}
        return replace(plan, schema=decided, categories=forms | plan.categories)

    def _summary_of_first_rows(self, plan: ColumnPlan) -> Summary:
        """Summarize the first rows. Whatever is wrong with a file, the pass itself will say."""
        summarizer = Summarizer(plan, Event(), lambda: EVERYTHING)
        total, rows = Summary.zero(plan.schema), 0
        for file in self.first.files if plan.schema.sample else []:
            its = Summary.zero(plan.schema)
            try:
                for piece in pieces(self.first, file, plan, {}, again=True):
                    for summary, n in summarizer.summaries(*piece):
                        its, rows = its + summary, rows + n
                        if rows >= FIRST:
                            return total + its
                total = total + its
            except (NaivelyError, RowError, OSError, UnicodeDecodeError, pa.ArrowException):
                if not self.skip_bad_files:
                    break
        return total

    # --- in turn ------------------------------------------------------------------------------

    def _take(self, step: FileStep, summarizer: Summarizer, passing: FilePass) -> None:
        """Add the result of a step; skip its file, if that is bad and may be skipped."""
        file = step.file
        if file.name not in passing.skipped:
            try:
                with errors_in(step, self.state.rows - self.state.rows_before):
                    self._add(step, summarizer)
            except BadFileError as error:
                if not self.skip_bad_files:
                    raise
                self.state = self.state.skipped(file, error.reason)
                passing.skipped.add(file.name)
        if self.progress is not None:
            self.progress(self.state.rows, step.bytes, self.first.n_bytes)
        if monotonic() - self._saved_at > SECONDS:
            self._save()

    def _add(self, step: FileStep, summarizer: Summarizer) -> None:
        if step.piece is None:
            self.state = self.state.ended(step.file)
            return
        found: PieceSummary = summarizer.joined([result.result() for result in step.results])
        if self._sum is None:
            self.state = self.state.added(*found, step.file, step.piece.after)
            return
        self._sum.add(found.summary)
        self.state = replace(self.state, rows=self.state.rows + found.n_rows)

    def _finish(self, counts: SharedCounts | None) -> None:
        """Put together what was added outside the state."""
        total = self.state.summary
        if self._sum is not None:
            total = total + self._sum.total()
        if counts is not None:
            total = total + counts.summary()
        self.state = replace(self.state, summary=total)

    def _shared_counts(self, threads: int) -> SharedCounts | None:
        """Return where threads count hashed words, if it does not matter of which piece they are.

        Sums of weights depend on their order.
        """
        if self._sum is None or self.request.weight or not are_hashed_words(self.plan.schema):
            return None
        return SharedCounts(self.plan.schema, threads)

    def _bound(self) -> int:
        """Return the hash below which rows may still come into the sample of the whole pass.

        The rows of the current file are ignored: it may still be skipped.
        """
        if self._sum is not None:
            return self._sum.bound
        sample = (self.state.before if self.skip_bad_files else self.state.summary).sample
        return EVERYTHING if sample is None else sample.bound

    def _save(self) -> None:
        if self.checkpoint is not None:
            checkpoints.save(self.checkpoint, self.state, self._asked())
        self._saved_at = monotonic()


def _agree(before: Schema, now: Schema) -> bool:
    """Whether a pass goes on: with the same schema, but for what was decided on the way."""
    try:
        before.united(now)
    except NaivelyError:
        return False
    return True
