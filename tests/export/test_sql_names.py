"""Names of tables and columns that look like a query's own, or like anything but a name."""

import numpy as np
import pandas as pd
import pytest

import naively
from naively import GaussianNB, NaiveBayes
from naively.engines import sql
from naively.engines import sql as scoring
from naively.export import to_sql
from tests import databases
from tests.databases import quoted

pytestmark = databases.QUIET

TABLES = ["naively_total", "NAIVELY_Cells", "naively_own_best", "t", "v", "y", "select", "it's"]
TABLES += ['a "b"', "a.b", "ключ", "trailing ", " ", "rows; DROP TABLE t; --", "ibis_0", "given_"]
COLUMNS = ["y", "w", "x0", "C0", "n", "joint_0", "Best", "total ", "keep_0", "select", 'a"b.c', "t"]
COLUMNS += ["x_0", "weight_0", "naively_total", "it's; --", "日本", "%s", "{0}", ":a", "?"]


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "postgres"])
def database(request):
    return databases.opened(request.param)


def people(n=60, seed=0):
    """Numbers and texts under hostile names; the target is called ``label_``."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["no", "yes"], n)
    frame = pd.DataFrame({name: rng.normal(size=n) + (y == "yes") for name in COLUMNS})
    frame["C0"] = rng.choice(["a", "b"], n)
    frame["select"] = rng.choice(["naively_total", "x'; --"], n)
    return frame, y


FRAME, Y = people()
MODELS = {
    "any columns": (NaiveBayes(calibration=None), FRAME),
    "numbers": (GaussianNB(), FRAME.drop(columns=["C0", "select"])),
}


def load(database, name):
    columns = {"id": np.arange(len(Y)), **FRAME, "label_": Y}
    table = databases.table_of({key: list(cells) for key, cells in columns.items()})
    return database.load(table, quoted(name))


@pytest.mark.parametrize("name", TABLES)
def test_any_name_of_a_table_will_do(database, name):
    table = load(database, name)
    for kind, frame in MODELS.values():
        model = type(kind)(**kind.get_params()).fit(frame, Y)
        expected = model.predict_proba(frame)
        query = to_sql(model, quoted(name), keep=["id", "t", "y"], dialect=database.name)
        ordered = f"SELECT * FROM ({query}) AS s ORDER BY id"
        rows = database.connection.con.execute(ordered).fetchall()
        np.testing.assert_allclose(np.array([row[4:] for row in rows], float), expected, atol=1e-9)
        found = scoring.predict(model, table, proba=True).execute().sort_values("id")
        np.testing.assert_allclose(found.iloc[:, -2:].to_numpy(float), expected, atol=1e-9)
        np.testing.assert_allclose(found["naively_total"].to_numpy(float), FRAME["naively_total"])
    database.run(f"DROP TABLE {quoted(name)}")


@pytest.mark.parametrize("name", ["naively_total", "y", 'a "b.c"', " "])
def test_any_name_can_be_summed_up(database, name):
    table = load(database, name).drop("id")
    found = sql.summarize(table, target="label_")
    assert found.schema.names == tuple(FRAME)
    numbers = [name for name in FRAME if name not in ("C0", "select")]
    expected = naively.summarize(FRAME[numbers], Y)
    np.testing.assert_allclose(found.moments.mean, expected.moments.mean, rtol=1e-12)
    np.testing.assert_allclose(found.class_weight, expected.class_weight)
    assert [list(known) for known in found.categories] == [["a", "b"], ["naively_total", "x'; --"]]
    database.run(f"DROP TABLE {quoted(name)}")
