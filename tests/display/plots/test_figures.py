"""Figures that functions draw: densities as hills and contours, bars of accuracy and of time."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from naively import GaussianNB, compare
from naively.display.plots.density import read_densities
from naively.evaluation import Timing
from naively.plots import accuracy_bars, density_surface, time_bars
from tests.figures import AGE, PEOPLE, legend_of


def said(ax):
    return "\n".join(text.get_text() for text in ax.figure.findobj(mpl.text.Text))


@pytest.fixture(scope="module")
def people():
    return GaussianNB(ddof=1).fit(PEOPLE, AGE)


def test_the_surface_is_the_product_of_two_bell_curves(people):
    found = read_densities(people, None, False, 40, 12)
    points = np.dstack(np.meshgrid(found.x0, found.x1))
    for k in range(2):
        exact = multivariate_normal(people.theta_[k], np.diag(people.var_[k])).pdf(points)
        np.testing.assert_allclose(found.values[k], exact, rtol=1e-9)
    ax = density_surface(people, feature_names=["height", "weight"], grid=40)
    assert ax.name == "3d"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "weight")
    assert legend_of(ax) == ["adult", "child"]
    (surface,) = ax.collections
    assert len(surface.get_facecolor()) == 39 * 39


def test_weighted_densities_win_where_the_class_wins(people):
    found = read_densities(people, None, True, 40, 12)
    points = np.dstack(np.meshgrid(found.x0, found.x1)).reshape(-1, 2)
    winner = people.classes_[found.values.argmax(axis=0)].ravel()
    assert (winner == people.predict(points)).all()
    assert "Densities times priors" in said(density_surface(people, weighted=True, grid=40))


def test_contours_hold_shares_of_their_class(petals):
    model, *_ = petals
    lines = density_surface(model, kind="contours").lines
    levels = (0.95, 0.75, 0.5, 0.25)
    for line, (k, level) in zip(lines, [(k, p) for k in range(3) for p in levels], strict=True):
        distance = (line.get_xydata() - model.theta_[k]) ** 2 / model.var_[k]
        np.testing.assert_allclose(distance.sum(axis=1), chi2.ppf(level, df=2))


def test_surface_and_contours_stand_side_by_side(petals):
    model, *_ = petals
    hills, contours = density_surface(model, kind="both", grid=30)
    assert (hills.name, contours.name) == ("3d", "rectilinear")
    assert len(hills.collections) == 1
    assert len(contours.lines) == 12


def test_densities_of_two_columns_of_many_are_drawn_of_either_package(iris):
    X, y = iris
    for kind in (GaussianNB, SklearnGaussianNB):
        assert density_surface(kind().fit(X, y), grid=9).get_xlabel() == "petal length (cm)"


def test_bars_show_training_and_test_accuracy_of_both(iris):
    result = compare(GaussianNB(), *iris, repeats=2)
    ax = accuracy_bars(result)
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(heights, np.transpose([result.train_accuracy, result.test_accuracy]))
    assert [text.get_text() for text in ax.texts[:2]] == ["0.9810", "0.9111"]
    assert legend_of(ax) == ["naively GaussianNB", "sklearn GaussianNB"]
    assert ax.get_ylim()[0] == 0
    for what, timings in (("training", result.fit_seconds), ("prediction", result.predict_seconds)):
        ax = time_bars(result, what=what)
        assert ax.get_title("left") == f"Time of {what}"
        assert all(str(timing) in said(ax) for timing in timings)


def times(*seconds):
    return SimpleNamespace(names=("a", "b"), fit_seconds=[Timing.of(each) for each in seconds])


def test_times_have_error_bars_from_quartile_to_quartile():
    ax = time_bars(times([1e-4, 5e-5, 4e-4], [5e-4, 6e-4, 7e-4]))
    assert ax.get_ylabel() == "µs (median and quartiles)"
    bars = next(bars for bars in ax.containers if hasattr(bars, "errorbar"))
    np.testing.assert_allclose([bar.get_height() for bar in bars], [100, 600])
    segments = bars.errorbar.lines[2][0].get_segments()
    np.testing.assert_allclose([s[:, 1] for s in segments], [[75, 250], [550, 650]], atol=1e-9)
    assert "100 µs (75 to 250)" in said(ax)
    assert "a is 6 times as fast as b.\n3 runs each." in said(ax)


def test_one_run_has_no_error_bar():
    text = said(time_bars(times([0.5], [0.5])))
    assert "500 ms" in text
    assert "500 ms (" not in text
