"""Single rows: what a stream has learned is what one batch of the same rows gives."""

import copy
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NaivelyError,
    summarize,
)
from naively.data.schema import Schema
from naively.estimators.loading import ESTIMATORS
from tests.estimators.streams import assert_close, taught

RNG = np.random.default_rng(0)
NAMES = ["a", "b", "c"]


def some_rows(n, missing=0.2):
    """Rows by name, of which some lack cells, columns or both, and labels."""
    X = RNG.normal([0, 5, -3], [1, 2, 0.1], (n, 3))
    y = RNG.choice(["no", "perhaps", "yes"], n, p=[0.5, 0.2, 0.3])
    X[:, 0] += y == "yes"
    rows = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    for row in rows:
        for name in NAMES:
            if RNG.random() < missing:
                row[name] = None if RNG.random() < 0.5 else float("nan")
            elif RNG.random() < missing:
                del row[name]
    return rows, y.tolist()


def batch(model, rows, labels, weights=None):
    return model.fit(pd.DataFrame(rows, dtype=float), np.array(labels), weights)


def test_lists_tuples_and_arrays_are_rows_in_order():
    X, y = RNG.normal(size=(40, 4)), RNG.integers(3, size=40)
    models = [GaussianNB() for _ in range(4)]
    for row, label in zip(X, y.tolist(), strict=True):
        for model, given in zip(models, (row.tolist(), tuple(row), row, row[::1]), strict=True):
            model.learn_one(given, label)
    expected = GaussianNB().fit(X, y)
    for model in models:
        assert_close(model.summary_, expected.summary_)
        assert np.allclose(model.predict_proba_one(X[0]), expected.predict_proba(X[:1])[0])
        assert model.predict_one(X[0].tolist()) == expected.predict(X[:1])[0]


def test_weights_count_and_weight_zero_is_leaving_the_row_out():
    rows, labels = some_rows(80)
    weights = RNG.choice([0.0, 0.5, 3.0], 80)
    model = GaussianNB()
    taught(model, rows, labels, weights)
    assert_close(model.summary_, batch(GaussianNB(), rows, labels, weights).summary_)
    untouched = GaussianNB().learn_one({"a": 1.0}, "x").learn_one({"z": 1.0}, "y", weight=0)
    assert untouched.classes_.tolist() == ["x"]
    assert untouched.feature_names_in_.tolist() == ["a"]


def test_a_decay_is_that_of_partial_fit_row_by_row():
    X, y = RNG.normal(size=(300, 2)), RNG.integers(2, size=300)
    fast, slow = GaussianNB(decay=0.7), GaussianNB(decay=0.7)
    for row, label in zip(X, y, strict=True):
        fast.learn_one(row.tolist(), int(label))
        slow.partial_fit([row], [label], classes=[0, 1])
    assert_close(fast.summary_, slow.summary_, 1e-9)
    long = GaussianNB(decay=0.1)  # whose scale would underflow
    for row, label in zip(X, y, strict=True):
        long.learn_one(row.tolist(), int(label))
    assert np.allclose(long.class_count_.sum(), 1 / 0.9)
    nothing = GaussianNB(decay=0.0).learn_one([1.0], "a").learn_one([2.0], "b")
    assert nothing.class_count_.tolist() == [0, 1]


@pytest.mark.parametrize("params", [{}, {"variance": "shared"}, {"decay": 0.99}], ids=str)
def test_a_window_holds_the_last_rows_and_no_others(params):
    rows, labels = some_rows(250)
    model = GaussianNB(window=50, **params)
    taught(model, rows, labels)
    kept = GaussianNB(**params)
    taught(kept, rows[-50:], labels[-50:])
    asked = rows[0]
    assert np.allclose(model.predict_proba_one(asked), kept.predict_proba_one(asked), atol=1e-9)
    names = model.feature_names_in_.tolist()
    at = [kept.feature_names_in_.tolist().index(name) for name in names]
    assert_close(model.summary_, kept.summary_.with_columns(at), 1e-10)


