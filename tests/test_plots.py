"""What was drawn: data, labels, and the number of things on the page."""

import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chi2, multivariate_normal, norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.svm import LinearSVC

from naively import GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.evaluation import compare, evaluate
from naively.families import Categorical, Poisson, StudentT
from naively.plots import (
    AccuracyBarsDisplay,
    BellCurveDisplay,
    ConfusionDisplay,
    DecisionRegionDisplay,
    DensitySurfaceDisplay,
    ReliabilityDisplay,
    TimeBarsDisplay,
    classes_by_separation,
    columns_by_separation,
    separation,
)
from naively.plots.ellipses import data_ellipse, naive_ellipse
from naively.plots.palette import colour, marker
from naively.plots.separation import class_separation
from naively.plots.shares import category_shares, rebinned

mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

PEOPLE = np.array(
    [[110, 115, 120, 122, 125, 128, 130, 133, 135, 138, 140, 145, 160, 170, 175, 185],
     [19, 21, 22, 25, 24, 27, 28, 30, 31, 33, 35, 38, 55, 68, 72, 85]], dtype=float
).T  # fmt: skip
AGE = np.array(["child"] * 12 + ["adult"] * 4)
PETALS = ["petal length (cm)", "petal width (cm)"]


@pytest.fixture(autouse=True)
def _close_figures():
    """Draw what a test left behind, so that its layout is tested too, and close it."""
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.fixture(scope="module")
def iris():
    table = load_iris(as_frame=True)
    return table.data, table.target_names[table.target]


@pytest.fixture(scope="module")
def petals(iris):
    """R's set-up: two columns, the variance of n - 1, a grid of step 0.02."""
    X, y = iris[0][PETALS], iris[1]
    return GaussianNB(ddof=1, var_smoothing=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def many():
    """Forty classes, thirty columns of which the last two separate them."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 30)
    centres = np.zeros((40, 30))
    centres[:, -2:] = random.normal(size=(40, 2)) * 8
    X = centres[y] + random.normal(size=(y.size, 30))
    return GaussianNB().fit(X, y), X, y


def legend_of(place):
    legend = place.get_legend() if hasattr(place, "get_legend") else place.legends[0]
    return [text.get_text() for text in legend.get_texts()]


def said(display):
    """Everything that is written on a display's figure."""
    return "\n".join(text.get_text() for text in display.figure_.findobj(mpl.text.Text))


# --- decision regions -------------------------------------------------------------------------


def in_r(petals, **options):
    model, X, y = petals
    options = {"step": 0.02, "extent": "data", **options}
    return DecisionRegionDisplay.from_estimator(model, X, y, **options)


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
    assert set(np.unique(display.regions)) > set(display.shown)


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


# --- bell curves ------------------------------------------------------------------------------


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


# --- columns of any kind ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def shop():
    """Numbers of several shapes, text, booleans and missing cells; and labels."""
    random = np.random.default_rng(0)
    y = np.array(["buys", "looks", "leaves"])[random.integers(0, 3, 300)]
    buys = y == "buys"
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, 300) + 8 * buys,
            "income": np.exp(random.normal(10, 0.6, 300)),
            "town": random.choice(["Ulm", "Bonn", "Berlin"], 300),
            "member": random.random(300) < np.where(buys, 0.8, 0.3),
            "visits": random.poisson(np.where(buys, 4, 1)),
        }
    )
    frame["age"] = frame["age"].mask(random.random(300) < 0.1)
    frame["town"] = frame["town"].mask(random.random(300) < 0.1)
    return frame, y


@pytest.fixture(scope="module")
def shopper(shop):
    return NaiveBayes().fit(*shop)


def test_a_mixed_table_has_curves_and_bars(shop, shopper):
    frame, y = shop
    display = BellCurveDisplay.from_estimator(shopper, frame, y)
    assert [ax.get_title("left") for ax in display.ax_] == list(frame.columns)
    assert legend_of(display.figure_) == ["buys", "leaves", "looks"]
    assert "Columns of NaiveBayes" in said(display)
    assert "a smooth curve, and steps" in said(display)
    drawn = [type(curves[0]).__name__ for curves in display.curves_]
    assert drawn == ["Line2D", "Line2D", "BarContainer", "BarContainer", "Line2D"]
    assert [len(curves) for curves in display.curves_] == [6, 6, 3, 3, 6]
    assert [len(patches) for patches in display.histograms_] == [3, 3, 0, 0, 3]


