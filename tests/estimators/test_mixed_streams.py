"""Streams of tables of any columns: rows are collected, and measured when somebody asks."""

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, NaivelyError
from naively.families import Histogram
from tests.estimators.streams import taught

RNG = np.random.default_rng(2)


def some_rows(n):
    y = RNG.choice(["no", "yes"], n)
    rows = [
        {
            "age": float(a),
            "town": str(t),
            "member": bool(m),
            "note": f"{'good fine' if label == 'yes' else 'bad poor'} thing number {i % 7} indeed",
        }
        for i, (a, t, m, label) in enumerate(
            zip(RNG.normal(40 + 5 * (y == "yes")), RNG.choice(["Ulm", "Bonn", "Jena"], n),
                RNG.random(n) < 0.4, y, strict=True)
        )
    ]  # fmt: skip
    for i in range(0, n, 9):
        rows[i]["age"] = None
    return rows, y.tolist()


def test_a_calibrated_model_is_read_again_when_a_tenth_of_the_rows_is_new():
    rows, labels = some_rows(230)
    model, answers = NaiveBayes(interactions=None), []
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label)
        if model.state_.stream.n_rows >= 200:
            answers.append(model.predict_proba_one(rows[0])[0])
    assert len(set(answers)) == 2
    assert model.predict_proba(pd.DataFrame(rows[:1]))[0, 0] not in answers


def test_a_long_stream_measures_as_batches_under_one_schema():
    rows, labels = some_rows(1300)
    model = NaiveBayes(calibration=None, decay=0.999)
    taught(model, rows, labels)
    age = np.arange(1299, -1, -1)
    schema = model.summary_.schema
    weights = 0.999**age
    first = NaiveBayes(calibration=None).fit(pd.DataFrame(rows[:1000]), labels[:1000])
    assert schema == first.summary_.schema
    first.fit(pd.DataFrame(rows[:1000]), labels[:1000], weights[:1000])
    first.partial_fit(pd.DataFrame(rows[1000:]), labels[1000:], sample_weight=weights[1000:])
    assert np.allclose(model.summary_.class_weight, first.summary_.class_weight, rtol=1e-9)
    assert np.allclose(model.summary_.moments.m2, first.summary_.moments.m2, rtol=1e-9)


def test_columns_come_and_go():
    model = NaiveBayes(calibration=None)
    for i in range(1010):
        model.learn_one({"a": float(i % 5)}, "x" if i % 2 else "y")
    model.learn_one({"a": 1.0, "town": "Ulm"}, "x").learn_one({"town": "Bonn"}, "y")
    assert model.summary_.schema.names == ("a", "town")
    assert model.summary_.schema.held == ("number", "category")
    assert model.predict_one({"town": "Ulm"}) == "x"
    assert model.predict_one({"town": "Bonn", "other": 3}) == "y"


@pytest.mark.parametrize(
    "params", [{}, {"calibration": None}, {"families": {"a": Histogram()}, "decay": 0.99}]
)
def test_columns_that_a_row_lacks_are_as_those_that_it_has_without_a_cell(params):
    day = np.datetime64("2024-01-01")
    rows = [{"a": i % 7 / 3, "b": "uvw"[i % 3], "when": day + i % 50} for i in range(1000)]
    more = [{"a": 1.5}, {}, {"b": "new", "n": 1.5}, {"when": day, "c": "text"}, {"d": True}]
    more += [{f"column {i}": i / 3 if i % 2 else f"category {i}"} for i in range(20)]
    names = dict.fromkeys(name for row in rows + more for name in row)
    short, whole = NaiveBayes(**params), NaiveBayes(**params)
    for i, row in enumerate(rows + more):
        short.learn_one(row, "xy"[i % 2])
        whole.learn_one(row if i < 1000 else dict.fromkeys(names) | row, "xy"[i % 2])
    assert short.summary_.schema == whole.summary_.schema
    assert short.summary_ == whole.summary_
    for model in (short, whole):
        model.forget_one(more[2], "x", model.decay ** (len(more) - 3))
    assert short.summary_ == whole.summary_


BAD = {
    "text among numbers": ({"age": "old"}, "column 'age' must hold the same in all rows"),
    "a number among texts": ({"town": 3.0}, "column 'town' must hold the same in all rows"),
    "infinity": ({"age": float("inf")}, "column 'age' holds infinity"),
    "an integer beyond every float": ({"age": 10**400}, "column 'age' must hold numbers below"),
    "a list": ({"age": [1]}, "column 'age'"),
}


@pytest.mark.parametrize(("row", "message"), BAD.values(), ids=BAD)
def test_a_cell_of_another_kind_is_an_error_that_changes_nothing(row, message):
    model = NaiveBayes(calibration=None)
    model.learn_one({"age": 3.0, "town": "Ulm"}, "x")
    with pytest.raises(NaivelyError, match=message):
        model.learn_one({**row, "new": 1.0}, "new")
    assert model.classes_.tolist() == ["x"]
    assert model.feature_names_in_.tolist() == ["age", "town"]


def test_forgetting_rows_of_any_columns_is_never_having_seen_them():
    rows, labels = some_rows(60)
    model = NaiveBayes(calibration=None).fit(pd.DataFrame(rows[:30]), labels[:30])
    taught(model, rows[30:], labels[30:])
    for row, label in zip(rows[20:40], labels[20:40], strict=True):
        model.forget_one(row, label)
    assert model.class_count_.sum() == 40
    with pytest.raises(NaivelyError, match="cannot"):
        model.forget_one({"age": 1.0, "town": "Atlantis", "member": True, "note": "x"}, "no")


