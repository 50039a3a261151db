"""A column of booleans: True, "true", 1 and "1" are one value, to every export of a model."""

import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa
import pytest

from naively import NaiveBayes
from naively.display.report import report
from naively.engines import sql as scoring
from naively.export import to_onnx, to_sql
from tests import databases
from tests.browser import same

pytestmark = databases.QUIET

RNG = np.random.default_rng(0)
Y = RNG.choice(["no", "yes"], 200)
FRAME = pd.DataFrame({"smokes": RNG.random(200) < np.where(Y == "yes", 0.8, 0.3)})
FRAME["age"] = RNG.normal(40, 9, 200) + 5 * (Y == "yes")
MODEL = NaiveBayes().fit(FRAME, Y)
TRUE, FALSE = ["True", "true", "TRUE", "1", "1.0"], ["False", "false", "FALSE", "0", "0.0"]
COLUMNS = {
    "booleans": (pa.bool_(), [True, False, None]),
    "integers": (pa.int64(), [1, 0, None]),
    "floats": (pa.float64(), [1.0, 0.0, None]),
    "texts": (pa.string(), [*TRUE, *FALSE, None]),
}


def truth(cells):
    """What the cells mean."""
    flags = {True: True, False: False, None: None}  # and 1 and 0, which are the same keys
    flags |= dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)
    rows = [{"smokes": flags[cell], "age": 41.0} for cell in cells]
    return np.array([MODEL.predict_proba_one(row) for row in rows])


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "postgres"])
def database(request):
    return databases.opened(request.param)


def load(database, kind, cells, name):
    columns = {"id": pa.array(range(len(cells))), "smokes": pa.array(cells, kind)}
    return database.load(pa.table({**columns, "age": pa.array([41.0] * len(cells))}), name)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_query_takes_a_boolean_in_any_spelling(database, kind):
    load(database, *COLUMNS[kind], f"exported_{kind}")
    query = to_sql(MODEL, f"exported_{kind}", keep=["id"], dialect=database.name)
    rows = database.connection.con.execute(f"SELECT * FROM ({query}) AS s ORDER BY id").fetchall()
    found = np.array([row[2:] for row in rows], dtype=float)
    np.testing.assert_allclose(found, truth(COLUMNS[kind][1]), atol=1e-9)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_table_of_a_database_takes_a_boolean_in_any_spelling(database, kind):
    table = load(database, *COLUMNS[kind], f"predicted_{kind}")
    found = scoring.predict(MODEL, table, keep=["id"], proba=True).execute().sort_values("id")
    expected = truth(COLUMNS[kind][1])
    np.testing.assert_allclose(found.iloc[:, 2:].to_numpy(dtype=float), expected, atol=1e-9)


def test_other_text_is_a_category_that_was_never_seen(database):
    cells = ["perhaps", "2", "", "yes"]
    load(database, pa.string(), cells, "others")
    query = to_sql(MODEL, "others", dialect=database.name)
    rows = database.connection.con.execute(query).fetchall()
    form = MODEL.model_.tables
    joint = MODEL.model_.constant.copy()
    joint += form.values[-1]
    age = MODEL.predict_joint_log_proba(pd.DataFrame({"smokes": [None], "age": [41.0]}))[0]
    joint += age - MODEL.model_.constant
    expected = np.exp(joint - np.logaddexp.reduce(joint))
    for row in rows:
        np.testing.assert_allclose(np.array(row[1:], dtype=float), expected, atol=1e-9)


def test_a_row_takes_a_boolean_in_any_spelling():
    cells = [True, 1, *TRUE, False, 0, *FALSE]
    found = [MODEL.predict_proba_one({"smokes": cell, "age": 41.0}) for cell in cells]
    np.testing.assert_array_equal(found, truth([True] * 7 + [False] * 7))


def test_a_graph_takes_a_boolean_as_any_language_writes_it():
    cells = [*TRUE, *FALSE, ""]
    session = onnxruntime.InferenceSession(
        to_onnx(MODEL, dtype="float64"), providers=["CPUExecutionProvider"]
    )
    texts = np.array(cells, dtype=object)[:, np.newaxis]
    given = {"X": np.full((len(cells), 1), 41.0), "categories": texts}
    (found,) = session.run(["probabilities"], given)
    expected = truth([True] * 5 + [False] * 5 + [None])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_explorer_knows_both_booleans(look):
    seen = look(report(MODEL, FRAME, Y, compare=False, folds=2))
    for flag in (True, False, None):
        seen.fill({"smokes": flag, "age": 41.0})
        assert same(seen.posterior(), truth([flag])[0])