def test_an_outlier_leaves_no_trace_once_it_has_left_the_window_twice():
    model = GaussianNB(window=10)
    model.learn_one([1e50], "a")
    X = RNG.normal(size=20)
    for x in X:
        model.learn_one([x], "a")
    assert_close(model.summary_, GaussianNB().fit(X[10:, None], ["a"] * 10).summary_, 1e-14)


def test_rows_far_from_zero_keep_their_digits_through_a_thousand_windows():
    X = 1e8 + RNG.normal(size=1_000_000)
    model = GaussianNB(window=1000)
    for x in X.tolist():
        model.learn_one([x], "a")
    expected = GaussianNB().fit(X[-1000:, None], ["a"] * 1000)
    assert np.allclose(model.var_, expected.var_, rtol=1e-9)
    assert model.theta_[0, 0] == pytest.approx(expected.theta_[0, 0], rel=1e-15)


@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_rows_of_any_weights_may_be_forgotten_in_any_order_and_leave_nothing(kind):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 12))
        X = rng.normal(size=(n, 3)) if kind in (GaussianNB, NaiveBayes) else rng.poisson(1, (n, 3))
        weights = rng.random(n) * 10.0 ** rng.integers(-3, 1, n)
        rows = [*zip(X.tolist(), rng.choice(["a", "b"], n).tolist(), weights.tolist(), strict=True)]
        model = kind()
        for row in rows:
            model.learn_one(*row)
        for i in rng.permutation(n):
            model.forget_one(*rows[i])
        left = model.summary_.statistics.values()
        assert not any(part.by_class(model.summary_.axes).any() for part in left)


@pytest.mark.parametrize("window", [None, 100])
def test_forgetting_what_was_never_learned_is_an_error_that_changes_nothing(window):
    model = GaussianNB(window=window)
    for x in range(5):
        model.learn_one([float(x), 1.0], "a")
    model.learn_one([9.0, 1.0], "b")
    before = model.summary_
    for row, label in (([1e6, 1.0], "a"), ([9.0, 1.0], "c"), ([1.0, 5.0], "a"), ([9.0, 1.0], 7)):
        with pytest.raises(NaivelyError, match="Forget only what was learned"):
            model.forget_one(row, label)
    assert model.summary_ == before
    model.forget_one([9.0, 1.0], "b")
    assert model.class_count_.tolist() == [5, 0]
    assert model.predict_proba_one([9.0, 1.0]).tolist() == [1, 0]
    with pytest.raises(NaivelyError, match="Forget only what was learned"):
        model.forget_one([9.0, 1.0], "b")


NEVER_LEARNED = {
    "a column less": [({"a": 1, "b": 1}, {"b": 1})],
    "no columns": [({"a": 1}, {})],
    "the only row, of many": [({"a": 1}, {"a": 1}), ({"a": 1}, {})],
}


@pytest.mark.parametrize("window", [None, 9])
@pytest.mark.parametrize("pairs", NEVER_LEARNED.values(), ids=NEVER_LEARNED)
@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_a_row_that_lacks_cells_of_the_last_row_of_its_class_cannot_be_forgotten(
    kind, pairs, window
):
    model = kind(window=window).learn_one({"a": 2, "b": 2}, "other")
    for learned, _ in pairs:
        model.learn_one(learned, "x")
    *right, (_, wrong) = pairs
    for _, row in right:
        model.forget_one(row, "x")
    before = model.summary_
    with pytest.raises(NaivelyError, match=r"cannot (forget|subtract)"):
        model.forget_one(wrong, "x")
    assert model.summary_ == before


def test_lighter_rows_that_hold_other_columns_may_be_left():
    for kind in ESTIMATORS.values():
        model = kind().learn_one({"a": 1}, "x").learn_one({"b": 1}, "x", 0.1)
        assert model.forget_one({"a": 1}, "x").class_count_.tolist() == [pytest.approx(0.1)]