def test_the_smooth_curve_is_the_density_of_the_family(shop, shopper):
    frame, y = shop
    display = BellCurveDisplay.from_estimator(shopper, frame, y, columns=["age"])
    family, moments = StudentT(), summarize(frame[["age"]], y).moments
    for k, line in enumerate(display.curves_[0][:3]):
        x, density = line.get_data()
        exact = np.exp(family.log_density(x[:, np.newaxis], family.parameters(moments)))[:, k, 0]
        np.testing.assert_allclose(density, exact, rtol=1e-12)


def test_steps_hold_all_of_a_class(shop, shopper):
    frame, y = shop
    display = BellCurveDisplay.from_estimator(shopper, frame, y)
    for panel in display.panels:
        for x, density in getattr(panel, "more", ()):
            np.testing.assert_allclose(np.trapezoid(density, x, axis=1), 1.0, rtol=1e-9)


def test_bars_are_the_shares_that_the_model_believes(shop, shopper):
    frame, y = shop
    display = BellCurveDisplay.from_estimator(shopper, frame, y, columns=["town"])
    names = [label.get_text() for label in display.ax_[0].get_yticklabels()]
    family, towns = Categorical(), sorted(frame["town"].dropna().unique())
    tally = np.array([[np.sum((y == k) & (frame["town"] == t)) for t in towns]
                      for k in np.unique(y)], dtype=float)  # fmt: skip
    shares = np.exp(family.parameters(tally).log_share)
    for k, bars in enumerate(display.curves_[0]):
        widths = dict(zip(names, [bar.get_width() for bar in bars], strict=True))
        for c, town in enumerate(towns):
            assert widths[town] == pytest.approx(shares[k, c], rel=1e-12)


def test_counts_are_drawn_in_steps_of_one(shop):
    frame, y = shop
    model = NaiveBayes(families={"visits": "poisson"}, calibration=None).fit(frame, y)
    display = BellCurveDisplay.from_estimator(model, columns=["visits"])
    family = Poisson()
    moments = summarize(frame[["visits"]], y).moments
    expected = np.exp(family.log_density(np.arange(4.0)[:, np.newaxis], family.parameters(moments)))
    for k, line in enumerate(display.curves_[0]):
        x, density = line.get_data()
        for count in range(4):
            inside = (x == count - 0.5) | (x == count + 0.5)
            assert expected[count, k, 0] in density[inside]


def test_of_many_categories_the_most_frequent_are_drawn():
    random = np.random.default_rng(0)
    names = np.array([f"level {i:02}" for i in range(50)])
    codes = np.minimum(random.geometric(0.2, 2000), 50) - 1
    model = NaiveBayes(calibration=None).fit(names[codes][:, np.newaxis], codes % 2)
    display = BellCurveDisplay.from_estimator(model)
    drawn = [label.get_text() for label in display.ax_[0].get_yticklabels()]
    assert drawn == names[np.argsort(-np.bincount(codes), kind="stable")[:8]].tolist()
    left = np.unique(codes).size - 8
    assert display.ax_[0].get_xlabel() == f"share in its class; {left} categories more"


def test_columns_without_a_cell_or_of_one_value_are_drawn_as_what_they_are(shop):
    frame, y = shop
    odd = frame[["age"]].assign(empty=np.nan, same=3.0, never=pd.Series([None] * 300, dtype=str))
    model = NaiveBayes(families={"never": "categorical"}).fit(odd, y)
    display = BellCurveDisplay.from_estimator(model, odd, y)
    for place in (1, 3):
        assert "no cell seen" in [text.get_text() for text in display.ax_[place].texts]
    assert [line.get_xdata() for line in display.curves_[2][:3]] == [[3.0, 3.0]] * 3


