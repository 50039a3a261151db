"""Metrics are scikit-learn's, and their intervals hold the truth as often as they say."""

import math
from functools import partial
from itertools import product

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import label_binarize

from naively import CategoricalNB, GaussianNB, NaivelyError, evaluate
from naively.evaluation import METRICS, Judgement
from naively.evaluation.metrics import estimates

WITH_INTERVALS = ["accuracy", "balanced_accuracy", "mcc", "kappa", "top_2_accuracy", "roc_auc"]
WITH_INTERVALS += ["average_precision", "loss", "brier"]


def estimate(rows, name, level=0.95):
    return estimates(rows, [name], level)[name]


def rows_of(truth, p, weight=None):
    truth, p = np.asarray(truth), np.asarray(p, dtype=float)
    own = p[np.arange(len(p)), truth]
    with np.errstate(divide="ignore"):
        log_truth = np.log(own)
    squares = ((p - np.eye(p.shape[1])[truth]) ** 2).sum(axis=1)
    return Judgement(truth, p.argmax(axis=1), p.shape[1], log_truth, squares, p, weight)


def drawn(n, n_classes, *, ties=False, seed=0):
    """Return truth and probabilities that know something of it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    truth[:n_classes] = np.arange(n_classes)
    p = rng.random((n, n_classes)) + np.eye(n_classes)[truth] * rng.random((n, 1))
    p = np.round(p, 1) + 0.1 if ties else p
    return truth, p / p.sum(axis=1, keepdims=True)


def by_scikit_learn(name, truth, p, weight=None):
    """Return a metric by scikit-learn's function, or by a plain formula where it has none."""
    two, predicted, of_rows = p.shape[1] == 2, p.argmax(axis=1), {"sample_weight": weight}
    if name == "roc_auc":
        if two:
            return sk.roc_auc_score(truth, p[:, 1], **of_rows)
        return sk.roc_auc_score(truth, p, multi_class="ovr", average="weighted", **of_rows)
    if name == "average_precision":
        if two:
            return sk.average_precision_score(truth, p[:, 1], **of_rows)
        each = label_binarize(truth, classes=np.arange(p.shape[1]))
        return sk.average_precision_score(each, p, average="weighted", **of_rows)
    if name == "top_2_accuracy":
        return sk.top_k_accuracy_score(truth, p, k=2, **of_rows) if not two else 1.0
    if name == "loss":
        return sk.log_loss(truth, p, labels=np.arange(p.shape[1]), **of_rows)
    if name == "brier":
        half = sk.brier_score_loss(truth, p[:, 1], **of_rows) if two else None
        squares = ((p - np.eye(p.shape[1])[truth]) ** 2).sum(axis=1)
        return 2 * half if two else np.average(squares, weights=weight)
    plain = {
        "accuracy": sk.accuracy_score,
        "balanced_accuracy": sk.balanced_accuracy_score,
        "mcc": sk.matthews_corrcoef,
        "kappa": sk.cohen_kappa_score,
    }
    if name in plain:
        return plain[name](truth, predicted, **of_rows)
    return decomposed(name, truth, p, np.ones(len(p)) if weight is None else weight)


def decomposed(name, truth, p, weight):
    """Murphy's parts of the Brier score and the calibration error, by loops over bins."""
    total, parts = weight.sum(), {"brier_reliability": 0.0, "calibration_error": 0.0}
    shares = np.array([weight[truth == k].sum() for k in range(p.shape[1])]) / total
    parts["brier_uncertainty"] = sum(s * (1 - s) for s in shares)
    columns = [(p[:, k], truth == k, "brier_reliability") for k in range(p.shape[1])]
    columns.append((p.max(axis=1), truth == p.argmax(axis=1), "calibration_error"))
    edges = np.linspace(0, 1, 11)
    for values, hit, part in columns:
        for b in range(10):
            inside = (values > edges[b]) & (values <= edges[b + 1])
            inside |= (values == 0) & (b == 0)
            if w := weight[inside].sum():
                gap = np.average(values[inside], weights=weight[inside]) - np.average(
                    hit[inside], weights=weight[inside]
                )
                parts[part] += w / total * (gap**2 if part == "brier_reliability" else abs(gap))
    squares = ((p - np.eye(p.shape[1])[truth]) ** 2).sum(axis=1)
    whole = np.average(squares, weights=weight)
    parts["brier_resolution"] = parts["brier_reliability"] + parts["brier_uncertainty"] - whole
    return parts[name]