def test_a_batch_that_lacks_cells_cannot_be_forgotten():
    model = GaussianNB().fit([[1.0, 2.0], [3.0, 4.0]], ["x", "x"])
    with pytest.raises(NaivelyError, match="less weight than a column of it"):
        model.forget([[1.0, np.nan]], ["x"])
    assert model.class_count_.tolist() == [2]


def test_a_row_of_the_window_is_forgotten_once():
    model = GaussianNB(window=3)
    for x in (1.0, 2.0, 3.0):
        model.learn_one({"a": x, "b": -x}, "y")
    model.forget_one({"b": -2.0, "a": 2.0}, "y")
    assert model.class_count_.tolist() == [2]
    for x in (4.0, 5.0):
        model.learn_one({"a": x, "b": -x}, "y")
    assert model.theta_.tolist() == [[4.0, -4.0]]


def test_batches_and_single_rows_take_turns():
    X, y = RNG.normal(size=(120, 3)), RNG.choice(["p", "q"], 120)
    model = GaussianNB(open_classes=True).fit(X[:30], y[:30])
    taught(model, X[30:60], y[30:60])
    model.partial_fit(X[60:90], y[60:90])
    for row, label in zip(X[90:], y[90:], strict=True):
        model.learn_one(row, str(label))
    assert_close(model.summary_, GaussianNB().fit(X, y).summary_)
    model.forget(X[:30], y[:30])
    assert_close(model.summary_, GaussianNB().fit(X[30:], y[30:]).summary_, 1e-11)
    assert model.fit(X, y).summary_ == GaussianNB().fit(X, y).summary_


def test_a_window_goes_on_after_a_batch_and_through_a_pickle():
    X, y = RNG.normal(size=(60, 2)), RNG.integers(2, size=60)
    model = GaussianNB(window=10, open_classes=True)
    taught(model, X[:20], y[:20].tolist())
    model.partial_fit(X[20:30], y[20:30])
    model = pickle.loads(pickle.dumps(model))
    taught(model, X[30:], y[30:].tolist())
    rest = np.r_[20:30, 50:60]
    assert_close(model.summary_, GaussianNB().fit(X[rest], y[rest]).summary_, 1e-10)


def test_a_copy_learns_by_itself():
    model = GaussianNB().learn_one({"a": 1.0}, "x")
    other = copy.deepcopy(model).learn_one({"a": 2.0}, "x")
    assert (model.class_count_, other.class_count_) == (1, 2)
    other.learn_one({"b": 2.0}, "x")
    assert other.predict_proba_one({"c": 2.0}).tolist() == [1]


def test_parameters_that_change_hold_from_then_on():
    X, y = RNG.normal(size=(30, 2)), RNG.integers(2, size=30)
    model = GaussianNB()
    taught(model, X, y.tolist())
    model.predict_proba_one(X[0])
    model.set_params(var_smoothing=2.0)
    expected = GaussianNB(var_smoothing=2.0).fit(X, y)
    assert np.allclose(model.predict_proba_one(X[0]), expected.predict_proba(X[:1])[0], atol=1e-12)


CELLS = {
    "int": (3, 3.0),
    "bool": (True, 1.0),
    "float32": (np.float32(0.5), 0.5),
    "int64": (np.int64(7), 7.0),
    "Decimal": (Decimal("1.5"), 1.5),
    "None": (None, np.nan),
    "NA": (pd.NA, np.nan),
    "large": (10**30, 1e30),
}


@pytest.mark.parametrize(("cell", "number"), CELLS.values(), ids=CELLS)
def test_a_cell_may_be_any_number(cell, number):
    for given, plain in (({"a": cell, "b": 2.0}, {"a": number, "b": 2.0}), ([cell], [number])):
        model, other = (GaussianNB().learn_one(row, "x") for row in (given, plain))
        assert model.summary_ == other.summary_
        model.learn_one(plain, "y")
        assert model.predict_one(given) == model.predict_one(plain)


