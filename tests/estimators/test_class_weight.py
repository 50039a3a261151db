"""Class weights move class probabilities, read off the summary, in every estimator alike."""

import pickle

import dask.array
import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

import naively
from naively import CategoricalNB, ComplementNB, GaussianNB, NaiveBayes, NaivelyError, evaluate
from naively.estimators.loading import ESTIMATORS

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], [60, 25, 15])
COUNTS = RNG.poisson(1.5, size=(100, 4)) + (Y == "c")[:, np.newaxis] * RNG.integers(
    3, size=(100, 4)
)
GIVEN = {"a": 0.5, "c": 4.0}
PRIORS = {"GaussianNB": "priors", "NaiveBayes": "priors"}


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def kind(request):
    return request.param


def gaps(model, X=COUNTS):
    """Return how much more probable each class is than the first, as logarithms."""
    joint = model.predict_joint_log_proba(X)
    return joint - joint[:, :1]


def expected_gaps(kind, class_weight):
    """Return what class weights add to `gaps`, by the shares of the data."""
    share = np.array([0.6, 0.25, 0.15])
    if kind is ComplementNB:
        share = np.full(3, 1 / 3)
    weight = {
        "balanced": 1 / share,
        "given": np.array([GIVEN.get(label, 1.0) for label in "abc"]),
    }[class_weight if isinstance(class_weight, str) else "given"]
    return np.log(weight / weight[0])


@pytest.mark.parametrize("class_weight", ["balanced", GIVEN], ids=["balanced", "given"])
def test_a_class_weight_moves_the_prior_and_nothing_else(kind, class_weight):
    plain = kind().fit(COUNTS, Y)
    weighted = kind(class_weight=class_weight).fit(COUNTS, Y)
    moved = gaps(weighted) - gaps(plain)
    expected = np.broadcast_to(expected_gaps(kind, class_weight), moved.shape)
    np.testing.assert_allclose(moved, expected, atol=1e-9)
    assert weighted.class_prior_.sum() == pytest.approx(1)


@pytest.mark.parametrize("calibration", ["temperature", "weights", None])
@pytest.mark.parametrize("kind", [GaussianNB, NaiveBayes], ids=["GaussianNB", "NaiveBayes"])
def test_calibration_does_not_undo_class_weights(kind, calibration):
    plain = kind(calibration=calibration).fit(COUNTS, Y)
    weighted = kind(calibration=calibration, class_weight=GIVEN).fit(COUNTS, Y)
    moved = gaps(weighted) - gaps(plain)
    np.testing.assert_allclose(
        moved, np.broadcast_to(expected_gaps(kind, GIVEN), moved.shape), atol=1e-9
    )


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "ComplementNB"])
@pytest.mark.parametrize("params", [{"class_weight": GIVEN}, {"class_prior": [0.1, 0.2, 0.7]}])
def test_calibration_of_counts_does_not_undo_class_probabilities(name, params):
    kind = ESTIMATORS[name]
    plain = kind(calibration="temperature").fit(COUNTS, Y)
    moved = gaps(kind(calibration="temperature", **params).fit(COUNTS, Y)) - gaps(plain)
    if "class_prior" in params:
        odds = np.array([0.1, 0.2, 0.7]) / [0.6, 0.25, 0.15]
        expected = np.zeros(3) if name == "ComplementNB" else np.log(odds / odds[0])
    else:
        expected = expected_gaps(kind, GIVEN)
    np.testing.assert_allclose(moved, np.broadcast_to(expected, moved.shape), atol=1e-9)


@pytest.mark.parametrize("class_weight", ["balanced", GIVEN], ids=["balanced", "given"])
@pytest.mark.parametrize(
    "model",
    [GaussianNB(var_smoothing=0), CategoricalNB(alpha=0), naively.MultinomialNB(alpha=0)],
    ids=["GaussianNB", "CategoricalNB", "MultinomialNB"],
)
def test_without_smoothing_a_class_weight_is_that_weight_of_the_rows(model, class_weight):
    weight = compute_sample_weight(class_weight, Y)
    by_rows = clone(model).fit(COUNTS, Y, sample_weight=weight)
    by_class = clone(model).set_params(class_weight=class_weight).fit(COUNTS, Y)
    seen = COUNTS[:50]
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(
            by_class.predict_proba(seen), by_rows.predict_proba(seen), atol=1e-12
        )


