"""A `CategoricalNB` answers in a database and as an ONNX graph as it does at home."""

import json

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
import sqlglot

from naively import CategoricalNB
from naively.engines.dialects import DIALECTS
from naively.export import to_onnx, to_sql
from tests import databases
from tests.exported import assert_agrees

pytestmark = databases.QUIET

RNG = np.random.default_rng(0)
LABELS = np.array(["low", "it's", "high"])
Y = RNG.integers(0, 3, 300)
CODES = pd.DataFrame(
    {
        "shop": RNG.integers(0, 4, 300),
        "it's": np.minimum(RNG.integers(0, 9, 300), 2 + 2 * Y),
        "same": np.zeros(300, int),
    }
)


def asked():
    """Rows with codes that were never seen, missing cells, and codes that are not whole."""
    rows = CODES[:60].astype(float)
    rows.iloc[::7, 0], rows.iloc[3::8, 1], rows.iloc[5::9, 2] = 9.0, 12.0, 1.0
    rows.iloc[1::5, 0], rows.iloc[2::6, 1], rows.iloc[59] = np.nan, np.nan, np.nan
    rows.iloc[10, 0], rows.iloc[11, 1], rows.iloc[12, 1] = 1.7, 1e15, 1e300
    return rows


def fitted(**options):
    return CategoricalNB(**options).fit(CODES, LABELS[Y])


def with_holes():
    return CategoricalNB().fit(CODES.mask(RNG.random(CODES.shape) < 0.2), Y)


def empty_column():
    return CategoricalNB().fit(CODES.assign(same=np.nan), Y)


MODELS = {
    "default": fitted,
    "no smoothing": lambda: fitted(alpha=0.0),
    "little smoothing": lambda: fitted(alpha=1e-12),
    "min_categories": lambda: fitted(min_categories=[6, 20, 3]),
    "no smoothing, min_categories": lambda: fitted(alpha=0.0, min_categories=20),
    "priors": lambda: fitted(class_prior=[0.2, 0.0, 0.8]),
    "holes": with_holes,
    "empty column": empty_column,
    "unseen class": lambda: CategoricalNB().partial_fit(CODES, Y, classes=[0, 1, 2, 3]),
}


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "postgres"])
def database(request):
    return databases.opened(request.param)


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def model(request):
    return request.param()


def from_database(query, database):
    ordered = f"SELECT * FROM ({query}) AS scored ORDER BY id"
    rows = database.connection.con.execute(ordered).fetchall()
    _, labels, *probabilities = zip(*rows, strict=True)
    return labels, np.array(probabilities, dtype=float).T


def test_a_query_of_codes_is_the_model_to_1e_9(database, model):
    rows = asked()
    columns = {name: [None if pd.isna(c) else c for c in rows[name]] for name in rows}
    database.load(databases.table_of({"id": np.arange(len(rows)), **columns}), "codes")
    query = to_sql(model, "codes", keep=["id"], dialect=database.name)
    check(model, rows, *from_database(query, database), atol=1e-9)


@pytest.mark.parametrize("dialect", sorted({*DIALECTS} - {"duckdb", "sqlite", "postgres"}))
def test_other_dialects_of_a_query_of_codes_are_read_by_sqlglot(dialect):
    database, rows = databases.opened("duckdb"), CODES[:30]
    columns = {name: rows[name].to_numpy() for name in rows}
    database.load(databases.table_of({"id": np.arange(len(rows)), **columns}), "codes")
    query = to_sql(fitted(), "codes", keep=["id"], dialect=dialect)
    (query,) = sqlglot.transpile(query, read=dialect, write="duckdb")
    check(fitted(), rows, *from_database(query, database), atol=1e-9)


@pytest.mark.parametrize(("dtype", "atol"), [("float32", 1e-6), ("float64", 1e-12)])
def test_a_graph_of_codes_is_the_model(model, dtype, atol):
    rows = asked().clip(upper=3e38)
    content = to_onnx(model, dtype=dtype)
    onnx.checker.check_model(content, full_check=True)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    found = session.run(["prediction", "probabilities"], {"X": rows[columns].to_numpy(dtype)})
    check(model, rows, *found, atol=atol)


def check(model, rows, labels, probabilities, *, atol):
    """Compare; where every class is impossible, there are no probabilities, and the first label."""
    expected = model.predict_proba(rows)
    possible = ~np.isnan(expected).any(axis=1)
    assert (np.isnan(probabilities).any(axis=1) == ~possible).all()
    assert (np.array(labels)[~possible] == model.predict(rows)[~possible]).all()
    some = np.flatnonzero(possible)
    assert_agrees(model, rows.iloc[some], np.array(labels)[some], probabilities[some], atol=atol)


def test_exports_are_methods(tmp_path):
    model = fitted()
    model.to_onnx(tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == to_onnx(model)
    assert model.to_sql("codes") == to_sql(model, "codes")
