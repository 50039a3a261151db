"""What a stream has learned is what one batch of its rows gives, in every estimator."""

import pickle

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
from naively.estimators.loading import ESTIMATORS
from tests.estimators.streams import (
    CASES,
    Case,
    assert_close,
    bags,
    codes,
    mixed,
    numbers,
    taught,
)

WINDOW = 12
MORE = {
    "GaussianNB, by column": Case(GaussianNB, numbers, {"smoothing": "column"}),
    "GaussianNB, much smoothing": Case(GaussianNB, numbers, {"var_smoothing": 0.1}),
    "GaussianNB, no smoothing": Case(GaussianNB, numbers, {"var_smoothing": 0.0}),
    "GaussianNB, ddof": Case(GaussianNB, numbers, {"ddof": 1, "var_smoothing": 1.0}),
    "GaussianNB, priors": Case(GaussianNB, numbers, {"priors": [0.2, 0.3, 0.5]}),
    "MultinomialNB, little smoothing": Case(MultinomialNB, bags, {"alpha": 1e-3}),
    "BernoulliNB, above 1": Case(BernoulliNB, bags, {"binarize": 1.0, "alpha": 0.3}),
    "CategoricalNB, little smoothing": Case(CategoricalNB, codes, {"alpha": 0.2}),
    "CategoricalNB, many categories": Case(CategoricalNB, codes, {"min_categories": 20}),
    "NaiveBayes, a family": Case(
        NaiveBayes, mixed, {"families": {"age": "gaussian"}, "calibration": "temperature"}
    ),
}
STEPS = 9, 13, 20, 32  # each a tenth more than the last, after which calibration is searched again


def parametrized(cases):
    return pytest.mark.parametrize("case", cases.values(), ids=cases)


def near_of(model):
    """How near answers are: a search for weights ends when little is left to gain."""
    return 1e-9 if model.get_params().get("calibration") is None else 1e-5


@parametrized(CASES | MORE)
def test_a_stream_predicts_what_a_batch_predicts_at_every_step(case):
    rows, labels = case.draw(32, ["no", "perhaps", "yes"])
    labels[:6] = ["no", "perhaps", "yes"] * 2
    model, near = case.make(), 1e-9
    for n, (row, label) in enumerate(zip(rows, labels, strict=True), 1):
        model.learn_one(row, label)
        if n not in STEPS[2 * ("ddof" in case.params) :]:
            continue
        X = case.table(rows[:n])
        batch, asked = case.make().fit(X, labels[:n]), rows[n % 32]
        expected = batch.predict_proba_one(case.asked(asked, X))
        np.testing.assert_allclose(model.predict_proba_one(asked), expected, rtol=0, atol=near)
        *_, second, best = np.sort(expected)
        if best - second > near:
            assert model.predict_one(asked) == batch.predict_one(case.asked(asked, X))
        np.testing.assert_allclose(
            model.predict_proba(X[:9]), batch.predict_proba(X[:9]), rtol=0, atol=near
        )
    assert_close(model.summary_, batch.summary_)


@pytest.mark.parametrize("seed", [2, 6])
@parametrized(CASES)
def test_a_decay_is_a_weight_of_rows_by_their_age(case, seed):
    rows, labels = case.draw(40, seed=seed)
    model = taught(case.make(decay=0.8), rows, labels)
    batch = case.make().fit(case.table(rows), labels, 0.8 ** np.arange(40)[::-1])
    assert_close(model.summary_, batch.summary_)


@parametrized(CASES)
def test_rows_that_are_forgotten_were_never_seen(case):
    (rows, labels), weight = case.draw(30), np.full(30, 0.3)
    model = taught(case.make(), rows, labels, weight)
    for row, label in zip(rows[::2], labels[::2], strict=True):
        model.forget_one(row, label, 0.3)
    with pytest.raises(NaivelyError, match="cannot"):
        model.forget_one(rows[1], labels[1], 30.0)
    rest = case.make().fit(case.table(rows)[1::2], labels[1::2], weight[1::2])
    assert_close(model.summary_, rest.summary_, 1e-10)


@parametrized({name: case for name, case in CASES.items() if case.rows is not mixed})
def test_batches_and_single_rows_take_turns(case):
    rows, labels = case.draw(60)
    X = case.table(rows)
    model = taught(
        case.make(open_classes=True).fit(X[:20], labels[:20]), rows[20:40], labels[20:40]
    )
    model.partial_fit(X[40:], labels[40:])
    model.learn_one(rows[0], labels[0]).forget_one(rows[0], labels[0])
    batch = case.make().fit(X, labels)
    assert_close(model.summary_, batch.summary_, 1e-10)
    found, expected = model.predict_proba(X[:9]), batch.predict_proba(X[:9])
    np.testing.assert_allclose(found, expected, rtol=0, atol=near_of(model))


# --- windows --------------------------------------------------------------------------------------


def has_own_weights(case):
    """Whether classes have weights of their own, for terms that are centred over all classes."""
    return case.make().get_params().get("calibration") == "weights"


def rows_of(case, n=40, seed=6):
    """Rows and labels: the class "rare" is that of some early rows, and leaves the window.

    Not where every class has weights of its own.
    """
    rows, labels = case.draw(n, seed=seed)
    labels = labels.astype(object)
    if not has_own_weights(case):
        labels[[2, 5, 9]] = "rare"
    return rows, labels


