"""Where pictures are drawn, and how they look."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

from naively import GaussianNB, NaivelyError
from naively.display.plots.canvas import colour, marker
from naively.plots import (
    BellCurveDisplay,
    ConfusionDisplay,
    DecisionRegionDisplay,
    ReliabilityDisplay,
    density_surface,
)
from tests.figures import PETALS, in_r, legend_of, plt


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
            lambda ax: density_surface(model, ax=ax, kind="both")[0],
        ],
        strict=True,
    ):
        drawn = draw(ax)
        assert getattr(drawn, "figure_", None) or drawn.figure in figure.subfigs
    assert len(figure.subfigs) == 4


def test_nothing_global_is_changed(petals):
    model, X, y = petals
    before, backend = mpl.rcParams.copy(), mpl.get_backend()
    in_r(petals)
    BellCurveDisplay.from_estimator(model, X, y)
    ConfusionDisplay.from_estimator(model, X, y)
    density_surface(model)
    assert mpl.rcParams == before
    assert mpl.get_backend() == backend


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, naively.plots; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch, petals):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(NaivelyError, match=r"matplotlib: pip install '\.\[plots\]'"):
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
