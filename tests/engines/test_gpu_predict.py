"""Rows on a GPU are scored there as on the host, and the answers stay there."""

from types import SimpleNamespace

import numpy as np
import pytest

from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NaivelyError,
)
from tests.gpus import DEVICE, tensor

METHODS = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"]
METHODS += ["score_samples"]


def numbers(dtype=np.float64, n_columns=3):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 130)
    X = rng.normal(size=(130, n_columns)) * (1 + y[:, np.newaxis]) + y[:, np.newaxis]
    return X.astype(dtype), y


def counts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 130)
    return rng.poisson(1.0 + y, size=(4, 130)).T.astype(float), y


def of_numbers(model):
    return lambda: (model, *numbers())


def of_counts(model):
    return lambda: (model, *counts())


MODELS = {
    "quadratics": of_numbers(GaussianNB()),
    "quadratics of one variance": of_numbers(GaussianNB(variance="shared")),
    "centred quadratics": of_numbers(GaussianNB(calibration="weights")),
    "students": of_numbers(NaiveBayes(calibration=None)),
    "students and pieces": of_numbers(NaiveBayes(interactions=None)),
    "interactions": of_numbers(NaiveBayes()),
    "lines": of_counts(MultinomialNB()),
    "steps": of_counts(BernoulliNB(binarize=1.0)),
    "lines of complements": of_counts(ComplementNB()),
    "lines with a carrier": of_counts(NaiveBayes(families=dict.fromkeys(range(4), "poisson"))),
    "tables": of_counts(CategoricalNB()),
    "impossible categories": of_counts(CategoricalNB(alpha=0.0)),
}


def assert_same_answers(model, X, methods=METHODS, given=None):
    given = tensor(X) if given is None else given
    for method in methods:
        got, expected = getattr(model, method)(given), getattr(model, method)(X)
        assert got.device.type == DEVICE
        got = got.cpu().numpy()
        assert got.dtype == expected.dtype
        if method == "predict":
            np.testing.assert_array_equal(got, expected)
        else:  # the order of sums, and two logarithms, differ
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, err_msg=method)


@pytest.mark.parametrize("name", MODELS)
def test_every_form_is_scored_as_on_the_host(name):
    model, X, y = MODELS[name]()
    model.fit(X, y)
    X = X[:70].copy()
    X[::9, 1] = np.nan
    assert_same_answers(model, X)


def test_cells_far_beyond_what_was_seen_have_the_hosts_answers():
    X, y = numbers()
    for model in (GaussianNB().fit(X, y), NaiveBayes(interactions=None).fit(X, y)):
        far = X[:6].copy()
        far[1, 0], far[2, 2], far[3, 1] = 1e200, -1e308, 1e30
        assert_same_answers(model, far)


def test_codes_that_were_never_seen_have_the_hosts_answers():
    X, y = counts()
    model = CategoricalNB().fit(X, y)
    assert_same_answers(model, np.array([[0, 1, 99, 3.7], [np.nan, 2**40, -0.0, 1]]))
    with pytest.raises(NaivelyError, match="Negative values"):
        model.predict(tensor(np.array([[0.0, 1, -1, 0]])))


def test_codes_are_whole_parts_as_on_the_host():
    X, y = counts()
    assert_same_answers(CategoricalNB().fit(X, y), np.array([[0.9, -0.5, 1.5, -0.0]]))


# --- the screen --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_columns", [3, 70])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_short_numbers_have_the_labels_of_float64(dtype, n_columns):
    X, y = numbers(np.float32, n_columns)
    model = GaussianNB().fit(X, y)
    given = tensor(X, dtype)
    X = given.float().cpu().numpy()
    np.testing.assert_array_equal(model.predict(given).cpu().numpy(), model.predict(X))
    got, expected = model.predict_proba(given).cpu().numpy(), model.predict_proba(X)
    assert got.dtype == expected.dtype == np.float32
    np.testing.assert_allclose(got, expected, atol=2e-5)


def test_many_columns_and_many_classes_are_screened():
    y = np.arange(765) % 255
    X = np.random.default_rng(0).normal(size=(765, 65)).astype(np.float32) + y[:, np.newaxis] % 7
    model, X = GaussianNB().fit(X, y), X[:20]
    np.testing.assert_array_equal(model.predict(tensor(X)).cpu().numpy(), model.predict(X))
    got = model.predict_proba(tensor(X)).cpu().numpy()
    np.testing.assert_allclose(got, model.predict_proba(X), atol=2e-5)


def test_a_gpu_with_little_shared_memory_scores_in_float64(monkeypatch):
    X, y = numbers(np.float32)
    model, given = GaussianNB().fit(X, y), tensor(X)

    class NoRoom:
        def __getitem__(self, grid):
            from triton.runtime.errors import OutOfResources

            raise OutOfResources(427_008, 101_376, "shared memory")

    monkeypatch.setattr("naively.engines.gpu.kernels.score_rows", NoRoom())
    np.testing.assert_array_equal(model.predict(given).cpu().numpy(), model.predict(X))
    got = model.predict_proba(given).cpu().numpy()
    np.testing.assert_allclose(got, model.predict_proba(X), rtol=1e-6)


