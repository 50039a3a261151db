"""The ONNX graph of a model of any columns answers as the model does."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

from naively import NaiveBayes, NaivelyError
from naively.export import to_onnx
from tests.exported import assert_agrees
from tests.exported_tables import TABLES, mixed, twins


def answers(content, rows, dtype=np.float64):
    """Ask a graph, whose metadata say which columns it wants."""
    onnx.checker.check_model(content, full_check=True)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    columns = session.get_modelmeta().custom_metadata_map
    inputs = {
        "X": rows[json.loads(columns["numbers"])].to_numpy(dtype),
        "categories": as_text(rows[json.loads(columns["categories"])]),
    }
    wanted = [one.name for one in session.get_inputs()]
    return session.run(["prediction", "probabilities"], {name: inputs[name] for name in wanted})


def as_text(frame):
    return np.where(frame.isna(), "", frame.astype(object).astype(str)).astype(object)


@pytest.mark.parametrize("case", TABLES.values(), ids=TABLES)
def test_float64_in_is_the_model_to_1e_12(case):
    model, rows = case()
    labels, probabilities = answers(to_onnx(model, dtype="float64"), rows)
    assert probabilities.dtype == np.float64
    assert_agrees(model, rows, labels, probabilities, atol=1e-12)


@pytest.mark.parametrize("case", TABLES.values(), ids=TABLES)
def test_float32_in_is_the_model_to_1e_5(case):
    model, rows = case()
    floats = rows.select_dtypes("float").clip(-3e38, 3e38).astype(np.float32).astype(float)
    rows = rows.assign(**floats)
    labels, probabilities = answers(to_onnx(model), rows, np.float32)
    assert probabilities.dtype == np.float32
    assert_agrees(model, rows, labels, probabilities, atol=1e-5)


@pytest.mark.parametrize("kind", ["canonical", "quadratic"])
@pytest.mark.parametrize("unit", [1e-100, 1e-50, 1.0])
def test_a_single_number_is_standardised_by_more_digits_than_a_float32_has(unit, kind):
    y = np.arange(300) % 3
    x = np.random.default_rng(0).normal(size=300) + y / 2
    rows = pd.DataFrame({"x": unit * (1 + 2e-8) * x / x.std()})
    model = NaiveBayes(interactions=(kind,)).fit(rows, y)
    labels, probabilities = answers(to_onnx(model, dtype="float64"), rows)
    assert_agrees(model, rows, labels, probabilities, atol=1e-12)


def test_whole_numbers_are_categories_however_they_are_written():
    frame = pd.DataFrame({"c": [1, 1, 2, 2, 3, 3]})
    model = NaiveBayes(families={"c": "categorical"}).fit(frame, [0, 0, 0, 1, 1, 1])
    rows = pd.DataFrame({"c": [1.0, 2.0, 3.0, 4.0, np.nan]})  # as pandas reads holes
    assert as_text(rows)[0, 0] == "1.0"
    for asked in (rows, rows.astype("Int64")):
        labels, probabilities = answers(to_onnx(model, dtype="float64"), asked)
        assert_agrees(model, rows, labels, probabilities, atol=1e-12)


@pytest.mark.parametrize("case", TABLES.values(), ids=TABLES)
def test_a_graph_holds_no_numbers_that_it_does_not_use(case):
    model, _ = case()
    graph = onnx.load_from_string(to_onnx(model)).graph
    bodies = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    used = {name for part in (graph, *bodies) for node in part.node for name in node.input}
    assert {tensor.name for tensor in graph.initializer} <= used


def test_ties_go_to_the_first_class():
    model, rows = twins()
    assert set(answers(to_onnx(model, dtype="float64"), rows)[0]) == {"a", "c"}


def test_no_rows_give_no_answers():
    model, rows = mixed()
    labels, probabilities = answers(to_onnx(model), rows[:0], np.float32)
    assert labels.shape == (0,)
    assert probabilities.shape == (0, 3)


def test_an_empty_text_that_is_a_category_is_not_missing():
    frame = pd.DataFrame({"c": ["", "", "b", "b", "b", "d"]})
    model = NaiveBayes(calibration=None).fit(frame, [0, 0, 0, 1, 1, 1])
    rows = pd.DataFrame({"c": ["", "unseen", "b"]})
    _, probabilities = answers(to_onnx(model, dtype="float64"), rows)
    assert probabilities[0, 0] > 0.5
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), atol=1e-12)


def test_the_graph_knows_what_its_inputs_hold():
    model, _ = mixed(columns=["town", "age", "sick"], families={})
    proto = onnx.load_from_string(to_onnx(model))
    metadata = {entry.key: json.loads(entry.value) for entry in proto.metadata_props}
    assert metadata == {
        "columns": ["town", "age", "sick"],
        "numbers": ["age"],
        "categories": ["town", "sick"],
        "classes": ["high", "it's", "low"],
    }
    assert {one.domain: one.version for one in proto.opset_import} == {"": 18, "ai.onnx.ml": 3}


def test_columns_without_names_have_places():
    model = NaiveBayes(calibration=None).fit([["a", 1.0], ["b", 2.0]], [0, 1])
    proto = onnx.load_from_string(to_onnx(model))
    metadata = {entry.key: json.loads(entry.value) for entry in proto.metadata_props}
    assert metadata["columns"] is None
    assert (metadata["numbers"], metadata["categories"]) == ([1], [0])


def test_the_same_model_gives_the_same_bytes():
    assert to_onnx(mixed()[0]) == to_onnx(mixed()[0])


def test_a_file_is_written(tmp_path):
    model, _ = mixed()
    model.to_onnx(tmp_path / "m.onnx", dtype="float64")
    assert (tmp_path / "m.onnx").read_bytes() == to_onnx(model, dtype="float64")


def test_decisions_are_not_exported():
    model, _ = mixed(reject=(0.8, "unknown"))
    with pytest.raises(NaivelyError, match=r"reject cannot be exported; got \(0.8, 'unknown'\)"):
        to_onnx(model)


def test_a_model_that_has_seen_no_cell_needs_no_graph():
    model = NaiveBayes().fit(pd.DataFrame({"c": [None, None]}), ["a", "b"])
    with pytest.raises(NaivelyError, match="a graph needs a column of which a cell has been seen"):
        to_onnx(model)
