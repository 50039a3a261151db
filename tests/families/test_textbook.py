"""Models without smoothing: the shares and variances of the textbooks, and what 0 means in them."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError
from naively.families import Categorical, Gaussian
from naively.statistics import Moments

FRAME = pd.DataFrame({"t": list("aabccc"), "u": list("xyyxxz")})
Y = list("pppqqq")
ROWS = pd.DataFrame(
    {"t": ["a", "c", "a", "new", "c", None, "b"], "u": ["x", "x", "z", "x", "y", "z", "new"]}
)


def strict(calibration=None):
    families = {"t": Categorical(alpha=0), "u": Categorical(alpha=0)}
    return NaiveBayes(families=families, calibration=calibration).fit(FRAME, Y)


def test_shares_without_smoothing_are_those_of_fractions():
    """Where every class is impossible, the cells that make it so are left out."""
    p = strict().predict_proba(ROWS)[:, 0]
    of_p = [Fraction(*pair) for pair in ((1, 1), (0, 1), (2, 3), (1, 3), (2, 5), (0, 1), (1, 1))]
    np.testing.assert_allclose(p, [float(share) for share in of_p], rtol=1e-14)


@pytest.mark.parametrize("calibration", [None, "temperature", "weights"])
def test_a_class_that_never_had_a_category_is_impossible(tmp_path, calibration):
    model = strict(calibration)
    proba = model.predict_proba(ROWS)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert proba[[0, 6], 1].tolist() == proba[[1, 5], 0].tolist() == [0.0, 0.0]
    assert (proba[[2, 3, 4]] > 0).all()
    assert (model.predict(ROWS) == model.classes_[proba.argmax(axis=1)]).all()
    assert np.isneginf(model.predict_joint_log_proba(ROWS)[2]).all()
    model.save(tmp_path / "model")
    assert (naively.load(tmp_path / "model").predict_proba(ROWS) == proba).all()


def test_both_estimators_have_the_same_rule_for_shares_of_zero():
    codes = [[0, 0], [0, 1], [1, 1], [2, 0], [2, 0], [2, 2]]
    rows = [[0, 0], [2, 0], [0, 2], [3, 0], [2, 1], [1, 3]]
    ours = CategoricalNB(alpha=0, force_alpha=True).fit(codes, Y)
    texts = ROWS.drop(index=5)
    np.testing.assert_allclose(ours.predict_proba(rows), strict().predict_proba(texts), rtol=1e-14)


# The rows that all classes are impossible for, too: the last digits are those of the other terms.
@pytest.mark.parametrize("calibration", [None, "weights"])
def test_queries_have_the_rule_for_shares_of_zero(calibration):
    duckdb = pytest.importorskip("duckdb")
    model, rows = strict(calibration), ROWS
    query = model.to_sql("rows", proba=True)
    found = duckdb.sql(query).df().select_dtypes("number").to_numpy()
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("calibration", [None, "weights"])
def test_graphs_have_the_rule_for_shares_of_zero(tmp_path, calibration):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model, rows = strict(calibration), ROWS.fillna("")
    model.to_onnx(tmp_path / "model.onnx", dtype="float64")
    found = runtime.InferenceSession(tmp_path / "model.onnx").run(
        None, {"categories": rows.to_numpy(object)}
    )
    np.testing.assert_allclose(found[1], model.predict_proba(ROWS), rtol=0, atol=1e-12)


def test_codes_have_the_rule_for_shares_of_zero_in_a_graph(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    codes = [[0, 0], [0, 1], [1, 1], [2, 0], [2, 0], [2, 2]]
    rows = np.array([[0, 0], [2, 0], [0, 2], [3, 0], [2, 1], [1, 3]])
    model = CategoricalNB(alpha=0, force_alpha=True).fit(codes, Y)
    model.to_onnx(tmp_path / "model.onnx", dtype="float64")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    found = session.run(None, {"X": rows.astype(np.float64)})[1]
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_what_smooths_is_a_number_from_zero_on(wrong):
    with pytest.raises(NaivelyError, match="alpha must be >= 0"):
        Categorical(alpha=wrong)
    with pytest.raises(NaivelyError, match="var_smoothing must be >= 0"):
        Gaussian(var_smoothing=wrong)


# --- variances of zero ----------------------------------------------------------------------------

X = np.array([[0.0, 5.0], [0.0, 7.0], [0.0, 9.0], [0.0, 6.0], [1.0, 1.0], [4.0, 2.0]])
OF_X = np.array(["flat"] * 3 + ["wide"] * 3)


def test_a_class_of_equal_cells_has_the_variance_of_one_more_cell():
    model = GaussianNB(var_smoothing=0).fit(X, OF_X)
    m2, whole = 26 / 3, np.var(X[:, 0])  # of the wide class, and of the column
    assert model.var_[0, 0] == pytest.approx((m2 + whole) / 7 / 4, rel=1e-14)
    assert model.var_[1, 0] == pytest.approx(m2 / 3, rel=1e-14)
    assert model.var_[0, 1] == pytest.approx(8 / 3, rel=1e-14)


def test_a_class_of_equal_cells_does_not_swallow_the_rows_that_have_them():
    """The fourth row has the cell of the flat class; all else says that it is of the wide one."""
    row = [[0.0, 1.5]]
    assert GaussianNB(var_smoothing=0).fit(X, OF_X).predict(row) == ["wide"]
    assert GaussianNB(var_smoothing=1e-300).fit(X, OF_X).predict(row) == ["flat"]


@pytest.mark.parametrize("variance", ["class", "shared"])
def test_columns_of_one_value_contribute_nothing(variance):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    x = rng.normal(y)[:, np.newaxis]
    params = {"var_smoothing": 0, "variance": variance}
    alone = GaussianNB(**params).fit(x, y)
    beside = GaussianNB(**params).fit(np.column_stack([x, np.full(60, 5.0)]), y)
    rows = np.column_stack([x, rng.normal(size=60)])
    np.testing.assert_allclose(beside.predict_proba(rows), alone.predict_proba(x), rtol=1e-12)


def test_a_class_of_equal_cells_moves_with_the_scale():
    scaled = GaussianNB(var_smoothing=0).fit(1024 * X, OF_X)
    plain = GaussianNB(var_smoothing=0).fit(X, OF_X)
    np.testing.assert_allclose(scaled.var_, 1024**2 * plain.var_, rtol=1e-14)
    np.testing.assert_allclose(scaled.predict_proba(1024 * X), plain.predict_proba(X), rtol=1e-12)


def test_a_row_is_left_out_of_a_class_of_equal_cells():
    family, codes = Gaussian(var_smoothing=0), np.array([0] * 3 + [1] * 3)
    whole = Moments(naively.summarize(X, codes).moments.values)
    found = family.parameters(whole)
    left = family.left_out(X, codes, np.ones(6), whole, found)
    column = whole.pooled()
    typical = (whole.m2[:, 0].sum() + column.m2[0] / column.weight[0]) / (column.weight[0] + 1)
    assert left[0, 0] == pytest.approx(-0.5 * np.log(2 * np.pi * typical / 3), rel=1e-12)
    assert np.isfinite(left).all()


def test_models_of_numbers_have_the_same_variances_without_smoothing():
    gaussian = {0: Gaussian(var_smoothing=0), 1: Gaussian(var_smoothing=0)}
    ours = NaiveBayes(families=gaussian, calibration=None).fit(X, OF_X)
    theirs = GaussianNB(var_smoothing=0).fit(X, OF_X)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10)
