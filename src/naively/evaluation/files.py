"""Judge a model on files of any size: two passes, and memory that does not grow with the rows.

The first pass measures all folds, as one summary; the second scores each row by the model of its
fold. All rows are added up, and a random sample of them is kept: as many as memory allows, in the
order of the files. Each row has a key that its place among the files gives, as if drawn at random,
and the rows of the least keys are kept: which ones does not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from math import ceil
from numbers import Integral
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.files.cells import (
    Batch,
    columns_in,
    settled,
    text_hashes,
    typed_labels,
)
from naively.engines.files.csv import CsvDialect
from naively.engines.files.file_pass import FilePass, Progress
from naively.engines.files.plan import (
    LABEL_TYPES,
    ColumnPlan,
    Request,
    SchemaFromFirstRows,
    types_of,
)
from naively.engines.files.readers import FirstRows, OpenFile
from naively.engines.files.sources import FilePiece, are_text
from naively.engines.files.summary_pass import SummaryPass
from naively.errors import NaivelyError
from naively.estimators.categorical import CategoricalNB
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.loading import ESTIMATORS
from naively.estimators.state import snapshot
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.folds import (
    ContentFolds,
    FoldSummaries,
    content_hashes,
    judge_rows,
    mixed,
    without_labels,
)
from naively.evaluation.inputs import FOLDS, Truth
from naively.evaluation.judgement import Judgement, ScoreBins, TotalJudgement, Totals
from naively.model.model import Model
from naively.statistics.summary import Summary

KEPT = 100_000  # judged rows that are kept, at most
MIN_KEPT = 1000
_MAX_NUMBERS = 1 << 24  # that kept rows may hold
_TEXT_NUMBERS = 512  # numbers that take as much memory as a text


# --- what is judged -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FilesToJudge:
    """Files, which of their columns are read, and the model that is judged on them."""

    first: FirstRows
    plan: ColumnPlan
    schema: SchemaFromFirstRows
    model_of: Callable[[Any], SummaryClassifier]  # by the classes, which a pass finds
    label_type: str | None = None
    # shows the progress of a pass, by its name
    watch: Callable[[str], AbstractContextManager[Progress | None]] = lambda _name: nullcontext()
    n_jobs: int | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        source: Any,
        target: str,
        *,
        as_it_is: bool = False,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        skip_columns: bool = False,
        drop_missing_target: bool = False,
        label_type: str | None = None,
        types: Mapping[str, str] | None = None,
        missing: Sequence[str] = (),
        progress: Progress | None = None,
        n_jobs: int | None = None,
        **dialect: str,
    ) -> FilesToJudge:
        """Look at the files, and check the model, which may be judged as it is fitted."""
        _check_own(model)
        first = FirstRows.of(source, CsvDialect(missing=tuple(missing), **dialect))
        first.check_sound()
        fixed: Schema | None = None
        schema, how = model.files_schema(), dict[str, Any](drop_missing_target=drop_missing_target)
        if as_it_is:
            fixed, types, skip_columns = model.summary_.schema, types_of(model.summary_), True
        else:
            how |= {"columns": columns, "exclude": exclude}
        how |= {"types": types, "skip_columns": skip_columns}
        plan = ColumnPlan.of(first, Request.of(target, fixed or schema, **how), fixed)
        return cls(
            first=first,
            plan=plan,
            schema=schema,
            model_of=lambda _classes: model,
            label_type=label_type,
            watch=lambda _name: nullcontext(progress),
            n_jobs=n_jobs,
        )


def _check_own(model: Any) -> None:
    """Raise where no model of this class can be read off a summary of files."""
    if type(model) not in ESTIMATORS.values():
        raise NaivelyError(
            f"only naively's own models ({', '.join(ESTIMATORS)}) can be evaluated on files; got "
            f"{type(model).__name__}. Read the rows into memory for others."
        )
    if isinstance(model, CategoricalNB):
        raise NaivelyError(
            "CategoricalNB reads codes in memory. For files, use NaiveBayes with "
            'families={"column": "categorical"} where a column holds numbers.'
        )


class JudgedFiles(NamedTuple):
    """What two passes over files have found: summaries of the folds, and the judged rows."""

    evaluation: Evaluation
    measured: MeasuredFiles
    scored: ScoredRows


def evaluate_files(
    model: Any,
    source: Any,
    target: str,
    *,
    folds: Any = None,
    test_size: float | None = None,
    random_state: Any = None,
    **options: Any,
) -> Evaluation:
    """Judge a model on files; `naively.evaluate` says how."""
    if folds is None and test_size is None:
        _check_own(model)
        if model.__sklearn_is_fitted__():
            model = snapshot(model)
            files = FilesToJudge.of(model, source, target, as_it_is=True, **options)
            return _as_it_is(model, files)
        folds = FOLDS
    files = FilesToJudge.of(model, source, target, **options)
    return judge_files(files, content_folds(folds, test_size, random_state)).evaluation


def content_folds(folds: Any, test_size: Any, seed: Any) -> ContentFolds | None:
    """Return how rows of files are held out; None where none are."""
    if not (seed is None or isinstance(seed, Integral)):
        raise NaivelyError(f"random_state of files must be a whole number; got {seed!r}.")
    seed = None if seed is None else int(seed)
    if test_size == 0 or (folds is None and test_size is None):
        return None
    if test_size is not None:
        if not isinstance(test_size, float) or not 0 < test_size < 1:
            raise NaivelyError(f"test_size of files must lie between 0 and 1; got {test_size!r}.")
        return ContentFolds(2, seed, float(test_size))
    if not isinstance(folds, Integral) or isinstance(folds, bool) or folds < 2:
        raise NaivelyError(
            f"folds of files must be a number, 2 or more; got {folds!r}. Read the rows into "
            "memory for other ways to hold rows out."
        )
    return ContentFolds(int(folds), seed)


def judge_files(
    files: FilesToJudge,
    folds: ContentFolds | None,
    *,
    sample: int = 0,
    visit: Callable[[Rows], None] | None = None,
) -> JudgedFiles:
    """Measure all folds in one pass, and judge each row by a model of the others in a second.

    Without folds, each row is judged by the model of all rows. Summaries keep at least so many rows
    in their sample. If there is somebody to visit all rows, judged rows are kept with their cells.
    """
    how = folds or ContentFolds(1)
    with files.watch("measuring") as progress:
        measured = measure_files(files, how, sample=sample, progress=progress)
    summaries, where = measured.folds, files.first.where
    rows = summaries.whole.class_weight.reshape(how.n_folds, -1).sum(axis=1)
    if np.count_nonzero(rows) < min(2, how.n_folds):
        raise NaivelyError(
            f"the content of a row decides its fold, and all {rows.sum():,.0f} rows are in one of "
            f"{how.n_folds} folds: there are too few that differ. Use leave-one-out, in memory."
        )
    model = files.model_of(summaries.classes)
    model.warn_of(summaries.whole, summaries.whole.schema)
    rests = iter([summaries.total()]) if folds is None else summaries.rests()
    if how.test_share is not None:  # one model judges the test rows, and its own
        rests = islice(rests, 1)
    models = summaries.models(model, rests)
    judges = FoldModels(
        plan=measured.plan,
        summary=summaries.whole,
        classes=summaries.classes,
        place_of=measured.place_of,
        folds=how,
        models=models if how.test_share is None else models * 2,
        costs=getattr(model, "costs", None),
        visit=visit,
    )
    with files.watch("scoring") as progress:
        parts = judges.score(files.first, progress=progress, n_jobs=files.n_jobs)
    scored, seen = sum(part.n_rows for part in parts), int(rows.sum())
    if scored != seen:
        raise NaivelyError(
            f"files are read twice, and the rows must be the same; got {seen:,} and then "
            f"{scored:,}{where}. A stream that can be read only once must become a file or "
            "a table."
        )
    return JudgedFiles(_evaluation(parts, judges, folds, type(model).__name__), measured, parts[0])


def _evaluation(
    parts: Sequence[ScoredRows], judges: FoldModels, folds: ContentFolds | None, model: str
) -> Evaluation:
    classes = judges.classes
    rows, *seen = (part.judgement() for part in parts)
    if folds is None:
        return Evaluation(classes, "the training rows", rows, model=model)
    if folds.test_share is not None:
        train = Evaluation(classes, "the training rows", seen[0])
        method = f"a test split of {100 * folds.test_share:g} % by content"
        return Evaluation(classes, method, rows, train=train, model=model)
    assert parts[0].totals is not None
    wrong, right = parts[0].totals.by_fold.T
    filled = wrong + right > 0
    accuracy = right[filled] / (wrong + right)[filled]
    return Evaluation(classes, f"{accuracy.size} folds by content", rows, accuracy, model=model)


def _as_it_is(model: Any, files: FilesToJudge) -> Evaluation:
    """Judge a fitted model on all rows."""
    summary: Summary = model.summary_
    judges = FoldModels(
        plan=files.plan,
        summary=summary,
        classes=summary.classes,
        place_of=_Places(summary.classes),
        folds=ContentFolds(1),
        models=[model.model_],
        costs=getattr(model, "costs", None),
    )
    with files.watch("scoring") as progress:
        (rows,) = judges.score(files.first, progress=progress, n_jobs=files.n_jobs)
    if not rows.n_rows:
        raise NaivelyError(
            f"there must be at least one row to evaluate{files.first.where}; got none."
        )
    name = type(model).__name__
    return Evaluation(summary.classes, "the given rows", rows.judgement(), model=name)


class _Places(dict[Any, int]):
    """The places of labels among a model's classes; those of CSV files are text."""

    def __init__(self, classes: NDArray[Any]) -> None:
        super().__init__({label: k for k, label in enumerate(classes.tolist())})
        self._kind = LABEL_TYPES[classes.dtype.kind]

    def __missing__(self, label: Any) -> int:
        """Return the place of what a text means as a label."""
        if self._kind == "str" or not isinstance(label, str):
            raise KeyError(label)
        try:
            return self[typed_labels(np.array([label]), self._kind).tolist()[0]]
        except (NaivelyError, KeyError):
            raise KeyError(label) from None


