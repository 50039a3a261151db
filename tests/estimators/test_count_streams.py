"""Streams of counts and of codes: what a batch of the same rows gives, at every step."""

import numpy as np
import pandas as pd
import pytest

from naively import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB, NaivelyError
from tests.estimators.test_streams import assert_close

RNG = np.random.default_rng(1)
WORDS = [f"w{j}" for j in range(12)]


def bags(n):
    """Bags of words, of which there are more as time goes by, and labels."""
    found = [RNG.choice(WORDS[: 4 + i // 3], RNG.integers(0, 6)) for i in range(n)]
    rows = [
        {str(w): int(k) for w, k in zip(*np.unique(bag, return_counts=True), strict=True)}
        for bag in found
    ]
    return rows, RNG.choice(["ham", "spam", "news"], n).tolist()


def table(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame(
        [[row.get(name, 0) for name in names] for row in rows], columns=names, dtype=float
    )


COUNTING = {
    "multinomial": MultinomialNB,
    "multinomial, little smoothing": lambda **p: MultinomialNB(alpha=1e-3, **p),
    "multinomial, equal priors": lambda **p: MultinomialNB(fit_prior=False, **p),
    "multinomial, no smoothing": lambda **p: MultinomialNB(alpha=0.0, **p),
    "multinomial, balanced": lambda **p: MultinomialNB(class_weight="balanced", **p),
    "complement": ComplementNB,
    "complement, norm": lambda **p: ComplementNB(norm=True, **p),
    "bernoulli": BernoulliNB,
    "bernoulli, above 1": lambda **p: BernoulliNB(binarize=1.0, alpha=0.3, **p),
}


@pytest.mark.parametrize("make", COUNTING.values(), ids=COUNTING)
def test_a_stream_of_bags_predicts_what_a_batch_predicts_at_every_step(make):
    rows, labels = bags(32)
    model = make()
    for n, (row, label) in enumerate(zip(rows, labels, strict=True), 1):
        model.learn_one(row, label)
        X = table(rows[:n])
        if not X.shape[1] or n % 4:
            continue
        other, asked = make().fit(X, labels[:n]), rows[n % 32]
        full = {name: asked.get(name, 0) for name in X.columns}
        expected = other.predict_proba_one(full)
        assert np.allclose(model.predict_proba_one(asked), expected, rtol=0, atol=1e-9)
        best, *others = np.sort(expected)[::-1]
        if not others or best - others[0] > 1e-9:
            assert model.predict_one(asked) == other.predict_one(full)
    assert_close(model.summary_, other.summary_)


KERNEL = [MultinomialNB, ComplementNB, BernoulliNB]


@pytest.mark.parametrize("cls", KERNEL)
def test_counts_of_a_window_are_those_of_its_rows(cls):
    rows, labels = bags(80)
    model, kept = cls(window=20), cls()
    for i, (row, label) in enumerate(zip(rows, labels, strict=True)):
        model.learn_one(row, label)
        if i >= 60:
            kept.learn_one(row, label)
    names = model.summary_.schema.names
    every = dict.fromkeys(names, 0)
    kept.learn_one(every, "ham").forget_one(every, "ham")
    at = [kept.summary_.schema.names.index(name) for name in names]
    assert_close(model.summary_, kept.summary_.with_columns(at))
    for row in rows[:5]:
        assert np.allclose(model.predict_proba_one(row), kept.predict_proba_one(row), atol=1e-12)


@pytest.mark.parametrize("cls", KERNEL)
def test_counts_decay_with_every_row_as_with_every_batch(cls):
    rows, labels = bags(40)
    X, fast, slow = table(rows), cls(decay=0.8), cls(decay=0.8)
    for i, label in enumerate(labels):
        fast.learn_one(dict(X.iloc[i]), label)
        slow.partial_fit(X[i : i + 1], [label], classes=["ham", "news", "spam"])
    assert_close(fast.summary_, slow.summary_)
    asked = dict(X.iloc[3])
    assert np.allclose(fast.predict_proba_one(asked), slow.predict_proba_one(asked), atol=1e-9)


@pytest.mark.parametrize("cls", KERNEL)
def test_counts_that_are_forgotten_were_never_seen(cls):
    rows, labels = bags(30)
    model = cls()
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label, 0.3)
    for row, label in zip(rows[::2], labels[::2], strict=True):
        model.forget_one(row, label, 0.3)
    X = table(rows)
    rest = cls().fit(X[1::2], labels[1::2], np.full(15, 0.3))
    assert_close(model.summary_, rest.summary_)
    with pytest.raises(NaivelyError, match="Forget only what was learned"):
        model.forget_one({"w0": 1000}, labels[1], 30.0)


@pytest.mark.parametrize("cls", KERNEL)
def test_batches_of_counts_and_single_rows_take_turns(cls):
    X, y = RNG.integers(0, 3, (60, 5)).astype(float), RNG.integers(3, size=60)
    model = cls(open_classes=True).fit(X[:20], y[:20])
    for row, label in zip(X[20:40].tolist(), y[20:40].tolist(), strict=True):
        model.learn_one(row, label)
    model.partial_fit(X[40:], y[40:])
    model.learn_one(X[0].tolist(), int(y[0])).forget_one(X[0].tolist(), int(y[0]))
    expected = cls().fit(X, y)
    assert_close(model.summary_, expected.summary_)
    assert np.allclose(model.predict_proba_one(X[0].tolist()), expected.predict_proba(X[:1])[0])


def test_missing_cells_of_bernoulli_are_left_out():
    X = RNG.integers(0, 2, (50, 3)).astype(float)
    X[RNG.random(X.shape) < 0.3] = np.nan
    y = RNG.integers(2, size=50)
    model = BernoulliNB()
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(row, label)
    expected = BernoulliNB().fit(X, y)
    assert_close(model.summary_, expected.summary_)
    for row in X[:10]:
        found = model.predict_proba_one(row.tolist())
        assert np.allclose(found, expected.predict_proba([row])[0], atol=1e-12)


def test_a_row_with_a_missing_cell_is_forgotten_from_a_window():
    model = BernoulliNB(window=3).learn_one({"a": None, "b": 1}, "x").learn_one({"a": 1}, "y")
    model.forget_one({"a": None, "b": 1}, "x")
    assert model.class_count_.tolist() == [0, 1]


@pytest.mark.parametrize("cls", [MultinomialNB, ComplementNB])
def test_a_negative_count_is_an_error_that_names_the_column(cls):
    model = cls().learn_one({"a": 1}, "x")
    for cell, message in ((-1, "counts, which are >= 0; got -1"), ("b", "must hold numbers")):
        with pytest.raises(NaivelyError, match=f"column 'w' {message}|column 'w' must hold"):
            model.learn_one({"w": cell}, "x")
    assert model.feature_names_in_.tolist() == ["a"]


CODES = [{}, {"alpha": 0.2}, {"fit_prior": False}, {"min_categories": 6}, {"alpha": 0.0}]


@pytest.mark.parametrize("params", CODES, ids=str)
def test_a_stream_of_codes_predicts_what_a_batch_predicts_at_every_step(params):
    X = RNG.integers(0, 4, (30, 3)).astype(float)
    X[0, 0], X[20, 1] = 3, 9
    X[RNG.random(X.shape) < 0.2] = np.nan
    y = RNG.integers(3, size=30)
    names = ["a", "b", "c"]
    model = CategoricalNB(**params)
    for n in range(1, 31):
        row = dict(zip(names, X[n - 1].tolist(), strict=True))
        model.learn_one({k: x for k, x in row.items() if k == "a" or x == x}, int(y[n - 1]))
        order = list(model.state_.stream.columns.names)
        frame = pd.DataFrame(X[:n], columns=names)[order]
        if frame.isna().all().any() or n % 3:
            continue
        other, asked = CategoricalNB(**params).fit(frame, y[:n]), X[n % 30]
        given = {k: x for k, x in zip(names, asked.tolist(), strict=True) if k in order}
        found, expected = model.predict_proba_one(given), other.predict_proba_one(given)
        assert np.allclose(found, expected, rtol=0, atol=1e-9)
    assert_close(model.summary_, other.summary_)


def test_codes_of_a_window_and_codes_that_are_forgotten_leave_no_trace():
    X, y = RNG.integers(0, 5, (90, 2)), RNG.integers(2, size=90)
    X[:60] += 3
    window, less = CategoricalNB(window=30), CategoricalNB()
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        window.learn_one(row, label)
        less.learn_one(row, label)
    for row, label in zip(X[:60].tolist(), y[:60].tolist(), strict=True):
        less.forget_one(row, label)
    expected = CategoricalNB().fit(X[60:], y[60:])
    for model in (window, less):
        assert_close(model.summary_, expected.summary_)
        found = model.predict_proba_one([1, 9])
        assert np.allclose(found, expected.predict_proba([[1, 9]])[0], atol=1e-12)


@pytest.mark.parametrize("cell", [-1, "red", float("inf"), 2**40])
def test_a_bad_code_is_an_error_that_names_the_column(cell):
    model = CategoricalNB().learn_one({"a": 1}, "x")
    with pytest.raises(NaivelyError, match="'w'"):
        model.learn_one({"w": cell}, "x")
    assert model.feature_names_in_.tolist() == ["a"]


COUNTED = {"MultinomialNB": MultinomialNB, "ComplementNB": ComplementNB}


@pytest.mark.parametrize("estimator", COUNTED.values(), ids=COUNTED)
def test_forgetting_all_rows_of_a_class_leaves_no_count_in_it_or_is_refused(estimator):
    X, y = np.array([[0.1, 0.3], [0.2, 0.6], [0.7, 0.1]]), ["a", "a", "b"]
    whole = estimator().fit(X, y)
    batch, single = estimator().fit(X, y).forget(X[:2], y[:2]), estimator().fit(X, y)
    for x in X[:2].tolist():
        single.forget_one(x, "a")
    for model in (batch, single):
        assert model.class_count_.tolist() == [0, 1]
        assert model.feature_count_[0].tolist() == [0, 0]
    with pytest.raises(NaivelyError, match="would have no rows, and counts of them"):
        whole.forget(X[:2] / 2, y[:2])
    assert np.array_equal(whole.feature_count_, estimator().fit(X, y).feature_count_)
