"""Everything a page shows, collected into a plain dict that JSON can hold.

The dict is also worth having for itself (`Report.save_json`)::

    title, created, naively        the page's title, the day, and the version that made it
    data                           numbers of rows, columns, classes and missing cells
    model                          the parameters and what smoothing added
    classes                        label, rows and prior of each class
    columns                        of each column, the most telling first: its place, name, range,
                                   separation, mean and variance by class, slider, histogram
    evaluation, comparison         as `Evaluation.to_dict` and `Comparison.to_dict` give them; a
                                   comparison that was impossible holds its reason, ``skipped``, and
                                   one that was not asked for is None
    sample, mistakes               single rows, or None
    notes                          how to read it, and what was left out
"""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from naively import __version__, labels
from naively.engines.arrays import Table
from naively.estimators._validation import check_labels, check_table
from naively.estimators.gaussian_nb import GaussianNB
from naively.evaluation import Evaluation, evaluate
from naively.evaluation import compare as compared
from naively.evaluation.given import is_fitted
from naively.evaluation.tables import plain
from naively.exceptions import NaivelyError
from naively.plots.separation import separation
from naively.reports.columns import Ranges, histograms, rows_at, slider
from naively.summary import Summary

__all__ = ["collect"]

_MOST_CLASSES = 100
_MOST_COLUMNS = 100
_MOST_CURVES = 1500  # columns times classes
_MAP_COLUMNS = 12
_SAMPLE = 300
_MISTAKES = 10
_FEW_REPEATS = 20_000_000  # cells times classes, above which timing is repeated less


class _Given(NamedTuple):
    """What was given, and what was learned from it."""

    model: GaussianNB  # as it was given
    fitted: GaussianNB  # the one that is explored, in float64
    X: Any
    y: NDArray[Any]
    table: Table
    codes: NDArray[np.int32]  # of the labels, among the fitted model's classes
    seen: Summary  # of these rows, which a fitted model may not have learned from


