"""A served model answers as the model does."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection

import numpy as np
import pandas as pd
import pytest

from benchmarks.served import served
from naively import NaiveBayes
from tests.clients.page import run


@pytest.fixture(scope="module")
def names():
    return run()


@pytest.fixture(scope="module")
def port(names):
    names["model"].save(names["folder"] / "people.model")
    with served(names["folder"] / "people.model") as (port, _):
        yield port


@pytest.fixture
def connection(port):
    """A connection of its own: the server closes one that is not used for five seconds."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        yield connection


def ask(connection, row):
    body = row if isinstance(row, str) else json.dumps(row)
    connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_a_served_model_is_healthy(connection):
    connection.request("GET", "/health")
    assert json.loads(connection.getresponse().read()) == {"status": "ok", "classes": ["no", "yes"]}


@pytest.mark.parametrize(
    "row",
    [
        {"age": 22, "fare": 7.2, "port": "S"},
        {"age": None, "fare": 53.1, "port": None},
        {"port": "a town that was never seen", "fare": 1e300, "age": -1},
    ],
    ids=["a row", "missing cells", "odd cells in another order"],
)
def test_a_served_model_answers_as_the_model_does(connection, names, row):
    status, answer = ask(connection, row)
    expected = names["model"].predict_proba_one(row)
    assert status == 200
    assert answer == dict(zip(["no", "yes"], expected.tolist(), strict=True))


def test_many_clients_at_once_get_the_answers_of_the_model_for_columns_of_every_kind(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], 200)
    frame = pd.DataFrame(
        {
            "a size": rng.normal(y, 1),
            "account": 2**60 + rng.integers(0, 2, 200) * (y > 0),  # float64 would round it
            "new": rng.random(200) < 0.5 + 0.3 * y,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, 200), "D"),
        }
    )
    model = NaiveBayes(families={"account": "categorical"}).fit(frame, y)
    model.save(tmp_path / "accounts.model")
    rows = frame.assign(when=frame["when"].astype(str)).to_dict("records")

    def asked(row):
        with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            status, answer = ask(connection, row)
        assert status == 200, answer
        return [answer["-1"], answer["1"]]

    with served(tmp_path / "accounts.model") as (port, _), ThreadPoolExecutor(8) as clients:
        found = list(clients.map(asked, rows))
    np.testing.assert_allclose(found, model.predict_proba(frame), rtol=1e-12)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"age": 22, "fare": 7.2, "harbour": "S"}, "port"),
        ({"age": "old", "fare": 7.2, "port": "S"}, "age"),
        ('{"age": 1e999, "fare": 7.2, "port": "S"}', "infinity"),
        ({"age": [22], "fare": 7.2, "port": "S"}, "age"),
        ("[1, 2, 3]", "dictionary"),
        ("", "required"),
    ],
    ids=["another column", "text for a number", "infinity", "a list", "no dict", "nothing"],
)
def test_a_server_says_what_is_wrong_with_a_row(connection, row, what):
    status, answer = ask(connection, row)
    assert status == 422
    assert what in json.dumps(answer)
    assert ask(connection, {"age": 22, "fare": 7.2, "port": "S"})[0] == 200
