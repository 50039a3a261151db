"""What the terms of a model add, one by one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from naively import NaiveBayes, NaivelyError, load
from naively.data.rows import Rows
from naively.estimators.loading import ESTIMATORS
from naively.families.family import Family
from naively.families.forms import weighted
from naively.model.model import ZEROS
from tests.inspection.explanations.cases import (
    CASES,
    SPARSE,
    case_of,
    crossed,
    mixed,
    numbers,
    sparse,
)


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return case_of(request.param)


@pytest.fixture(scope="module", params=SPARSE)
def sparse_case(request):
    model, X = case_of(request.param)
    return model, sparse(X)


def test_every_estimator_is_explained_here():
    assert {name.split()[0] for name in CASES} == set(ESTIMATORS)


def test_contributions_add_up_to_the_joint_log_probability(case):
    model, X = case
    found = model.explain(X)
    np.testing.assert_allclose(found.joint, model.predict_joint_log_proba(X), rtol=0, atol=1e-9)
    whole = found.log_prior + found.bias + found.values.sum(axis=2)
    np.testing.assert_array_equal(found.joint, whole)
    np.testing.assert_array_equal(found.predicted, model.predict(X))
    np.testing.assert_array_equal(found.probabilities, model.predict_proba(X))


def test_contributions_of_sparse_rows_add_up(sparse_case):
    model, X = sparse_case
    found = model.explain(X)
    np.testing.assert_allclose(found.joint, model.predict_joint_log_proba(X), rtol=0, atol=1e-9)


def test_sparse_rows_have_the_contributions_of_dense_ones(sparse_case):
    """Columns that no row holds are one term."""
    model, X = sparse_case
    X = scipy.sparse.csr_array(X[:4] * (np.arange(X.shape[1]) != 2))
    X.eliminate_zeros()
    few, every = model.explain(X), model.explain(X.toarray())
    at = [every.names.index(name) for name in few.names if name != ZEROS]
    kept = [t for t, name in enumerate(few.names) if name != ZEROS]
    np.testing.assert_allclose(few.values[:, :, kept], every.values[:, :, at], atol=1e-9)
    rest = [t for t in range(len(every.names)) if t not in at]
    assert 2 in rest
    zeros = few.values[:, :, few.names.index(ZEROS)]
    np.testing.assert_allclose(zeros, every.values[:, :, rest].sum(axis=2), atol=1e-9)


def test_a_column_adds_the_weighted_log_densities_of_its_families(case):
    """The oracle: log f by the families' own formulas, weighted and added up column by column."""
    model, X = case
    read, table = model.model_, tables_of(model, X[:50])
    expected = np.zeros((50, read.classes.size, read.schema.n_columns))
    for term in read.terms:
        if term.family.is_joint:
            pytest.skip("its family is that of counts")
        codes = np.array(table.code_columns).T
        density = term.log_density(table.array(), codes, table.texts)
        for i, added in enumerate(weighted(density.transpose(2, 0, 1), weights_of(term))):
            expected[:, :, term.columns[i]] += added
    found = model.explain(X[:50]).values[:, :, : read.schema.n_columns]
    error = np.zeros(read.schema.n_columns)  # of forms that say how far they may be
    for term in read.terms:
        error[list(term.columns)] += 2 * term.family.error * np.abs(term.weight).max()
    assert (np.abs(found - expected) <= 1e-8 + 1e-7 * np.abs(expected) + error).all()


def weights_of(term):
    return term.weight.T[:, np.newaxis]


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
def test_a_count_adds_the_logarithm_of_its_share(name):
    model, X = case_of(name)
    share = model.feature_log_prob_
    expected = X[:, np.newaxis] * share
    if name == "BernoulliNB":
        expected = np.where(X[:, np.newaxis] > 1, share, np.log1p(-np.exp(share)))
    np.testing.assert_allclose(model.explain(X).values, expected, atol=1e-9)