BAD_CELLS = {
    "text": ("3", "column 'a' must hold numbers; got text"),
    "infinity": (float("inf"), "column 'a' holds infinity"),
    "minus infinity": (np.float64("-inf"), "column 'a' holds infinity"),
    "complex": (1j, "column 'a' must hold numbers"),
    "a list": ([1.0], "column 'a' must hold numbers"),
    "beyond": (10**400, "column 'a' must hold numbers below 1.8e308"),
}


@pytest.mark.parametrize(("cell", "message"), BAD_CELLS.values(), ids=BAD_CELLS)
def test_a_bad_cell_is_named_and_changes_nothing(cell, message):
    model = GaussianNB().learn_one({"b": 1.0}, "x")
    for label in ("x", "new"):
        with pytest.raises(NaivelyError, match=message):
            model.learn_one({"b": 2.0, "c": 1.0, "a": cell}, label)
    assert model.feature_names_in_.tolist() == ["b"]
    assert (model.classes_.tolist(), model.class_count_.tolist()) == (["x"], [1])
    with pytest.raises(NaivelyError, match=message):
        GaussianNB().learn_one({"a": cell}, "x")


@pytest.mark.parametrize(
    "weight", [-1.0, float("nan"), float("inf"), 10**400, "heavy", "3", b"3", None]
)
def test_a_bad_weight_is_an_error(weight):
    model = GaussianNB().learn_one([1.0], "x")
    with pytest.raises(NaivelyError, match="the weight of a row must be finite and >= 0"):
        model.learn_one([1.0], "x", weight)
    assert model.class_count_.tolist() == [1]


BAD_ROWS = {
    "nothing": (None, "a row must be a list or a dict"),
    "a text": ("abc", "a row must be a list or a dict"),
    "a set, which has no order": ({1.0, 2.0}, "a row must be a list or a dict"),
    "a number": (3.0, "a row must be a list or a dict"),
    "a table": (np.ones((1, 2)), "a row must be a list or a dict"),
    "too short": ([1.0], "a row must have 2 cells"),
    "a dict": ({"a": 1.0}, "a dict needs column names"),
}


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_an_error(row, message):
    model = GaussianNB().learn_one([1.0, 2.0], "x")
    with pytest.raises(NaivelyError, match=message):
        model.learn_one(row, "x")
    assert model.class_count_.tolist() == [1]


LABELS = {"ints": (1, np.int64(1), "b"), "texts": ("b", np.str_("b"), 1)}
LABELS |= {"booleans": (True, np.True_, "b"), "dates": (*[np.datetime64("2020-01-01")] * 2, 1)}


@pytest.mark.parametrize(("label", "same", "other"), LABELS.values(), ids=LABELS)
def test_labels_of_one_type_are_classes_and_others_are_an_error(label, same, other):
    model = GaussianNB().learn_one([1.0], label).learn_one([2.0], same).learn_one([3.0], label)
    assert model.class_count_.tolist() == [3]
    for bad in (other, None, float("nan"), [1]):
        with pytest.raises((NaivelyError, TypeError)):
            model.learn_one([1.0], bad)
    assert model.class_count_.tolist() == [3]
    assert model.predict_one([1.0]) == label


def test_numbers_that_are_too_large_for_the_short_way_are_learned_all_the_same():
    X = np.array([[1e80, 1.0], [2e80, 2.0], [-1e80, 1.5], [3e80, 0.0]])
    y = ["a", "a", "b", "b"]
    model = GaussianNB()
    taught(model, X.tolist(), y)
    expected = GaussianNB().fit(X, y)
    assert_close(model.summary_, expected.summary_)
    assert np.allclose(model.predict_proba_one(X[0]), expected.predict_proba(X[:1])[0])
    tiny = GaussianNB().learn_one([1e-150], "a").learn_one([2e-150], "b")
    both = GaussianNB().fit([[1e-150], [2e-150]], ["a", "b"])
    assert np.allclose(tiny.predict_proba_one([1e-150]), both.predict_proba([[1e-150]])[0])
    far = GaussianNB().learn_one([1e300], "a")
    with pytest.raises(NaivelyError, match="so large"):
        far.learn_one([-1e300], "a")
    assert far.class_count_.tolist() == [1]


