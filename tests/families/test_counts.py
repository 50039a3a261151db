"""Families of counts: rows that are left out in closed form are those of models without them."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse

import naively
from naively import BernoulliNB, ComplementNB, MultinomialNB
from naively.data.sparse import SparseRows
from tests.estimators.test_count_estimators import counts

KINDS = {
    "multinomial": MultinomialNB(alpha=0.5),
    "vector": MultinomialNB(alpha=np.linspace(0.2, 2, 30)),
    "complement": ComplementNB(alpha=0.5),
    "bernoulli": BernoulliNB(alpha=0.5),
    "threshold": BernoulliNB(alpha=0.5, binarize=1.0),
}


def unseen_terms(term, rows, codes, weights):
    """Return what is added to each class, as if each row had not been seen: (n, K)."""
    family, parameters = term.family, term.parameters
    found = family.among_others(rows, weights, parameters)
    own = family.left_out(rows, codes, weights, term.statistic, parameters)
    found[np.arange(len(rows)), codes] = own
    return found


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_row_that_is_left_out_is_judged_by_the_model_of_all_others(name, missing):
    X, y = counts(n=40, d=30, n_classes=3)
    X = np.where(np.random.default_rng(1).random(X.shape) < missing, np.nan, X)
    model = KINDS[name].fit(X, y)
    (term,) = model.model_.terms
    sparse = scipy.sparse.csr_array(X)
    codes = np.searchsorted(model.classes_, y)
    found = unseen_terms(term, SparseRows.of(sparse), codes, np.ones(40))
    for i in range(40):
        others = np.arange(40) != i
        without = type(model)(**model.get_params()).fit(X[others], y[others])
        form = without.model_.terms[0].form
        joint = np.zeros((1, 3))
        form.add(X[i : i + 1], joint)
        np.testing.assert_allclose(found[i], joint[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB])
def test_temperature_makes_probabilities_better_and_keeps_the_laws(kind):
    X, y = counts(n=1500, d=60, seed=4)
    X = np.repeat(X, 3, axis=1)  # words that repeat each other make it too sure of itself
    X = scipy.sparse.csr_array(X)
    plain = kind().fit(X[:1000], y[:1000])
    model = kind(calibration="temperature").fit(X[:1000], y[:1000])
    assert model.loss(X[1000:], y[1000:]) < plain.loss(X[1000:], y[1000:])
    parts = kind(calibration="temperature").fit(X[:300], y[:300])
    parts.partial_fit(X[300:1000], y[300:1000])
    assert parts.summary_ == model.summary_
    dense = kind(calibration="temperature").fit(X[:1000].toarray(), y[:1000])
    assert dense.summary_ == model.summary_
    np.testing.assert_allclose(dense.predict_proba(X), model.predict_proba(X), rtol=1e-9)
    less = model.forget(X[:300], y[:300])
    assert less.summary_ == kind(calibration="temperature").fit(X[300:1000], y[300:1000]).summary_


def test_a_calibrated_model_is_saved_and_loaded(tmp_path):

    X, y = counts(n=300)
    model = MultinomialNB(calibration="temperature").fit(scipy.sparse.csr_array(X), y)
    model.save(tmp_path / "model.safetensors")
    again = naively.load(tmp_path / "model.safetensors")
    assert again.summary_ == model.summary_
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB])
def test_a_row_left_out_takes_its_entries_along_whatever_rounding_leaves_of_its_weight(kind):
    X = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]])
    y, w = np.array([0, 0, 1, 1, 2, 2]), np.array([0.1, 0.7, 0.1, 0.3, 0.1, 0.1])
    for order in [*permutations(range(6))][::40]:
        at = np.array(order)
        model = kind(alpha=0.0).fit(X[at], y[at], sample_weight=w[at])
        (term,) = model.model_.terms
        rows = SparseRows.of(scipy.sparse.csr_array(X[at]))
        own = unseen_terms(term, rows, y[at], w[at])
        i = order.index(0)
        others = at[at != 0]
        without = kind(alpha=0.0).fit(X[others], y[others], sample_weight=w[others])
        joint = np.zeros((1, 3))
        without.model_.terms[0].form.add(X[:1].astype(float), joint)
        np.testing.assert_allclose(own[i], joint[0], rtol=1e-9, atol=1e-5)
