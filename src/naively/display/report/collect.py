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
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from naively import __version__
from naively.data import labels
from naively.display.report.class_curves import class_curves
from naively.display.report.column_table import PageColumns, describe
from naively.display.report.columns import Ranges
from naively.display.report.diagnoses import describe_diagnosis
from naively.display.report.glance import add_facts, counted_rows, first_rows
from naively.display.report.importance import importance
from naively.display.report.inputs import Given
from naively.display.report.notes import notes_of
from naively.errors import NaivelyError
from naively.evaluation import METRICS, Comparison, Evaluation, evaluate
from naively.evaluation import compare as compared
from naively.evaluation.inputs import is_fitted
from naively.model.model import Model
from naively.tabular import plain

_PARAMETERS = (
    *("priors", "var_smoothing", "variance", "ddof", "smoothing"),
    *("calibration", "interactions", "costs", "reject"),
)
_MAP_COLUMNS = 12
_SAMPLE = 300
_MISTAKES = 10
_FEW_REPEATS = 20_000_000  # cells times classes, above which timing is repeated less


def collect(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str | None,
    folds: Any,
    compare: bool | Comparison,
    show_rows: bool,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """Return the dict that a page is made of; the parameters are those of `naively.report`."""
    progress("learning")
    given = Given.of(model, X, y)
    progress("judging")
    ranges = Ranges.of(given.table)
    judged, reason = _evaluated(given, folds)
    how: dict[str, Any] = {"compare": compare, "show_rows": show_rows, "progress": progress}
    return describe_all(given, ranges, judged, title=title, reason=reason, **how)


def describe_all(
    given: Given,
    ranges: Ranges,
    judged: Evaluation,
    *,
    title: str | None,
    compare: bool | Comparison,
    show_rows: bool,
    progress: Callable[[str], None],
    reason: str | None = None,
) -> dict[str, Any]:
    """Return the dict of a page; the reason is why no row could be held out, if none could."""
    wrong = _wrong_rows(given, judged) if show_rows else np.empty(0, np.intp)
    progress("measuring columns")
    columns = describe(given, ranges, importance(given), wrong)
    add_facts(given, ranges, columns.described, show_rows=show_rows)
    progress("diagnosing")
    diagnosis = describe_diagnosis(given)
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
            "missing": int(ranges.missing.sum()) + _missing_others(given),
        },
        "counted": counted_rows(given).size,
        "drawn": given.codes.size,
        "first_rows": first_rows(given, columns.at) if show_rows else None,
        "model": _model(given),
        "classes": _classes(given),
        "columns": columns.described,
        "interactions": columns.interactions.described,
        "map_columns": _MAP_COLUMNS,
        "diagnosis": diagnosis,
        "curves": class_curves(judged),
        "metrics": {name: metric.title for name, metric in METRICS.items()},
        "evaluation": _named(judged.to_dict()),
        "comparison": _comparison(given, ranges, compare),
        "sample": _sample(given, columns) if show_rows else None,
        "mistakes": _mistakes(given, judged, columns, wrong) if show_rows else None,
    }
    data["notes"] = notes_of(data, reason, _SAMPLE)
    return plain(data)


# --- the model ------------------------------------------------------------------------------------


def _model(given: Given) -> dict[str, Any]:
    fitted: Any = given.fitted
    params, model = given.model.get_params(deep=False), fitted.model_
    found = {key: params[key] for key in _PARAMETERS if key in params}
    if "var_smoothing" in found:
        found["epsilon"] = fitted.epsilon_
    return {
        "name": type(given.model).__name__,
        "chosen": given.chosen,
        **found,
        "families": _families(model),
        "bias": model.bias if model.bias.any() else None,
        "weight": given.fitted.summary_.weight,
        "fitted": is_fitted(given.model),
    }


def _families(model: Model) -> list[dict[str, Any]]:
    """Return how many columns each family, or several together, describe."""
    named = (tuple({term.family.name: 0 for term, _ in terms}) for terms in model.by_column)
    found = Counter(names for names in named if names)
    return [{"names": list(names), "columns": n} for names, n in found.items()]


def _classes(given: Given) -> list[dict[str, Any]]:
    model = given.fitted
    rows = given.class_rows
    return [
        {"label": str(label), "rows": n, "prior": prior}
        for label, n, prior in zip(model.classes_.tolist(), rows, model.class_prior_, strict=True)
    ]