@pytest.mark.parametrize("kind", ["pandas", "polars", "list"])
def test_regions_of_a_mixed_table_leave_other_columns_missing(shop, shopper, kind):
    frame, y = shop
    X = {"pandas": frame, "polars": pl.DataFrame(frame), "list": frame.to_numpy().tolist()}[kind]
    display = DecisionRegionDisplay.from_estimator(shopper, X, y, columns=["visits", "age"], grid=9)
    x0, x1 = np.meshgrid(display.x0, display.x1)
    rows = pd.DataFrame(index=range(x0.size), columns=frame.columns, dtype=float)
    rows["visits"], rows["age"] = x0.ravel(), x1.ravel()
    rows = rows.astype({"town": object, "member": object})
    expected = shopper.predict_log_proba(rows)
    np.testing.assert_allclose(display.log_proba.reshape(-1, 3), expected, rtol=1e-12, atol=1e-12)
    assert (shopper.classes_[display.regions].ravel() == shopper.predict(rows)).all()
    seen = frame[["visits", "age"]].dropna()
    np.testing.assert_array_equal(display.points, seen)
    assert display.curves_ == {}
    centre = [frame.loc[y == "buys", name].mean() for name in ("visits", "age")]
    np.testing.assert_allclose(display.means[0], centre, rtol=1e-12)


def test_regions_take_the_columns_by_separation_columns_of_numbers(shop, shopper):
    display = DecisionRegionDisplay.from_estimator(shopper, *shop, grid=9)
    assert display.column_names == ("age", "visits")
    assert "The 2 of 5 columns that separate the classes best" in said(display)


def test_regions_of_a_model_that_rejects_or_has_costs_are_what_it_answers(shop):
    frame, y = shop
    costs = [[0, 1, 1], [50, 0, 50], [1, 1, 0]]
    model = NaiveBayes(costs=costs, reject=(0.9, "unsure")).fit(frame, y)
    display = DecisionRegionDisplay.from_estimator(model, frame, y, grid=9)
    cost = np.exp(display.log_proba) @ np.array(costs)
    np.testing.assert_array_equal(display.regions, cost.argmin(axis=-1))
    assert display.areas[1] > 0.5


def test_weighed_gaussians_are_asked_with_all_their_columns(iris):
    X, y = iris
    model = GaussianNB(calibration="weights").fit(X, y)
    display = DecisionRegionDisplay.from_estimator(model, X, y, columns=PETALS, grid=9)
    x0, x1 = np.meshgrid(display.x0, display.x1)
    rows = pd.DataFrame(np.nan, index=range(x0.size), columns=X.columns)
    rows[PETALS[0]], rows[PETALS[1]] = x0.ravel(), x1.ravel()
    expected = model.predict_log_proba(rows)
    np.testing.assert_allclose(display.log_proba.reshape(-1, 3), expected, rtol=1e-12, atol=1e-12)


def test_a_plot_of_gaussians_says_that_it_needs_them(shop, shopper):
    with pytest.raises(NaivelyError, match=r"densities needs .* NaiveBayes does not have"):
        DensitySurfaceDisplay.from_estimator(shopper)
    with pytest.raises(NaivelyError, match=r"curve='naive' needs .* NaiveBayes does not have"):
        DecisionRegionDisplay.from_estimator(shopper, *shop, grid=9, curve="naive")
    with pytest.raises(NaivelyError, match=r"'town' holds categories\. Draw it with BellCurve"):
        DecisionRegionDisplay.from_estimator(shopper, *shop, columns=["age", "town"])
    towns = NaiveBayes(calibration=None).fit(shop[0][["town", "member", "age"]], shop[1])
    with pytest.raises(NaivelyError, match="two columns of numbers are needed; the model has 1"):
        DecisionRegionDisplay.from_estimator(towns)


def test_any_display_of_answers_takes_a_mixed_table(shop, shopper):
    frame, y = shop
    confusion = ConfusionDisplay.from_estimator(shopper, frame, y)
    expected = confusion_matrix(y, shopper.predict(frame))
    np.testing.assert_array_equal(confusion.displays_[0].im_.get_array(), expected)
    reliability = ReliabilityDisplay.from_estimator(shopper, frame, y)
    assert sum(bar.get_height() for bar in reliability.bars_[0]) == 300
    accuracy = AccuracyBarsDisplay.from_estimator(shopper, frame[:200], y[:200], frame, y)
    assert accuracy.test == [shopper.score(frame, y)]
    times = TimeBarsDisplay.from_estimator(NaiveBayes(), frame, y, repeats=2)
    assert times.mean[0] > 0


