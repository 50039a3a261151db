"""Tensors on a GPU are summarized there as arrays are on the host."""

import os
import subprocess
import sys

import numpy as np
import pytest

from naively import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, NaivelyError, summarize
from naively.engines import gpu
from naively.errors import install
from tests.gpus import tensor

N = 300


def table(n_columns=3, n_classes=3, n_rows=N):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    return rng.normal(size=(n_rows, n_columns)) + y[:, np.newaxis], y


def assert_same(got, expected, rtol=1e-13):
    """Compare summaries; means to a few ulp of the cells, which are of the order of 1."""
    assert got.classes.tolist() == expected.classes.tolist()
    assert got.classes.dtype == expected.classes.dtype
    np.testing.assert_allclose(got.class_weight, expected.class_weight, rtol=1e-14)
    np.testing.assert_allclose(got.moments.weight, expected.moments.weight, rtol=1e-14)
    np.testing.assert_allclose(got.moments.mean, expected.moments.mean, rtol=1e-14, atol=3e-15)
    np.testing.assert_allclose(got.moments.m2, expected.moments.m2, rtol=rtol, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_every_type_of_float_is_measured_in_float64(dtype):
    X, y = table()
    X[::7, 1] = np.nan
    given = tensor(X, dtype)
    assert_same(summarize(given, tensor(y)), summarize(given.double().cpu().numpy(), y))


def test_integers_are_numbers():
    X, y = table()
    whole = (10 * X).astype(np.int32)
    assert_same(summarize(tensor(whole), tensor(y)), summarize(whole, y))


@pytest.mark.parametrize("shape", [(1, 1), (5, 70), (40, 2)], ids=["one", "wide", "many classes"])
def test_any_number_of_columns_and_classes_is_measured(shape):
    n_classes, n_columns = shape
    X, y = table(n_columns, n_classes, 130)
    assert_same(summarize(tensor(X), tensor(y)), summarize(X, y))


def test_parts_of_the_rows_add_up_to_all_of_them():
    X, y = table(n_rows=900)  # three parts, which classes cut in two
    assert_same(summarize(tensor(X), tensor(y)), summarize(X, y))


def test_an_outlier_in_the_first_row_costs_no_digit():
    """Squares of deviations from it are 3,000 times those from the mean."""
    X = np.random.default_rng(0).normal(size=(3000, 1))
    X[0] = 1e9
    got = summarize(tensor(X), tensor(np.zeros(3000, int))).moments
    deviations = X.astype(np.longdouble) - X.astype(np.longdouble).mean()
    np.testing.assert_allclose(got.m2, [np.sum(deviations**2, axis=0)], rtol=1e-14)


LABELS = {
    "negative": lambda y: y - 200,
    "far apart": lambda y: y * 10**6,
    "with gaps": lambda y: y * 7,
    "bytes": lambda y: (y + 3).astype(np.uint8),
    "short": lambda y: (y * 300 - 310).astype(np.int16),
    "booleans": lambda y: y > 0,
    "whole floats": lambda y: y.astype(float),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_on_the_device_are_classes(name):
    X, y = table(n_rows=60)
    y = LABELS[name](y)
    assert_same(summarize(tensor(X), tensor(y)), summarize(X, y))


def test_labels_and_weights_may_be_on_the_host():
    X, y = table(n_rows=60)
    y, w = np.array(["a", "b", "c"])[y], np.where(y == 1, 0.0, 0.5)
    expected = summarize(X, y, sample_weight=w)
    assert expected.classes.tolist() == ["a", "c"]
    assert_same(summarize(tensor(X), y, sample_weight=w), expected)
    assert_same(summarize(tensor(X), y.tolist(), sample_weight=tensor(w)), expected)


def test_a_row_without_weight_may_hold_anything():
    X, y = table(n_rows=60)
    w = np.ones(60)
    w[3], X[3] = 0.0, np.nan
    X[3, 0] = np.inf
    assert_same(
        summarize(tensor(X), tensor(y), sample_weight=tensor(w)),
        summarize(np.delete(X, 3, axis=0), np.delete(y, 3)),
    )


def test_a_tensor_need_not_be_contiguous():
    X, y = table(6)
    assert_same(summarize(tensor(X.T.copy()).T[:, ::2], tensor(y)), summarize(X[:, ::2], y))


@pytest.mark.parametrize("estimator", [GaussianNB(), NaiveBayes(), NaiveBayes(calibration=None)])
def test_estimators_learn_from_tensors_what_they_learn_from_arrays(estimator):
    X, y = table(n_rows=100)
    a = type(estimator)(**estimator.get_params()).fit(tensor(X), tensor(y))
    b = estimator.fit(X, y)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-12)
    a.partial_fit(tensor(X), tensor(y))
    assert a.summary_.weight == 200


@pytest.mark.parametrize("estimator", [MultinomialNB(), CategoricalNB()])
def test_counts_and_codes_are_measured_on_the_host(estimator):
    y = np.arange(60) % 3
    X = np.random.default_rng(0).poisson(1 + y, size=(4, 60)).T
    got = type(estimator)().fit(tensor(X), tensor(y))
    assert got.summary_ == estimator.fit(X, y).summary_


def test_summaries_of_several_devices_add_up():
    X, y = table()
    parts = [summarize(tensor(X[at]), tensor(y[at])) for at in (slice(100), slice(100, None))]
    assert_same(parts[0] + parts[1], summarize(X, y))


def test_batches_of_the_host_are_sent_and_added():
    X, y = table()
    w = np.linspace(0, 2, N)
    batches = [(X[i : i + 70], y[i : i + 70], w[i : i + 70]) for i in range(0, N, 70)]
    got = gpu.summarize_batches(iter(batches), device=tensor(X).device)
    assert_same(got, summarize(X, y, sample_weight=w), rtol=1e-12)


# --- what is refused ---------------------------------------------------------------------------


def test_infinity_is_named():
    X, y = table()
    X[17, 1] = -np.inf
    with pytest.raises(NaivelyError, match=r"column 1 holds infinity \(first at row 17\)"):
        summarize(tensor(X), tensor(y))


def test_cells_whose_variance_is_too_large_are_named():
    X, y = table()
    X[17, 1] = 1e200
    with pytest.raises(NaivelyError, match="column 1 holds numbers so large"):
        summarize(tensor(X), tensor(y))


def test_labels_of_another_length_are_refused():
    X, y = table()
    for given in (tensor(y[:-1]), y[:-1]):
        with pytest.raises(NaivelyError, match="300 rows and 299 labels"):
            summarize(tensor(X), given)
        with pytest.raises(NaivelyError, match="300 rows and 299 labels"):
            GaussianNB().fit(tensor(X), given)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(weight):
    X, y = table()
    w = np.ones(N)
    w[5] = weight
    with pytest.raises(NaivelyError, match=r"finite and >= 0; got sample_weight\[5\]"):
        summarize(tensor(X), tensor(y), sample_weight=tensor(w))
    with pytest.raises(NaivelyError, match=r"one weight per row \(300\)"):
        summarize(tensor(X), tensor(y), sample_weight=tensor(w[:-1]))


def test_odd_shapes_and_types_are_refused():
    X, y = table()
    with pytest.raises(NaivelyError, match="two dimensions"):
        GaussianNB().fit(tensor(X[0]), tensor(y))
    with pytest.raises(NaivelyError, match="one dimension"):
        summarize(tensor(X), tensor(y[:, np.newaxis]))
    with pytest.raises(NaivelyError, match="real numbers"):
        summarize(tensor(X + 1j), tensor(y))
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        GaussianNB().fit(tensor(X[:0]), tensor(y[:0]))
    assert summarize(tensor(X[:0]), tensor(y[:0])).weight == 0


def test_an_array_on_a_gpu_without_torch_says_what_is_needed():
    code = (
        "import sys, naively; sys.modules['torch'] = sys.modules['triton'] = None\n"
        "class Elsewhere:\n"
        "    def __dlpack_device__(self): return 2, 0\n"
        "naively.summarize(Elsewhere(), [0, 1])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"needs the package triton: {install('gpu')}" in run.stderr


def test_a_tensor_of_the_host_is_an_array_without_the_interpreter():
    code = (
        "import torch\nfrom naively import GaussianNB\n"
        "X, y = torch.tensor([[0.0], [1.0], [7.0], [9.0]]), torch.tensor([0, 0, 1, 1])\n"
        "model = GaussianNB().fit(X, y)\n"
        "print(model.theta_.tolist(), model.predict(X).tolist(), model.score(X, y))"
    )
    tensor([0.0])  # skips without torch
    env = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert run.stdout.strip() == "[[0.5], [8.0]] [0, 0, 1, 1] 1.0", run.stderr
