"""Arrays of any type and layout in memory are read as the numbers that they hold."""

import numpy as np
import pandas as pd
import pytest

from naively import CategoricalNB, GaussianNB, NaiveBayes, summarize
from naively.errors import NaivelyError

RNG = np.random.default_rng(0)
CODES, LABELS = RNG.integers(0, 3, (40, 2)), RNG.integers(0, 2, 40)
TYPES = [*"bhilqBHILQefdg", "?"]


def unaligned(X):
    return np.frombuffer(b"-" + X.tobytes(), np.uint8)[1:].view(X.dtype).reshape(X.shape)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


LAYOUTS = {
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder("S")),
    "unaligned": unaligned,
    "read-only": read_only,
    "by column": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
}

ESTIMATORS = {
    "gaussian": GaussianNB,
    "categorical": CategoricalNB,
    "naive": lambda: NaiveBayes(calibration=None),
    "naive categories": lambda: NaiveBayes(calibration=None, families={0: "categorical"}),
}


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
def test_a_layout_in_memory_changes_nothing(make, layout, dtype):
    plain = (CODES % 2 if dtype == "?" else CODES).astype(dtype)
    X = layout(plain)
    model, expected = make().fit(X, LABELS), make().fit(plain, LABELS)
    assert model.summary_ == expected.summary_
    assert model.predict_proba(X).tolist() == expected.predict_proba(plain).tolist()
    assert model.predict_one(X[0]) == expected.predict_one(plain[0])
    assert model.partial_fit(X, LABELS).forget(X, LABELS).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
def test_rows_that_are_one_row_in_memory_are_read(make):
    X = np.broadcast_to(CODES[:1], CODES.shape)
    assert make().fit(X, LABELS).summary_ == make().fit(X.copy(), LABELS).summary_


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", [np.int16, np.int64, np.uint32, np.float64])
def test_a_layout_of_labels_and_weights_changes_nothing(layout, dtype):
    plain = np.stack([LABELS, LABELS + 1], axis=1).astype(dtype)
    y, weights = layout(plain).T
    expected = GaussianNB().fit(CODES, plain[:, 0], plain[:, 1])
    assert GaussianNB().fit(CODES, y, weights).summary_ == expected.summary_
    assert summarize(CODES, y, sample_weight=weights) == expected.summary_
    mixed = NaiveBayes(calibration=None).fit(CODES, y, weights)
    assert mixed.summary_ == NaiveBayes(calibration=None).fit(CODES, *plain.T).summary_


@pytest.mark.parametrize("make", [GaussianNB, CategoricalNB, lambda: NaiveBayes(calibration=None)])
@pytest.mark.parametrize("layout", ["byte-swapped", "unaligned", "read-only"])
@pytest.mark.parametrize("dtype", ["h", "q", "d"])
def test_a_layout_of_a_frames_columns_changes_nothing(make, layout, dtype):
    plain = CODES.astype(dtype)
    columns = LAYOUTS[layout](plain)
    X = pd.DataFrame({"a": columns[:, 0], "b": columns[:, 1]}, copy=False)
    expected = pd.DataFrame({"a": plain[:, 0], "b": plain[:, 1]})
    assert make().fit(X, LABELS).summary_ == make().fit(expected, LABELS).summary_


@pytest.mark.parametrize("code", [2**24, 2**40, 2**62, 1e300])
def test_a_code_too_high_for_a_table_of_codes_is_named(code):
    X = pd.DataFrame({"shop": [0, 1], "item": [0, code]})
    with pytest.raises(
        NaivelyError, match=r"below 16,777,216; got .* in column 'item'.*NaiveBayes"
    ):
        CategoricalNB().fit(X, ["a", "b"])
    with pytest.raises(NaivelyError, match=r"in column 1\. Use NaiveBayes"):
        CategoricalNB(min_categories=[1, 2**40]).fit([[0, 1], [1, 0]], ["a", "b"])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_the_highest_code_of_a_type_is_too_high(dtype):
    with pytest.raises(NaivelyError, match=r"below 16,777,216; got .* in column 0"):
        CategoricalNB().fit(np.array([[0], [np.iinfo(dtype).max]], dtype), ["a", "b"])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_the_highest_code_of_a_short_type_is_read(dtype):
    top = np.iinfo(dtype).max
    model = CategoricalNB().fit(np.array([[0], [top]], dtype), ["a", "b"])
    assert model.n_categories_.tolist() == [top + 1]
    assert model.predict(np.array([[top], [0]], dtype)).tolist() == ["b", "a"]


@pytest.mark.parametrize("code", [2**40, np.uint64(2**63), np.float32(1e30), 1e300])
def test_a_code_too_high_to_have_been_seen_is_one_that_was_not(code):
    model = CategoricalNB().fit([[0, 1], [1, 0], [1, 1]], ["a", "b", "b"])
    dtype = np.asarray(code).dtype
    rows = np.array([[0, code], [code, 1]], dtype=dtype)
    assert model.predict_proba(rows).tolist() == model.predict_proba([[0, 9], [9, 1]]).tolist()