def test_dicts_of_a_batch_must_be_complete_and_those_of_a_stream_need_not():
    model = GaussianNB().fit(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 3.0]}), ["x", "y"])
    with pytest.raises(NaivelyError, match="the row has no column 'b'"):
        model.predict_one({"a": 1.0})
    model.learn_one({"a": 1.0, "new": 3.0}, "x")
    assert model.predict_one({"a": 1.0}) == "x"
    assert model.feature_names_in_.tolist() == ["a", "b", "new"]
    model.partial_fit(pd.DataFrame({"a": [1.0], "b": [1.0], "new": [1.0]}), ["x"])
    assert model.predict_one({"b": 1.0, "other": 0.0}) in ("x", "y")


def test_nothing_learned_is_not_fitted():
    model = GaussianNB()
    for ask in (model.predict_one, model.predict_proba_one):
        with pytest.raises(ValueError, match="not fitted"):
            ask([1.0])
    with pytest.raises(ValueError, match="not fitted"):
        model.forget_one([1.0], "a")
    with pytest.raises(NaivelyError):
        model.learn_one([float("inf")], "a")
    with pytest.raises(ValueError, match="not fitted"):
        model.predict_one([1.0])


def test_a_summary_that_measures_more_goes_on_to_measure_it():
    X, y = RNG.normal(size=(50, 2)), np.array(["a", "b"] * 25)
    schema = Schema(2, sample=1000)
    model = GaussianNB.from_summary(summarize(X[:40], y[:40], schema=schema))
    taught(model, X[40:].tolist(), y[40:].tolist())
    assert model.summary_ == summarize(X[:40], y[:40], schema=schema) + summarize(
        X[40:], y[40:], schema=schema
    )


def test_a_row_with_a_column_that_was_never_learned_cannot_be_forgotten():
    model = GaussianNB().learn_one({"a": 1.0}, "x").learn_one({"a": 2.0}, "x")
    with pytest.raises(NaivelyError, match="Forget only what was learned"):
        model.forget_one({"a": 1.0, "b": 1.0}, "x")
    assert model.forget_one({"a": 1.0, "b": None}, "x").class_count_.tolist() == [1]


def test_numpys_numbers_are_asked_about_as_pythons_are():
    X, y = RNG.normal(size=(30, 3)).astype(np.float32), RNG.integers(2, size=30)
    model = GaussianNB()
    taught(model, X, y)
    assert model.predict_one(X[0]) == model.predict_one(X[0].tolist())
    assert model.predict_proba_one(X[0]).tolist() == model.predict_proba_one(X[0].tolist()).tolist()
    with pytest.raises(NaivelyError, match="column 1 holds infinity"):
        model.predict_one([0.0, np.inf, 0.0])
    with pytest.raises(NaivelyError, match="a row must have 3"):
        model.predict_one([0.0])


@pytest.mark.parametrize("params", [{}, {"variance": "shared"}], ids=str)
def test_a_row_that_is_forgotten_leaves_its_place_in_the_window_to_the_next(params):
    model = GaussianNB(window=3, **params)
    for x in (1.0, 2.0, 3.0):
        model.learn_one([x], "y")
    model.forget_one([3.0], "y")
    copied = pickle.loads(pickle.dumps(model))
    for one in (model, copied):
        assert one.learn_one([9.0], "y").class_count_.tolist() == [3]
        assert one.theta_.tolist() == [[4.0]]


