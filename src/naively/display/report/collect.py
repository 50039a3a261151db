"""Everything a page shows, collected into a plain dict that JSON can hold.

The dict is also worth having for itself (`Report.save_json`)::

    title, created, naively        the page's title, the day, and the version that made it
    data                           numbers of rows, columns, classes and missing cells
    model                          the parameters, and what smoothing or calibration added
    classes                        label, rows and prior of each class
    columns                        of each column, the most important first: its place, name,
                                   importance with its error, missing cells; of numbers the range,
                                   mean and variance by class, slider, histogram; of categories
                                   names and counts; and the terms of a model that has several
    counted                        the rows whose cells were counted, where not all were
    drawn                          the rows that drawings and mistakes are of: all, or a sample
    first_rows                     the first rows, or None
    diagnosis                      findings, pairs of columns that depend on each other, notes
    curves                         ROC curves and precision over recall, by class
    metrics                        what the metrics of the evaluation are called
    evaluation, comparison         as `Evaluation.to_dict` and `Comparison.to_dict` give them; a
                                   comparison that was impossible holds its reason, ``skipped``, and
                                   one that was not asked for is None
    interactions                   what columns say together, or None: directions, the quadratic
                                   term, pairs, and which of them the page has no room for
    sample, mistakes               single rows, or None
    notes                          how to read it, and what was left out
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from naively import __version__
from naively.data import labels
from naively.data.labels import is_missing
from naively.data.rows import Rows, Targets
from naively.data.types import Floats
from naively.display.plots.reading import drawn_rows
from naively.display.report.columns import PageColumns, counted_rows, describe, shortened
from naively.display.report.inputs import Given, Ranges, WholeFile, check_classes, check_model
from naively.engines.files.labelled_rows import LabelledRows, table_of
from naively.engines.memory.frames import cells_of
from naively.engines.memory.tables import columns_of
from naively.errors import NaivelyError
from naively.evaluation import METRICS, Comparison, Evaluation, evaluate
from naively.evaluation import compare as compared
from naively.evaluation.files import FilesToJudge, judge_files
from naively.evaluation.folds import ContentFolds
from naively.evaluation.inputs import is_fitted
from naively.evaluation.metrics import estimates
from naively.inspection.diagnosis import SEVERITIES, diagnose
from naively.model.column_losses import ColumnLosses, column_losses, rows_to_judge
from naively.model.model import SAMPLE, Model
from naively.statistics.measure import measure
from naively.tabular import plain

_PARAMETERS = (
    *("priors", "var_smoothing", "variance", "ddof", "smoothing"),
    *("calibration", "interactions", "costs", "reject"),
)
_MAP_COLUMNS = 12
_MAX_POINTS = 300  # of the map
_MAX_MISTAKES = 10
_MAX_REPEATED_WORK = 20_000_000  # cells times classes, above which timing is repeated less
_MAX_JUDGED_ROWS = 4000  # for the importance of columns
_FIRST_ROWS, _FIRST_COLUMNS, _CELL_LETTERS = 5, 20, 80
_MAX_ALIKE = 3  # findings of a kind that are shown
_MAX_OTHERS = 12  # columns of further findings of a kind
_MAX_PAIRS = 10
_MAX_CURVES, _CURVE_POINTS = 7, 60

_AGREE = {
    True: "with the same numbers in the same order; the two agree to nine decimals and more",
    False: "with rounded logarithms; the two agree to nine decimals",
}
_IMPORTANCE = (
    "The importance of a column is by how much the log loss grows, in nats for each row, when the "
    "column is missing, each row being predicted as if the model had not seen it. Below 0, the "
    "model predicts better without it: it is noise, or what other columns say is counted twice."
)
_TOGETHER = (
    "The importance of a column holds what it tells together with others. A direction and the "
    "quadratic term treat a missing number as the mean of its column, a pair with a missing "
    "cell adds nothing."
)
_FITTED = (
    "The model came fitted. The explorer shows it as it is; the evaluation is of models "
    "with the same parameters, fitted on these rows without those that they predict."
)
_CONFIDENCE = (
    "Confidence is the probability of the predicted class. The calibration error compares it "
    "with the share of right answers, in ten bins; the Brier score is the mean squared "
    "distance of the probabilities from the truth, between 0 and 2."
)
_TERMS = (
    "A column may be described by several families. Each says how likely a value is in a class, "
    "and has its weight, which multiplies the logarithm of that; where weights differ by class, "
    "less its mean over the classes. A histogram says how much likelier a value is in a class "
    "than in all of them together."
)


class PageOptions(NamedTuple):
    """What is to be in a page; see `naively.report`."""

    title: str | None = None
    compare: bool | Comparison = True
    show_rows: bool = True
    progress: Callable[[str], None] = lambda _part: None


def collect(model: Any, X: Any, y: Any, folds: Any, options: PageOptions) -> dict[str, Any]:
    """Return the dict that a page is made of; the parameters are those of `naively.report`."""
    check_model(model)
    options.progress("learning")
    given = Given.of(model, X, y)
    options.progress("judging")
    ranges = Ranges.of(given.table)
    judged, reason = _evaluated(given, folds)
    return _describe_all(given, ranges, judged, options, reason)


def collect_files(
    files: FilesToJudge, folds: ContentFolds | None, options: PageOptions
) -> dict[str, Any]:
    """Return the dict of a page on files of any size, and a model that depends on the classes.

    There are two passes, and a sample of rows for what draws single rows.
    """
    models: list[Any] = []
    ranges: list[Ranges] = []
    lock = Lock()

    def checked(classes: Any) -> Any:
        check_classes(classes)
        models.append(clone(files.model_of(classes)))
        return models[0]

    def visit(rows: Rows) -> None:  # threads visit them in any order
        own = Ranges.of(rows)
        with lock:
            ranges[:] = [ranges[0] + own if ranges else own]

    check_model(files.model_of(None))
    judging = replace(files, model_of=checked)
    judged = judge_files(judging, folds, sample=SAMPLE, visit=visit)
    learned, kept = judged.measured.folds.total(), judged.scored
    rows = LabelledRows(
        table_of(judged.measured.plan, [part.cells for part in kept.parts()]),
        judged.measured.folds.classes.take(kept.kept().truth),
    )
    whole = WholeFile(judged.evaluation.n_rows, kept.at())
    given = Given.of_files(models[0], learned, rows, whole, str(files.plan.request.target))
    return _describe_all(given, ranges[0], judged.evaluation, options)


def _describe_all(
    given: Given,
    ranges: Ranges,
    judged: Evaluation,
    options: PageOptions,
    reason: str | None = None,
) -> dict[str, Any]:
    """Return the dict of a page; the reason is why no row could be held out, if none could."""
    title, compare, show_rows, progress = options
    wrong = _wrong_rows(given, judged) if show_rows else np.empty(0, np.intp)
    progress("measuring columns")
    columns = describe(given, ranges, _importance(given), wrong, show_rows=show_rows)
    progress("diagnosing")
    diagnosis = _diagnosis(given)
    progress("comparing with scikit-learn" if compare else "drawing")
    named = "Naive Bayes report" if given.target is None else f"Predicting {given.target}"
    data: dict[str, Any] = {
        "title": title or named,
        "created": date.today().isoformat(),
        "naively": __version__,
        "data": {
            "rows": given.n_rows,
            "columns": given.table.shape[1],
            "classes": given.n_classes,
            "missing": int(ranges.missing.sum())
            + ranges.missing_others
            + given.n_rows * len(given.schema.undecided),
        },
        "counted": counted_rows(given).size,
        "drawn": given.codes.size,
        "first_rows": _first_rows(given, columns.at) if show_rows else None,
        "model": _model(given),
        "classes": _classes(given),
        "columns": columns.described,
        "interactions": columns.interactions.described,
        "map_columns": _MAP_COLUMNS,
        "diagnosis": diagnosis,
        "curves": _curves(judged),
        "metrics": {name: metric.title for name, metric in METRICS.items()},
        "evaluation": _named(judged.to_dict()),
        "comparison": _comparison(given, ranges, compare),
        "sample": _sample(given, columns) if show_rows else None,
        "mistakes": _mistakes(given, judged, columns, wrong) if show_rows else None,
    }
    data["notes"] = _notes(data, reason)
    return plain(data)


# --- the model ------------------------------------------------------------------------------------


def _model(given: Given) -> dict[str, Any]:
    fitted: Any = given.fitted
    params, model = given.model.get_params(deep=False), fitted.model_
    return {
        "name": type(given.model).__name__,
        **{key: params[key] for key in _PARAMETERS if key in params},
        **({"epsilon": fitted.epsilon_} if "var_smoothing" in params else {}),
        "families": _families(model),
        "bias": model.bias if model.bias.any() else None,
        "weight": fitted.summary_.weight,
        "fitted": is_fitted(given.model),
    }


def _families(model: Model) -> list[dict[str, Any]]:
    """Return how many columns each family, or several together, describe."""
    named = (tuple({term.family.name: 0 for term, _ in terms}) for terms in model.by_column)
    times = Counter(names for names in named if names)
    return [{"names": list(names), "columns": n} for names, n in times.items()]


def _classes(given: Given) -> list[dict[str, Any]]:
    model = given.fitted
    facts = zip(model.classes_.tolist(), given.class_rows, model.class_prior_, strict=True)
    return [{"label": str(label), "rows": n, "prior": prior} for label, n, prior in facts]


def _importance(given: Given) -> ColumnLosses:
    """Return how much the log loss of unseen rows grows without each column.

    Rows are those of the model's own sample, else those given. The model may have learned from
    them: then each is taken out.
    """
    model, table = given.fitted.model_, given.table
    sample = given.fitted.summary_.sample
    if sample is not None and len(sample):
        return column_losses(model, sample)
    at = drawn_rows(np.arange(len(table)), _MAX_JUDGED_ROWS)
    rows = rows_to_judge(model, table[at], given.codes[at])
    return column_losses(model, rows, seen=given.learned_from_rows)


def _diagnosis(given: Given) -> dict[str, Any]:
    """Return the gravest findings, the columns of others of their kind, and the strongest pairs.

    A model that has learned from these rows and keeps none is diagnosed with a sample of them.
    """
    model = given.fitted
    if model.summary_.sample is None and given.learned_from_rows:
        targets = Targets(model.classes_, given.codes)
        summary = measure(given.table, targets, replace(given.schema, sample=SAMPLE))
        model = type(model).from_summary(summary, **model.get_params(deep=False))
    found = diagnose(model)
    whole = found.to_dict()
    kinds: dict[str, list[dict[str, Any]]] = {}
    for one in whole["findings"]:
        kinds.setdefault(one["kind"], []).append(one)
    kept = []
    for alike in kinds.values():
        first, rest = alike[:_MAX_ALIKE], alike[_MAX_ALIKE:]
        facts = ("kind", "severity", "seen", "advice")
        shown = [{name: one[name] for name in facts} for one in first]
        others = [name for one in rest for name in one["columns"]]
        shown[-1] |= {"more": len(rest), "others": others[:_MAX_OTHERS]}
        kept += shown
    return {
        "findings": sorted(kept, key=lambda one: SEVERITIES.index(one["severity"])),
        "n_findings": len(found),
        "pairs": whole["pairs"][:_MAX_PAIRS],
        "n_pairs": len(found.pairs),
        "notes": found.notes,
        "skipped": [f"{kinds}: {reason}" for kinds, reason in found.skipped_by_reason],
    }


# --- evaluation and comparison --------------------------------------------------------------------


def _evaluated(given: Given, folds: Any) -> tuple[Evaluation, str | None]:
    """Return the evaluation, and why no row could be held out, if none could."""
    model = given.model
    if folds is None:
        return evaluate(model if is_fitted(model) else given.fitted, given.X, given.y), None
    if not (isinstance(folds, str) and folds == "auto"):
        return evaluate(model, given.X, given.y, folds=folds), None
    rows = np.bincount(given.codes)
    smallest = int(rows[rows > 0].min())
    try:
        how: Any = min(10, smallest) if smallest > 1 else "leave-one-out"
        return evaluate(model, given.X, given.y, folds=how), None
    except NaivelyError as error:  # too few rows to leave some out
        return evaluate(model, given.X, given.y, test_size=0), str(error)


def _comparison(given: Given, ranges: Ranges, compare: bool | Comparison) -> dict[str, Any] | None:
    """Return the comparison with scikit-learn, or why there is none; None if nobody wants one."""
    if not compare:
        return None
    found = compare.to_dict() if isinstance(compare, Comparison) else _compared(given, ranges)
    if "evaluations" in found:
        found["evaluations"] = [_named(judged) for judged in found["evaluations"]]
    return found


def _compared(given: Given, ranges: Ranges) -> dict[str, Any]:
    if given.schema.categories or given.schema.texts:
        return {"skipped": "No comparison: scikit-learn's GaussianNB takes numbers alone."}
    if ranges.missing.any() or given.schema.undecided:
        return {"skipped": "No comparison: scikit-learn's GaussianNB takes no missing cells."}
    params = given.model.get_params(deep=False)
    is_plain = params["priors"] is None and params["class_weight"] is None
    priors = None if is_plain else given.fitted.class_prior_
    theirs = TheirGaussianNB(priors=priors, var_smoothing=params.get("var_smoothing", 1e-9))
    work = given.codes.size * given.table.shape[1] * given.n_classes
    repeats = 10 if work <= _MAX_REPEATED_WORK else 3
    try:
        with np.errstate(all="ignore"):  # theirs may divide by a variance of zero
            return compared((given.model, theirs), given.X, given.y, repeats=repeats).to_dict()
    except ValueError as error:  # a class with too few rows to split, say
        return {"skipped": f"No comparison: {error}"}


def _named(judged: dict[str, Any]) -> dict[str, Any]:
    """Write the labels as texts, as the page does."""
    return {**judged, "classes": [str(label) for label in judged["classes"]]}


def _curves(judged: Evaluation) -> list[dict[str, Any]]:
    """Return ROC curves and precision over recall of classes against the rest.

    Of two classes those of the second, else those of the classes with the most rows; none of a
    class that all rows or no rows are of.
    """
    if judged.probabilities is None:
        return []
    order = np.argsort(-judged.support, kind="stable")[:_MAX_CURVES]
    found = []
    for k in [1] if judged.classes.size == 2 else np.sort(order).tolist():
        curve = judged.rows.curve(k)
        if not curve.is_defined:
            continue
        areas = estimates(judged.rows.of_class(k), ("roc_auc", "average_precision"))
        precision = np.append(curve.precision[:1], curve.precision)
        recall = np.append(0.0, curve.recall)
        one = {
            "class": str(judged.classes[k]),
            "share": curve.positives / (curve.positives + curve.negatives),
            **{name: area._asdict() for name, area in areas.items()},
            "roc": _thinned(np.append(0.0, curve.false_positive_rate), recall),
            "precision_recall": _thinned(recall, precision),
        }
        found.append(one)
    return found


def _thinned(x: Floats, y: Floats) -> list[list[float]]:
    """Return so many points of a line, evenly along it, in thousandths: its ends among them.

    >>> _thinned(np.array([0, 0, 1]), np.array([0, 0.5, 1]))
    [[0.0, 0.0], [0.0, 0.5], [1.0, 1.0]]
    """
    x, y = np.round(x, 3), np.round(y, 3)
    along = np.cumsum(np.hypot(np.diff(x, prepend=x[0]), np.diff(y, prepend=y[0])))
    wanted = np.linspace(0, along[-1], _CURVE_POINTS)
    few = np.arange(x.size) if x.size <= _CURVE_POINTS else np.searchsorted(along, wanted)
    at = np.unique(np.append(few, x.size - 1))
    return np.column_stack([x[at], y[at]]).tolist()


# --- single rows ----------------------------------------------------------------------------------


def _first_rows(given: Given, at: list[int]) -> dict[str, Any]:
    """Return the first rows, of the columns of the page in the order of the table."""
    columns, shown = columns_of(given.X, given.schema), sorted(at)[:_FIRST_COLUMNS]
    cells = [[_cell(cell) for cell in cells_of(columns[j][:_FIRST_ROWS])] for j in shown]
    return {"columns": shown, "cells": cells, "classes": given.codes[:_FIRST_ROWS]}


def _cell(cell: Any) -> float | str | None:
    """Write a cell: a number of as many digits as one reads, or a text.

    >>> _cell(1 / 3), _cell(True), _cell(None), _cell("x" * 200)[-3:]
    (0.333333, 'True', None, 'xx…')
    """
    if is_missing(cell):
        return None
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(f"{cell:.6g}")
    return shortened(str(cell), _CELL_LETTERS)


def _sample(given: Given, columns: PageColumns) -> dict[str, Any]:
    rows = drawn_rows(np.arange(given.codes.size), _MAX_POINTS)
    numbers = given.schema.numbers
    drawn = [j for j in columns.at if j in numbers][:_MAP_COLUMNS]
    cells = given.table[rows].array()
    values = {j: [float(f"{x:.6g}") for x in cells[:, numbers.index(j)]] for j in drawn}
    last = columns.at.index(drawn[-1]) + 1 if drawn else 0
    return {"classes": given.codes[rows], "values": [values.get(j) for j in columns.at[:last]]}


def _wrong_rows(given: Given, judged: Evaluation) -> NDArray[np.intp]:
    """Return the wrong rows of which the model was surest."""
    p, rows = judged.probabilities, judged.rows
    if p is None or rows.truth.size != given.codes.size:
        return np.empty(0, np.intp)  # a splitter that skips or repeats rows
    wrong = np.flatnonzero(~rows.right)
    sure = p[wrong, rows.predicted[wrong]]  # the answer, which costs may have made another's
    return wrong[np.argsort(-sure, kind="stable")[:_MAX_MISTAKES]]


def _mistakes(
    given: Given, judged: Evaluation, columns: PageColumns, rows: NDArray[np.intp]
) -> list[dict[str, Any]]:
    p = judged.probabilities
    if p is None or not rows.size:
        return []
    numbers = rows if given.whole is None else given.whole.at[rows]
    answers = labels.positions(judged.labels[rows], given.fitted.classes_)
    sure = p[rows, judged.rows.predicted[rows]]
    names = "row", "true", "predicted", "probability"
    facts = zip(numbers, given.codes[rows], answers, sure, strict=True)
    cells = columns.of_rows(given, rows)
    return [dict(zip(names, one, strict=True)) | row for one, row in zip(facts, cells, strict=True)]


# --- how to read it, and what was left out --------------------------------------------------------


def _notes(data: dict[str, Any], reason: str | None) -> list[str]:
    """Return the notes on all that the page shows; the reason is why no rows could be held out."""
    model, columns, together = data["model"], data["columns"], data["interactions"]
    rows, textbook = data["data"]["rows"], "terms" not in columns[0]
    notes = [
        f"The explorer does {model['name']}.predict_proba's arithmetic in your browser, "
        f"{_AGREE[textbook]}.",
        _IMPORTANCE,
        *([] if textbook else [_TERMS]),
    ]
    if together is not None:
        notes.append(_TOGETHER)
    if together is not None and together["left_out"]:
        notes.append(
            f"The page has no room for some interactions ({', '.join(together['left_out'])}): the "
            "explorer's probabilities leave them out, but for the rows of the surest mistakes."
        )
    notes.append(_CONFIDENCE)
    method = data["evaluation"]["method"]
    if reason is not None:
        notes.append(f"No rows were held out, so the figures flatter the model: {reason}")
    elif method == "the training rows":
        notes.append("No rows were held out, so the figures flatter the model.")
    elif model["fitted"] and method != "the given rows":
        notes.append(_FITTED)
    if model.get("costs") is not None:
        notes.append("Costs were given: the evaluation is of predictions at least expected cost.")
    if model.get("reject") is not None:
        least, label = model["reject"]
        notes.append(
            f"Below a probability of {least:g} the model answers {label!r}. The evaluation is of "
            "the class that it would have predicted."
        )
    notes += _left_out(columns, data["data"]["columns"])
    if data["comparison"] and "skipped" in data["comparison"]:
        notes.append(data["comparison"]["skipped"])
    if data["drawn"] != rows:
        notes.append(
            f"The model, the metrics and the counts are those of all {rows:,} rows. The "
            f"histograms, the surest mistakes and the comparison with scikit-learn use "
            f"{data['drawn']:,} rows drawn at random."
        )
    if data["sample"] is None:
        more = "" if textbook else ", categories, and values in the middle of bins"
        notes.append(f"No single row is in this page: only means, variances and counts{more}.")
    else:
        drawn = f"{_MAX_POINTS} of {rows:,} rows, drawn at random,"
        notes.append(
            f"This page holds single rows: {drawn if rows > _MAX_POINTS else 'all rows'} as points "
            "of the map, the first five, and the surest mistakes. "
            "naively.report(..., show_rows=False) leaves them out."
        )
    return notes


def _left_out(columns: list[dict[str, Any]], n_columns: int) -> list[str]:
    """Return what the page does not know of columns."""
    notes = []
    if n_columns > len(columns):
        notes.append(
            f"To keep the page small, {n_columns - len(columns):,} of {n_columns:,} columns were "
            "left out, the least important ones. A row of the surest mistakes brings what they add "
            "with it; for other rows the explorer takes them as missing, which is the exact "
            "marginal. The evaluation and the comparison use them all."
        )
    many = [c for c in columns if c.get("n_categories", 0) > len(c.get("categories", ()))]
    if many:
        named = ", ".join(f"{c['name']} has {c['n_categories']:,}" for c in many[:5])
        notes.append(
            "Of columns with very many categories the page names the most frequent ones, and "
            "those of the surest mistakes; shares are of all categories: "
            f"{named}{', ...' if len(many) > 5 else ''}."
        )
    texts = [c for c in columns if "words" in c]
    notes += [
        f"Of the {c['n_words']:,} words of {c['name']} the explorer knows {len(c['words']):,}, "
        "those that say most; it takes others for words never seen."
        for c in texts
        if len(c["words"]) < c["n_words"]
    ]
    if texts:
        notes.append(
            "A row of the surest mistakes brings its text, and what exactly that adds; other text "
            "adds what those of its words do that the page knows."
        )
    guessed = {t["family"] for c in columns for t in c.get("terms", ()) if "approximate" in t}
    if guessed:
        notes.append(
            f"The page does not know the formula of {', '.join(sorted(guessed))}: it reads it off "
            "a table of values, and the explorer is not exact there."
        )
    return notes
