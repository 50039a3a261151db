"""A served model answers as the model does."""

import json
from http.client import HTTPConnection

import pytest

from benchmarks.served import served
from tests.clients.page import run


@pytest.fixture(scope="module")
def names():
    return run()


@pytest.fixture(scope="module")
def connection(names):
    names["model"].save(names["folder"] / "people.model")
    with served(names["folder"] / "people.model") as (port, _):
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        yield connection
        connection.close()


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
