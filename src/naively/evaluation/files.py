"""Judge a model on files of any size: two passes, and memory that does not grow with the rows.

The first pass measures all folds, as one summary; the second scores each row by the model of its
fold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.files.cells import settled, typed_labels
from naively.engines.files.csv import CsvDialect
from naively.engines.files.file_pass import Progress
from naively.engines.files.plan import FORMS, ColumnPlan, Request, SchemaFromFirstRows, types_of
from naively.engines.files.readers import FirstRows
from naively.engines.files.sources import are_text
from naively.engines.files.summary_pass import SummaryPass
from naively.errors import NaivelyError
from naively.estimators.categorical import CategoricalNB
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.interface import schema_of_files, warn_of
from naively.estimators.loading import ESTIMATORS
from naively.estimators.naive_bayes import NaiveBayes
from naively.estimators.state import snapshot
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.file_scores import FoldModels, ScoredRows, score_files
from naively.evaluation.fold_summaries import FoldSummaries, read_models
from naively.evaluation.folds import ContentFolds, content_hashes
from naively.evaluation.inputs import check_classifier
from naively.statistics.summary import Summary

KEPT = 100_000  # judged rows that are kept, at most
FEWEST_KEPT = 1000
_NUMBERS = 1 << 24  # that kept rows may hold
_TEXT = 512  # numbers that take as much memory as a text


@dataclass(frozen=True)
class JudgedFiles:
    """What two passes over files have found.

    Attributes
    ----------
    evaluation : Evaluation
        How good the model is.
    measured : MeasuredFiles
        The summaries of the folds.
    scored : ScoredRows
        The judged rows.
    """

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
    how = content_folds(folds, test_size, random_state)
    given = FileInputs.of(model, source, target, **options)
    if how is None and given.model.__sklearn_is_fitted__():
        return _as_it_is(given, target)
    return judge_files(*given.measured, how, **given.passes).evaluation


def content_folds(folds: Any, test_size: Any, seed: Any) -> ContentFolds | None:
    """Return how rows of files are held out; None where none are."""
    if not (seed is None or isinstance(seed, Integral)):
        raise NaivelyError(f"random_state of files must be a whole number; got {seed!r}.")
    seed = None if seed is None else int(seed)
    if test_size is not None:
        if not isinstance(test_size, float) or not 0 < test_size < 1:
            raise NaivelyError(f"test_size of files must lie between 0 and 1; got {test_size!r}.")
        return ContentFolds(2, seed, float(test_size))
    if folds is None:
        return None
    if not isinstance(folds, Integral) or isinstance(folds, bool) or folds < 2:
        raise NaivelyError(
            f"folds of files must be a number, 2 or more; got {folds!r}. Read the rows into "
            "memory for other ways to hold rows out."
        )
    return ContentFolds(int(folds), seed)


def judge_files(
    first: FirstRows,
    request: Request,
    schema: SchemaFromFirstRows,
    model_of: Callable[[NDArray[Any]], SummaryClassifier],
    folds: ContentFolds | None,
    *,
    plan: ColumnPlan | None = None,
    label_type: str | None = None,
    watch: Watch = lambda _name: nullcontext(),
    n_jobs: int | None = None,
    sample: int = 0,
    visit: Callable[[Rows], None] | None = None,
) -> JudgedFiles:
    """Measure all folds in one pass, and judge each row by a model of the others in a second.

    The model depends on the classes, which the first pass finds. Without folds, each row is judged
    by the model of all rows. Summaries keep at least so many rows in their sample. If there is
    somebody to visit all rows, judged rows are kept with their cells.
    """
    how = folds or ContentFolds(1)
    with watch("measuring") as progress:
        asked: dict[str, Any] = {"plan": plan, "label_type": label_type, "n_jobs": n_jobs}
        asked |= {"sample": sample, "progress": progress}
        measured = measure_files(first, request, schema, how, **asked)
    _check_folds(measured.rows_of_folds, how)
    model, summaries = model_of(measured.folds.classes), measured.folds
    warn_of(model, summaries.whole)
    rests = iter([summaries.total()]) if folds is None else summaries.rests()
    if how.test_share is not None:
        rests = islice(rests, 1)
    models = read_models(model, rests, slow=summaries.size > 0)
    judges = FoldModels(
        measured.plan,
        summaries.whole,
        summaries.classes,
        measured.place_of,
        how,
        models * 2 if how.test_share is not None else models,
        getattr(model, "costs", None),
    )
    most = _most_rows(judges, cells=visit is not None)
    with watch("scoring") as progress:
        parts = score_files(first, judges, most, visit=visit, progress=progress, n_jobs=n_jobs)
    _check_same_rows(parts, measured, first)
    evaluation = _evaluation(parts, judges, folds, type(model).__name__)
    return JudgedFiles(evaluation, measured, parts[0])


# --- before ---------------------------------------------------------------------------------------


def _as_it_is(given: FileInputs, target: str) -> Evaluation:
    """Judge a fitted model on all rows."""
    model, first = snapshot(given.model), given.first
    summary: Summary = model.summary_
    asked: dict[str, Any] = {"drop_missing_target": given.request.drop_missing_target}
    asked |= {"types": types_of(summary), "skip_columns": True}
    request = Request.of(target, summary.schema, **asked)
    judges = FoldModels(
        ColumnPlan.of(first, request, summary.schema),
        summary,
        summary.classes,
        _Places(summary.classes),
        ContentFolds(1),
        [model.model_],
        getattr(model, "costs", None),
    )
    with given.passes["watch"]("scoring") as progress:
        how: dict[str, Any] = {"progress": progress, "n_jobs": given.passes["n_jobs"]}
        parts = score_files(first, judges, _most_rows(judges, cells=False), **how)
    if not parts[0].n_rows:
        raise NaivelyError(f"there must be at least one row to evaluate{first.where}; got none.")
    rows, name = parts[0].judgement(summary.classes.size), type(model).__name__
    return Evaluation(summary.classes, "the given rows", rows, model=name)


class _Places(dict[Any, int]):
    """The places of labels among a model's classes; those of CSV files are text."""

    def __init__(self, classes: NDArray[Any]) -> None:
        super().__init__({label: k for k, label in enumerate(classes.tolist())})
        self._kind = FORMS[classes.dtype.kind]

    def __contains__(self, label: object) -> bool:
        return super().__contains__(label) or self._read(label) is not None

    def __missing__(self, label: Any) -> int:
        return super().__getitem__(self._read(label))

    def _read(self, label: object) -> Any:
        """Return what a text means as a label, where it is one."""
        if self._kind == "str" or not isinstance(label, str):
            return None
        try:
            found = typed_labels(np.array([label]), self._kind).tolist()[0]
        except NaivelyError:
            return None
        return found if super().__contains__(found) else None


