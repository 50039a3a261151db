"""A row of weight 0 is left out, whatever it holds: also where cells decide what a column holds."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

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
from tests import databases
from tests.every_engine import ENGINES, FORMATS, OF_NUMBERS

pytestmark = databases.QUIET
N = 40
TYPES = {"number": pa.float64(), "nothing": pa.null()}
Y = ["a", "b"] * (N // 2)
PROSE = "the quick brown fox jumps over the lazy dog"
COLUMNS = {  # what a column holds, and cells of weight 0 that would make it hold something else
    "date": (
        [f"2020-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)],
        ["someday", "2020-02-30"],
    ),
    "day": ([f"2021-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)], ["2020-02-03T04:05"] * 2),
    "town": (["Ulm", "Bonn", None, "Rom"] * (N // 4), [f"{PROSE} {i}" for i in range(1600)]),
    "text": ([f"{PROSE} {i}" for i in range(N)], ["2020-02-03", "Ulm"]),
    "number": ([float(i % 7) for i in range(N)], [1e300, float("inf")]),
    "empty": ([None] * N, ["Ulm", "2020-02-03"]),
}


TESTED = [
    pytest.param(engine, column, id=f"{engine}-{column}")
    for engine in sorted({*ENGINES} - OF_NUMBERS)
    for column in COLUMNS
    # the types of files and of Spark are those of all rows, so all cells must be readable
    if not (column == "date" and engine in {*FORMATS, "spark"})
    if not (column == "empty" and engine in {"csv", "jsonl"})
]
HOSTILE = 60  # rows, half of them before all others


def put_around(cells, others):
    half = len(others) // 2
    return [*others[:half], *cells, *others[half:]]


def table_of(columns, *, hostile):
    """Return a table, its labels and weights; rows of weight 0 are in it or not."""
    n = max(HOSTILE, *(len(COLUMNS[name][1]) for name in columns)) if hostile else 0
    found = {}
    for name in columns:
        cells, others = COLUMNS[name]
        others = (others * n)[:n]
        found[name] = pa.array(put_around(cells, others), TYPES.get(name, pa.string()))
    weights = put_around([1.0] * N, [0.0] * n)
    return pa.table(found), put_around(Y, ["never", "b"] * (n // 2)), weights


def assert_same(found, expected):
    assert found.schema == expected.schema
    assert found.axes == expected.axes
    for kind, its in expected.statistics.items():
        for name, value in its.tensors().items():
            actual = found.statistics[kind].tensors()[name]
            np.testing.assert_allclose(actual, value, rtol=1e-12, atol=1e-15)  # of a mean's rest


@pytest.mark.parametrize(("engine", "column"), TESTED)
def test_a_row_of_weight_zero_decides_nothing(engine, column, tmp_path):
    columns = dict.fromkeys(["number", column])
    found = []
    for hostile in (False, True):
        folder = tmp_path / str(hostile)
        folder.mkdir()
        table, y, w = table_of(columns, hostile=hostile)
        found.append(ENGINES[engine](table, y, folder, w))
    assert_same(found[1], found[0])


OBJECTS = {  # cells of an array of objects, and others of weight 0
    "number": (np.random.default_rng(0).normal(size=N).tolist(), ["1.5", "one", [1], b"x"]),
    "category": (["Ulm", "Bonn"] * (N // 2), [1, 2.5, object(), f"{PROSE}!"]),
    "boolean": ([True, False, None, True] * (N // 4), ["yes", 2]),
    "date": ([date(2020, 1 + i % 12, 3) for i in range(N)], [datetime(2020, 1, 1, 5), "x", 7]),
}


@pytest.mark.parametrize("column", OBJECTS)
@pytest.mark.parametrize("form", [lambda X: X, lambda X: X.tolist(), pd.DataFrame])
def test_a_row_of_weight_zero_may_hold_any_object(form, column):
    cells, others = OBJECTS[column]
    others = (others * HOSTILE)[:HOSTILE]
    X = np.empty((N + HOSTILE, 2), dtype=object)
    X[:, 0], X[:, 1] = 1.5, put_around([None] * N, others)
    y, w = put_around(Y, (Y * HOSTILE)[:HOSTILE]), put_around([1.0] * N, [0.0] * HOSTILE)
    kept = np.array(w) > 0
    X[kept, 1] = cells
    expected = NaiveBayes().fit(form(X[kept]), Y)
    model = NaiveBayes().fit(form(X), y, sample_weight=w)
    assert model.summary_.schema == expected.summary_.schema
    found, known = (one.predict_proba(form(X[kept])) for one in (model, expected))
    np.testing.assert_allclose(found, known, rtol=1e-9)


@pytest.mark.parametrize("hostile", [7, 10**9, -3])
@pytest.mark.parametrize(
    "cls", [BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes]
)
def test_a_number_of_weight_zero_changes_no_estimator(cls, hostile):
    X, y = np.random.default_rng(0).integers(0, 3, (30, 2)), np.array(["a", "b"] * 15)
    more = np.vstack([[[hostile, 0]], X, [[0, hostile]]])
    w = np.concatenate([[0.0], np.ones(30), [0.0]])
    model = cls().fit(more, ["never", *y, "a"], sample_weight=w)
    assert model.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(model.predict_proba(X), cls().fit(X, y).predict_proba(X))


@pytest.mark.parametrize("y", [["a", None, "b"], ["a", 1.5, "b"]])
def test_a_label_that_is_wrong_is_an_error_whatever_its_weight(y):
    X = np.array([["Ulm"], ["Bonn"], ["Rom"]], dtype=object)
    with pytest.raises(NaivelyError):
        NaiveBayes().fit(X, y, sample_weight=[1, 0, 1])


def test_later_rows_of_weight_zero_decide_nothing_and_forget_nothing():
    X = pd.DataFrame({"town": ["Ulm", "Bonn"] * 20, "later": [None] * 40})
    batch = pd.DataFrame({"town": ["Rom", "Ulm"], "later": ["2020-01-02", None]})
    model, expected = (NaiveBayes(open_classes=True).fit(X, Y) for _ in range(2))
    expected.partial_fit(batch.iloc[[1]], ["a"])
    model.partial_fit(batch, ["new", "a"], sample_weight=[0, 1])
    assert_same(model.summary_, expected.summary_)
    expected.forget(batch.iloc[[1]], ["a"])
    assert_same(model.forget(batch, ["new", "a"], sample_weight=[0, 1]).summary_, expected.summary_)


def test_a_column_of_csv_whose_only_dates_have_weight_zero_holds_dates(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,day,y,w\n1,2020-01-02,u,0\n2,,u,1\n3,,v,1\n4,,v,1\n")
    assert summarize(path, target="y", weight="w").schema.dates == ("day",)
