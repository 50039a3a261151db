"""The family of text, beside scikit-learn's multinomial and beside slow sums."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from naively import NaiveBayes, NaivelyError
from naively.data.sparse import SparseRows
from naively.families import Text
from naively.families.text import GROUPS, WordCounts

RNG = np.random.default_rng(0)
N, V, K = 60, 40, 3
COUNTS = RNG.poisson(RNG.gamma(0.3, size=V), size=(N, V))
COUNTS[7] = 0  # an empty document
CODES = RNG.integers(K, size=N).astype(np.int32)


def words_of(counts):
    rows = SparseRows.of_dense(counts)
    return SparseRows(rows.starts, rows.places.astype(np.int32), rows.values, rows.n_columns)


def seen(counts, codes, *, presence, weights=None):
    """Return the statistic, added up document by document."""
    weights = np.ones(len(counts)) if weights is None else weights
    values, documents = np.zeros((K, V)), np.zeros(K)
    for row, k, weight in zip(counts, codes, weights, strict=True):
        values[k] += weight * ((row > 0) if presence else row)
        documents[k] += weight
    return WordCounts(values, documents)


def slow_terms(family, row, statistic, total, bounds):
    """Return the terms of one document, (K, T), by the formulas of the family."""
    known = (row > 0) & (total > 0)
    of_class, alpha = statistic.values.sum(axis=1), np.full(K, family.alpha)
    if family.presence:  # the sum of all classes is that of all documents, whoever is left out
        alpha *= K * (of_class + 1) / ((COUNTS > 0).sum() + K)
    share = (statistic.values + alpha[:, np.newaxis]) / (of_class + alpha * V_SEEN)[:, np.newaxis]
    share = np.log(share)
    if not family.presence:
        return (share[:, known] * row[known]).sum(axis=1)[:, np.newaxis]
    x = 1 / np.sqrt(max(1, row[known].sum()))
    terms = np.zeros((K, GROUPS + 1))
    for j in np.flatnonzero(known):
        terms[:, sum(total[j] >= bound for bound in bounds)] += x * share[:, j]
    length = np.log((statistic.values.sum(axis=1) + 1) / (statistic.documents + 1))
    terms[:, -1] = x * known.sum() * length
    return terms


V_SEEN = int((COUNTS.sum(axis=0) > 0).sum())


@pytest.mark.parametrize("presence", [True, False])
def test_terms_are_the_sums_of_the_formula(presence):
    family, statistic = Text(presence=presence), seen(COUNTS, CODES, presence=presence)
    parameters = family.parameters(statistic)
    terms = family.log_density(words_of(COUNTS), parameters)
    for row, found in zip(COUNTS, terms, strict=True):
        slow = slow_terms(family, row, statistic, parameters.total, parameters.bounds)
        np.testing.assert_allclose(found, slow, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("presence", [True, False])
def test_a_document_left_out_is_judged_by_the_counts_of_all_others(presence):
    family, statistic = Text(presence=presence), seen(COUNTS, CODES, presence=presence)
    parameters, rows = family.parameters(statistic), words_of(COUNTS)
    own = family.left_out(rows, CODES, np.ones(N), statistic, parameters)
    others = family.among_others(rows, np.ones(N), parameters)
    for i in range(N):
        rest = np.arange(N) != i
        without = seen(COUNTS[rest], CODES[rest], presence=presence)
        total = without.values.sum(axis=0)
        slow = slow_terms(family, COUNTS[i], without, total, parameters.bounds)
        np.testing.assert_allclose(own[i], slow[CODES[i]], rtol=1e-10, atol=1e-10)
        foreign = np.arange(K) != CODES[i]
        np.testing.assert_allclose(others[i][foreign], slow[foreign], rtol=1e-10, atol=1e-10)


def test_a_word_that_two_classes_never_had_speaks_for_neither():
    values = np.zeros((3, 50))
    values[0], values[1, :20], values[2, 49] = 40, 2, 1
    values[:2, 49] = 0
    share = Text().parameters(WordCounts(values, np.array([80.0, 4.0, 1.0]))).log_share
    assert abs(share[49, 0] - share[49, 1]) < 0.05  # 20 times as many words, and as many documents
    plain = Text(presence=False).parameters(WordCounts(values, np.ones(3))).log_share
    assert plain[49, 1] - plain[49, 0] > 2


@pytest.mark.parametrize("presence", [True, False])
@pytest.mark.parametrize("equal", [True, False], ids=["one weight", "weights by class"])
def test_the_form_adds_the_weighted_terms(presence, equal):
    family, rows = Text(presence=presence), words_of(COUNTS)
    parameters = family.parameters(seen(COUNTS, CODES, presence=presence))
    weight = RNG.normal(size=(1 if equal else K, family.n_terms)) + np.zeros((K, 1))
    terms = family.log_density(rows, parameters)
    if not equal:
        terms = terms - terms.mean(axis=1, keepdims=True)
    joint = np.zeros((N, K))
    assert family.form(parameters, weight).add(rows, joint)
    slow = np.einsum("nkt,kt->nk", terms, weight)
    np.testing.assert_allclose(joint, slow, rtol=1e-11, atol=1e-11)


def test_places_of_hashed_words_that_were_never_seen_contribute_nothing():
    family = Text(hashed=V)
    parameters = family.parameters(seen(COUNTS[:5], CODES[:5], presence=True))
    never = np.flatnonzero(COUNTS[:5].sum(axis=0) == 0)[:1]
    with_it = COUNTS[:5].copy()
    with_it[:, never] += 3
    form, found = family.form(parameters, np.ones((K, family.n_terms))), np.zeros((2, 5, K))
    form.add(words_of(COUNTS[:5]), found[0])
    form.add(words_of(with_it), found[1])
    np.testing.assert_array_equal(found[0], found[1])


def test_groups_hold_about_as_many_words_of_documents_each():
    counts = RNG.poisson(1.0, size=(300, 500))
    values = np.zeros((K, 500))
    values[0] = (counts > 0).sum(axis=0)
    parameters = Text().parameters(WordCounts(values, np.array([300.0, 0.0, 0.0])))
    mass = np.bincount(parameters.groups(parameters.total), parameters.total, GROUPS)
    assert mass.min() > 0.5 * mass.max() or np.unique(parameters.total).size < 50


def test_words_of_the_same_weight_are_of_one_group_however_it_was_added_up():
    values = np.repeat([0.3, 1.7, 2.9, 17.3], 10)[np.newaxis] + np.zeros((1, 40))
    groups = []
    for toward in (0.0, np.inf):  # a last bit less, or more
        rounded = np.where(RNG.random(40) < 0.5, values, np.nextafter(values, toward))
        parameters = Text().parameters(WordCounts(rounded, np.array([30.0])))
        groups.append(parameters.groups(parameters.total))
        assert all(np.unique(part).size == 1 for part in np.split(groups[-1], 4))
    assert np.array_equal(*groups)


DOCUMENTS = ["Win a prize now", "free money, win!", "lunch at noon", "notes for the meeting", ""]
LABELS = ["spam", "spam", "ham", "ham", "ham"]


@pytest.mark.parametrize(
    "options",
    [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}],
    ids=str,
)
def test_without_calibration_it_is_the_multinomial_of_the_textbooks(options):
    model = NaiveBayes(calibration=None, families={0: Text(**options)}).fit(DOCUMENTS, LABELS)
    vectorizer = CountVectorizer(**options)
    peer = MultinomialNB(alpha=1.0).fit(vectorizer.fit_transform(DOCUMENTS), LABELS)
    asked = [*DOCUMENTS, "win win the lunch zebra", "ein Café"]
    np.testing.assert_allclose(
        model.predict_joint_log_proba(asked),
        peer.predict_joint_log_proba(vectorizer.transform(asked)),
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0.0}, "alpha must be > 0 and finite; got 0.0"),
        ({"analyzer": "words"}, "analyzer must be 'word' or 'char_wb'; got 'words'"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"hashed": 0}, "hashed must be"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(NaivelyError, match=message):
        Text(**params)