def test_weights_are_read_off_the_summary(kind):
    model = kind(class_weight=GIVEN).fit(COUNTS, Y)
    seen = kind().fit(COUNTS, Y).summary_
    read = kind.from_summary(seen, class_weight=GIVEN)
    np.testing.assert_array_equal(read.predict_proba(COUNTS), model.predict_proba(COUNTS))


def test_streams_are_weighted_as_a_whole(kind):
    stream = kind(class_weight="balanced")
    if kind is NaiveBayes:
        stream.set_params(calibration=None)
    whole = clone(stream).fit(COUNTS, Y)
    order = np.random.default_rng(1).permutation(100)
    for part in np.split(order, 4):
        stream.partial_fit(COUNTS[part], Y[part], classes=["a", "b", "c"])
    np.testing.assert_allclose(stream.class_prior_, whole.class_prior_, atol=1e-12)
    np.testing.assert_allclose(stream.predict_proba(COUNTS), whole.predict_proba(COUNTS), atol=1e-9)


def test_files_and_dask_are_weighted_as_memory_is(tmp_path):
    frame = pandas.DataFrame(COUNTS, columns=list("pqrs")).assign(y=Y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = GaussianNB(class_weight=GIVEN).fit(COUNTS, Y)
    of_files = GaussianNB.from_files(tmp_path / "rows.csv", target="y", class_weight=GIVEN)
    chunks = dask.array.from_array(COUNTS, chunks=(30, 4)), dask.array.from_array(Y, chunks=30)
    of_dask = GaussianNB(class_weight=GIVEN).fit(*chunks)
    expected = model.predict_proba(COUNTS)
    np.testing.assert_allclose(of_files.predict_proba(frame[list("pqrs")]), expected, atol=1e-12)
    np.testing.assert_allclose(of_dask.predict_proba(COUNTS), expected, atol=1e-12)


def test_weights_are_kept_in_files_pickles_and_clones(kind, tmp_path):
    X, y = COUNTS, np.unique(Y, return_inverse=True)[1]
    for given in ("balanced", {0: 2.0, np.int64(2): 5}):
        model = kind(class_weight=given).fit(X, y)
        model.save(tmp_path / "model.safetensors")
        loaded = naively.load(tmp_path / "model.safetensors")
        assert loaded.class_weight == given
        assert clone(loaded).get_params()["class_weight"] == given
        for other in (loaded, pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


def test_a_class_that_was_declared_and_not_seen_stays_impossible():
    model = GaussianNB(class_weight="balanced")
    model.partial_fit([[0.0], [1.0], [5.0]], ["a", "a", "b"], classes=["a", "b", "c"])
    assert model.class_prior_.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("n_folds", [5, 100], ids=["folds", "leave-one-out"])
@pytest.mark.parametrize("class_weight", ["balanced", {"a": 3.0}], ids=["balanced", "given"])
def test_evaluations_weigh_classes_in_every_fold(n_folds, class_weight):
    X, model = COUNTS[:, :2], GaussianNB(class_weight=class_weight)
    every = np.arange(100)
    splits = [(every[every % n_folds != f], every[every % n_folds == f]) for f in range(n_folds)]
    result = evaluate(model, X, Y, folds=splits if n_folds < 100 else "leave-one-out")
    for train, test in splits[:20]:
        expected = clone(model).fit(X[train], Y[train]).predict_proba(X[test])
        np.testing.assert_allclose(result.probabilities[test], expected, atol=1e-9)


def test_a_vanished_class_of_a_fold_keeps_its_given_weight():
    y = Y.copy()
    y[:-1][y[:-1] == "c"] = "b"
    result = evaluate(GaussianNB(class_weight={"c": 2.0}), COUNTS, y, folds="leave-one-out")
    assert result.probabilities[-1, 2] == 0
    plain = evaluate(
        NaiveBayes(class_weight={"c": 2.0}, calibration=None),
        COUNTS,
        y,
        folds=[(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))],
    )
    assert np.isfinite(plain.probabilities).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"class_weight": {"d": 2.0}}, r"must name classes of the data \('a', 'b', 'c'\); got 'd'"),
        ({"class_weight": {"a": -1.0}}, "finite and >= 0; got -1.0 for class 'a'"),
        ({"class_weight": {"a": np.nan}}, "finite and >= 0; got nan"),
        ({"class_weight": dict.fromkeys("abc", 0.0)}, "with a weight above 0"),
        ({"class_weight": "equal"}, "'class_weight' parameter"),
    ],
    ids=["no such class", "negative", "nan", "all zero", "no such word"],
)
def test_weights_that_make_no_sense_are_errors(kind, params, message):
    with pytest.raises(ValueError, match=message):
        kind(**params).fit(COUNTS, Y).predict(COUNTS)


