"""A single row of a stream takes a short way, which gives what any rows give, bit for bit."""

import copy
import datetime
from contextlib import suppress
from functools import cache

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naively import NaiveBayes, NaivelyError
from naively.engines.memory import single_row

COLUMNS = {  # for each column the cells that may come: mostly those that need no more than a look
    "x": [0.5, -0.0, 1e8, None, float("nan"), 3, 2**60 + 1, 10**400, float("inf"), True, "text"],
    "n": [3, 0, -7, None, 2**53 + 1, 0.25, False, datetime.date(2020, 1, 1)],
    "town": ["Ulm", "Bonn", None, float("nan"), "Jena\0", "new", "Ulm\0", "", 5, True],
    "flag": [True, False, None, "true", 1, 0.0, "maybe"],
    "port": ["S", "C", None, "Q", "new", 2],
}
TYPES = {
    "x": [None, "float32", "float16", "Float64", "object", "category", "Sparse[float]"],
    "n": [None, "int8", "uint64", "Int64", "object", "category", "bool", "longdouble"],
    "town": [None, "object", "string", "category", "float"],
    "flag": [None, "object", "boolean", "bool"],
    "port": [None, "object", "string", "category"],
}
LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": polars.from_pandas,
    "pyarrow": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False),
    "array": lambda frame: frame.to_numpy(dtype=object),
    "list": lambda frame: [frame.to_numpy(dtype=object)[0].tolist()],
}


@cache
def fitted(calibration, text):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"x": rng.normal(size=60), "n": rng.integers(9, size=60)})
    frame["town"] = rng.choice(["Ulm", "Bonn", *(["Jena\0"] if text else ["Jena"])], 60)
    frame["flag"] = rng.random(60) < 0.5
    frame["port"] = pandas.Categorical(rng.choice(["S", "C"], 60), categories=["Q", "S", "C"])
    y = np.where(frame.x > 0, "yes", "no") if text else (frame.x > 0).to_numpy().astype(int)
    return NaiveBayes(calibration=calibration, open_classes=True).fit(frame, y)


def typed(cells, types):
    """Return a frame of one row; a column that a type cannot hold is of objects."""
    frame = pandas.DataFrame({name: pandas.Series([cells[name]], dtype=object) for name in cells})
    for name, dtype in types.items():
        with suppress(TypeError, ValueError, OverflowError, RuntimeWarning):
            column = frame[name]
            frame[name] = column.infer_objects() if dtype is None else column.astype(dtype)
    return frame


def learned(model, X, y, decay):
    """Return everything that a model holds after one more row, or the error."""
    model = copy.copy(model).set_params(decay=decay)
    try:
        model.partial_fit(X, y)
    except (NaivelyError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return model.state_.plain()


def assert_same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        [assert_same(a[key], b[key]) for key in a]
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        [assert_same(*pair) for pair in zip(a, b, strict=True)]
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tolist() == b.tolist() if a.dtype.kind == "O" else a.tobytes() == b.tobytes()
    else:
        assert a == b


@st.composite
def rows(draw):
    """Draw cells and types of columns; and mostly those of the fit."""
    plain = draw(st.booleans())
    few = {name: cells[:2] if plain else cells for name, cells in COLUMNS.items()}
    cells = {name: draw(st.sampled_from(few[name])) for name in COLUMNS}
    types = {name: draw(st.sampled_from(TYPES[name])) for name in COLUMNS}
    return cells, types


PLAIN = ({name: cells[0] for name, cells in COLUMNS.items()}, dict.fromkeys(COLUMNS))


@pytest.mark.parametrize("library", LIBRARIES)
@settings(deadline=None, max_examples=60)
@given(
    row=rows(),
    label=st.sampled_from(["yes", "no", "new"]),
    calibration=st.sampled_from([None, "weights"]),
    text=st.booleans(),
    decay=st.sampled_from([1.0, 1.0, 0.5, 0.0]),
)
@example(row=PLAIN, label="yes", calibration="weights", text=True, decay=1.0)
def test_a_single_row_is_learned_as_any_rows_bit_for_bit(
    library, row, label, calibration, text, decay
):
    model = fitted(calibration, text)
    try:
        X = LIBRARIES[library](typed(*row))
    except (TypeError, ValueError, OverflowError, pyarrow.ArrowException):
        return  # the library has no such column
    y = np.array([label if text else ["no", "yes", "new"].index(label)])
    found = learned(model, X, y, decay)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_row, "read", lambda *_: None)
        assert_same(found, learned(model, X, y, decay))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_single_row_without_new_categories_takes_the_short_way(library):
    model = fitted("weights", True)
    X = LIBRARIES[library](typed(*PLAIN))
    summary = model.summary_
    row = single_row.read(X, summary.schema, summary.categories)
    np.testing.assert_array_equal(row.numbers, [[0.5, 3.0]])
    assert [c.item(i) for c, i in zip(summary.categories, row.places, strict=True)] == [
        "Ulm",
        True,
        "S",
    ]


@settings(deadline=None, max_examples=100)
@given(row=rows(), calibration=st.sampled_from([None, "weights"]), text=st.booleans())
@example(row=PLAIN, calibration="weights", text=True)
def test_a_single_row_is_predicted_as_any_rows_bit_for_bit(row, calibration, text):
    model, cells = fitted(calibration, text), row[0]

    def predicted():
        try:
            return [model.predict_proba_one(cells), model.predict_one([*cells.values()])]
        except NaivelyError as error:
            return str(error)

    found = predicted()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_row, "read", lambda *_: None)
        assert_same(found, predicted())


@pytest.mark.parametrize("n_classes", [3, 40])
def test_single_rows_of_few_or_many_classes_add_up_to_all_rows(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.arange(120) % n_classes
    model = NaiveBayes().fit(X[:80], y[:80])
    whole = copy.copy(model).partial_fit(X[80:], y[80:]).summary_
    for i in range(80, 120):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.summary_.sample == whole.sample
    assert model.summary_.bins == whole.bins
    np.testing.assert_array_equal(model.summary_.class_weight, whole.class_weight)
    # Sums of at most 40 cells, in another order.
    np.testing.assert_allclose(model.summary_.moments.values, whole.moments.values, atol=1e-13)
