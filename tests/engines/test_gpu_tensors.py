"""Tensors of every kind that torch and people make are summarized as arrays are, or refused."""

import math

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.engines import gpu
from naively.engines.gpu.rows import DeviceTargets
from tests.engines.test_gpu import assert_same, table
from tests.gpus import DEVICE, IS_THERE, tensor
from tests.packages import installed


def test_labels_next_to_the_largest_integer_are_classes():
    X, y = table(n_rows=60)
    for labels in (2**63 - 1 - y, y + np.iinfo(np.int64).min):
        assert_same(summarize(tensor(X), tensor(labels)), summarize(X, labels))


def test_only_classes_that_have_rows_are_measured():
    """Labels that are far apart cost no more than those of as many classes side by side."""
    X, y = table(n_rows=60)
    y = np.array([0, 300, 60_000])[y]
    targets = DeviceTargets.of(gpu.DeviceRows(tensor(X)), tensor(y), None)
    assert targets.classes.tolist() == [0, 300, 60_000]
    assert_same(summarize(tensor(X), tensor(y)), summarize(X, y))


def test_a_large_first_weight_costs_no_digit_of_the_sum():
    w = np.full(20_000, 0.1)
    w[0] = 1e12
    got = summarize(tensor(np.ones((w.size, 1))), tensor(np.zeros(w.size, int)), sample_weight=w)
    np.testing.assert_allclose(got.class_weight, [math.fsum(w)], rtol=1e-15)


def test_weights_whose_sum_overflows_are_named():
    X, y = table(n_rows=60)
    with pytest.raises(NaivelyError, match=r"weights of all rows must add up to less than 1.8e308"):
        summarize(tensor(X), tensor(y), sample_weight=tensor(np.full(60, 1e308)))


def test_complex_weights_are_refused():
    X, y = table(n_rows=60)
    with pytest.raises(
        NaivelyError, match=r"weights must be real numbers; got dtype torch.complex"
    ):
        summarize(tensor(X), tensor(y), sample_weight=tensor(np.ones(60) + 1j))


def test_a_sign_that_torch_keeps_beside_the_cells_is_read():
    X, y = table(n_rows=60)
    given = tensor(X - 1j * X).conj().imag
    assert given.is_neg()
    assert_same(summarize(given, tensor(y)), summarize(X, y))


def test_sparse_tensors_are_refused():
    X, y = table(n_rows=60)
    with pytest.raises(
        NaivelyError, match=r"must be dense; got a tensor of layout torch.sparse_coo"
    ):
        GaussianNB().fit(tensor(X).to_sparse(), tensor(y))


def test_floats_of_eight_bits_are_numbers():
    X, y = table(n_rows=60)
    given = tensor(X, "float8_e4m3fn")
    assert_same(summarize(given, tensor(y)), summarize(given.double().cpu().numpy(), y))


def test_columns_may_be_far_apart_in_memory():
    """The last one begins 2^31 cells after the first."""
    X, y = table(n_rows=60)
    cells = tensor([0.0], "float16").new_empty((1 << 31) + 60)
    given = cells.as_strided((60, 3), (1, 1 << 30)).copy_(tensor(X))
    X = given.double().cpu().numpy()
    assert_same(summarize(given, tensor(y)), summarize(X, y))
    for model in (GaussianNB(), GaussianNB(calibration="weights")):
        model.fit(X.astype(np.float32), y)
        np.testing.assert_array_equal(model.predict(given).cpu().numpy(), model.predict(X))


def test_booleans_are_categories_as_on_the_host():
    X, y = table()
    X = X > 1
    assert summarize(tensor(X), tensor(y)) == summarize(X, y)
    a, b = NaiveBayes().fit(tensor(X), tensor(y)), NaiveBayes().fit(X, y)
    assert a.summary_ == b.summary_
    np.testing.assert_array_equal(a.predict_proba(tensor(X)).cpu().numpy(), b.predict_proba(X))
    assert a.partial_fit(tensor(X), tensor(y)).summary_ == b.partial_fit(X, y).summary_


@pytest.mark.skipif(not IS_THERE, reason="needs two GPUs")
def test_the_device_of_the_rows_need_not_be_the_current_one():
    torch = installed("torch", "gpu")
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    X, y = table()
    given = torch.tensor(X, device="cuda:1")
    model = GaussianNB().fit(given, torch.tensor(y, device="cuda:1"))
    assert_same(model.summary_, summarize(X, y))
    np.testing.assert_array_equal(model.predict(given).cpu().numpy(), model.predict(X))


def test_rows_and_labels_on_two_devices_are_refused():
    X, y = table(n_rows=60)
    with pytest.raises(NaivelyError, match=r"got X on the host and y on .*, as by y\.cpu\(\)\."):
        summarize(X, tensor(y))
    with pytest.raises(NaivelyError, match="X on the host and sample_weight on"):
        GaussianNB().fit(X, y, sample_weight=tensor(np.ones(60)))


ARRAYS = {
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "of another byte order": lambda X: X.astype(">f8"),
    "masked": lambda X: np.ma.masked_invalid(np.where(np.isnan(X), np.inf, X)),
    "lists": lambda X: X.tolist(),
    "on the device": tensor,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_batch_may_be_any_array(name):
    X, y = table(n_rows=60)
    X[3, 1] = np.nan
    tensor([0.0])  # skips without torch
    got = gpu.summarize_batches([(ARRAYS[name](X), y)], device=DEVICE)
    assert_same(got, summarize(X, y))


def test_a_batch_that_holds_no_numbers_is_refused():
    X, y = table(n_rows=60)
    tensor([0.0])  # skips without torch
    for odd in (X.astype(object), X.astype(str)):
        with pytest.raises(NaivelyError, match="X must hold real numbers; got dtype"):
            gpu.summarize_batches([(odd, y)], device=DEVICE)


def test_a_device_that_is_no_gpu_is_refused():
    X, y = table(n_rows=60)
    tensor([0.0])
    with pytest.raises(NaivelyError, match=r"device must be a CUDA device .*; got device='meta'"):
        gpu.summarize_batches([(X, y)], device="meta")
