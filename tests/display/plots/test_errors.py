"""What cannot be drawn is an error that says why."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from naively import GaussianNB, NaivelyError
from naively.plots import (
    BellCurveDisplay,
    ConfusionDisplay,
    DecisionRegionDisplay,
    ReliabilityDisplay,
    density_surface,
)
from tests.figures import AGE, PEOPLE, PETALS, plt


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
        ({"step": (1e-300, 0.1)}, "a grid must have at most"),
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
        lambda model, X, y: density_surface(model),
        lambda model, X, y: ConfusionDisplay.from_estimator(model, X, y),
        lambda model, X, y: ReliabilityDisplay.from_estimator(model, X, y),
    ],
    ids=["regions", "bells", "surface", "confusion", "reliability"],
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
    for draw in (DecisionRegionDisplay.from_estimator, density_surface):
        with pytest.raises(NaivelyError, match="two columns are needed; the model has one"):
            draw(model)


def test_data_must_fit_the_model(iris):
    X, y = iris
    model = GaussianNB().fit(X.to_numpy(), y)
    with pytest.raises(NaivelyError, match=r"there must be 4 columns; got 2"):
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
        density_surface(model, ax=flat)
    with pytest.raises(NaivelyError, match="ax must be a subplot"):
        BellCurveDisplay.from_estimator(model, ax=fixed)


def test_a_column_without_cells_or_spread_is_named():
    X = np.column_stack([PEOPLE, np.full(16, np.nan), np.ones(16)])
    model = GaussianNB(var_smoothing=0).fit(X, AGE)
    with pytest.raises(NaivelyError, match="column 'column 2' has no cell that was seen"):
        DecisionRegionDisplay.from_estimator(model, columns=[0, 2])
    with pytest.raises(NaivelyError, match="column 'column 3' has none in some class"):
        density_surface(model, columns=[0, 3])


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