CASES = {
    "two classes": drawn(60, 2),
    "two classes with ties": drawn(60, 2, ties=True),
    "many classes": drawn(90, 5, seed=1),
    "many classes with ties": drawn(90, 5, ties=True, seed=2),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_scikit_learns(name, case, weighted):
    truth, p = case
    weight = np.random.default_rng(3).random(truth.size) + 0.1 if weighted else None
    found = estimate(rows_of(truth, p, weight), name).value
    assert found == pytest.approx(by_scikit_learn(name, truth, p, weight), abs=1e-12)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("name", WITH_INTERVALS)
def test_influence_is_the_derivative_in_the_weight_of_a_row(name, case):
    truth, p = case
    n, step = truth.size, 1e-5
    derivative = METRICS[name].of(rows_of(truth, p)).of_rows
    for i in range(0, n, 7):
        ends = []
        for sign in (1, -1):
            weight = np.ones(n)
            weight[i] += sign * step
            ends.append(by_scikit_learn(name, truth, p, weight))
        # d m / d w_i = psi_i / n at equal weights; the step's error is of order step^2.
        assert (ends[0] - ends[1]) / (2 * step) * n == pytest.approx(derivative[i], abs=1e-5)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "mcc", "kappa", "roc_auc"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_intervals_hold_the_truth_as_often_as_they_say(name, n_classes):
    whole = METRICS[name].of(rows_of(*drawn(200_000, n_classes, seed=9))).value
    held = 0
    for seed in range(300):
        found = estimate(rows_of(*drawn(250, n_classes, seed=100 + seed)), name, level=0.9)
        held += found.low <= whole <= found.high
    assert 0.85 <= held / 300 <= 0.95  # three standard deviations of 300 draws at 0.9


MODELS = {
    "calibrated": 1.0,
    "too sure": 2.0,
    "far too sure": 4.0,
}  # by what its log odds are multiplied
RARE = {2: ((0.98, 0.02), (0.95, 0.05), (0.5, 0.5))}
RARE[3] = tuple((share / 2, share / 2, rare) for share, rare in RARE[2])


def gaussian_rows(rng, n, *, shares, factor):
    """Return rows of Gaussian classes, judged by their true probabilities or surer ones."""
    truth = rng.choice(len(shares), size=n, p=shares)
    apart = 1.5 * np.eye(len(shares))
    log_odds = factor * (
        (rng.normal(size=(n, len(shares))) + apart[truth]) @ apart + np.log(shares)
    )
    p = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    return rows_of(truth, p / p.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("n_classes", RARE)
@pytest.mark.parametrize("model", MODELS)
def test_intervals_hold_the_truth_of_rare_classes_and_few_rows(model, n_classes):
    """In 90 % of samples at least, up to four standard deviations of 16 samples."""
    held = {name: [] for name in WITH_INTERVALS}
    samples = {
        shares: partial(gaussian_rows, shares=shares, factor=MODELS[model])
        for shares in RARE[n_classes]
    }
    wholes = {
        shares: estimates(judged(np.random.default_rng(0), 30_000), METRICS)
        for shares, judged in samples.items()
    }
    for (shares, judged), n in product(samples.items(), (30, 100, 400)):
        whole, hits = wholes[shares], {name: [] for name in WITH_INTERVALS}
        for seed in range(16):
            found = estimates(judged(np.random.default_rng([n, seed]), n), WITH_INTERVALS)
            for name, (value, low, high) in found.items():
                bounds = METRICS[name].bounds
                if not math.isnan(value):  # without rows of a class, there is no ROC area
                    assert bounds[0] <= low <= value <= high <= bounds[1] + 1e-12, name
                    hits[name].append(low - 1e-12 <= whole[name].value <= high + 1e-12)
        for name, of_name in hits.items():
            assert np.mean(of_name) >= 0.9 - 4 * 0.3 / math.sqrt(len(of_name)), (shares, n, name)
            held[name] += of_name
    for name, of_name in held.items():
        assert np.mean(of_name) >= 0.9, name


@pytest.mark.parametrize("name", ["loss", "brier", "average_precision", "roc_auc"])
def test_standard_errors_are_those_of_the_bootstrap(name):
    truth, p = drawn(400, 3, seed=5)
    rng = np.random.default_rng(0)
    again = [
        METRICS[name].of(rows_of(truth[at], p[at])).value
        for at in rng.integers(400, size=(600, 400))
    ]
    found = estimate(rows_of(truth, p), name, level=0.6827)  # one standard error to each side
    assert (found.high - found.low) / 2 == pytest.approx(np.std(again), rel=0.12)


def test_a_row_that_is_judged_several_times_makes_no_interval_narrower():
    X, y = load_wine(return_X_y=True)
    halves = [
        (np.arange(0, 178, 2), np.arange(1, 178, 2)),
        (np.arange(1, 178, 2), np.arange(0, 178, 2)),
    ]
    for model in (GaussianNB(), GaussianNB(var_smoothing=1)):  # all right, and some wrong
        once, thrice = (evaluate(model, X, y, folds=halves * times) for times in (1, 3))
        assert thrice.n_rows == 3 * once.n_rows
        for name, expected in once.estimates.items():
            again = thrice.estimates[name]
            assert again == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


def test_a_perfect_score_has_an_interval_with_a_width():
    found = estimate(rows_of([0, 0, 1, 1], [[1, 0], [1, 0], [0, 1], [0, 1]]), "roc_auc")
    assert found.value == found.high == 1
    assert 0.4 < found.low < 0.8


def test_a_class_without_rows_counts_nothing():
    truth, p = drawn(50, 3, seed=4)
    truth = np.minimum(truth, 1)
    rows = rows_of(truth, p)
    areas = [sk.roc_auc_score(truth == k, p[:, k]) for k in range(2)]
    assert estimate(rows, "roc_auc").value == pytest.approx(
        np.average(areas, weights=np.bincount(truth)), abs=1e-12
    )
    assert math.isnan(rows.curve(2).roc_auc)
    assert math.isnan(rows.curve(2).average_precision)
    found = estimates(rows, METRICS)
    assert [name for name in METRICS if math.isfinite(found[name].low)] == WITH_INTERVALS


def test_the_roc_area_of_rows_of_one_class_is_undefined():
    found = estimate(rows_of([1, 1], [[0.2, 0.8], [0.6, 0.4]]), "roc_auc")
    assert math.isnan(found.value)
    assert math.isnan(found.low)


@pytest.mark.parametrize("n_rows", range(1, 60))
def test_rows_of_one_class_have_a_correlation_of_zero_whatever_their_number(n_rows):
    rows = rows_of(np.zeros(n_rows, int), np.tile([0.8, 0.2], (n_rows, 1)))  # shares round
    assert estimate(rows, "mcc").value == 0
    assert math.isnan(estimate(rows, "kappa").value)


def test_a_loss_without_bound_has_no_interval():
    found = estimate(rows_of([0, 1], [[0.0, 1.0], [0.5, 0.5]]), "loss")
    assert found.value == math.inf
    assert math.isnan(found.low)


# --- as people ask for them -----------------------------------------------------------------------


@pytest.mark.parametrize("data", [load_breast_cancer, load_wine], ids=["two", "three"])
def test_an_evaluation_has_every_metric(data):
    X, y = data(return_X_y=True)
    result = evaluate(GaussianNB(), X, y, folds=5)
    truth, p = np.unique(result.truth, return_inverse=True)[1], result.probabilities
    for name in METRICS:
        if name not in ("top_2_accuracy", "loss"):  # scikit-learn's loss cuts small probabilities
            assert getattr(result, name) == pytest.approx(by_scikit_learn(name, truth, p), abs=1e-9)
        if name != "top_2_accuracy":
            assert result.estimates[name].value == pytest.approx(getattr(result, name), abs=1e-12)
    found = result.to_dict()["estimates"]["roc_auc"]
    assert found["low"] < found["value"] == result.roc_auc < found["high"]
    assert ("top_2_accuracy" in result.estimates) == (result.classes.size > 2)


def test_top_k_accuracy_asks_for_any_k():
    X, y = load_iris(return_X_y=True)
    result = evaluate(GaussianNB(), X, y, folds=5)
    assert result.top_k_accuracy(1) == result.accuracy
    assert result.top_k_accuracy(3) == 1
    with pytest.raises(NaivelyError, match="got 'top_0_accuracy'"):
        result.top_k_accuracy(0)


def test_without_probabilities_only_labels_are_judged():
    X, y = load_iris(return_X_y=True)
    result = evaluate(RidgeClassifier(), X, y, folds=5)
    assert math.isnan(result.roc_auc)
    assert math.isnan(result.brier_resolution)
    assert result.mcc == pytest.approx(sk.matthews_corrcoef(y, result.labels), abs=1e-12)


def test_an_unknown_metric_is_an_error_that_names_the_nearest():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NaivelyError, match="Did you mean 'roc_auc'"):
        evaluate(GaussianNB(), X, y, folds=2).interval("roc_auk")
    for name in ("top_²_accuracy", ["accuracy"]):
        with pytest.raises(NaivelyError, match="a metric must be one"):
            evaluate(GaussianNB(), X, y, folds=2).interval(name)
    with pytest.raises(NaivelyError, match="between 0 and 1; got 95"):
        evaluate(GaussianNB(), X, y, folds=2).interval("roc_auc", level=95)


def test_categories_are_judged_by_the_same_metrics():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(80, 2)), rng.integers(3, size=80)
    result = evaluate(CategoricalNB(), X, y, folds=4)
    expected = by_scikit_learn("roc_auc", y, result.probabilities)
    assert result.roc_auc == pytest.approx(expected, abs=1e-12)