def collect(
    model: Any, X: Any, y: Any, *, title: str | None, folds: Any, compare: bool, show_rows: bool
) -> dict[str, Any]:
    """Return the dict that a page is made of; the parameters are those of `naively.report`."""
    given, target = _given(model, X, y)
    ranges = Ranges.of(given.table)
    telling = separation(given.fitted.summary_)
    n_shown = max(2, min(_MOST_COLUMNS, _MOST_CURVES // given.fitted.classes_.size))
    shown: list[int] = np.argsort(-telling, kind="stable")[:n_shown].tolist()
    judged, reason = _evaluated(given, folds)
    data = {
        "title": title or ("Naive Bayes report" if target is None else f"Predicting {target}"),
        "created": date.today().isoformat(),
        "naively": __version__,
        "data": {
            "rows": given.codes.size,
            "columns": given.table.shape[1],
            "classes": given.fitted.classes_.size,
            "missing": int(ranges.missing.sum()),
        },
        "model": _model(given),
        "classes": _classes(given),
        "columns": _columns(given, shown, ranges, telling),
        "map_columns": _MAP_COLUMNS,
        "evaluation": _named(judged.to_dict()),
        "comparison": _compared(given, ranges) if compare else None,
        "sample": _sample(given, shown[:_MAP_COLUMNS]) if show_rows else None,
        "mistakes": _mistakes(given, judged, shown) if show_rows else None,
    }
    data["notes"] = _notes(data, reason)
    return plain(data)


# --- what is given -------------------------------------------------------------------------------


def _given(model: Any, X: Any, y: Any) -> tuple[_Given, str | None]:
    if y is None:
        model, X, y = None, model, X
    if y is None or isinstance(X, BaseEstimator):
        raise NaivelyError("rows and their labels must be given: report(model, X, y).")
    model = GaussianNB() if model is None else model
    if not isinstance(model, GaussianNB):
        if isinstance(model, type):
            raise NaivelyError(f"a model must be an instance: {model.__name__}(), not the class.")
        raise NaivelyError(
            f"a report explores naively's GaussianNB; got {type(model).__name__}. "
            "Use naively.evaluate and naively.compare for other classifiers."
        )
    target = getattr(y, "name", None)
    learned = GaussianNB(n_jobs=model.n_jobs).fit(X, y)
    fitted = is_fitted(model)
    params, source = model.get_params(), model if fitted else learned
    explored = GaussianNB.from_summary(source.summary_, **params)
    table = check_table(source, X, fitted=True).table
    y = check_labels(model, y, table.shape[0])
    codes = _codes(y, explored.classes_)
    given = _Given(model, explored, X, y, table, codes, learned.summary_)
    return given, target if isinstance(target, str) and target else None


def _codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    present, codes = labels.encode(y)
    unknown = np.setdiff1d(present, classes)
    if unknown.size:
        raise NaivelyError(
            f"y must hold classes that the model has learned ({labels.quoted(classes)}); "
            f"got {labels.quoted(unknown)} too. Fit it on these rows, or leave them out."
        )
    if not 2 <= classes.size <= _MOST_CLASSES:
        got = f"{classes.size:,}: {labels.quoted(classes)}"
        hint = " Is the target a number rather than a class?" if classes.size > 2 else ""
        raise NaivelyError(f"a report needs 2 to {_MOST_CLASSES} classes; got {got}.{hint}")
    return labels.positions(present, classes).astype(np.int32)[codes]


# --- the model and its columns --------------------------------------------------------------------


def _model(given: _Given) -> dict[str, Any]:
    params = given.model.get_params()
    keys = ("priors", "var_smoothing", "variance", "ddof", "smoothing")
    return {
        **{key: params[key] for key in keys},
        "epsilon": given.fitted.epsilon_,
        "weight": given.fitted.summary_.weight,
        "fitted": is_fitted(given.model),
    }


def _classes(given: _Given) -> list[dict[str, Any]]:
    model = given.fitted
    rows = np.bincount(given.codes, minlength=model.classes_.size)
    return [
        {"label": str(label), "rows": n, "prior": prior}
        for label, n, prior in zip(model.classes_.tolist(), rows, model.class_prior_, strict=True)
    ]


def _columns(
    given: _Given, shown: list[int], ranges: Ranges, telling: NDArray[np.float64]
) -> list[dict[str, Any]]:
    mean, variance = given.fitted.theta_, given.fitted.var_
    whole = given.seen.moments.pooled()
    names = given.fitted.summary_.schema.names or given.seen.schema.names
    counts = histograms(given.table, given.codes, len(mean), shown, ranges)

    def described(j: int, histogram: dict[str, Any]) -> dict[str, Any]:
        empty = not whole.weight[j] > 0
        return {
            "index": j,
            "name": f"column {j}" if names is None else names[j],
            "separation": max(0.0, float(telling[j])),  # not below by rounding
            "average": np.nan if empty else whole.mean[j],
            "spread": np.nan if empty else np.sqrt(whole.m2[j] / whole.weight[j]),
            "least": ranges.least[j],
            "most": ranges.most[j],
            "missing": ranges.missing[j],
            "mean": mean[:, j],
            "variance": variance[:, j],
            "slider": slider(
                float(ranges.least[j]), float(ranges.most[j]), whole=bool(ranges.whole[j])
            ),
            "histogram": histogram,
        }

    return [described(j, histogram) for j, histogram in zip(shown, counts, strict=True)]


# --- evaluation and comparison --------------------------------------------------------------------


def _evaluated(given: _Given, folds: Any) -> tuple[Evaluation, str | None]:
    """Return the evaluation, and why no row could be held out, if none could."""
    if not (isinstance(folds, str) and folds == "auto"):
        return evaluate(given.model, given.X, given.y, folds=folds), None
    rows = np.bincount(given.codes)
    smallest = int(rows[rows > 0].min())
    try:
        how: Any = min(10, smallest) if smallest > 1 else "leave-one-out"
        return evaluate(given.model, given.X, given.y, folds=how), None
    except NaivelyError as error:  # too few rows to leave some out
        return evaluate(given.model, given.X, given.y), str(error)


def _compared(given: _Given, ranges: Ranges) -> dict[str, Any]:
    if ranges.missing.any():
        return {"skipped": "No comparison: scikit-learn's GaussianNB takes no missing cells."}
    theirs = TheirGaussianNB(priors=given.model.priors, var_smoothing=given.model.var_smoothing)
    work = given.codes.size * given.table.shape[1] * given.fitted.classes_.size
    repeats = 10 if work <= _FEW_REPEATS else 3
    try:
        with np.errstate(all="ignore"):  # theirs may divide by a variance of zero
            found = compared(given.model, theirs, given.X, given.y, repeats=repeats).to_dict()
    except ValueError as error:  # a class with too few rows to split, say
        return {"skipped": f"No comparison: {error}"}
    found["evaluations"] = [_named(judged) for judged in found["evaluations"]]
    return found


def _named(judged: dict[str, Any]) -> dict[str, Any]:
    """Write the labels as texts, as the page does."""
    return {**judged, "classes": [str(label) for label in judged["classes"]]}


# --- single rows ----------------------------------------------------------------------------------


def _sample(given: _Given, shown: list[int]) -> dict[str, Any]:
    rows = np.arange(given.codes.size)
    if rows.size > _SAMPLE:
        rows = np.sort(np.random.default_rng(0).choice(rows, _SAMPLE, replace=False))
    values = rows_at(given.table, rows, shown)
    return {"classes": given.codes[rows], "values": [_drawn(column) for column in values.T]}


def _drawn(values: NDArray[np.float64]) -> list[float]:
    """Keep as many digits as a drawing needs."""
    return [float(f"{value:.6g}") for value in values]


def _mistakes(given: _Given, judged: Evaluation, shown: list[int]) -> list[dict[str, Any]]:
    """Return the wrong rows of which the model was surest."""
    p = judged.probabilities
    if p is None or judged.n_rows != given.codes.size:  # a splitter that skips or repeats rows
        return []
    predicted = labels.positions(judged.labels, given.fitted.classes_)
    sure = np.where(predicted == given.codes, -1.0, p.max(axis=1))
    rows = np.argsort(-sure, kind="stable")[:_MISTAKES]
    rows = rows[sure[rows] >= 0]
    values = rows_at(given.table, rows, shown)
    return [
        {
            "row": row,
            "true": given.codes[row],
            "predicted": predicted[row],
            "probability": sure[row],
            "values": values[i],
        }
        for i, row in enumerate(rows)
    ]


# --- notes ----------------------------------------------------------------------------------------


def _notes(data: dict[str, Any], reason: str | None) -> list[str]:
    notes = [
        "The explorer does GaussianNB.predict_proba's arithmetic in your browser, with the same "
        "numbers in the same order; the two agree to nine decimals and more.",
        "Separation is one minus the mean overlap (Bhattacharyya's coefficient) of the curves of "
        "two classes: 0 where a column tells nothing, 1 where it tells them all apart.",
        "Confidence is the probability of the predicted class. The calibration error compares it "
        "with the share of right answers, in ten bins; the Brier score is the mean squared "
        "distance of the probabilities from the truth, between 0 and 2.",
    ]
    if reason is not None:
        notes.append(f"No rows were held out, so the figures flatter the model: {reason}")
    elif data["evaluation"]["method"] == "the training rows":
        notes.append("No rows were held out, so the figures flatter the model.")
    elif data["model"]["fitted"] and data["evaluation"]["method"] != "the given rows":
        notes.append(
            "The model came fitted. The explorer shows it as it is; the evaluation judges models "
            "of the same parameters, fitted on these rows without those they are judged on."
        )
    left_out = data["data"]["columns"] - len(data["columns"])
    if left_out:
        notes.append(
            f"To keep the page small, {left_out:,} of {data['data']['columns']:,} columns were "
            "left out, the least telling ones. The explorer takes them as missing, which is the "
            "exact marginal; the evaluation and the comparison use them all."
        )
    if data["sample"] is None:
        notes.append("No single row is in this page: only means, variances and counts.")
    else:
        rows = data["data"]["rows"]
        some = f"{_SAMPLE} of {rows:,} rows, drawn at random," if rows > _SAMPLE else "all rows"
        notes.append(
            f"This page holds single rows: {some} as points of the map, and the surest mistakes. "
            "naively.report(..., show_rows=False) leaves them out."
        )
    return notes