@pytest.mark.parametrize("window", [None, 5])
def test_the_only_row_may_be_forgotten_and_another_learned(window):
    row = {"a": 1.0, "town": "Ulm"}
    model = NaiveBayes(calibration=None, window=window).learn_one(row, "x").forget_one(row, "x")
    assert model.class_count_.tolist() == [0]
    assert model.learn_one(row, "y").predict_one(row) == "y"


def test_dates_are_labels_of_rows_that_wait():
    days = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    model = NaiveBayes(calibration=None)
    for day in [*days, *days]:
        model.learn_one({"town": str(day)}, day)
    assert model.classes_.tolist() == days.tolist()


def dated_rows(n, kind):
    hours = pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 9000, n), "h")
    when = {"datetimes": hours, "dates": hours.date, "texts": hours.astype(str)}[kind]
    X = pd.DataFrame({"size": RNG.normal(size=n), "when": when})
    X.loc[3, "when"] = None
    rows = [dict(zip(X.columns, row, strict=True)) for row in X.itertuples(index=False)]
    return X, np.where(hours.month < 6, "x", "y"), rows


@pytest.mark.parametrize("kind", ["datetimes", "dates", "texts"])
@pytest.mark.parametrize("params", [{}, {"families": {"when.year": "gaussian"}}], ids=str)
def test_dates_of_a_stream_are_read_by_their_parts_as_those_of_a_table(kind, params):
    X, y, rows = dated_rows(60, kind)
    model, lists = (NaiveBayes(calibration=None, **params) for _ in range(2))
    for row, label in zip(rows, y, strict=True):
        model.learn_one(row, label)
        lists.learn_one([*row.values()], label)
    expected = NaiveBayes(calibration=None, **params).fit(X, y)
    assert model.summary_ == expected.summary_
    assert lists.summary_.schema.dates == ("1",)
    assert lists.class_count_.tolist() == expected.class_count_.tolist()
    found = [model.predict_proba_one(row).tolist() for row in rows]
    assert found == expected.predict_proba(X).tolist()
    assert model.predict_one({"when": rows[0]["when"]}) in ("x", "y")
    last = NaiveBayes(calibration=None, window=30, **params)
    taught(last, rows, y)
    assert last.summary_ == NaiveBayes(calibration=None, **params).fit(X[30:], y[30:]).summary_


def test_a_long_stream_of_dates_goes_on_and_other_columns_come():
    X, y, rows = dated_rows(60, "datetimes")
    model = NaiveBayes(calibration=None).fit(X, y)
    taught(model, rows * 20, [*y] * 20)
    model.learn_one({"new": 1.0, "when": "2020-02-29T13:45"}, "x").forget_one(rows[0], y[0])
    assert model.summary_.schema.names[-2:] == ("when.hour", "new")
    assert model.class_count_.sum() == 21 * 60


NO_DATES = {
    "text": ({"when": "soon"}, "column 'when' must hold dates; got 'soon'"),
    "a number": ({"when": 3.0}, "column 'when' must hold dates; got 3.0"),
    "new dates": ({"end": pd.Timestamp("2020-01-01")}, "column 'end' holds dates, and is not"),
    "a part": ({"when.year": 2020.0}, "column 'when.year' has the name of a part"),
    "a time": ({"when": pd.Timedelta(1, "h")}, "column 'when' holds times of day or durations"),
}


@pytest.mark.parametrize(("row", "message"), NO_DATES.values(), ids=NO_DATES)
def test_what_cannot_be_learned_beside_dates_is_an_error_that_changes_nothing(row, message):
    X, y, _ = dated_rows(20, "datetimes")
    model = NaiveBayes(calibration=None).fit(X, y)
    with pytest.raises(NaivelyError, match=message):
        model.learn_one(row, "x")
    assert model.learn_one({"size": 1.0}, "x").class_count_.sum() == 21


def test_text_is_dates_while_all_of_it_looks_like_dates():
    model = NaiveBayes(calibration=None)
    model.learn_one({"when": "2020-01-01"}, "x").learn_one({"when": "2020-03-01"}, "y")
    assert model.summary_.schema.dates == ("when",)
    model.learn_one({"when": "some day"}, "y")
    assert model.summary_.schema.dates == ()
    other = NaiveBayes(calibration=None).learn_one({"when": "2020-01-01", "when.year": 1}, "x")
    assert other.summary_.schema.held == ("category", "number")
    with pytest.raises(NaivelyError, match="has the name of a part of the dates"):
        other.learn_one({"end.year": 1, "end": pd.Timestamp("2020-01-01")}, "x")
    assert other.summary_.schema.names == ("when", "when.year")


def test_a_column_of_a_family_of_numbers_holds_numbers_from_its_first_cell_on():
    model = NaiveBayes(calibration=None, families={"a": "gaussian"})
    model.learn_one({"a": None, "b": 1.0}, "x")
    with pytest.raises(NaivelyError, match="column 'a' must hold numbers; got text"):
        model.learn_one({"a": "text"}, "x")
    fitted = NaiveBayes(calibration=None, families={"a": "gaussian"})
    fitted.learn_one({"b": 1.0}, "x").forget_one({"b": 1.0}, "x").learn_one({"a": None}, "x")
    assert fitted.predict_one({"a": 1.0}) == "x"


@pytest.mark.parametrize("window", [None, 5])
def test_a_row_may_be_forgotten_without_its_missing_cells(window):
    model = NaiveBayes(calibration=None, window=window).learn_one({"a": 1.0}, "x")
    model.learn_one({"a": 1.0, "b": None}, "y").learn_one({"b": 2.0}, "y")
    model.forget_one({"a": 1.0}, "y").forget_one({"b": 2.0, "a": float("nan")}, "y")
    assert model.class_count_.tolist() == [1, 0]