def test_bins_cut_elsewhere_keep_their_shares():
    random = np.random.default_rng(0)
    cuts = np.array([-np.inf, 0.0, 0.0, 1.0, 4.0, np.inf])
    shares = np.zeros((3, 7))
    shares[:, [1, 3, 4, 5]] = random.dirichlet(np.ones(4), size=3)  # the others have no width
    edges = np.linspace(-2, 6, 17)
    heights = rebinned(cuts, shares, edges)
    np.testing.assert_allclose(heights.sum(axis=1) * 0.5, 1.0)
    np.testing.assert_allclose(heights[:, 4:6].sum(axis=1) * 0.5, shares[:, 3])  # from 0 to 1
    np.testing.assert_allclose(heights[:, 6:12], shares[:, 4:5] / 3 * np.ones(6))  # from 1 to 4


def test_separation_of_categories_is_one_minus_the_overlap_of_shares(shopper):
    values = separation(shopper.summary_)
    assert values.argmax() in (3, 4)  # member, visits
    assert values[2] < 0.02  # towns say nothing
    tally, weight = shopper.summary_.tally(1), shopper.summary_.class_weight
    p = category_shares(tally)
    p /= p.sum(axis=1, keepdims=True)
    pairs = [(0, 1), (0, 2), (1, 2)]
    overlap = np.average(
        [np.sqrt(p[k] * p[m]).sum() for k, m in pairs],
        weights=[np.sqrt(weight[k] * weight[m]) for k, m in pairs],
    )
    assert values[3] == pytest.approx(1 - overlap, rel=1e-12)
    assert columns_by_separation(shopper.summary_, 5)[-1] in (1, 2)
    assert classes_by_separation(shopper.summary_, 1) == [0]


# --- confusion, bars, reliability -------------------------------------------------------------


@pytest.fixture(scope="module")
def two_models(iris):
    X, y = iris
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=42)
    ours = GaussianNB().fit(parts[0], parts[2])
    theirs = SklearnGaussianNB(var_smoothing=0.1).fit(parts[0], parts[2])
    return ours, theirs, *parts


def test_confusion_matrices_stand_side_by_side_in_one_scale(two_models):
    ours, theirs, _, X, _, y = two_models
    display = ConfusionDisplay.from_estimator(ours, X, y, other=theirs)
    for model, drawn in zip((ours, theirs), display.displays_, strict=True):
        expected = confusion_matrix(y, model.predict(X))
        np.testing.assert_array_equal(drawn.im_.get_array(), expected)
        texts = [[int(text.get_text()) for text in row] for row in drawn.text_]
        np.testing.assert_array_equal(texts, expected)
    scales = {drawn.im_.get_clim() for drawn in display.displays_}
    assert scales == {(0, 15)}
    assert [ax.get_title("left") for ax in display.ax_] == [
        "naively GaussianNB\naccuracy 0.9111",
        f"sklearn GaussianNB\naccuracy {theirs.score(X, y):.4f}",
    ]
    assert [label.get_text() for label in display.ax_[0].get_yticklabels()] == list(ours.classes_)


def test_confusion_can_be_shares_of_each_true_class(two_models):
    ours, _, _, X, _, y = two_models
    display = ConfusionDisplay.from_estimator(ours, X, y, normalize=True)
    np.testing.assert_allclose(display.displays_[0].im_.get_array().sum(axis=1), 1.0)
    assert "Shares of each true class." in said(display)


def test_of_many_classes_those_with_the_most_mistakes_are_shown():
    truth = np.repeat(np.arange(40), 10)
    guess = truth.copy()
    guess[truth == 7], guess[truth == 30] = 12, 31
    display = ConfusionDisplay.from_predictions(truth, guess, max_classes=4)
    assert [t.get_text() for t in display.ax_[0].get_xticklabels()] == ["7", "12", "30", "31"]
    assert "The 4 of 40 classes with the most mistakes." in said(display)
    assert display.ax_[0].get_title("left") == "accuracy 0.9500"


def test_bars_show_training_and_test_accuracy_of_both(two_models):
    ours, theirs, X, X_test, y, y_test = two_models
    display = AccuracyBarsDisplay.from_estimator(ours, X, y, X_test, y_test, other=theirs)
    heights = [[bar.get_height() for bar in bars] for bars in display.bars_]
    expected = [[m.score(X, y), m.score(X_test, y_test)] for m in (ours, theirs)]
    np.testing.assert_allclose(heights, expected)
    assert [text.get_text() for text in display.ax_.texts[:2]] == ["0.9810", "0.9111"]
    assert legend_of(display.ax_) == ["naively GaussianNB", "sklearn GaussianNB"]
    assert display.ax_.get_ylim()[0] == 0