def test_rows_in_doubt_are_scored_in_float64():
    """Halfway between two classes of which one is first by a hair, and nowhere near them."""
    y = np.array([0, 0, 1, 1])
    model = GaussianNB().fit(np.array([[-2.0], [-1], [1], [2]], np.float32), y)
    X = np.array([[0], [1e-7], [-1e-7], [np.nan], [3e38], [-1e-30]], np.float32)
    np.testing.assert_array_equal(model.predict(tensor(X)).cpu().numpy(), model.predict(X))
    got = model.predict_proba(tensor(X)).cpu().numpy()
    np.testing.assert_allclose(got, model.predict_proba(X), atol=2e-6)


def test_columns_of_any_scale_are_screened():
    X, y = numbers(np.float64, 6)
    X = (X * [1e-30, 1e-6, 1, 1e6, 1e20, 0] + [0, 1e-3, 1e4, -1e7, 0, 5]).astype(np.float32)
    model = GaussianNB(smoothing="column").fit(X, y)
    np.testing.assert_array_equal(model.predict(tensor(X)).cpu().numpy(), model.predict(X))
    got = model.predict_proba(tensor(X)).cpu().numpy()
    np.testing.assert_allclose(got, model.predict_proba(X), atol=2e-5)


def test_a_class_that_cannot_be_is_never_predicted():
    X, y = numbers(np.float32)
    model = GaussianNB(priors=[0.5, 0.5, 0.0]).fit(X, y)
    np.testing.assert_array_equal(model.predict(tensor(X)).cpu().numpy(), model.predict(X))
    got = model.predict_proba(tensor(X)).cpu().numpy()
    np.testing.assert_allclose(got, model.predict_proba(X), atol=2e-5)
    assert (got[:, 2] == 0).all()


def test_equal_classes_are_a_tie_that_the_first_one_wins():
    X = np.array([[1.0], [2.0], [1.0], [2.0]], np.float32)
    model = GaussianNB().fit(X, [3, 3, 7, 7])
    assert model.predict(tensor(X)).tolist() == [3] * 4


# --- labels, and what is refused ---------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int64", "int16", "uint8", "bool", "float64", "str"])
def test_labels_keep_their_type(dtype):
    X, y = numbers(np.float32)
    model = GaussianNB().fit(X, (y > 0).astype(dtype))
    got = model.predict(tensor(X))
    assert isinstance(got, np.ndarray) == (dtype == "str")
    got = got if dtype == "str" else got.cpu().numpy()
    assert got.dtype == model.predict(X).dtype
    np.testing.assert_array_equal(got, model.predict(X))


def test_costs_and_rejection_are_decided_as_on_the_host():
    X, y = numbers()
    model = NaiveBayes(calibration=None, reject=(0.9, -1)).fit(X, y)
    np.testing.assert_array_equal(model.predict(tensor(X)).cpu().numpy(), model.predict(X))


def test_accuracy_and_loss_are_taken_of_tensors():
    X, y = numbers()
    model = GaussianNB(variance="shared").fit(X, y)
    assert model.score(tensor(X), tensor(y)) == model.score(X, y)
    assert model.loss(tensor(X), tensor(y)) == pytest.approx(model.loss(X, y), rel=1e-12)
    got = model.decision_function(tensor(X)).cpu().numpy()
    np.testing.assert_allclose(got, model.decision_function(X), atol=1e-12)


def test_infinity_and_other_columns_are_refused():
    X, y = numbers(np.float32)
    model = GaussianNB().fit(X, y)
    X[3, 1] = np.inf
    for method in METHODS:
        with pytest.raises(NaivelyError, match=r"column 1 holds infinity \(first at row 3\)"):
            getattr(model, method)(tensor(X))
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(tensor(X[:, :2]))


@pytest.mark.parametrize("cell", [np.inf, -np.inf])
@pytest.mark.parametrize("name", MODELS)
def test_infinity_is_refused_by_every_form(name, cell):
    model, X, y = MODELS[name]()
    model.fit(X, y)
    X = X[:5].copy()
    X[3, 1] = cell
    for method in METHODS:
        with pytest.raises(ValueError) as expected:  # noqa: PT011
            getattr(model, method)(X)
        with pytest.raises(ValueError) as got:  # noqa: PT011
            getattr(model, method)(tensor(X))
        assert str(got.value) == str(expected.value)


class Array:
    """An array of a library that follows the array API and speaks DLPack."""

    def __init__(self, cells):
        self.cells, self.shape = cells, cells.shape

    def __array_namespace__(self):
        return SimpleNamespace(from_dlpack=Array)

    def __dlpack__(self, **options):
        return self.cells.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.cells.__dlpack_device__()


@pytest.mark.skipif(DEVICE != "cuda", reason="needs a GPU")
def test_answers_are_of_the_library_that_the_rows_are_of():
    X, y = numbers()
    model = GaussianNB().fit(Array(tensor(X)), Array(tensor(y)))
    for method in METHODS:
        got = getattr(model, method)(Array(tensor(X)))
        assert isinstance(got, Array)
        np.testing.assert_allclose(got.cells.cpu().numpy(), getattr(model, method)(X), atol=1e-12)