def _missing_others(given: Given) -> int:
    if given.whole is not None:
        return given.whole.missing + given.n_rows * len(given.schema.undecided)
    empty = given.codes.size * len(given.schema.undecided)
    absent = sum(np.count_nonzero(column < 0) for column in given.table.code_columns)
    texts = given.table.texts
    return int(absent) + empty + (0 if texts is None else int((texts.hashes == 0).sum()))


# --- evaluation and comparison --------------------------------------------------------------------


def _evaluated(given: Given, folds: Any) -> tuple[Evaluation, str | None]:
    """Return the evaluation, and why no row could be held out, if none could."""
    model = given.decided()
    if not (isinstance(folds, str) and folds == "auto"):
        return evaluate(model, given.X, given.y, folds=folds), None
    rows = np.bincount(given.codes)
    smallest = int(rows[rows > 0].min())
    try:
        how: Any = min(10, smallest) if smallest > 1 else "leave-one-out"
        return evaluate(model, given.X, given.y, folds=how), None
    except NaivelyError as error:  # too few rows to leave some out
        return evaluate(model, given.X, given.y), str(error)


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
    repeats = 10 if work <= _FEW_REPEATS else 3
    try:
        with np.errstate(all="ignore"):  # theirs may divide by a variance of zero
            return compared(given.decided(), theirs, given.X, given.y, repeats=repeats).to_dict()
    except ValueError as error:  # a class with too few rows to split, say
        return {"skipped": f"No comparison: {error}"}


def _named(judged: dict[str, Any]) -> dict[str, Any]:
    """Write the labels as texts, as the page does."""
    return {**judged, "classes": [str(label) for label in judged["classes"]]}


# --- single rows ----------------------------------------------------------------------------------


def _sample(given: Given, columns: PageColumns) -> dict[str, Any]:
    rows = np.arange(given.codes.size)
    if rows.size > _SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, _SAMPLE, replace=False))
    drawn = [j for j in columns.at if j in given.schema.numbers][:_MAP_COLUMNS]
    places = [given.schema.numbers.index(j) for j in drawn]
    values = dict(zip(drawn, given.table[rows].array()[:, places].T, strict=True))
    last = columns.at.index(drawn[-1]) + 1 if drawn else 0
    return {
        "classes": given.codes[rows],
        "values": [_drawn(values[j]) if j in values else None for j in columns.at[:last]],
    }


def _drawn(values: NDArray[np.float64]) -> list[float]:
    """Keep as many digits as a drawing needs."""
    return [float(f"{value:.6g}") for value in values]


def _wrong_rows(given: Given, judged: Evaluation) -> NDArray[np.intp]:
    """Return the wrong rows of which the model was surest."""
    if judged.probabilities is None or judged.labels.size != given.codes.size:
        return np.empty(0, np.intp)  # a splitter that skips or repeats rows
    predicted = labels.positions(judged.labels, given.fitted.classes_)
    sure = np.where(predicted == given.codes, -1.0, _sure(judged))
    rows = np.argsort(-sure, kind="stable")[:_MISTAKES]
    return rows[sure[rows] >= 0]


def _sure(judged: Evaluation) -> NDArray[np.float64]:
    """Return the probability of each row's answer, which costs may have made another's."""
    p = judged.probabilities
    assert p is not None
    found: NDArray[np.float64] = p[
        np.arange(len(p)), labels.positions(judged.labels, judged.classes)
    ]
    return found


def _mistakes(
    given: Given, judged: Evaluation, columns: PageColumns, rows: NDArray[np.intp]
) -> list[dict[str, Any]]:
    if not rows.size:
        return []
    predicted = labels.positions(judged.labels, given.fitted.classes_)[rows]
    cells, rest = columns.cells(given, rows), columns.rest(given, rows)
    hidden, said = columns.hidden(given, rows), columns.said(given, rows)
    facts = zip(rows, predicted, _sure(judged)[rows], cells, rest, hidden, said, strict=True)
    return [
        {
            "row": row if given.whole is None else given.whole.at[row],
            "true": given.codes[row],
            "predicted": answer,
            "probability": sure,
            "values": values,
            **({} if others is None else {"rest": others}),
            **({} if brought is None else {"hidden": brought}),
            **({"texts": texts} if texts else {}),
        }
        for row, answer, sure, values, others, brought, texts in facts
    ]