def test_times_have_error_bars_that_end_at_zero():
    display = TimeBarsDisplay(names=["a", "b"], mean=[1e-4, 6e-4], std=[3e-4, 5e-5], runs=10)
    display.plot()
    assert display.unit_ == "µs"
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_], [100, 600])
    segments = display.bars_.errorbar.lines[2][0].get_segments()
    np.testing.assert_allclose([s[:, 1] for s in segments], [[0, 400], [550, 650]], atol=1e-9)
    assert "100 ± 300 µs" in said(display)
    assert "a is 6 times as fast as b.\n10 runs each." in said(display)


def test_times_are_measured_on_copies(two_models):
    _, _, X, _, y, _ = two_models
    blank = SklearnGaussianNB()
    display = TimeBarsDisplay.from_estimator(GaussianNB(), X, y, other=blank, repeats=3)
    assert not hasattr(blank, "theta_")
    assert display.runs == 3
    assert all(m > 0 and s >= 0 for m, s in zip(display.mean, display.std, strict=True))


def test_reliability_compares_confidence_and_accuracy_bin_by_bin():
    X, y = load_digits(return_X_y=True)
    model = GaussianNB().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y)
    top, right = model.predict_proba(X).max(axis=1), model.predict(X) == y
    at = np.minimum(np.ceil(top * 10 - 1e-12).astype(int) - 1, 9)
    bins = np.unique(at)
    expected = [[top[at == b].mean(), right[at == b].mean()] for b in bins]
    np.testing.assert_allclose(display.lines_[0].get_xydata(), expected)
    heights = [bar.get_height() for bar in display.bars_[0]]
    assert heights == np.bincount(at, minlength=10).tolist()
    assert "calibration error 0.1289" in said(display)


def test_reliability_needs_probabilities(petals):
    _, X, y = petals
    with pytest.raises(NaivelyError, match="LinearSVC has no predict_proba"):
        ReliabilityDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


def test_displays_read_an_evaluation(iris):
    X, y = iris
    judged = evaluate(GaussianNB(), X, y, folds=5)
    confusion = ConfusionDisplay.from_evaluation(judged)
    np.testing.assert_array_equal(confusion.displays_[0].im_.get_array(), judged.confusion)
    reliability = ReliabilityDisplay.from_evaluation(judged, names=["ours"])
    assert [bar.get_height() for bar in reliability.bars_[0]] == judged.reliability.count.tolist()
    assert f"ours\ncalibration error {judged.calibration_error:.4f}" in said(reliability)


def test_displays_read_a_comparison(iris):
    X, y = iris
    result = compare(X, y, repeats=2)
    accuracy = AccuracyBarsDisplay.from_comparison(result)
    assert accuracy.test == list(result.test_accuracy)
    for what, timings in (("training", result.fit_seconds), ("prediction", result.predict_seconds)):
        times = TimeBarsDisplay.from_comparison(result, what=what)
        assert times.mean == [timing.mean for timing in timings]
        assert times.ax_.get_title("left") == f"Time of {what}"
    confusion = ConfusionDisplay.from_comparison(result)
    for drawn, judged in zip(confusion.displays_, result.evaluations, strict=True):
        np.testing.assert_array_equal(drawn.im_.get_array(), judged.confusion)
    reliability = ReliabilityDisplay.from_comparison(result)
    assert len(reliability.lines_) == len(reliability.bars_) == 2


def test_one_run_has_no_error_bar():
    timing = SimpleNamespace(mean=0.5, std=float("nan"), runs=1)
    result = SimpleNamespace(names=("a", "b"), fit_seconds=(timing, timing))
    assert "500 ms" in said(TimeBarsDisplay.from_comparison(result))


# --- density surfaces -------------------------------------------------------------------------


def test_the_surface_is_the_product_of_two_bell_curves():
    model = GaussianNB(ddof=1).fit(PEOPLE, AGE)
    names = ["height", "weight"]
    display = DensitySurfaceDisplay.from_estimator(model, feature_names=names, grid=40)
    points = np.dstack(np.meshgrid(display.x0, display.x1))
    for k in range(2):
        exact = multivariate_normal(model.theta_[k], np.diag(model.var_[k])).pdf(points)
        np.testing.assert_allclose(display.density[k], exact, rtol=1e-9)
    assert display.ax_.name == "3d"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("height", "weight")
    assert legend_of(display.ax_) == ["adult", "child"]
    corners = np.asarray(display.surface_.get_facecolor())
    assert len(corners) == 39 * 39


