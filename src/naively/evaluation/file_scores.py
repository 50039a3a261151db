"""The second pass over files that are judged: each row is scored by the model of its fold.

All rows are added up, and a random sample of them is kept: as many as memory allows, in the order
of the files. Each row has a key that its place among the files gives, as if drawn at random, and
the rows of the least keys are kept: which ones does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import quoted
from naively.data.rows import Rows
from naively.engines.files.cells import raise_not_finite, rows_of, text_hashes
from naively.engines.files.file_pass import FilePass, Progress, StoppedError, errors_in
from naively.engines.files.labelled_rows import columns_in
from naively.engines.files.piece_summary import Summarizer
from naively.engines.files.plan import ColumnPlan
from naively.engines.files.readers import FirstRows, OpenFile
from naively.engines.files.sources import FilePiece
from naively.errors import NaivelyError
from naively.evaluation.answers import Answers, judge_rows
from naively.evaluation.folds import ContentFolds, content_hashes, mixed
from naively.evaluation.inputs import Truth
from naively.evaluation.judgement import Judgement
from naively.evaluation.totals import ScoreBins, TotalJudgement, Totals
from naively.model.model import Model
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary


@dataclass(frozen=True)
class FoldModels:
    """What judges rows.

    Attributes
    ----------
    plan : ColumnPlan
        The columns to read.
    summary : Summary
        Its columns and words are those that the models know.
    classes : ndarray of shape (n_classes,)
        All classes.
    place_of : mapping
        The place of each label, as files hold it, among the classes.
    folds : ContentFolds
        Which fold a row is in.
    models : sequence of Model
        One for each fold.
    costs : array-like or None
        What mistakes cost, where answers are not the most probable classes.
    """

    plan: ColumnPlan
    summary: Summary
    classes: NDArray[Any]
    place_of: Mapping[Any, int]
    folds: ContentFolds
    models: Sequence[Model]
    costs: Any = None

    @property
    def n_parts(self) -> int:
        """How many parts of the rows are judged apart: test and training rows, or all together."""
        return 1 if self.folds.test_share is None else 2


class ScoredRows:
    """The totals of judged rows, and a sample of them; threads share the bins of scores."""

    def __init__(self, size: int, scores: ScoreBins) -> None:
        self.totals: Totals | None = None
        self.scores, self.kept = scores, RowSample(size)

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return 0 if self.totals is None else self.totals.n_rows

    def judgement(self, n_classes: int) -> Judgement:
        """Return the rows: all of them, or their totals and a sample of them."""
        truth, answers = self.kept.truth(), self.kept.answers()
        assert self.totals is not None
        if truth.size == self.totals.n_rows:
            return Judgement.of(truth, answers, n_classes)
        return TotalJudgement.of(truth, answers, n_classes, totals=self.totals, scores=self.scores)

    def add(self, rows: KeptRows, fold: NDArray[np.int32], n_folds: int, bound: int) -> None:
        """Add up rows, and keep some: of keys up to a bound."""
        assert rows.answers.probabilities is not None
        n_classes = rows.answers.probabilities.shape[1]
        self._add(Totals.of(Judgement.of(rows.truth, rows.answers, n_classes), fold, n_folds))
        self.scores.add(rows.truth, rows.answers.probabilities)
        self.kept.add(rows[np.flatnonzero(rows.keys <= np.uint64(bound))])

    def absorb(self, later: ScoredRows, start: int) -> None:
        """Add the rows that come next, before which so many came; they share the bins."""
        if later.totals is not None:
            self._add(later.totals)
        for part in later.kept.parts():
            self.kept.add(replace(part, at=part.at + start))

    def _add(self, totals: Totals) -> None:
        self.totals = totals if self.totals is None else self.totals + totals


def score_files(
    first: FirstRows,
    judges: FoldModels,
    most: int,
    *,
    visit: Callable[[Rows], None] | None = None,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> list[ScoredRows]:
    """Judge all rows; keep so many of each part.

    If there is somebody to visit all rows, in threads, rows are kept with their cells.
    """
    parts = [ScoredRows(most, ScoreBins(judges.classes.size)) for _ in range(judges.n_parts)]
    rows, before = 0, 0  # in all; of the files before this one
    with FilePass(first, n_jobs) as passing:
        reader = Summarizer(judges.plan, passing.stop, lambda: EVERYTHING)
        for step in passing.steps(_Scorer(judges, reader, parts, visit, count())):
            with errors_in(step, rows - before):
                results = [result.result() for result in step.results]
            for found in results:
                for part, more in zip(parts, found, strict=True):
                    part.absorb(more, rows)
                rows = sum(part.n_rows for part in parts)
            before = rows if step.piece is None else before
            if progress is not None:
                progress(rows, step.bytes, first.n_bytes)
    return parts


@dataclass(frozen=True)
class _Scorer:
    """How the pieces of files are judged; a user of rows."""

    judges: FoldModels
    reader: Summarizer
    parts: Sequence[ScoredRows]  # of the whole pass
    visit: Callable[[Rows], None] | None
    numbers: count[int]

    @property
    def plan(self) -> ColumnPlan:
        """The columns to read."""
        return self.judges.plan

    def tasks(self, opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Callable[[], Any]]]:
        """Yield the one task of a piece."""
        yield [partial(self._judged, opened, piece, next(self.numbers))]

    def _judged(self, opened: OpenFile, piece: FilePiece, number: int) -> list[ScoredRows]:
        """Judge the rows of a piece, batch by batch."""
        found = [ScoredRows(part.kept.size, part.scores) for part in self.parts]
        targets, batches = self.reader.rows(opened, piece)
        places, start = self._places(targets.classes), 0
        for batch in batches:
            if self.reader.stop.is_set():
                raise StoppedError
            n_rows = batch.num_rows
            if n_rows:
                codes = places[targets.codes[start : start + n_rows]]
                self._add(opened, batch, codes, keys_of(number, start, n_rows), start, found)
            start += n_rows
        return found

    def _add(
        self,
        opened: OpenFile,
        batch: Any,
        codes: NDArray[np.int32],
        keys: NDArray[np.uint64],
        start: int,
        found: list[ScoredRows],
    ) -> None:
        """Judge a batch that begins at some row of its piece."""
        judges = self.judges
        rows = self._rows(opened, batch, start)
        numbers = judges.plan.always_numbers(judges.summary.schema)
        fold = np.zeros(codes.size, np.int32)
        if judges.folds.n_folds > 1:
            fold = judges.folds.of(content_hashes(rows, numbers))
        truth = Truth(judges.classes, codes)
        answers = judge_rows(rows, truth, fold, judges.models, judges.costs, n_jobs=1)
        cells = {}
        if self.visit is not None:
            self.visit(rows)
            cells = columns_in(judges.plan, batch, opened)
        judged = KeptRows(keys, start + np.arange(codes.size), codes, answers, cells)
        for i, (part, whole) in enumerate(zip(found, self.parts, strict=True)):
            at = np.flatnonzero(fold == i) if len(found) > 1 else np.arange(fold.size)
            its = judged[at] if len(found) > 1 else judged
            if at.size:
                part.add(its, fold[at], judges.folds.n_folds, whole.kept.bound)

    def _rows(self, opened: OpenFile, batch: Any, start: int) -> Rows:
        """Return the rows of a batch as models read them, and with the hashes of texts."""
        plan, summary = self.judges.plan, self.judges.summary
        gone = {plan.features[j] for j in summary.schema.undecided}
        forms = plan.forms([name for name in plan.features if name not in gone])
        rows = rows_of(batch, forms, opened.constants, summary.schema, summary.words)
        columns = rows.numbers[:]
        if any(np.isinf(column).any() for column in columns):
            raise_not_finite(columns, [n for n, form in forms.items() if form is None], start)
        if rows.texts is None:
            return rows
        hashes = text_hashes(batch, forms, opened.constants, summary.schema)
        return replace(rows, texts=replace(rows.texts, hashes=hashes))

    def _places(self, classes: NDArray[Any]) -> NDArray[np.int32]:
        """Return the places of labels among all classes."""
        known = self.judges.place_of
        unknown = [label for label in classes.tolist() if label not in known]
        if unknown:
            raise NaivelyError(
                f"the labels must be classes that the model has learned "
                f"({quoted(self.judges.classes)}); got {unknown[0]!r} too. Leave such rows out."
            )
        return np.array([known[label] for label in classes.tolist()], dtype=np.int32)


# --- what is kept ----

_EVERY = 2**64 - 1
_FIRST = 5


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Some judged rows: keys, numbers, the codes of their true classes, answers, and cells."""

    keys: NDArray[np.uint64]
    at: NDArray[np.int64]  # the numbers of the rows, counted from the first of a piece or of all
    truth: NDArray[np.int32]
    answers: Answers
    cells: dict[str, Any]  # columns by name, where they are wanted

    def __getitem__(self, at: NDArray[Any]) -> KeptRows:
        """Return some of the rows."""
        answers = Answers(*(getattr(self.answers, one.name)[at] for one in fields(Answers)))
        cells = {name: column.take(at) for name, column in self.cells.items()}
        return KeptRows(self.keys[at], self.at[at], self.truth[at], answers, cells)


