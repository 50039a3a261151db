"""Pictures of models whose columns hold anything."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csc_array, csr_array
from sklearn.metrics import confusion_matrix

from naively import GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.display.plots.overlap import category_shares, rebinned
from naively.families import Categorical, Poisson, StudentT
from naively.plots import (
    BellCurveDisplay,
    ConfusionDisplay,
    DecisionRegionDisplay,
    ReliabilityDisplay,
    classes_by_separation,
    columns_by_separation,
    density_surface,
    separation,
)
from tests.figures import PETALS, legend_of, said


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


def test_a_column_of_text_has_bars_of_the_words_that_tell_classes_apart():
    y = np.array(["ham", "spam"] * 40)
    notes = [
        f"see you {'at lunch' if label == 'ham' else 'win money'} n{i}" for i, label in enumerate(y)
    ]
    frame = pd.DataFrame({"size": np.arange(80.0), "note": notes})
    display = BellCurveDisplay.from_estimator(NaiveBayes().fit(frame, y), frame, y)
    (words,) = (ax for ax in display.ax_ if ax.get_title("left") == "note")
    assert {label.get_text() for label in words.get_yticklabels()} >= {
        "at",
        "lunch",
        "win",
        "money",
    }
    ham, spam = (
        dict(zip([t.get_text() for t in words.get_yticklabels()], bars.datavalues, strict=True))
        for bars in display.curves_[1]
    )
    assert (ham["lunch"], spam["lunch"], ham["win"], spam["win"]) == (1, 0, 0, 1)
    alone = BellCurveDisplay.from_estimator(NaiveBayes().fit(notes, y), notes, y)
    assert len(alone.ax_) == 1
    with pytest.raises(NaivelyError, match="'note' holds text"):
        DecisionRegionDisplay.from_estimator(
            NaiveBayes().fit(frame, y), frame, y, columns=["size", "note"]
        )


@pytest.mark.parametrize("form", [csr_array, csc_array, coo_array])
def test_sparse_rows_are_drawn_as_dense_ones(form):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1, (60, 3)).astype(float), rng.integers(0, 2, 60)
    for model in (GaussianNB().fit(X, y), NaiveBayes().fit(X, y)):
        dense, sparse = (BellCurveDisplay.from_estimator(model, rows, y) for rows in (X, form(X)))
        heights = [
            [patch.get_data().values.tolist() for panel in display.histograms_ for patch in panel]
            for display in (dense, sparse)
        ]
        assert heights[0] == heights[1]
        DecisionRegionDisplay.from_estimator(model, form(X), y)


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
        density_surface(shopper)
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