def test_a_series_is_read_by_its_names():
    X = pd.DataFrame({"a": [0.0, 1.0, 10.0, 11.0], "b": [10.0, 11.0, 0.0, 1.0]})
    stream, batch = GaussianNB(), GaussianNB().fit(X, list("xxyy"))
    for (_, row), label in zip(X.iterrows(), "xxyy", strict=True):
        stream.learn_one(row.iloc[::-1], label)
    assert stream.feature_names_in_.tolist() == ["b", "a"]
    other = pd.Series({"b": 10.0, "a": 0.0})
    assert [stream.predict_one(other), batch.predict_one(other)] == ["x", "x"]
    assert [stream.predict_one(other.iloc[::-1]), batch.predict_one(other.iloc[::-1])] == ["x", "x"]
    stream.forget_one(X.iloc[0], "x")
    assert stream.theta_.tolist() == [[11.0, 1.0], [0.5, 10.5]]
    unnamed = GaussianNB().fit(X.to_numpy(), list("xxyy"))
    assert unnamed.predict_one(X.iloc[0]) == "x"


def test_a_number_whose_variance_overflows_is_an_error_that_changes_nothing():
    model = GaussianNB()
    for x in (1.0, 2.0, 3.0):
        model.learn_one([x], "x")
    with pytest.raises(NaivelyError, match="variance exceeds"):
        model.learn_one([1e300], "y")
    assert model.classes_.tolist() == ["x"]
    assert model.predict_one([1.0]) == "x"


@pytest.mark.parametrize("cls", [GaussianNB, BernoulliNB, CategoricalNB, NaiveBayes])
def test_a_row_of_weight_zero_alone_is_not_learned(cls):
    model = cls().learn_one({"a": 1}, "x", 0)
    with pytest.raises(NotFittedError):
        model.predict_one({"a": 1})
    assert model.learn_one({"a": 1}, "x").class_count_.tolist() == [1]


@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_a_batch_without_any_weight_changes_nothing(kind):
    model = kind().fit([[1], [0], [1]], ["x", "y", "y"])
    before = model.summary_
    model.partial_fit([[5], [6]], ["x", "z"], sample_weight=[0.0, 0.0])
    assert model.summary_ == before


@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_rows_without_any_cell_count_for_their_class(kind):
    model = kind().learn_one({}, "x").learn_one({}, "y").learn_one({}, "x")
    assert model.class_count_.tolist() == [2, 1]
    model = pickle.loads(pickle.dumps(model))
    assert model.predict_one({"a": 1}) == "x"
    assert model.learn_one({"a": 1}, "y").class_count_.tolist() == [2, 2]


def test_a_row_that_leaves_a_window_is_removed_though_rounding_is_large():
    model = GaussianNB(window=3, open_classes=True).learn_one({"a": 0.0, "c": 1e6}, "x", 0.5)
    model.partial_fit(pd.DataFrame({"a": [1.0], "c": [3.0]}), ["x"])
    for x in (1e6, 0.0, 3.0, 0.0, 0.0, 1e6, 0.0, 0.1, 0.2, 0.3):
        model.learn_one({"a": x, "c": 1e6 - x}, "x", 0.5).learn_one({"c": x}, "x")
    model.set_params(window=1)
    assert model.class_count_.tolist() == [2]
    assert (model.summary_.moments.weight <= 2).all()


def test_other_threads_predict_while_one_learns_new_classes_and_columns():
    model, sums, is_over = GaussianNB(window=50).learn_one({"a": 1.0}, "x"), [], threading.Event()

    def ask():
        while not is_over.is_set():
            sums.append(model.predict_proba_one({"a": 0.5, "b": 1.0}).sum())

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(ask) for _ in range(2)]
        for i in range(5000):
            model.learn_one({"a": float(i % 7), f"c{i}": 1.0}, f"class {i % 500}")
        is_over.set()
        for each in asked:
            each.result()
    assert np.allclose(sums, 1.0)


# --- counts and codes -----------------------------------------------------------------------------


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
