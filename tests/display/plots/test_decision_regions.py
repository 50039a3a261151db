"""Decision regions: what was drawn, and where."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chi2
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.svm import LinearSVC

from naively import GaussianNB, NaivelyError, summarize
from naively.display.plots.regions import data_ellipse, naive_ellipse
from naively.plots import (
    DecisionRegionDisplay,
)
from tests.figures import AGE, PEOPLE, PETALS, in_r, legend_of, said


def test_the_areas_of_the_regions_are_those_of_the_handmade_naive_bayes(petals):
    display = in_r(petals)
    assert display.regions.shape == (121, 296)
    assert display.areas.round(4).tolist() == [0.0788, 0.5568, 0.3644]
    model, X, y = petals
    assert model.score(X, y) == 0.96


def test_dropping_the_determinant_as_the_r_code_does_moves_two_percent_of_the_cells(petals):
    class WithoutDeterminant(ClassifierMixin, BaseEstimator):
        """The R code as printed: a dead statement where the log-determinant is subtracted."""

        def fit(self, model):
            self.means_, self.variances_ = model.theta_, model.var_
            self.classes_, self.n_features_in_ = model.classes_, 2
            return self

        def predict(self, X):  # priors are equal
            z = (np.asarray(X)[:, np.newaxis] - self.means_) ** 2 / self.variances_
            return self.classes_[np.argmin(z.sum(axis=-1), axis=1)]

    model, X, y = petals
    ours, r = in_r(petals), DecisionRegionDisplay.from_estimator(
        WithoutDeterminant().fit(model), X.to_numpy(), y, step=0.02, extent="data", curve=None
    )  # fmt: skip
    assert round(np.mean(ours.regions != r.regions), 4) == 0.0198


def test_the_regions_are_what_predict_says(petals):
    model, *_ = petals
    display = in_r(petals, step=0.1)
    x0, x1 = np.meshgrid(display.x0, display.x1)
    points = pd.DataFrame({PETALS[0]: x0.ravel(), PETALS[1]: x1.ravel()})
    predicted = model.predict(points).reshape(display.regions.shape)
    assert (np.array(display.class_names)[display.regions] == predicted).all()
    colours = display.image_.get_array()
    assert colours.shape == (*display.regions.shape, 3)
    assert len(np.unique(colours.reshape(-1, 3), axis=0)) == 3


@pytest.mark.parametrize("smoothing", ["global", "column"])
def test_columns_left_out_are_missing_cells(iris, smoothing):
    X, y = iris
    model = GaussianNB(var_smoothing=0.1, smoothing=smoothing, ddof=1).fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, columns=[3, 1], grid=30)
    x0, x1 = np.meshgrid(display.x0, display.x1)
    rows = np.full((x0.size, 4), np.nan)
    rows[:, 3], rows[:, 1] = x0.ravel(), x1.ravel()
    rows = pd.DataFrame(rows, columns=X.columns)
    expected = model.predict_log_proba(rows)
    np.testing.assert_allclose(display.log_proba.reshape(-1, 3), expected, rtol=1e-13, atol=1e-13)
    assert (model.classes_[display.regions].ravel() == model.predict(rows)).all()
    assert display.ax_.get_xlabel() == PETALS[1]
    assert "2 of 4 columns; the rest left out as missing." in said(display)


def test_points_centroids_and_curves_are_drawn_for_every_class(petals):
    model, X, y = petals
    display = in_r(petals, curve="both")
    for k, label in enumerate(model.classes_):
        np.testing.assert_array_equal(display.points_[k].get_offsets(), X[y == label])
        np.testing.assert_allclose(display.centroids_[k].get_offsets()[0], model.theta_[k])
    assert [len(lines) for lines in display.curves_.values()] == [3, 3]
    assert legend_of(display.ax_) == [
        "setosa", "versicolor", "virginica", "centroid", "holds 0.95 of its class",
        "holds 0.95, with correlation",
    ]  # fmt: skip
    assert display.ax_.get_title("left") == "Decision regions of GaussianNB"


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_naive_curve_holds_its_share_of_the_class(petals, level):
    model, *_ = petals
    display = in_r(petals, level=level)
    for k, line in enumerate(display.curves_["naive"]):
        distance = (line.get_xydata() - model.theta_[k]) ** 2 / model.var_[k]
        np.testing.assert_allclose(chi2.cdf(distance.sum(axis=1), df=2), level, rtol=1e-12)
        corner = line.get_xydata().max(axis=0) - model.theta_[k]  # axis-aligned
        expected = np.sqrt(chi2.ppf(level, df=2) * model.var_[k])
        np.testing.assert_allclose(corner, expected, rtol=1e-12)


def test_a_share_of_many_rows_lies_within_the_curve():
    mean, variance = np.array([3.0, -1.0]), np.array([4.0, 0.25])
    rows = np.random.default_rng(0).normal(mean, np.sqrt(variance), size=(100_000, 2))
    path = mpl.path.Path(naive_ellipse(mean, variance, 0.95))
    assert path.contains_points(rows).mean() == pytest.approx(0.95, abs=0.003)  # 4 sigma


def test_the_curve_with_correlation_is_that_of_the_sample_covariance(petals):
    model, X, y = petals
    X, y = X[::2], y[::2]  # not the rows that the model has seen
    display = DecisionRegionDisplay.from_estimator(model, X, y, curve="data")
    for label, line in zip(np.unique(y), display.curves_["data"], strict=True):
        rows = X[y == label].to_numpy()
        away = line.get_xydata() - rows.mean(axis=0)
        distance = np.einsum("ni,ij,nj->n", away, np.linalg.inv(np.cov(rows.T)), away)
        np.testing.assert_allclose(distance, chi2.ppf(0.95, df=2), rtol=1e-9)


def test_without_correlation_both_curves_are_one():
    a, b = naive_ellipse([1, 2], [4, 9]), data_ellipse([1, 2], [[4, 0], [0, 9]])
    np.testing.assert_allclose(a, b, atol=1e-12)


def test_shading_by_probability_is_paler_at_the_boundary(petals):
    display = in_r(petals, shade="probabilities")
    paleness = np.asarray(display.image_.get_array()).min(axis=-1)
    sure = display.log_proba.max(axis=-1) > np.log(0.999)
    unsure = display.log_proba.max(axis=-1) < np.log(0.6)
    assert paleness[unsure].min() > paleness[sure].max()
    assert "The paler a region, the less sure its class." in said(display)


def test_the_two_columns_by_separation_columns_are_chosen_and_it_says_so(many):
    model, X, y = many
    display = DecisionRegionDisplay.from_estimator(model, X, y, grid=40)
    assert display.column_names == ("column 28", "column 29")
    assert "The 2 of 30 columns that separate the classes best" in said(display)
    assert "The 12 of 40 classes that stand apart most." in said(display)
    assert len(display.points_) == len(display.curves_["naive"]) == 12
    assert "28 other classes" in legend_of(display.ax_)
    assert set(np.unique(display.regions)) > set(display.pair.shown)


def test_a_picture_of_many_points_shows_some_and_says_so(petals):
    display = in_r(petals, max_points=60)
    assert sum(len(points.get_offsets()) for points in display.points_) == 60
    assert "60 of 150 points are drawn, chosen at random." in said(display)


def test_rows_with_a_missing_cell_are_counted_and_not_drawn(petals):
    model, X, y = petals
    holes = X.copy()
    holes.iloc[[3, 70], 0] = np.nan
    display = DecisionRegionDisplay.from_estimator(model, holes, y, grid=20)
    assert sum(len(points.get_offsets()) for points in display.points_) == 148
    assert "2 rows with a missing cell are not drawn." in said(display)


def test_regions_need_no_data():
    seen = summarize(PEOPLE, AGE)
    display = DecisionRegionDisplay.from_estimator(GaussianNB.from_summary(seen, ddof=1))
    assert display.points_ == []
    assert len(display.curves_["naive"]) == 2
    for line in display.curves_["naive"]:  # the grid holds the curves
        x, y = line.get_data()
        assert display.x0[0] <= x.min() <= x.max() <= display.x0[-1]
        assert display.x1[0] <= y.min() <= y.max() <= display.x1[-1]


def test_with_shared_variance_the_boundary_is_a_line():
    model = GaussianNB(ddof=1, variance="shared").fit(PEOPLE, AGE)
    display = DecisionRegionDisplay.from_estimator(model, PEOPLE, AGE, grid=50)
    x0, x1 = np.meshgrid(display.x0, display.x1)
    side = np.dstack([x0, x1]) @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_array_equal(display.regions, side > 0)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_any_classifier_of_two_columns_has_regions(petals, frame):
    model, X, y = petals
    X = frame(X.to_dict("list"))
    other = LogisticRegression().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(other, X, y, curve="data", grid=20)
    assert len(display.curves_["data"]) == len(display.centroids_) == 3
    np.testing.assert_allclose(display.means, model.theta_, rtol=1e-12)
    assert display.ax_.get_title("left") == "Decision regions of LogisticRegression"


def test_a_classifier_without_probabilities_has_regions(petals):
    _, X, y = petals
    other = LinearSVC().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(other, X, y, curve=None, grid=20)
    assert len(np.unique(display.regions)) == 3
    with pytest.raises(NaivelyError, match=r"shade='probabilities' needs .* LinearSVC does not"):
        display.plot(shade="probabilities", curve=None)


def test_the_model_of_scikit_learn_has_curves_too(petals):
    model, X, y = petals
    theirs = SklearnGaussianNB().fit(X, y)
    display = DecisionRegionDisplay.from_estimator(theirs, grid=20)
    np.testing.assert_allclose(display.means, model.theta_, rtol=1e-12)
    assert len(display.curves_["naive"]) == 3
