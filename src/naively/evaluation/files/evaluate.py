"""Judge a model on files of any size: two passes, and memory that does not grow with the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.rows import Rows
from naively.engines.files.cells import typed_labels
from naively.engines.files.plan import FORMS, ColumnPlan, Request, SchemaFromFirstRows, types_of
from naively.engines.files.readers import FirstRows
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.interface import warn_of
from naively.estimators.state import snapshot
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.files.content_folds import ContentFolds
from naively.evaluation.files.evaluation_of_rows import evaluation_of
from naively.evaluation.files.file_inputs import FileInputs, Watch
from naively.evaluation.files.fold_pass import MeasuredFiles, measure_files
from naively.evaluation.files.score_pass import FoldModels, ScoredRows, score_files
from naively.evaluation.fold_models import read_models
from naively.statistics.summary import Summary

KEPT = 100_000  # judged rows that are kept, at most
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
    evaluation = replace(_evaluation(parts, judges, folds), model=type(model).__name__)
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
    name = type(model).__name__
    return evaluation_of(parts[0], summary.classes, "the given rows", model=name)


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
    return min(KEPT, max(1000, _NUMBERS // width))


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
    parts: Sequence[ScoredRows], judges: FoldModels, folds: ContentFolds | None
) -> Evaluation:
    classes = judges.classes
    if folds is None:
        return evaluation_of(parts[0], classes, "the training rows")
    if folds.test_share is not None:
        seen = evaluation_of(parts[1], classes, "the training rows")
        method = f"a test split of {100 * folds.test_share:g} % by content"
        return evaluation_of(parts[0], classes, method, train=seen)
    assert parts[0].totals is not None
    wrong, right = parts[0].totals.by_fold.T
    filled = wrong + right > 0
    accuracy = right[filled] / (wrong + right)[filled]
    method = f"{accuracy.size} folds by content"
    return evaluation_of(parts[0], classes, method, fold_accuracy=accuracy)
