"""The ONNX graph answers as the model does."""

import json
import re
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.errors import install
from naively.export import to_onnx
from tests.exported import CASES, IRIS, LABELS, assert_agrees, twins

FUNCTION_FAMILIES = ["log_normal", "gamma", "exponential", "beta", "von_mises"]


def answers(content, X):
    onnx.checker.check_model(content, full_check=True)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(["prediction", "probabilities"], {"X": X})


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_float64_in_is_the_model_to_1e_12(case):
    model, X = case()
    labels, probabilities = answers(to_onnx(model, dtype="float64"), X)
    assert probabilities.dtype == np.float64
    assert_agrees(model, X, labels, probabilities, atol=1e-12)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_float32_in_is_the_model_to_1e_5(case):
    model, X = case()
    X = np.clip(X, -3e38, 3e38).astype(np.float32)
    labels, probabilities = answers(to_onnx(model), X)
    assert probabilities.dtype == np.float32
    assert_agrees(model, X, labels, probabilities, atol=1e-5)


def test_ties_go_to_the_first_class():
    labels, _ = answers(to_onnx(twins()), IRIS.astype(np.float32))
    assert set(labels) == {"a", "c"}


def test_a_row_of_holes_is_the_priors_exactly():
    model = GaussianNB().fit(np.arange(70.0).reshape(7, 10) ** 3, [0, 1, 2, 3, 4, 5, 6])
    labels, probabilities = answers(to_onnx(model, dtype="float64"), np.full((1, 10), np.nan))
    assert labels == [0]
    assert len(set(probabilities[0])) == 1


@pytest.mark.parametrize("family", FUNCTION_FAMILIES)
def test_a_column_that_says_nothing_needs_no_function_of_its_cells(family):
    """A column of one value has a family without functions: no node may ask for them."""
    X = np.array([[0.5], [0.5]])
    model = NaiveBayes(families={0: family}, calibration=None).fit(X, ["a", "b"])
    labels, probabilities = answers(to_onnx(model, dtype="float64"), X)
    assert_agrees(model, X, labels, probabilities, atol=1e-12)


def test_no_rows_give_no_answers():
    labels, probabilities = answers(to_onnx(CASES["iris"]()[0]), np.empty((0, 4), np.float32))
    assert labels.shape == (0,)
    assert probabilities.shape == (0, 3)


def test_the_graph_knows_its_columns_and_classes():
    pl = pytest.importorskip("polars")
    names = ["a", "ü", 'x "y"', "b\n"]
    model = GaussianNB().fit(pl.DataFrame(IRIS, schema=names), LABELS)
    proto = onnx.load_from_string(to_onnx(model))
    metadata = {entry.key: json.loads(entry.value) for entry in proto.metadata_props}
    classes = ["setosa", "versicolor", "virginica"]
    expected = {"columns": names, "numbers": names, "categories": [], "classes": classes}
    assert metadata == expected
    assert proto.opset_import[0].version == 18
    assert proto.producer_name == "naively"


def test_the_same_model_gives_the_same_bytes():
    assert to_onnx(CASES["iris"]()[0]) == to_onnx(CASES["iris"]()[0])


def test_a_type_that_is_no_input_is_refused():
    with pytest.raises(NaivelyError, match="dtype must be 'float32' or 'float64'; got 'int8'"):
        to_onnx(CASES["iris"]()[0], dtype="int8")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["\ud800", "b"], "labels must be Unicode text to be exported"),
        (np.array(["2020", "2021"], dtype="M8[Y]"), r"labels .* got dtype datetime64\[Y\]"),
    ],
    ids=["half a character", "dates"],
)
def test_labels_that_cannot_be_written_are_refused(labels, message):
    model = GaussianNB().fit([[0.0], [1.0]], labels)
    with pytest.raises(NaivelyError, match=message):
        to_onnx(model)


def test_an_unfitted_model_has_nothing_to_export():
    with pytest.raises(ValueError, match="not fitted"):
        to_onnx(GaussianNB())


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    message = f"exporting to ONNX needs the package onnx: {install('onnx')}"
    with pytest.raises(NaivelyError, match=re.escape(message)):
        to_onnx(GaussianNB().fit([[0.0]], ["a"]))