# --- the first pass -------------------------------------------------------------------------------

_SAMPLE_FACTOR = 1.1  # so many more rows are sampled, so that enough are outside of any fold
_FIRST_ROWS_FACTOR = 4  # as many are left where some of the first rows differ in labels alone


class MeasuredFiles(NamedTuple):
    """What the first pass has found."""

    plan: ColumnPlan  # the columns that were read, and how
    folds: FoldSummaries
    place_of: dict[Any, int]  # the place of each label, as files hold it, among the classes


def measure_files(
    files: FilesToJudge, folds: ContentFolds, *, sample: int = 0, progress: Progress | None = None
) -> MeasuredFiles:
    """Summarize files by folds, so that models like one of this schema can be read off them.

    Their sums keep at least so many rows in their samples.
    """
    first, request, schema = files.first, files.plan.request, files.schema
    size, targets = 0, FoldTargets(folds)

    def complete(seen: Summary) -> Schema:
        nonlocal size
        own = seen.schema
        if schema.complete is not None:
            # As if the first rows were of one class: labels must not decide what folds share.
            rows = seen.sample and without_labels(seen.sample).least(schema.sample)
            own = schema.complete(seen if rows is None else seen.with_statistic(rows))
        size = max(own.sample, sample)
        return replace(own, sample=ceil(_SAMPLE_FACTOR * size / folds.learned_share))

    larger = schema
    if sample or schema.complete is not None:
        larger = replace(schema, complete=complete, sample=_FIRST_ROWS_FACTOR * schema.sample)
    how: dict[str, Any] = {"plan": files.plan, "progress": progress, "regroup": targets.regroup}
    passing = SummaryPass(first, request, larger, **how)
    whole = passing.run(files.n_jobs).summary
    if are_text(first.files, request.target):
        texts = labels.text_array(targets.found)
        classes, places = labels.encode(typed_labels(texts, files.label_type))
    else:
        classes = targets.classes
        at = {label: k for k, label in enumerate(classes.tolist())}
        places = np.array([at[label] for label in targets.found], dtype=np.int32)
    if classes.size < 2:
        got = f"one, {classes.item(0)!r}" if classes.size else "no rows"
        raise NaivelyError(
            f"the target {request.target!r} must have at least two classes{first.where}; got {got}."
        )
    summaries = FoldSummaries(_by_place(whole, classes, places, folds.n_folds), classes, size)
    place_of = dict(zip(targets.found, places.tolist(), strict=True))
    return MeasuredFiles(passing.plan, summaries, place_of)


