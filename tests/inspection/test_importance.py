"""Importance, judged by slow loops: each row is taken out, each column is left out."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from naively import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
from naively.data.schema import Schema
from naively.errors import NaivelyError
from naively.estimators.loading import ESTIMATORS
from naively.families import Gaussian
from naively.model.terms import read_terms
from tests.inspection.explanations.cases import CASES, SPARSE, case_of, numbers, sparse

RNG = np.random.default_rng(3)
N = 40
CODES = np.arange(N) % 3
REALS = RNG.normal(size=(N, 4)) + CODES[:, np.newaxis] * [1.0, 0.4, 0.0, -0.7]
REALS[RNG.random(REALS.shape) < 0.1] = np.nan
COUNTS = RNG.poisson(1 + CODES[:, np.newaxis] * [1.0, 0.0, 0.5, 0.2]).astype(float)
COUNTS[:, 1] = np.arange(N) % 20
assert len(np.unique(COUNTS, axis=0)) == N  # no row has a twin: then they are one of weight 2


def log_loss(joint, k):
    return np.logaddexp.reduce(joint) - joint[k]


def terms_of(model, X):
    return model.model_.contributions(model.rows_for(X).table).values


def differences(constant, terms, codes):
    """Return the increases by row and column, by plain loops."""
    more = np.empty((len(terms), terms.shape[2]))
    for i, k in enumerate(codes):
        whole = constant + terms[i].sum(axis=1)
        for j in range(terms.shape[2]):
            more[i, j] = log_loss(whole - terms[i, :, j], k) - log_loss(whole, k)
    return more


def check(found, more, codes):
    close = {"rtol": 0, "atol": 1e-9}
    np.testing.assert_allclose(found.increase, more.mean(axis=0), **close)
    np.testing.assert_allclose(found.error, more.std(axis=0) / np.sqrt(len(more)), **close)
    for k in np.unique(codes):
        np.testing.assert_allclose(found.by_class[k], more[codes == k].mean(axis=0), **close)
    assert found.n_rows == len(more)


GAUSSIANS = {
    "class": {},
    "shared": {"variance": "shared"},
    "ddof": {"ddof": 1},
    "priors": {"priors": [0.2, 0.3, 0.5]},
}


@pytest.mark.parametrize("options", GAUSSIANS.values(), ids=GAUSSIANS)
@pytest.mark.parametrize("calibration", ["temperature", "weights"])
def test_importance_is_that_of_refitting_without_each_row(options, calibration):
    options = {"var_smoothing": 0.0, **options}
    model = GaussianNB(calibration=calibration, **options).fit(REALS, CODES)
    (term,) = model.model_.terms
    terms = terms_of(GaussianNB(**options).fit(REALS, CODES), REALS).copy()
    for i in range(N):
        others = np.arange(N) != i
        without = GaussianNB(**options).fit(REALS[others], CODES[others])
        values, own = terms[i], CODES[i]  # a shared variance stays what it is in other classes
        values[own] = terms_of(without, REALS[i : i + 1])[0, own]
        terms[i] = (values - values.mean(axis=0)) * term.weight
    more = differences(model.model_.constant, terms, CODES)
    check(model.importance_, more, CODES)


@pytest.mark.parametrize(
    "kind",
    [
        lambda **o: MultinomialNB(alpha=0.5, **o),
        lambda **o: ComplementNB(alpha=0.5, **o),
        lambda **o: BernoulliNB(alpha=0.5, binarize=1.0, **o),
    ],
    ids=["multinomial", "complement", "bernoulli"],
)
@pytest.mark.parametrize("as_rows", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_importance_of_counts_is_that_of_refitting_without_each_row(kind, as_rows):
    X = as_rows(COUNTS)
    model = kind(calibration="temperature").fit(X, CODES)
    weight = model.model_.terms[0].weight.flat[0]
    terms = np.empty((N, 3, 4))
    for i in range(N):
        others = np.arange(N) != i
        without = kind().fit(COUNTS[others], CODES[others])
        terms[i] = terms_of(without, COUNTS[i : i + 1])[0] * weight
    more = differences(model.model_.constant, terms, CODES)
    check(model.importance_, more, CODES)


def mixed_rows():
    frame = pd.DataFrame(REALS, columns=["real", "waits", "noise", "shape"])
    frame["waits"] = np.abs(frame["waits"]).round(0)
    frame["letter"] = np.array(list("abc"))[(CODES + (RNG.random(N) < 0.4)) % 3]
    frame.loc[3, "letter"] = None
    families = {
        "real": ("student_t", "histogram"),
        "waits": "poisson",
        "noise": Gaussian(),
        "shape": "histogram",
        "letter": "categorical",
    }
    return frame, families


@pytest.mark.parametrize("calibration", ["temperature", "weights"])
def test_importance_of_any_family_is_that_of_the_statistics_without_each_row(calibration):
    frame, families = mixed_rows()
    options = {"families": families, "calibration": calibration, "interactions": None}
    model = NaiveBayes(**options).fit(frame, CODES)
    terms = np.zeros((N, 3, 5))
    for i in range(N):
        others = copy.deepcopy(model).forget(frame[i : i + 1], CODES[i : i + 1]).summary_
        row = NaiveBayes(**options).from_summary(model.summary_, **options)
        table = row.explain(frame[i : i + 1]).table
        numbers = table.array()
        codes = np.array([[column[0] for column in table.code_columns]], np.int32)
        if codes[0, 0] >= 0:
            letter = frame["letter"][i]
            codes[0, 0] = model.summary_.categories[0].tolist().index(letter)
        for term in model.model_.terms:
            family = {term.family: list(dict.fromkeys(term.columns))}
            (rest,) = read_terms(others, family)
            prior = {} if hasattr(term.parameters, "epsilon") else {"prior": term.parameters.prior}
            again = term.family.parameters(rest.statistic, **prior)
            cells = codes[:, term.at] if term.family.kind == "category" else numbers[:, term.at]
            values = term.log_density(numbers, codes)[0]
            own = term.family.log_density(cells, again).reshape(values.shape)
            values[CODES[i]] = own[CODES[i]]
            values = (values - values.mean(axis=0)) * term.weight
            for t, j in enumerate(term.columns):
                terms[i, :, j] += values[:, t]
    more = differences(model.model_.constant, terms, CODES)
    check(model.importance_, more, CODES)


# --- rows that the model has not learned ---------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_importance_of_new_rows_is_that_of_predictions_without_each_column(name):
    model, X = case_of(name)
    X, y = X[:60], np.resize(model.classes_, 60)
    found = model.importance(X, y)
    codes = np.searchsorted(model.classes_, y)
    explained = model.explain(X)
    constant = explained.log_prior + explained.bias
    n_columns = model.n_features_in_
    more = differences(constant, explained.values[:, :, :n_columns], codes)
    if model.model_.interactions is not None:
        whole = model.predict_log_proba(X)
        for j in range(n_columns):
            missing = X.copy()
            if isinstance(X, pd.DataFrame):
                missing.isetitem(j, np.nan if X.dtypes.iloc[j].kind == "f" else None)
            else:
                missing[:, j] = np.nan
            without = model.predict_log_proba(missing)
            more[:, j] = (whole - without)[np.arange(60), codes]
    error = sum(
        2 * getattr(term.family, "error", 0.0) * np.abs(term.weight).max(initial=0.0)
        for term in model.model_.terms
    )
    np.testing.assert_allclose(found.increase, more.mean(axis=0), rtol=0, atol=1e-9 + error)


def test_the_unit_of_weights_does_not_matter():
    weight = np.arange(N) % 3 + 1.0
    model = GaussianNB(calibration="weights").fit(REALS, CODES, sample_weight=weight * 2.0**660)
    assert np.isfinite(model.importance_.error).all()
    ours, theirs = (model.importance(REALS, CODES, weight * unit) for unit in (1.0, 2.0**660))
    np.testing.assert_allclose(ours.error, theirs.error, rtol=1e-12)
    np.testing.assert_allclose(ours.by_class, theirs.by_class, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SPARSE)
def test_importance_of_sparse_rows_is_that_of_dense_ones(name):
    model, X = case_of(name)
    X, y = sparse(X[:50]), np.resize(model.classes_, 50)
    ours, theirs = model.importance(X, y), model.importance(X.toarray(), y)
    np.testing.assert_allclose(ours.increase, theirs.increase, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.by_class, theirs.by_class, rtol=0, atol=1e-12)


def test_rows_of_weight_two_are_rows_twice():
    model = GaussianNB().fit(REALS, CODES)
    once = model.importance(REALS, CODES, np.where(CODES == 1, 2.0, 1.0))
    rows = np.repeat(np.arange(N), np.where(CODES == 1, 2, 1))
    twice = model.importance(REALS[rows], CODES[rows])
    np.testing.assert_allclose(once.increase, twice.increase, rtol=0, atol=1e-12)
    np.testing.assert_allclose(once.by_class, twice.by_class, rtol=0, atol=1e-12)


# --- what it must say ----------------------------------------------------------------------------


@pytest.mark.parametrize("interactions", ["auto", None])
def test_identifiers_and_noise_have_no_importance_and_what_decides_has(interactions):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1500)
    frame = pd.DataFrame({"noise": rng.normal(size=1500), "identifier": rng.permutation(1500)})
    frame["name"] = [f"row {i}" for i in rng.permutation(1500)]
    frame["comment"] = [f"said {i} of {i * 7}" for i in rng.permutation(1500)]
    frame["letter"] = rng.choice(list("abc"), 1500)
    frame["truth"] = y + 0.3 * rng.normal(size=1500)
    families = {"name": "categorical", "comment": "text"}
    found = NaiveBayes(families=families, interactions=interactions).fit(frame, y).importance_
    increase = dict(zip(found.columns, found.increase, strict=True))
    assert increase.pop("truth") > 0.8
    assert max(map(abs, increase.values())) < 0.01


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, BernoulliNB])
def test_words_of_one_row_have_no_importance_and_words_that_decide_have(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = np.zeros((300, 306))
    X[:, :5] = rng.poisson(1.0, size=(300, 5))
    X[:, 5] = rng.poisson(0.3 + 3 * y)
    X[np.arange(300), 6 + np.arange(300)] = 1.0
    increase = kind(calibration="temperature").fit(X, y).importance_.increase
    assert increase[5] > 0.1
    assert np.abs(increase[6:]).max() < 0.002


def test_columns_that_say_nothing_alone_are_important_by_what_they_say_together():
    model, _ = case_of("NaiveBayes of pairs")
    alone = NaiveBayes.from_summary(model.summary_, interactions=None)
    assert (model.importance_.increase > 0.1).all()
    assert (np.abs(alone.importance_.increase) < 0.01).all()


def test_of_two_columns_that_say_the_same_neither_is_important():
    X, y = numbers()
    once = GaussianNB(calibration="weights").fit(X, y).importance_.increase
    twice = GaussianNB(calibration="weights").fit(np.column_stack([X, X[:, 3]]), y).importance_
    assert twice.increase[3] == pytest.approx(twice.increase[5], abs=1e-3)
    assert twice.increase[3] < 0.5 * once[3]


def test_missing_and_constant_columns_have_no_importance():
    X, y = numbers()
    X = np.column_stack([X, np.full(len(X), np.nan), np.full(len(X), 3.0)])
    for model in (GaussianNB(calibration="weights"), NaiveBayes()):
        increase = model.fit(X, y).importance_.increase
        assert increase[5] == 0
        assert abs(increase[6]) < 1e-3


# --- where it is ---------------------------------------------------------------------------------

CALIBRATED = {"CategoricalNB": {}, "NaiveBayes": {}, "GaussianNB": {"calibration": "weights"}}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_importances_in_the_order_of_columns(name):
    X, y = COUNTS, CODES
    model = ESTIMATORS[name](**CALIBRATED.get(name, {"calibration": "temperature"}))
    model.fit(X, y)
    if name == "CategoricalNB":
        model = NaiveBayes(families=dict.fromkeys(range(4), "categorical")).fit(X.astype(int), y)
        model = CategoricalNB.from_summary(model.summary_)
    np.testing.assert_array_equal(
        model.feature_importances_, np.maximum(model.importance_.increase, 0.0)
    )
    chosen = SelectFromModel(model, prefit=True, max_features=2, threshold=-np.inf)
    kept = np.flatnonzero(chosen.get_support())
    assert set(kept) == set(np.argsort(-model.feature_importances_)[:2])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_without_a_sample_there_is_no_importance(name):
    options = {"calibration": None} if name == "NaiveBayes" else {}
    model = ESTIMATORS[name](**options).fit(COUNTS, CODES)
    assert not hasattr(model, "importance_")
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=r"model\.importance\(X_test, y_test\)"):
        _ = model.importance_
    assert model.importance(COUNTS, CODES).n_rows == N


def test_a_summary_with_a_sample_has_importance_without_calibration():
    from naively import summarize

    seen = summarize(REALS, CODES, schema=Schema(4, sample=1000))
    model = GaussianNB.from_summary(seen)
    assert model.importance_.n_rows == N
    assert model.update(seen).importance_.n_rows == N  # what was learned later is judged anew


def test_one_class_needs_no_column():
    model = GaussianNB(calibration="weights").fit(REALS, np.zeros(N))
    assert not model.feature_importances_.any()
    assert "column 3" in str(model.importance_)


def test_rows_of_a_class_without_probability_are_not_judged():
    model = GaussianNB(calibration="weights", priors=[0.5, 0.5, 0.0]).fit(REALS, CODES)
    found = model.importance_
    assert found.n_rows == np.sum(CODES < 2)
    assert np.isfinite(found.increase).all()
    assert np.isnan(found.by_class[2]).all()


def test_columns_of_one_name_keep_their_own_importance():
    frame = pd.DataFrame(numbers()[0][:, [0, 3]], columns=["x", "x"])
    model = GaussianNB(calibration="weights").fit(frame.to_numpy(), numbers()[1])
    same = model.importance(frame.to_numpy(), numbers()[1])
    assert same.increase.shape == (2,)


def test_labels_that_the_model_has_not_learned_are_an_error():
    model = GaussianNB().fit(REALS, CODES)
    with pytest.raises(NaivelyError, match=r"y must hold classes .*got 7"):
        model.importance(REALS, np.where(CODES == 1, 7, CODES))
    with pytest.raises(NotFittedError):
        _ = GaussianNB().importance_
    assert not hasattr(GaussianNB(), "feature_importances_")


# --- how it is shown -----------------------------------------------------------------------------


def test_it_prints_the_most_important_column_first_and_has_a_frame():
    model, _ = case_of("NaiveBayes of any columns")
    found = model.importance_
    lines = str(found).splitlines()
    assert lines[2].startswith("income")
    frame = found.to_frame()
    assert list(frame)[:4] == ["column", "increase", "error", "increase of 'no'"]
    assert list(frame)[3:] == ["increase of 'no'", "increase of 'yes'"]
    assert list(frame["increase"]) == sorted(found.increase, reverse=True)
    assert "<table>" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["columns"][0]["column"] == "age"