def _check_folds(rows: NDArray[np.float64], folds: ContentFolds) -> None:
    """Raise where no row can be held out, or none is left to learn from."""
    filled = int(np.count_nonzero(rows))
    if filled >= min(2, folds.n_folds):
        return
    raise NaivelyError(
        f"the content of a row decides its fold, and all {rows.sum():,.0f} rows are in one of "
        f"{folds.n_folds} folds: there are too few that differ. Use leave-one-out, in memory."
    )


def _most_rows(judges: FoldModels, *, cells: bool) -> int:
    """Return how many rows are kept, so that they take bounded memory."""
    schema = judges.summary.schema
    width = judges.classes.size + 5
    if cells:
        width += schema.n_columns + _TEXT * len(schema.texts)
    return min(KEPT, max(FEWEST_KEPT, _NUMBERS // width))


# --- after ----------------------------------------------------------------------------------------


def _check_same_rows(
    parts: Sequence[ScoredRows], measured: MeasuredFiles, first: FirstRows
) -> None:
    scored, seen = sum(part.n_rows for part in parts), int(measured.rows_of_folds.sum())
    if scored != seen:
        raise NaivelyError(
            f"files are read twice, and the rows must be the same; got {seen:,} and then "
            f"{scored:,}{first.where}. A stream that can be read only once must become a file or "
            "a table."
        )


def _evaluation(
    parts: Sequence[ScoredRows], judges: FoldModels, folds: ContentFolds | None, model: str
) -> Evaluation:
    classes = judges.classes
    rows, *seen = (part.judgement(classes.size) for part in parts)
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


# --- inputs ----

Watch = Callable[[str], AbstractContextManager[Progress | None]]  # of a pass, by its name


@dataclass(frozen=True)
class FileInputs:
    """What is judged, and how files are read.

    Attributes
    ----------
    model : SummaryClassifier
        The model, or the default one.
    first : FirstRows
        The files.
    request : Request
        The columns.
    passes : dict
        Options of the passes: ``label_type``, ``watch`` and ``n_jobs``.
    """

    model: SummaryClassifier
    first: FirstRows
    request: Request
    passes: dict[str, Any]

    @classmethod
    def of(
        cls,
        model: Any,
        source: Any,
        target: str,
        *,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        skip_columns: bool = False,
        drop_missing_target: bool = False,
        label_type: str | None = None,
        types: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        n_jobs: int | None = None,
        **dialect: Any,
    ) -> FileInputs:
        """Look at the files, and check the model; None is the default for their columns."""
        first = FirstRows.of(source, CsvDialect(**_plain(dialect)))
        first.check_sound()
        asked: dict[str, Any] = {"columns": columns, "exclude": exclude, "types": types}
        asked |= {"skip_columns": skip_columns, "drop_missing_target": drop_missing_target}
        model = _default(first, target, asked) if model is None else _checked(model)
        request = Request.of(target, schema_of_files(model), **asked)
        passes = {"label_type": label_type, "watch": lambda _: nullcontext(progress)}
        return cls(model, first, request, {**passes, "n_jobs": n_jobs})

    @property
    def measured(
        self,
    ) -> tuple[FirstRows, Request, SchemaFromFirstRows, Callable[[Any], SummaryClassifier]]:
        """What is measured, and the model whatever the classes are."""
        return self.first, self.request, schema_of_files(self.model), lambda _: self.model


def _plain(dialect: dict[str, Any]) -> dict[str, Any]:
    """Return how CSV is written; raise where an option is none of files."""
    known = "separator", "decimal", "missing", "encoding"
    unknown = [name for name in dialect if name not in known]
    if unknown:
        reason = "rows cannot be weighted" if unknown == ["weight"] else "there is no such option"
        raise NaivelyError(
            f"evaluate and report take no option {unknown[0]!r} for files: {reason}."
        )
    return {**dialect, "missing": tuple(dialect.get("missing", ()))}


def _default(first: FirstRows, target: str, asked: dict[str, Any]) -> SummaryClassifier:
    """Return `GaussianNB` where all columns hold numbers, else `NaiveBayes`."""
    schema = ColumnPlan.of(first, Request.of(target, SchemaFromFirstRows({}), **asked)).schema
    return NaiveBayes() if schema.categories or schema.texts else GaussianNB()


def _checked(model: Any) -> Any:
    check_classifier(model)
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
    return model


# --- the first pass ----

_MORE = 1.1  # times as many rows are sampled, so that enough are outside of any fold
_SPARE = 4  # times as many first rows, so that enough are left where some differ in labels alone


@dataclass(frozen=True)
class MeasuredFiles:
    """What the first pass has found.

    Attributes
    ----------
    plan : ColumnPlan
        The columns that were read, and how.
    folds : FoldSummaries
        The summaries of the folds.
    place_of : dict
        The place of each label, as files hold it, among the classes.
    """

    plan: ColumnPlan
    folds: FoldSummaries
    place_of: dict[Any, int]

    @property
    def rows_of_folds(self) -> NDArray[np.float64]:
        """How many rows each fold has."""
        by_class = self.folds.whole.class_weight.reshape(-1, self.folds.classes.size)
        return by_class.sum(axis=1)


def measure_files(
    first: FirstRows,
    request: Request,
    schema: SchemaFromFirstRows,
    folds: ContentFolds,
    *,
    plan: ColumnPlan | None = None,
    label_type: str | None = None,
    sample: int = 0,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> MeasuredFiles:
    """Summarize files by folds, so that models like one of this schema can be read off them.

    Their sums keep at least so many rows in their samples.
    """
    size, targets = 0, FoldTargets(folds)

    def complete(seen: Summary) -> Schema:
        nonlocal size
        seen, found = _without_labels(seen, schema.sample), seen.schema
        found = found if schema.complete is None else schema.complete(seen)
        size = max(found.sample, sample)
        return replace(found, sample=ceil(_MORE * size / folds.learned_share))

    larger = schema
    if sample or schema.complete is not None:
        larger = replace(schema, complete=complete, sample=_SPARE * schema.sample)
    how: dict[str, Any] = {"plan": plan, "progress": progress, "regroup": targets.regroup}
    passing = SummaryPass(first, request, larger, **how)
    whole = passing.run(n_jobs).summary
    found = np.array([], dtype=np.int64)
    if are_text(first.files, request.target):
        found = typed_labels(labels.text_array(targets.found), label_type)
        classes, places = labels.encode(found)
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


def _without_labels(first: Summary, size: int) -> Summary:
    """Return the first rows as if they were of one class: labels must not decide what folds share.

    Rows of the same cells and of several classes become one.
    """
    if first.sample is None:
        return first
    merged = replace(first.sample, codes=np.zeros_like(first.sample.codes)).merged()
    return first.with_statistic(merged.least(size))


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