def assert_is_model_of(model, case, at, rows, labels):
    """A model is that of some rows: classes that have left the window have no probability."""
    X = case.table(rows)
    batch = case.make().fit(X.iloc[at], labels[at].astype(str))
    asked = rows[at[0]]
    pairs = [
        (model.predict_proba_one(asked), batch.predict_proba_one(case.asked(asked, X))),
        (model.predict_proba(X[:1])[0], batch.predict_proba(X[:1])[0]),
    ]
    for found, expected in pairs:
        known = dict(zip(batch.classes_, expected, strict=True))
        expected = [known.get(label, 0.0) for label in model.classes_]
        np.testing.assert_allclose(found, expected, rtol=0, atol=near_of(model))
    assert model.predict_one(asked) in batch.classes_
    kept = [model.classes_.tolist().index(label) for label in batch.classes_]
    assert_close(model.summary_.with_classes(kept), batch.summary_, 1e-10)


@pytest.mark.parametrize("seed", [3, 6])
@parametrized(CASES)
def test_a_window_is_the_fit_of_its_rows(case, seed):
    rows, labels = rows_of(case, seed=seed)
    model = case.make(window=WINDOW)
    for start, end in ((0, 15), (15, 23), (23, 40)):
        taught(model, rows[start:end], labels[start:end])
        at = [*range(end - WINDOW, end)]
        assert_is_model_of(model, case, at, rows[:end], labels)


@parametrized(CASES)
def test_a_window_that_shrinks_holds_its_last_rows_at_once(case):
    rows, labels = rows_of(case)
    model = taught(case.make(window=30), rows, labels).set_params(window=WINDOW)
    at = [*range(40 - WINDOW, 40)]
    assert_is_model_of(model, case, at, rows, labels)
    model = pickle.loads(pickle.dumps(model)).learn_one(rows[0], labels[0])
    assert_is_model_of(model, case, [*at[1:], 0], rows, labels)


TEXT = {
    f"NaiveBayes, text, {how}": Case(
        NaiveBayes, mixed, {"families": {"note": "text"}, "calibration": how}
    )
    for how in (None, "temperature")
}


@parametrized({name: case for name, case in (CASES | TEXT).items() if not has_own_weights(case)})
def test_a_class_that_has_lost_its_rows_is_nothing_to_the_others(case):
    rows, labels = rows_of(case, seed=16)
    X = case.table(rows)
    gone = labels == "rare"
    model = case.make().fit(X, labels.astype(str)).forget(X[gone], labels[gone].astype(str))
    kept = [0, 2]
    rest = case.kind.from_summary(model.summary_.with_classes(kept), **model.get_params())
    p = model.predict_proba(X)
    np.testing.assert_allclose(p[:, kept], rest.predict_proba(X), rtol=0, atol=1e-9)
    assert not p[:, 1].any()


KINDS = {
    "kernel": lambda **params: GaussianNB(**params),
    "buffer": lambda **params: GaussianNB(variance="shared", **params),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_window_that_grows_forgets_nothing_more(make):
    model = make(window=3)
    for x in range(5):
        model.learn_one([float(x)], "a")
    model.set_params(window=5)
    assert model.class_count_.tolist() == [3]
    for x in range(5, 8):
        model.learn_one([float(x)], "a")
    assert model.class_count_.tolist() == [5]
    assert model.theta_.tolist() == [[5.0]]


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_without_a_window_the_rows_of_the_last_one_stay(make):
    model = make(window=2)
    for x in (1.0, 2.0, 3.0):
        model.learn_one([x], "a")
    model.set_params(window=None).learn_one([4.0], "a").forget_one([2.0], "a")
    assert model.theta_.tolist() == [[3.5]]
    model.set_params(window=1).learn_one([5.0], "a").learn_one([6.0], "a")
    assert model.class_count_.tolist() == [3]  # 3 and 4 were learned without a window
    assert model.theta_[0, 0] == pytest.approx(13 / 3)


@pytest.mark.parametrize("window", [0, -1, 1.5, True, "3", 2**70, float("nan")])
@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_a_window_must_be_a_whole_number_of_rows(kind, window):
    model = kind(window=window)
    with pytest.raises(ValueError, match="The 'window' parameter of"):
        model.learn_one({"a": 1}, "x")
    model.set_params(window=np.int64(1)).learn_one({"a": 1}, "x").learn_one({"a": 2}, "x")
    assert model.class_count_.tolist() == [1]
    with pytest.raises(ValueError, match="The 'window' parameter of"):
        model.set_params(window=window)


EQUAL = {
    "multinomial": MultinomialNB(fit_prior=False),
    "complement": ComplementNB(),
    "categorical": CategoricalNB(fit_prior=False),
}


@pytest.mark.parametrize("model", EQUAL.values(), ids=EQUAL)
@pytest.mark.parametrize("how", ["forget_one", "forget", "decay", "declared"])
def test_a_class_without_rows_has_no_probability_though_all_are_equally_probable(model, how):
    model = type(model)(**model.get_params() | {"decay": 0.0 if how == "decay" else 1.0})
    if how == "declared":
        model.partial_fit([[1, 2]], ["here"], classes=["gone", "here"])
    else:
        model.learn_one([2, 1], "gone").learn_one([1, 2], "here")
    if how == "forget_one":
        model.forget_one([2, 1], "gone")
    elif how == "forget":
        model.forget([[2, 1]], ["gone"])
    assert model.classes_.tolist() == ["gone", "here"]
    for _ in range(2):
        assert model.predict_proba_one([2, 1]).tolist() == [0.0, 1.0]
        assert model.predict_proba([[2, 1]]).tolist() == [[0.0, 1.0]]
        model.learn_one([1, 2], "here")