def _by_place(whole: Summary, classes: NDArray[Any], places: NDArray[Any], n_folds: int) -> Summary:
    """Return the summary with class k of fold f as number ``f * n_classes + k``: all are there."""
    number, fold = np.divmod(whole.classes, n_folds)
    relabelled = settled(whole.relabelled(fold * classes.size + places[number]))
    axes = replace(relabelled.axes, classes=np.arange(n_folds * classes.size))
    return Summary.of(relabelled.schema, axes) + relabelled


class FoldTargets:
    """Labels and folds as the classes of one pass: class k of fold f is ``k * n_folds + f``.

    Labels get their numbers as they come, since nobody knows all of them before the end.
    """

    def __init__(self, folds: ContentFolds) -> None:
        self.folds, self.classes = folds, np.array([], dtype=np.int64)
        self._numbers, self._lock = dict[Any, int](), Lock()

    @property
    def found(self) -> list[Any]:
        """The labels in the order of their numbers."""
        return list(self._numbers)

    def regroup(self, rows: Rows, numbers: Sequence[int], targets: Targets) -> Targets:
        """Return the classes of rows: those of their folds."""
        n, own = self.folds.n_folds, self._numbers_of(targets.classes)
        places = np.argsort(np.argsort(own)).astype(np.int32)
        fold = self.folds.of(content_hashes(rows, numbers))
        classes = (np.sort(own)[:, np.newaxis] * n + np.arange(n)).ravel()
        return Targets(classes, places[targets.codes] * np.int32(n) + fold, targets.weights)

    def _numbers_of(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        with self._lock:
            known, listed = self._numbers, classes.tolist()
            if not all(label in known for label in listed):
                self.classes = labels.union(self.classes, classes)
                for label in listed:
                    known.setdefault(label, len(known))
            return np.array([known[label] for label in listed], dtype=np.int64)


# --- the second pass ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FoldModels:
    """What judges rows of files: a model for each fold."""

    plan: ColumnPlan  # the columns to read
    summary: Summary  # whose columns and words are those that the models know
    classes: NDArray[Any]
    place_of: Mapping[Any, int]  # the place of each label, as files hold it, among the classes
    folds: ContentFolds
    models: Sequence[Model]
    costs: Any = None  # of mistakes, where answers are not the most probable classes
    # is shown all rows, in threads; then rows are kept with their cells
    visit: Callable[[Rows], None] | None = None

    def score(
        self, first: FirstRows, *, progress: Progress | None = None, n_jobs: int | None = None
    ) -> list[ScoredRows]:
        """Judge all rows: test and training rows apart, or all together."""
        n_parts = 1 if self.folds.test_share is None else 2
        parts = [ScoredRows(self._n_kept, ScoreBins(self.classes.size)) for _ in range(n_parts)]
        numbers = count()

        def tasks(opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Callable[[], Any]]]:
            yield [partial(judged, opened, piece, next(numbers))]

        def judged(opened: OpenFile, piece: FilePiece, number: int) -> list[ScoredRows]:
            """Judge the rows of a piece, batch by batch."""
            own = [ScoredRows(part.size, part.scores) for part in parts]
            for batch, targets, start in self.plan.rows(opened, piece):
                if not batch.num_rows:
                    continue
                codes = self._places(targets.classes)[targets.codes]
                keys = keys_of(number, start, codes.size)
                rows, fold = self._judged(batch, codes, keys, start)
                for i, (part, whole) in enumerate(zip(own, parts, strict=True)):
                    at = np.flatnonzero(fold == i) if n_parts > 1 else np.arange(fold.size)
                    if at.size:
                        mine = rows if at.size == fold.size else rows.some(at)
                        part.judge(mine, fold[at], self.folds.n_folds, whole.bound)
            return own

        with FilePass(first, n_jobs) as passing:
            for results in passing.results(self.plan, tasks, _n_rows, progress):
                for result in results:
                    n_rows = _n_rows(parts)
                    for part, more in zip(parts, result, strict=True):
                        part.absorb(more, n_rows)
        return parts

    @property
    def _n_kept(self) -> int:
        """How many rows are kept, so that they take bounded memory."""
        schema = self.summary.schema
        width = self.classes.size + 5
        if self.visit is not None:
            width += schema.n_columns + _TEXT_NUMBERS * len(schema.texts)
        return min(KEPT, max(MIN_KEPT, _MAX_NUMBERS // width))

    def _places(self, labels_of_files: NDArray[Any]) -> NDArray[np.int32]:
        """Return the places of labels among all classes."""
        try:
            return np.array([self.place_of[k] for k in labels_of_files.tolist()], dtype=np.int32)
        except KeyError as error:
            raise NaivelyError(
                f"the labels must be classes that the model has learned "
                f"({labels.quoted(self.classes)}); got {error.args[0]!r} too. Leave such rows out."
            ) from None

    def _judged(
        self, batch: Batch, codes: NDArray[np.int32], keys: NDArray[np.uint64], start: int
    ) -> tuple[KeptRows, NDArray[np.int32]]:
        """Judge a batch that begins at some row of its piece; also return the folds of its rows."""
        plan, rows = self.plan, self._rows(batch, start)
        fold = np.zeros(codes.size, np.int32)
        if self.folds.n_folds > 1:
            fold = self.folds.of(content_hashes(rows, plan.always_numbers(self.summary.schema)))
        truth = Truth(self.classes, codes)
        judged = judge_rows(rows, truth, fold, self.models, self.costs, n_jobs=1)
        cells = {}
        if self.visit is not None:
            self.visit(rows)
            cells = columns_in(plan.forms(plan.features), batch)
        return KeptRows(keys, start + np.arange(codes.size), judged, cells), fold

    def _rows(self, batch: Batch, start: int) -> Rows:
        """Return the rows of a batch as models read them, and with the hashes of texts."""
        plan, schema = self.plan, self.summary.schema
        rows = plan.table(batch, schema, self.summary.words)
        plan.check_finite(rows, schema, start)
        if rows.texts is None:
            return rows
        hashes = text_hashes(batch, plan.forms(plan.features), schema)
        return replace(rows, texts=replace(rows.texts, hashes=hashes))


def _n_rows(parts: Sequence[ScoredRows]) -> int:
    return sum(part.n_rows for part in parts)


# --- what is kept ---------------------------------------------------------------------------------

_LAST_KEY = 2**64 - 1
_FIRST_ROWS = 5


class KeptRows(NamedTuple):
    """Some judged rows: their keys, their numbers, what was answered, and their cells."""

    keys: NDArray[np.uint64]
    at: NDArray[np.int64]  # counted from the first row of a piece, or of all
    judged: Judgement
    cells: dict[str, Any]  # columns by name, where they are wanted

    def some(self, at: NDArray[Any]) -> KeptRows:
        """Return some of the rows."""
        cells = {name: column.take(at) for name, column in self.cells.items()}
        return KeptRows(self.keys[at], self.at[at], self.judged[at], cells)

    def up_to(self, bound: int) -> KeptRows:
        """Return the rows of keys up to a bound."""
        return self.some(np.flatnonzero(self.keys <= np.uint64(bound)))


class ScoredRows:
    """The totals of judged rows, and the rows of the least keys; threads share bins of scores."""

    def __init__(self, size: int, scores: ScoreBins) -> None:
        self.size, self.scores = size, scores
        self.totals: Totals | None = None
        self.bound = _LAST_KEY  # rows of keys above it are not wanted
        self._parts, self._n_kept = list[KeptRows](), 0

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return 0 if self.totals is None else self.totals.n_rows

    def judge(self, rows: KeptRows, fold: NDArray[np.int32], n_folds: int, bound: int) -> None:
        """Add up rows, and keep some: of keys up to a bound."""
        assert rows.judged.probabilities is not None
        self.scores.add(rows.judged.truth, rows.judged.probabilities)
        self._add(Totals.of(rows.judged, fold, n_folds), rows.up_to(bound))

    def absorb(self, later: ScoredRows, start: int) -> None:
        """Add the rows that come next, before which so many came; they share the bins."""
        if later.totals is not None:
            self._add(later.totals, *(p._replace(at=p.at + start) for p in later.parts()))

    def _add(self, totals: Totals, *kept: KeptRows) -> None:
        self.totals = totals if self.totals is None else self.totals + totals
        self._parts += kept
        self._n_kept += sum(part.keys.size for part in kept)
        if self._n_kept > 2 * self.size:
            self.parts()

    def parts(self) -> list[KeptRows]:
        """Return the rows that are kept, in the order of the files."""
        if self._n_kept > self.size:
            keys = np.concatenate([part.keys for part in self._parts])
            self.bound = int(np.partition(keys, self.size - 1)[self.size - 1])
            self._parts = [part.up_to(self.bound) for part in self._parts]
            self._n_kept = self.size
        return [part for part in self._parts if part.keys.size]

    def at(self) -> NDArray[np.int64]:
        """Return the numbers of the kept rows among all."""
        return np.concatenate([part.at for part in self.parts()])

    def kept(self) -> Judgement:
        """Return what was answered to the kept rows."""
        return Judgement.joined([part.judged for part in self.parts()])

    def judgement(self) -> Judgement:
        """Return the rows: all of them, or their totals and a sample of them."""
        kept, totals = self.kept(), self.totals
        assert totals is not None
        if kept.truth.size == totals.n_rows:
            return kept
        return TotalJudgement.of(kept, totals, self.scores)


def keys_of(piece: int, start: int, n_rows: int) -> NDArray[np.uint64]:
    """Return the keys of rows: of the piece of that number, from one of its rows on.

    The first rows of all are kept in any case: a report shows them.
    """
    at = np.arange(start, start + n_rows, dtype=np.uint64)
    keys = mixed(at, piece * 2**32)
    if piece == 0:
        keys[at < _FIRST_ROWS] = at[at < _FIRST_ROWS]
    return keys