def test_weighted_densities_win_where_the_class_wins():
    model = GaussianNB(ddof=1).fit(PEOPLE, AGE)
    display = DensitySurfaceDisplay.from_estimator(model, weighted=True, grid=40)
    points = np.dstack(np.meshgrid(display.x0, display.x1)).reshape(-1, 2)
    winner = model.classes_[display.density.argmax(axis=0)].ravel()
    assert (winner == model.predict(points)).all()
    assert "Densities times priors" in said(display)


def test_contours_hold_shares_of_their_class(petals):
    model, *_ = petals
    display = DensitySurfaceDisplay.from_estimator(model, kind="contours")
    for k, lines in enumerate(display.contours_):
        for line, level in zip(lines, (0.95, 0.75, 0.5, 0.25), strict=True):
            distance = (line.get_xydata() - model.theta_[k]) ** 2 / model.var_[k]
            np.testing.assert_allclose(distance.sum(axis=1), chi2.ppf(level, df=2))


def test_surface_and_contours_stand_side_by_side(petals):
    model, *_ = petals
    display = DensitySurfaceDisplay.from_estimator(model, kind="both", grid=30)
    assert [ax.name for ax in display.ax_] == ["3d", "rectilinear"]
    assert display.surface_ is not None
    assert len(display.contours_) == 3


# --- separation -------------------------------------------------------------------------------


def test_separation_is_nothing_for_noise_and_all_for_distance():
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 500)
    X = random.normal(size=(1000, 4))
    X[:, 1] += 100 * (y == "b")
    X[:, 2] = 7.0
    X[:, 3] = np.nan
    values = separation(summarize(X, y))
    assert values[0] < 0.01
    assert values[1] == pytest.approx(1)
    assert values[2:].tolist() == [0, 0]


def test_separation_does_not_depend_on_units_or_order(iris):
    X, y = iris
    values = separation(summarize(X, y))
    np.testing.assert_allclose(separation(summarize(1e6 * X + 5, y)), values, rtol=1e-6)
    np.testing.assert_allclose(separation(summarize(X.iloc[:, ::-1], y)), values[::-1])
    assert ((values >= 0) & (values <= 1)).all()


def test_separation_sees_classes_that_differ_in_spread():
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 500)
    X = random.normal(size=(1000, 2))
    X[:, 1] *= np.where(y == "b", 10, 1)
    narrow, wide = separation(summarize(X, y))
    assert wide > narrow + 0.05


def test_a_class_that_is_constant_does_not_make_a_column_telling():
    X, y = load_digits(return_X_y=True)
    chosen = columns_by_separation(summarize(X, y), 6)
    assert (X[:, chosen].std(axis=0) > 3).all()  # pixels in the middle, not at the rim


def test_the_columns_by_separation_columns_and_classes_are_chosen(many):
    model, *_ = many
    assert sorted(columns_by_separation(model.summary_, 2)) == [28, 29]
    apart = class_separation(model.summary_, [28, 29])
    chosen = classes_by_separation(model.summary_, 5, [28, 29])
    assert chosen == sorted(chosen)
    assert min(apart[chosen]) >= max(np.delete(apart, chosen))


def test_one_class_separates_nothing():
    seen = summarize([[1.0, 2.0], [3.0, 4.0]], ["a", "a"])
    assert separation(seen).tolist() == [0, 0]
    assert class_separation(seen).tolist() == [0]


# --- where and how ----------------------------------------------------------------------------


def test_a_display_is_computed_once_and_drawn_where_one_likes(petals):
    display = in_r(petals)
    first = display.ax_
    figure, axes = plt.subplots(1, 2)
    assert display.plot(axes[1], curve=None, legend=False) is display
    assert display.ax_ is axes[1]
    assert display.figure_ is figure is not first.figure
    assert display.ax_.get_legend() is None
    assert display.curves_ == {}