@pytest.mark.parametrize("make", [mixed, crossed])
def test_each_interaction_adds_what_it_adds_alone(make):
    X, y = make()
    model = NaiveBayes().fit(X, y)
    read, n = model.model_, X.shape[1]
    every, found = read.interactions, model.explain(X)
    none = {"canonical": None, "quadratic": None, "pairs": ()}
    alone = [replace(every, **{**none, "quadratic": every.quadratic})]
    alone += [replace(every, **{**none, "pairs": (pair,)}) for pair in every.pairs]
    assert every.pairs or make is mixed
    assert found.names[n:] == (
        *(f"direction {r + 1}" for r in range(every.n_directions)),
        "quadratic",
        *(
            "pair {} x {}".format(*one["columns"])
            for one in model.interactions_
            if one["kind"] == "pair"
        ),
    )
    table = tables_of(model, X)
    for term, only in enumerate(alone, n + every.n_directions):
        joint = np.zeros((len(X), 2))
        only.form.add(table.numbers[:], table.codes[:], joint)
        np.testing.assert_allclose(found.values[:, :, term], joint, atol=1e-9)


def test_a_direction_adds_the_weighted_log_densities_of_its_families():
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    every, table = model.model_.interactions, tables_of(model, X)
    cells = table.array(), np.array(table.code_columns).T
    z = every.features.values(*cells) @ every.canonical.W
    expected = np.zeros((every.n_directions, len(X), 2))
    for term in every.canonical.terms:
        density = term.log_density(z, None).transpose(2, 0, 1)
        expected += weighted(density, weights_of(term))
    found = model.explain(X).values[:, :, 5 : 5 + every.n_directions]
    assert every.n_directions
    np.testing.assert_allclose(found.transpose(2, 0, 1), expected, atol=1e-8)


def tables_of(model, X):
    return model.model_.known(model.rows_for(X).table)


def test_words_add_up_to_their_column():
    X, y = mixed(texts=True)
    for options in ({}, {"calibration": None}):
        model = NaiveBayes(families={"note": "text"}, **options).fit(X, y)
        found = model.explain(X[:5])
        for row in range(5):
            words = found.words(row)
            assert set(words) == set(X["note"][row].split())
            column = found.values[row, :, found.names.index("note")]
            np.testing.assert_allclose(sum(words.values()), column, atol=1e-12)


def test_a_missing_cell_adds_nothing():
    X, y = numbers()
    model = NaiveBayes(interactions=None).fit(X, y)
    X[0, 2] = np.nan
    assert not model.explain(X[:1]).values[0, :, 2].any()


def test_a_loaded_model_explains_as_the_saved_one(case, tmp_path):
    model, X = case
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors").explain(X)
    np.testing.assert_array_equal(again.values, model.explain(X).values)


class Halves(Family):
    """A family of the user's own: log f = -|x - mean| by class."""

    name, kind, reads, oracle, support = "halves", "number", "moments", "laplace", (-9e9, 9e9)

    def parameters(self, statistic, prior=None):
        return statistic.mean

    def log_density(self, x, parameters):
        return np.nan_to_num(-np.abs(x[:, np.newaxis] - parameters))

    def left_out(self, x, codes, weights, statistic, parameters):
        return -np.abs(x - parameters[codes])


@pytest.mark.parametrize("make", [np.asarray, sparse], ids=["dense", "sparse"])
def test_a_family_of_the_users_own_is_explained(make):
    X, y = numbers()
    model = NaiveBayes(families=dict.fromkeys(range(5), Halves()), calibration=None).fit(X, y)
    X = make(X)
    found = model.explain(X)
    np.testing.assert_allclose(found.joint, model.predict_joint_log_proba(X), atol=1e-9)


def test_categories_never_seen_are_explained():
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    other = X[:3].assign(town="Rome")
    found = model.explain(other)
    assert found.cells(0)[2] == "Rome"
    np.testing.assert_allclose(found.joint, model.predict_joint_log_proba(other), atol=1e-9)
    codes, X = case_of("CategoricalNB")
    high = X + 1000
    found = codes.explain(high)
    np.testing.assert_allclose(found.joint, codes.predict_joint_log_proba(high), atol=1e-9)


def test_infinity_is_an_error_that_names_the_column():
    model, X = case_of("GaussianNB")
    X = X.copy()
    X[3, 1] = np.inf
    with pytest.raises(NaivelyError, match="column 1 holds infinity"):
        model.explain(X)
    with pytest.raises(NaivelyError, match="column 1 holds infinity"):
        model.model_.contributions(Rows.of_numbers(X))


def test_more_than_memory_holds_is_an_error_that_says_what_to_do():
    model, X = case_of("GaussianNB")
    with pytest.raises(NaivelyError, match="Explain fewer rows at a time"):
        model.explain(np.broadcast_to(X[0], (10**8, 5)))
