"""Spark behind a server, to which this process is a client."""

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes, summarize
from tests import connected, sparks

if sparks.absent():
    pytest.skip(sparks.absent(), allow_module_level=True)
if find_spec("grpc") is None:
    reason = "Spark's client is not installed: pip install '.[connect]', or make test SPARK=1"
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def given():
    command = [sys.executable, "-m", "tests.connected"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_client_gets_the_summary_of_the_rows(given):
    frame = connected.rows()
    *expected, rest = summarize(frame[["number"]], frame["y"]).moments.values
    *found, found_rest = given["moments"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found_rest, rest, atol=1e-14)


def test_a_client_gets_the_labels_of_every_model(given):
    frame = connected.rows()
    numbers = GaussianNB().fit(frame[["number"]], frame["y"]).predict(frame[["number"]])
    columns = frame[["number", "text"]]
    mixed = NaiveBayes(calibration=None).fit(columns, frame["y"]).predict(columns)
    assert given["numbers"] == numbers.tolist()
    assert given["mixed"] == mixed.tolist()
    assert given["numbers"] != given["mixed"]


def test_a_client_has_stages(given):
    assert given["stage"] == given["numbers"]


def test_a_client_is_told_what_went_wrong_on_an_executor(given):
    assert "column 'number' holds infinity" in given["told"]