def test_balanced_classes_and_given_probabilities_contradict_each_other(kind):
    given = {PRIORS.get(kind.__name__, "class_prior"): [0.2, 0.3, 0.5]}
    with pytest.raises(NaivelyError, match="give one of the two"):
        kind(class_weight="balanced", **given).fit(COUNTS, Y).predict(COUNTS)


def test_given_probabilities_are_multiplied_by_given_weights():
    model = GaussianNB(priors=[0.2, 0.3, 0.5], class_weight={"a": 5.0}).fit(COUNTS, Y)
    np.testing.assert_allclose(model.class_prior_, np.array([1.0, 0.3, 0.5]) / 1.8, atol=1e-12)


# --- priors by label ------------------------------------------------------------------------------

BY_LABEL = {"c": 0.5, "a": 0.2, "b": 0.3}


def with_priors(kind, priors, **params):
    return kind(**{PRIORS.get(kind.__name__, "class_prior"): priors}, **params)


def test_priors_by_label_are_those_in_the_order_of_the_classes(kind, tmp_path):
    in_order = with_priors(kind, [0.2, 0.3, 0.5]).fit(COUNTS, Y)
    by_label = with_priors(kind, BY_LABEL).fit(COUNTS, Y)
    expected = in_order.predict_joint_log_proba(COUNTS)
    by_label.save(tmp_path / "model")
    loaded = naively.load(tmp_path / "model")
    assert loaded.get_params() == by_label.get_params()
    models = {
        "fitted": by_label,
        "loaded": loaded,
        "pickled": pickle.loads(pickle.dumps(by_label)),
        "in batches": with_priors(kind, BY_LABEL, open_classes=True).partial_fit(COUNTS, Y),
        "read off": kind.from_summary(by_label.summary_, **by_label.get_params()),
    }
    for name, model in models.items():
        np.testing.assert_array_equal(model.predict_joint_log_proba(COUNTS), expected, name)


def test_priors_by_label_are_tuned_evaluated_and_reported(kind):
    name = PRIORS.get(kind.__name__, "class_prior")
    tuning = naively.tune(kind(), COUNTS, Y, grid={name: [None, BY_LABEL]}, folds=3)
    same = naively.tune(kind(), COUNTS, Y, grid={name: [None, [0.2, 0.3, 0.5]]}, folds=3)
    assert tuning.cv_results_["mean_test_score"].tolist() == (
        same.cv_results_["mean_test_score"].tolist()
    )
    for folds in (3, "leave-one-out") if kind is GaussianNB else (3,):
        given = evaluate(with_priors(kind, BY_LABEL), COUNTS, Y, folds=folds)
        assert (
            given.loss == evaluate(with_priors(kind, [0.2, 0.3, 0.5]), COUNTS, Y, folds=folds).loss
        )
    if kind is GaussianNB:
        assert "No comparison" not in str(naively.report(with_priors(kind, BY_LABEL), COUNTS, Y))


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"a": 0.5, "b": 0.5}, r"must name each class of the data \('a', 'b', 'c'\); got 'a', 'b'"),
        ({**BY_LABEL, "d": 0}, r"must name each class of the data .*; got 'd'\."),
        ({}, "must name each class .*; got none"),
        ({**BY_LABEL, "c": "half"}, "must hold a number for each class"),
        (["a", "b", "c"], "must hold a number for each class, in an array or in a dict by label"),
    ],
    ids=["too few", "too many", "none", "a text", "labels alone"],
)
def test_wrong_priors_say_what_priors_are(kind, priors, message):
    with pytest.raises(NaivelyError, match=f"priors {message}"):
        with_priors(kind, priors).fit(COUNTS, Y).predict(COUNTS)