def test_panels_take_the_place_of_the_axes_given(iris):
    X, y = iris
    model = GaussianNB().fit(X, y)
    figure, axes = plt.subplots(2, 2, layout="constrained", figsize=(12, 9))
    for ax, draw in zip(
        axes.flat,
        [
            lambda ax: BellCurveDisplay.from_estimator(model, X, y, ax=ax),
            lambda ax: ConfusionDisplay.from_estimator(model, X, y, ax=ax),
            lambda ax: ReliabilityDisplay.from_estimator(model, X, y, ax=ax),
            lambda ax: DensitySurfaceDisplay.from_estimator(model, ax=ax, kind="both"),
        ],
        strict=True,
    ):
        assert draw(ax).figure_ in figure.subfigs
    assert len(figure.subfigs) == 4


def test_nothing_global_is_changed(petals):
    model, X, y = petals
    before, backend = mpl.rcParams.copy(), mpl.get_backend()
    in_r(petals)
    BellCurveDisplay.from_estimator(model, X, y)
    ConfusionDisplay.from_estimator(model, X, y)
    DensitySurfaceDisplay.from_estimator(model)
    assert mpl.rcParams == before
    assert mpl.get_backend() == backend


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, naively.plots; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch, petals):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(NaivelyError, match=r'needs the package matplotlib: pip install "naively\['):
        in_r(petals)


def test_twelve_classes_look_different():
    assert len({(colour(k), marker(k)) for k in range(12)}) == 12
    assert len({colour(k) for k in range(12)}) == len({marker(k) for k in range(12)}) == 12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 12])
def test_any_number_of_classes_can_be_drawn(n_classes, dtype):
    random = np.random.default_rng(n_classes)
    y = np.arange(300) % n_classes
    X = (random.normal(size=(n_classes, 2)) * 5)[y] + random.normal(size=(300, 2))
    model = GaussianNB().fit(X.astype(dtype), y)
    regions = DecisionRegionDisplay.from_estimator(model, X.astype(dtype), y, grid=20)
    bells = BellCurveDisplay.from_estimator(model, X.astype(dtype), y)
    assert len(regions.curves_["naive"]) == len(bells.curves_[0]) == n_classes


def test_names_that_matplotlib_would_misread_are_written_as_they_are(iris):
    X, _ = iris
    names = np.array(["_hidden", "costs $5 or $6", "a name that is so long that nobody reads it"])
    y = np.repeat(names, 50)
    frame = X.rename(columns={X.columns[0]: "$x$ and $"})
    model = GaussianNB().fit(frame, y)
    display = BellCurveDisplay.from_estimator(model, frame, y)
    assert legend_of(display.figure_) == [
        " _hidden", "a name that is so long that…", r"costs \$5 or \$6",
    ]  # fmt: skip
    assert display.ax_[0].get_title("left") == r"\$x\$ and \$"


