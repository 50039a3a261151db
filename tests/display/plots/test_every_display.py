"""Every display, made in every way, of tables of every kind: drawn, or an error that says why."""

import inspect
from functools import cached_property

import numpy as np
import pandas as pd
import pytest

from naively import (
    GaussianNB,
    NaiveBayes,
    NaivelyError,
    compare,
    diagnose,
    drift,
    evaluate,
    plots,
    tune,
)

DISPLAYS = [name for name in plots.__all__ if name.endswith("Display")]
WAYS = [
    (name, way)
    for name in DISPLAYS
    for way, made in inspect.getmembers(getattr(plots, name), inspect.ismethod)
    if way.startswith("from_")
]
N = 40
LABELS = np.array(["a", "b"] * (N // 2))


def numbers(rng):
    return {"x": rng.normal(size=N), "z": rng.normal(2.0, size=N) + (LABELS == "b")}


def categories(rng):
    return {"town": rng.choice(["Ulm", "Bonn"], N), "shop": rng.choice(["s", "m", "l"], N)}


def texts(rng):
    words = np.array(["win", "money", "now", "lunch", "at", "noon", "see", "you", "there"])
    return {"note": [" ".join(rng.choice(words, 4)) + f" n{i}" for i in range(N)]}


def dates(rng):
    days = np.datetime64("2020-01-01") + rng.integers(0, 1500, N)
    return {"when": days.astype("M8[ns]"), "seen": [f"{day}T12:30" for day in days]}


def booleans(rng):
    return {"member": rng.random(N) < 0.5, "mobile": rng.random(N) < 0.3}


def mixed(rng):
    made = [table(rng) for table in (numbers, categories, texts, dates, booleans)]
    return {name: column for table in made for name, column in table.items()}


def missing(rng):
    return {
        name: pd.Series(column, dtype="str" if name in ("note", "seen") else None).where(
            rng.random(N) < 0.7
        )
        for name, column in mixed(rng).items()
    } | {"never": np.full(N, np.nan)}


def constant(rng):
    same = {name: [column[0]] * N for name, column in mixed(rng).items() if name != "note"}
    return same | {"large": np.full(N, 1e300)}


TABLES = {
    "numbers": numbers,
    "categories": categories,
    "text": texts,
    "one date": lambda rng: {"when": dates(rng)["when"]},
    "booleans": booleans,
    "mixed": mixed,
    "missing cells": missing,
    "constant columns": constant,
}
ROWS = {  # few rows of classes, of a mixed table
    "one row of a class": np.array(["a"] * (N - 1) + ["b"]),
    "one row per class": np.array(["a", "b"]),
}
NEEDED = {  # what a display says of tables that it cannot draw
    "DecisionRegionDisplay": (
        {"categories", "text", "one date", "booleans"},
        "two columns (of numbers )?are needed",
    ),
    "FitDisplay": (
        {"numbers", "categories", "text", "booleans", "missing cells", "constant columns"}
        | {"one row per class"},
        "there must be a fit to draw",
    ),
}
# what is drawn of answers alone, whatever the table
OF_ANSWERS = {"from_predictions", "from_evaluation", "from_comparison", "from_tuning"}


class Case:
    """A model, its rows and labels; and by its name, whatever a display is made from."""

    def __init__(self, X, y, estimator):
        self.estimator = estimator.fit(X, y)
        self.X = X
        self.y = self.y_true = y
        self.classes = self.estimator.classes_

    y_pred = property(lambda self: self.estimator.predict(self.X))
    y_proba = property(lambda self: self.estimator.predict_proba(self.X))
    explanation = property(lambda self: self.estimator.explain(self.X))
    importance = property(lambda self: self.estimator.importance(self.X, self.y))
    diagnosis = property(lambda self: diagnose(self.estimator))
    drift = property(lambda self: drift(self.X, self.X[::-1]))

    @cached_property
    def evaluation(self):
        return evaluate(self.estimator, self.X, self.y, folds=2)

    @cached_property
    def comparison(self):
        return compare((NaiveBayes(), NaiveBayes(calibration=None)), self.X, self.y, repeats=2)

    @cached_property
    def tuning(self):
        grid = {"calibration": [None, "weights"]}
        return tune(self.estimator, self.X, self.y, grid=grid, folds=2)

    def draw(self, name, way, **options):
        """Make a display of what its parameters without a default are called, and of X and y."""
        make = getattr(getattr(plots, name), way)
        known = inspect.signature(make).parameters
        options |= {"grid": 9} if "grid" in known else {}
        for parameter, its in known.items():
            if (
                its.default is its.empty and its.kind not in (its.VAR_KEYWORD, its.VAR_POSITIONAL)
            ) or parameter in ("X", "y"):
                options[parameter] = getattr(self, parameter)
        return make(**options)


@pytest.fixture(scope="module", params=[*TABLES, *ROWS])
def case(request):
    make, rows = TABLES.get(request.param, mixed), ROWS.get(request.param, LABELS)
    X = pd.DataFrame(make(np.random.default_rng(0)))[: rows.size]
    estimator = GaussianNB() if request.param == "numbers" else NaiveBayes()
    return request.param, Case(X, rows, estimator)


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_a_display_is_drawn_of_any_table_or_says_what_it_needs(case, name, way):
    table, model = case
    if way in OF_ANSWERS and table != "mixed":
        return
    tables, message = NEEDED.get(name, ((), ""))
    if table in tables:
        with pytest.raises(NaivelyError, match=message):
            model.draw(name, way)
    else:
        model.draw(name, way)


@pytest.fixture(scope="module")
def dated():
    X = pd.DataFrame({"x": numbers(np.random.default_rng(0))["x"], "when": pd.NaT})
    X["when"] = dates(np.random.default_rng(1))["when"]
    return Case(X, LABELS, NaiveBayes())


def test_a_column_of_dates_is_drawn_by_its_name_or_by_that_of_a_part(dated):
    def panels(columns):
        display = dated.draw("BellCurveDisplay", "from_estimator", columns=columns)
        return [ax.get_title("left") for ax in display.ax_]

    parts = ["when.year", "when.month", "when.weekday"]
    assert panels("when")[:3] == parts
    assert panels(["x", "when.month"]) == ["x", "when.month"]
    assert panels(["when", "x"])[-1] == "x"
    for year in ("when", "when.year"):
        regions = dated.draw("DecisionRegionDisplay", "from_estimator", columns=[year, "x"])
        assert regions.column_names == ("when.year", "x")
        years = dated.X["when"].dt.year
        np.testing.assert_array_equal(regions.points, np.column_stack([years, dated.X["x"]]))
    with pytest.raises(NaivelyError, match=r"'when\.month' holds categories"):
        dated.draw("DecisionRegionDisplay", "from_estimator", columns=["when.month", "x"])
    with pytest.raises(NaivelyError, match="no column 'wen'; did you mean 'when'"):
        panels(["wen"])


@pytest.mark.parametrize("value", [0.0, 3.0, 2.0**53, 1e300, 5e-324])
@pytest.mark.parametrize("family", ["histogram", "gaussian", None])
def test_a_column_of_one_value_is_drawn(value, family):
    X = pd.DataFrame({"x": np.full(N, value)})
    model = NaiveBayes(families=family and {"x": family}).fit(X, LABELS)
    for rows in ({}, {"X": X, "y": LABELS}):
        plots.BellCurveDisplay.from_estimator(model, **rows)


def test_a_row_beyond_a_line_of_the_nomogram_stands_beside_it():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"note": [f"{'win' if y == 'b' else 'at'} {n}" for n, y in enumerate(LABELS)]})
    X["note"] += [" " + " ".join(rng.choice(["see", "you", "there"], 3)) for _ in LABELS]
    model = NaiveBayes(calibration=None).fit(X, LABELS)
    X["note"] = "win " * 60
    display = plots.NomogramDisplay.from_estimator(model, X)
    assert display.marks_.get_xdata()[0] == 102