class RowSample:
    """The rows of the least keys of all that came."""

    def __init__(self, size: int) -> None:
        self.size, self.bound = size, _EVERY  # rows of keys above the bound are not wanted
        self._parts, self._rows = list[KeptRows](), 0

    def add(self, rows: KeptRows) -> None:
        """Add rows in the order of the files."""
        if rows.keys.size:
            self._parts.append(rows)
            self._rows += rows.keys.size
        if self._rows > 2 * self.size:
            self.parts()

    def parts(self) -> Sequence[KeptRows]:
        """Return the rows that are kept."""
        if self._rows > self.size:
            keys = np.concatenate([part.keys for part in self._parts])
            self.bound = int(np.partition(keys, self.size - 1)[self.size - 1])
            limit = np.uint64(self.bound)
            some = [part[np.flatnonzero(part.keys <= limit)] for part in self._parts]
            self._parts, self._rows = [part for part in some if part.keys.size], self.size
        return self._parts

    def at(self) -> NDArray[np.int64]:
        """Return the numbers of the rows among all."""
        return np.concatenate([np.empty(0, np.int64), *(part.at for part in self.parts())])

    def truth(self) -> NDArray[np.int32]:
        """Return the codes of the true classes."""
        return np.concatenate([np.empty(0, np.int32), *(part.truth for part in self.parts())])

    def answers(self) -> Answers:
        """Return the answers."""
        found = [part.answers for part in self.parts()]
        return Answers.joined(found, np.arange(self._rows))


def keys_of(piece: int, start: int, n_rows: int) -> NDArray[np.uint64]:
    """Return the keys of rows: of the piece of that number, from one of its rows on.

    The first rows of all are kept in any case: a report shows them.
    """
    at = np.arange(start, start + n_rows, dtype=np.uint64)
    keys = mixed(at, piece * 2**32)
    if piece == 0:
        keys[at < _FIRST] = at[at < _FIRST]
    return keys
