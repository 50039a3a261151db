"""Any cell in a column of any kind gets an answer, or an error of naively's: never another one."""

import json
from contextlib import closing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from http.client import HTTPConnection
from itertools import product

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

from benchmarks.served import served
from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.engines.files import predict

N = 40
RNG = np.random.default_rng(0)
Y = np.array(["a", "b"] * (N // 2))
WORDS = ["win", "money", "now", "lunch", "at", "noon"]
COLUMNS = {
    "number": RNG.normal(size=N),
    "category": RNG.choice(["Ulm", "Bonn"], N),
    "integers as categories": RNG.integers(0, 4, N),
    "integers beyond floats": 2**60 + RNG.integers(0, 4, N),
    "boolean": RNG.random(N) < 0.5,
    "text": [" ".join(RNG.choice(WORDS, 4)) + f" n{i}" for i in range(N)],
    "date": np.datetime64("2020-01-01", "s") + RNG.integers(0, 900, N) * np.timedelta64(86400, "s"),
}
PLAIN = {  # what JSON can hold, more or less
    "missing": None,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "huge": 10**400,
    "minus huge": -(10**400),
    "beyond 64 bits": 2**64,
    "true": True,
    "zero character": "a\0b",
    "zero character last": "Ulm\0",
    "zero character alone": "\0",
    "long": "x" * 100_000,
    "many words": "win " * 25_000,
    "emoji": "🙂",
    "half of a letter": "\ud800",
    "empty": "",
    "day": "2020-02-29",
    "no day": "2020-02-30",
    "list": [1, 2],
    "dict": {"a": [1, {"b": 2}]},
}
CELLS = PLAIN | {
    "bytes": b"abc",
    "tuple": (1, 2),
    "set": {1},
    "array": np.array([1.0, 2.0]),
    "frame": pd.DataFrame({"a": [1]}),
    "decimal": Decimal("1e400"),
    "decimal NaN": Decimal("NaN"),
    "signalling NaN": Decimal("sNaN"),
    "decimal infinity": Decimal("Infinity"),
    "fraction": Fraction(10**400),
    "date": date(2020, 1, 1),
    "far date": np.datetime64(2**40, "Y"),
    "datetime": datetime(2020, 1, 1, 2),
    "time": time(1),
    "duration": timedelta(1),
    "NaT": np.datetime64("NaT"),
    "NaT of durations": np.timedelta64("NaT"),
    "NA": pd.NA,
    "complex": 1j,
    "complex NaN": complex("nan"),
    "long double": np.longdouble("1e4000"),
    "object": object(),
    "function": len,
}


@pytest.fixture(scope="module", params=COLUMNS)
def case(request):
    """A model of a column and of a number, and a row of it."""
    frame = pd.DataFrame({"cell": COLUMNS[request.param], "x": np.linspace(-1, 1, N)})
    categorical = request.param.startswith("integers")
    model = NaiveBayes(families={"cell": "categorical"} if categorical else None)
    return model.fit(frame, Y), frame.iloc[0].to_dict(), frame


def table(cell, row):
    frame = pd.DataFrame({"cell": pd.Series([None, row["cell"]], dtype=object), "x": [0.5, 0.5]})
    frame.iat[0, 0] = cell
    return frame


def array(cell, row):
    rows = np.empty((2, 2), dtype=object)
    rows[0, 0], rows[1, 0], rows[:, 1] = cell, row["cell"], 0.5
    return rows


def learned(model, row, method, *args):
    """Learn, and answer: a cell that was learned must not break what comes after."""
    copy = type(model).from_summary(model.summary_, **model.get_params())
    getattr(copy, method)(*args)
    copy.predict_one(row)


def of_a_stream(model, *rows):
    new = type(model)(**model.get_params())
    for row, label in zip(rows, ["a", "b"], strict=True):
        new.learn_one(row, label)
    new.predict_one(rows[0])


WAYS = {
    "predict a frame": lambda model, cell, row: model.predict(table(cell, row)),
    "predict an array": lambda model, cell, row: model.predict(array(cell, row)),
    "predict a list": lambda model, cell, row: model.predict([[cell, 0.5]]),
    "predict one": lambda model, cell, row: model.predict_one({"cell": cell, "x": 0.5}),
    "predict one list": lambda model, cell, row: model.predict_proba_one([cell, 0.5]),
    "explain": lambda model, cell, row: str(model.explain(table(cell, row))),
    "learn one": lambda model, cell, row: learned(
        model, row, "learn_one", {"cell": cell, "x": 0.5}, "a"
    ),
    "begin a stream": lambda model, cell, row: of_a_stream(model, {"cell": cell, "x": 0.5}, row),
    "partial_fit": lambda model, cell, row: learned(
        model, row, "partial_fit", table(cell, row), ["a", "b"]
    ),
    "partial_fit a row": lambda model, cell, row: learned(
        model, row, "partial_fit", table(cell, row)[:1], ["a"]
    ),
    "fit": lambda model, cell, row: (
        type(model)(**model.get_params())
        .fit(table(cell, row), ["a", "b"])
        .predict(table(cell, row))
    ),
}


def wrong(attempt, cells):
    """Try every cell; return the errors that are not naively's, by cell."""
    found = {}
    for name, cell in cells.items():
        try:
            attempt(cell)
        except NaivelyError:
            pass
        except Exception as error:
            found[name] = repr(error)[:200]
    return found


@pytest.mark.parametrize("way", WAYS)
def test_any_cell_is_answered_or_refused(case, way):
    model, row, _ = case
    assert wrong(lambda cell: WAYS[way](model, cell, row), CELLS) == {}


@pytest.mark.parametrize("way", [way for way in WAYS if way != "predict a list"])
def test_any_cell_is_answered_or_refused_by_gaussians(way):
    row = {"cell": 0.0, "x": 0.5}
    frame = pd.DataFrame({"cell": COLUMNS["number"], "x": np.linspace(-1, 1, N)})
    with_names = way != "predict an array"
    model = GaussianNB().fit(frame if with_names else frame.to_numpy(), Y)
    if not with_names:
        row = [0.0, 0.5]
        # scikit-learn's own checks want its TypeError for objects that are no numbers
        cells = {name: cell for name, cell in CELLS.items() if name not in TYPE_ERRORS}
        assert wrong(lambda cell: model.predict(array(cell, {"cell": 0.0})), cells) == {}
        return
    assert wrong(lambda cell: WAYS[way](model, cell, row), CELLS) == {}


TYPE_ERRORS = ("dict", "set", "object", "function")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_any_cell_of_a_file_is_answered_or_refused(case, ending, tmp_path):
    model, row, _frame = case

    def attempt(cell):
        path, rows = tmp_path / f"rows.{ending}", [cell, row["cell"]]
        if ending == "csv":
            table = pd.DataFrame({"cell": rows, "x": 0.5, "y": ["a", "b"]}, dtype=object)
            path.write_bytes(table.to_csv(index=False).encode(errors="surrogatepass"))
        else:
            lines = [{"cell": c, "x": 0.5, "y": y} for c, y in zip(rows, "ab", strict=True)]
            path.write_text("\n".join(json.dumps(line, default=str) for line in lines))
        try:
            predict(model, path, tmp_path / "answers.csv", proba=True)
        finally:
            type(model).from_files(path, target="y")

    assert wrong(attempt, PLAIN) == {}


def test_a_server_answers_any_cell_or_says_what_is_wrong_with_it(tmp_path):
    frame, model = pd.DataFrame(COLUMNS), tmp_path / "cells.model"
    families = {name: "categorical" for name in COLUMNS if name.startswith("integers")}
    NaiveBayes(families=families).fit(frame, Y).save(model)
    row = json.loads(frame[:1].to_json(orient="records", date_format="iso"))[0]
    found = {}

    def asked(port, row):
        with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/predict", json.dumps(row), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    with served(model) as (port, _):
        assert asked(port, row)[0] == 200
        for column, name in product(COLUMNS, PLAIN):
            status, said = asked(port, row | {column: PLAIN[name]})
            if status not in (200, 422) or not json.loads(said):
                found[column, name] = status, said[:80]
    assert found == {}


@pytest.mark.parametrize("form", ["list", "object", "pandas", "categorical", "polars", "arrow"])
def test_labels_that_end_in_zero_characters_stay_different(form):
    texts = ["a", "a\0", "b", "a\0\0"] * 5
    y = {
        "list": list,
        "object": lambda texts: np.array(texts, dtype=object),
        "pandas": pd.Series,
        "categorical": lambda texts: pd.Series(texts, dtype="category"),
        "polars": polars.Series,
        "arrow": pa.array,
    }[form](texts)
    X = 10.0 * np.tile(np.arange(4), 5)[:, np.newaxis] + RNG.normal(size=(20, 1))
    model = GaussianNB().fit(X, y)
    assert model.classes_.tolist() == sorted({*texts})
    assert model.predict(X).tolist() == texts
