"""Bell curves: what was drawn, and where."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_digits

from naively import GaussianNB, NaiveBayes
from naively.plots import (
    BellCurveDisplay,
    columns_by_separation,
)
from tests.figures import AGE, PEOPLE, PETALS, legend_of, said


def test_there_is_a_panel_per_column_and_in_it_a_curve_per_class(iris):
    X, y = iris
    model = GaussianNB(ddof=1).fit(X, y)
    display = BellCurveDisplay.from_estimator(model, X, y)
    assert [ax.get_title("left") for ax in display.ax_] == list(X.columns)
    assert legend_of(display.figure_) == ["setosa", "versicolor", "virginica"]
    for j, curves in enumerate(display.curves_):
        assert len(curves) == len(display.histograms_[j]) == 3
        for k, line in enumerate(curves):
            x, density = line.get_data()
            exact = norm.pdf(x, model.theta_[k, j], np.sqrt(model.var_[k, j]))
            np.testing.assert_allclose(density, exact, rtol=1e-12)


def test_histograms_hold_every_cell_once(iris):
    X, y = iris
    holes = X.copy()
    holes.iloc[::7, 1] = np.nan
    display = BellCurveDisplay.from_estimator(GaussianNB().fit(holes, y), holes, y)
    for j, panel in enumerate(display.panels):
        np.testing.assert_allclose((panel.heights * np.diff(panel.edges)).sum(axis=1), 1.0)
        assert panel.edges[0] <= X.iloc[:, j].min()
        assert X.iloc[:, j].max() <= panel.edges[-1]
        for k, patch in enumerate(display.histograms_[j]):
            np.testing.assert_array_equal(patch.get_data().values, panel.heights[k])


def test_few_whole_numbers_get_a_bar_each():
    X, y = load_digits(return_X_y=True)
    model = GaussianNB().fit(X, y)
    display = BellCurveDisplay.from_estimator(model, X, y, columns=[26])
    assert display.panels[0].edges.tolist() == (np.arange(18) - 0.5).tolist()


def test_of_many_columns_the_columns_by_separation_come_first_and_it_says_so():
    table = load_breast_cancer(as_frame=True)
    model = GaussianNB().fit(table.data, table.target)
    display = BellCurveDisplay.from_estimator(model, table.data, table.target, max_columns=4)
    best = columns_by_separation(model.summary_, 4)
    assert [panel.name for panel in display.panels] == table.data.columns[best].tolist()
    assert "The 4 columns of 30 that separate the classes best." in said(display)


def test_columns_are_drawn_as_asked_for(iris):
    X, y = iris
    display = BellCurveDisplay.from_estimator(GaussianNB().fit(X, y), columns=[PETALS[1], 0])
    assert [panel.name for panel in display.panels] == [PETALS[1], X.columns[0]]
    assert display.histograms_ == [[], []]
    assert not display.notes


def test_constant_and_unseen_columns_are_drawn_as_what_they_are():
    X = np.column_stack([PEOPLE[:, 0], np.ones(16), np.full(16, np.nan)])
    model = GaussianNB(var_smoothing=0).fit(X, AGE)
    display = BellCurveDisplay.from_estimator(model, X, AGE)
    assert [line.get_xdata() for line in display.curves_[1]] == [[1.0, 1.0]] * 2
    assert "no cell seen" in [text.get_text() for text in display.ax_[2].texts]


def test_a_spike_does_not_flatten_the_other_curves():
    X = np.concatenate([np.random.default_rng(0).normal(size=500), np.full(500, 2.0)])[:, None]
    y = np.repeat(["wide", "spike"], 500)
    display = BellCurveDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    assert display.ax_[0].get_ylim()[1] < 8 * display.curves_[0][1].get_ydata().max()


@pytest.mark.parametrize("family", ["gaussian", "student_t", "poisson"])
@pytest.mark.parametrize(
    "column",
    [np.full(16, 1.7e18), 1e17 + 16 * np.arange(16), 1e8 * np.arange(16)],
    ids=["constant", "near each other", "wide"],
)
def test_large_whole_numbers_are_drawn(column, family):
    model = NaiveBayes(families={0: family}, calibration=None).fit(column[:, None], AGE)
    display = BellCurveDisplay.from_estimator(model, column[:, None], AGE)
    assert all(np.size(line.get_xdata()) < 10_000 for line in display.curves_[0])
