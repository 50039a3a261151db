"""Nomograms: points that add up to the probabilities of the model."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from naively import GaussianNB, NaiveBayes
from naively.errors import NaivelyError
from naively.plots import ImportanceDisplay, NomogramDisplay
from tests.inspection.explanations.cases import CASES, case_of, numbers


@pytest.mark.parametrize("name", CASES)
def test_the_total_of_a_row_has_the_probability_of_the_model(name):
    model, X = case_of(name)
    for row in (0, 17):
        display = NomogramDisplay.from_estimator(model, X, row, max_columns=4)
        found, classes = display.nomogram, [str(label) for label in model.classes_.tolist()]
        p = model.predict_proba(X)[row]
        of, against = p[classes.index(found.of)], p[classes.index(found.against)]
        assert found.probability(display.row.total(found)) == pytest.approx(
            of / (of + against), abs=1e-9
        )


@pytest.mark.parametrize("name", CASES)
def test_an_axis_says_what_the_model_adds_for_its_values(name):
    model, X = case_of(name)
    found = NomogramDisplay.from_estimator(model, max_columns=20).nomogram
    classes = model.classes_.tolist()
    of, against = (
        next(label for label in classes if str(label) == one) for one in (found.of, found.against)
    )
    assert len(found.axes) == model.n_features_in_
    for axis in found.axes:
        at = np.unique(np.linspace(0, axis.cells.size - 1, 5).astype(int))
        cells = axis.cells[at]
        rows = X[: at.size].copy()
        if axis.kind == "text":
            rows.isetitem(axis.column, np.array(axis.labels, dtype=object)[at])
        elif axis.kind == "category" and axis.labels and isinstance(X, pd.DataFrame):
            kind = {"True": True, "False": False}
            values = [kind.get(axis.labels[i], axis.labels[i]) for i in at]
            rows.isetitem(axis.column, np.array(values, dtype=object))
        elif isinstance(X, pd.DataFrame):
            rows.isetitem(axis.column, cells)
        else:
            rows[:, axis.column] = cells
        odds = model.explain(rows).log_odds(of, against)
        expected = odds.values[:, axis.column]
        np.testing.assert_allclose(axis.log_odds[at], expected, rtol=0, atol=1e-9)


def test_points_are_0_to_100_and_their_total_is_linear_in_the_log_odds():
    model, _ = case_of("NaiveBayes without interactions")
    found = NomogramDisplay.from_estimator(model).nomogram
    widths = [found.points(axis, axis.high) - found.points(axis, axis.low) for axis in found.axes]
    assert max(widths) == pytest.approx(100)
    assert all(found.points(axis, axis.low) == 0 for axis in found.axes)
    p = np.array([0.01, 0.3, 0.5, 0.97])
    np.testing.assert_allclose(found.probability(found.total(p)), p, rtol=1e-12)
    missing = sum(float(found.points(axis, 0.0)) for axis in found.axes)
    nothing = np.exp(model.model_.constant) / np.exp(model.model_.constant).sum()
    assert found.probability(missing) == pytest.approx(nothing[1], abs=1e-12)


def test_values_of_curves_that_turn_stand_on_both_sides_of_the_line():
    rng = np.random.default_rng(0)
    y = np.repeat(["narrow", "wide"], 200)
    X = rng.normal(size=(400, 1)) * np.where(y == "wide", 3.0, 1.0)[:, None]
    (axis,) = NomogramDisplay.from_estimator(GaussianNB().fit(X, y)).nomogram.axes
    ticks = {tick.label: tick for tick in axis.ticks([-4.0, -2.0, 0.5, 4.0])}
    assert [tick.rising for tick in ticks.values()] == [False, False, True, True]
    assert ticks["4"].log_odds == pytest.approx(ticks["-4"].log_odds, abs=2)


def test_small_numbers_have_as_many_names_as_large_ones():
    X, y = numbers()
    scaled = np.column_stack([X[:, 3], 1e-3 * X[:, 3], 1e3 * X[:, 3]])
    model = GaussianNB(smoothing="column").fit(scaled, y)
    texts = NomogramDisplay.from_estimator(model).ax_.texts
    on_line = [sum(round(text.get_position()[1]) == y for text in texts) for y in (1, 2, 3)]
    assert min(on_line) > 4
    assert max(on_line) - min(on_line) <= 2


def test_it_says_what_is_left_out():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = pd.DataFrame(rng.normal(size=(300, 14)) + y[:, None] * np.linspace(1, 0, 14))
    X.columns = [f"x{j}" for j in range(14)]
    for model, words in (
        (GaussianNB(), "10 widest of 14 columns"),
        (GaussianNB(calibration="weights"), "10 most important of 14 columns"),
        (NaiveBayes(), "Interactions"),
    ):
        display = NomogramDisplay.from_estimator(model.fit(X, y))
        assert len(display.nomogram.axes) == 10
        assert words in " ".join(text.get_text().replace("\n", " ") for text in display.ax_.texts)


def test_it_draws_into_given_axes_again_and_marks_a_row():
    model, X = case_of("GaussianNB")
    display = NomogramDisplay.from_estimator(model, X, 2, of="c", against="a")
    figure, ax = plt.subplots()
    assert display.plot(ax) is display
    assert (display.ax_, display.figure_) == (ax, figure)
    assert len(display.marks_.get_xdata()) == 5 + 2
    assert NomogramDisplay.from_estimator(model).marks_ is None


def test_cells_of_any_kind_are_drawn():
    model, X = case_of("NaiveBayes of text")
    display = NomogramDisplay.from_estimator(model, X.assign(town="Mars", age=np.nan), 0)
    told = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert {"points", "total points", "note", "town", "age", "everything else"} <= set(told)


def test_bad_input_is_refused():
    X, y = numbers()
    model = GaussianNB().fit(X, y)
    with pytest.raises(NaivelyError, match=r"must be classes .*got 'd'"):
        NomogramDisplay.from_estimator(model, of="d")
    with pytest.raises(NaivelyError, match="must be two classes"):
        NomogramDisplay.from_estimator(model, of="a", against="a")
    with pytest.raises(NaivelyError, match="the model has one"):
        NomogramDisplay.from_estimator(GaussianNB().fit(X, np.zeros(len(X))))
    with pytest.raises(NaivelyError, match="positive probability"):
        NomogramDisplay.from_estimator(GaussianNB(priors=[0, 0.5, 0.5]).fit(X, y), of="a")
    with pytest.raises(NaivelyError, match=r"row must be the number of a row; got 1\.5"):
        NomogramDisplay.from_estimator(model, X, row=1.5)
    with pytest.raises(NaivelyError, match="max_columns must be at least 1; got 0"):
        NomogramDisplay.from_estimator(model, max_columns=0)
    with pytest.raises(NaivelyError, match="max_columns must be at least 1; got 0"):
        ImportanceDisplay.from_estimator(model, X, y, max_columns=0)
    for display in (NomogramDisplay, ImportanceDisplay):
        with pytest.raises(NaivelyError, match=r"naively's; got sklearn.*LogisticRegression"):
            display.from_estimator(LogisticRegression())


def test_bars_of_importance_are_the_increases():
    model, X = case_of("NaiveBayes of any columns")
    display = ImportanceDisplay.from_estimator(model, max_columns=3)
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(model.importance_.increase, reverse=True)[:3]
    figure, ax = plt.subplots()
    assert display.plot(ax).figure_ is figure
    model, X = case_of("GaussianNB")
    y = np.resize(model.classes_, len(X))
    assert len(ImportanceDisplay.from_estimator(model, X, y).bars_) == 5