def test_columns_of_a_frame_are_found_by_name(iris):
    X, y = iris
    model = GaussianNB().fit(X, y)
    turned = X.iloc[:, ::-1]
    display = DecisionRegionDisplay.from_estimator(model, turned, y, columns=PETALS, grid=20)
    np.testing.assert_array_equal(display.points, X[PETALS])


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["petal lenght (cm)", 0]}, "did you mean 'petal length"),
        ({"columns": [0, 1, 2]}, r"columns must name 2 columns; got 3: 0, 1, 2\."),
        ({"columns": [0, 9]}, r"no column 9; the model has 4, from 0\."),
        ({"columns": [1, 1]}, "columns must name different columns"),
        ({"curve": "round"}, r"curve must be one of 'auto', 'naive', 'data', 'both', None; got"),
        ({"shade": "dark"}, "shade must be one of"),
        ({"level": 95}, r"level must lie between 0 and 1; got level=95\."),
        ({"step": 0}, "step must be a positive number"),
        ({"step": 1e-6}, "a grid must have at most"),
        ({"grid": 1}, "grid must be at least 2"),
        ({"extent": ((1, 0), (0, 1))}, r"extent must be \(\(low, high\), \(low, high\)\)"),
        ({"max_classes": 0}, "max_classes must be at least 1"),
        ({"feature_names": ["a"]}, r"feature_names must have one name per column \(4\); got 1"),
        ({"class_names": ["a"]}, r"class_names must have one name per class \(3: 'setosa'"),
        ({"ax": "here"}, "ax must be one matplotlib Axes; got str"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_option_is_named(iris, options, message):
    X, y = iris
    with pytest.raises(NaivelyError, match=message):
        DecisionRegionDisplay.from_estimator(GaussianNB().fit(X, y), X, y, **options)


@pytest.mark.parametrize(
    "draw",
    [
        lambda model, X, y: DecisionRegionDisplay.from_estimator(model, X, y),
        lambda model, X, y: BellCurveDisplay.from_estimator(model, X, y),
        lambda model, X, y: DensitySurfaceDisplay.from_estimator(model),
        lambda model, X, y: ConfusionDisplay.from_estimator(model, X, y),
        lambda model, X, y: ReliabilityDisplay.from_estimator(model, X, y),
        lambda model, X, y: AccuracyBarsDisplay.from_estimator(model, X, y, X, y),
    ],
    ids=["regions", "bells", "surface", "confusion", "reliability", "accuracy"],
)
def test_a_model_must_be_fitted(iris, draw):
    with pytest.raises(NotFittedError):
        draw(GaussianNB(), *iris)
    assert plt.get_fignums() == []


def test_a_classifier_without_means_says_so(iris):
    X, y = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(NaivelyError, match=r"bell curves needs .* LogisticRegression does not"):
        BellCurveDisplay.from_estimator(model, X, y)
    with pytest.raises(NaivelyError, match=r"must be fitted on two columns; got 4\. Only"):
        DecisionRegionDisplay.from_estimator(model, X, y)
    model = LogisticRegression().fit(X[PETALS], y)
    with pytest.raises(NaivelyError, match=r"LogisticRegression does not have\. Use curve='data'"):
        DecisionRegionDisplay.from_estimator(model, X[PETALS], y, curve="naive")
    assert plt.get_fignums() == []
    display = DecisionRegionDisplay.from_estimator(model, X[PETALS], y, grid=20)
    assert display.curves_ == {}


def test_two_columns_are_needed():
    model = GaussianNB().fit(PEOPLE[:, :1], AGE)
    assert len(BellCurveDisplay.from_estimator(model, PEOPLE[:, :1], AGE).ax_) == 1
    for display in (DecisionRegionDisplay, DensitySurfaceDisplay):
        with pytest.raises(NaivelyError, match="two columns are needed; the model has one"):
            display.from_estimator(model)


def test_data_must_fit_the_model(iris):
    X, y = iris
    model = GaussianNB().fit(X.to_numpy(), y)
    with pytest.raises(NaivelyError, match=r"X must have the 4 columns .* got 2"):
        BellCurveDisplay.from_estimator(model, X[PETALS], y)
    with pytest.raises(NaivelyError, match=r"labels must be classes of the model .* got 'rose'"):
        BellCurveDisplay.from_estimator(model, X, ["rose"] * 150)
    with pytest.raises(NaivelyError, match="150 rows and 3 labels"):
        BellCurveDisplay.from_estimator(model, X, y[:3])
    with pytest.raises(NaivelyError, match="X and y go together"):
        BellCurveDisplay.from_estimator(model, X)


def test_axes_must_suit_what_is_drawn(petals):
    model, *_ = petals
    flat, fixed = plt.figure().add_subplot(), plt.figure().add_axes([0, 0, 1, 1])
    with pytest.raises(NaivelyError, match="a surface needs axes with projection='3d'"):
        DensitySurfaceDisplay.from_estimator(model, ax=flat)
    with pytest.raises(NaivelyError, match="ax must be a subplot"):
        BellCurveDisplay.from_estimator(model, ax=fixed)


def test_a_column_without_cells_or_spread_is_named():
    X = np.column_stack([PEOPLE, np.full(16, np.nan), np.ones(16)])
    model = GaussianNB(var_smoothing=0).fit(X, AGE)
    with pytest.raises(NaivelyError, match="column 'column 2' has no cell that was seen"):
        DecisionRegionDisplay.from_estimator(model, columns=[0, 2])
    with pytest.raises(NaivelyError, match="column 'column 3' has none in some class"):
        DensitySurfaceDisplay.from_estimator(model, columns=[0, 3])


def test_infinity_is_an_error():
    model = GaussianNB().fit(PEOPLE, AGE)
    rows = PEOPLE.copy()
    rows[5, 1] = np.inf
    with pytest.raises(NaivelyError, match=r"column 1 of X holds infinity \(first at row 5\)"):
        DecisionRegionDisplay.from_estimator(model, rows, AGE)


def test_other_columns_of_a_frame_do_not_matter(iris):
    X, y = iris
    model = GaussianNB().fit(X, y)
    display = BellCurveDisplay.from_estimator(model, X.assign(species=y), y)
    assert len(display.ax_) == 4
