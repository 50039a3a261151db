"""The query answers as the model does, in every database that can be had."""

import re
import sqlite3
import sys
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import psycopg
import pytest
import sqlglot
from sqlglot import exp

from naively import GaussianNB, NaivelyError
from naively.engines.dialects import DIALECTS
from naively.errors import install
from naively.export import to_sql
from tests import postgres
from tests.exported import CASES, IRIS, LABELS, assert_agrees, twins

NAMES = [
    'say "x"',
    "select",
    "ünïcode 日本",
    "it's 100%\\n",
    "new\nline",
    "`tick`",
    "A",
    "B",
    "c;--",
]


@dataclass
class Database:
    dialect: str
    connection: Any
    mark: str = "?"  # of a parameter

    def load(self, names, X):
        """Make the table ``data`` of numbers, with the row's number as id."""
        columns = "".join(f", {quoted(name)} DOUBLE PRECISION" for name in names)
        rows = [(i, *row) for i, row in enumerate(X.tolist())]
        self.connection.execute("DROP TABLE IF EXISTS data")
        self.connection.execute(f"CREATE TABLE data (id INTEGER{columns})")
        values = ", ".join([self.mark] * len(rows[0]))
        self.connection.cursor().executemany(f"INSERT INTO data VALUES ({values})", rows)

    def answers(self, query):
        """Return the columns of a query that keeps the id, in its order."""
        rows = self.connection.execute(f"SELECT * FROM ({query}) AS scored ORDER BY id").fetchall()
        _, labels, *probabilities = zip(*rows, strict=True)
        return labels, np.array(probabilities, dtype=float).T


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "postgres"])
def database(request):
    if request.param == "duckdb":
        yield Database("duckdb", duckdb.connect())
    elif request.param == "sqlite":
        yield Database("sqlite", sqlite3.connect(":memory:"))
    elif postgres.binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    else:
        with postgres.server() as address, psycopg.connect(address, autocommit=True) as connection:
            yield Database("postgres", connection, mark="%s")


def columns_of(X):
    return [f"c{j}" for j in range(X.shape[1])]


# --- in a database --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_query_is_the_model_to_1e_9(database, case):
    model, X = case()
    database.load(columns_of(X), X)
    query = to_sql(model, "data", columns=columns_of(X), keep=["id"], dialect=database.dialect)
    labels, probabilities = database.answers(query)
    assert_agrees(model, X, labels, probabilities, atol=1e-9)


def test_labels_alone_are_the_same(database):
    model, X = CASES["holes"]()
    database.load(columns_of(X), X)
    options = {"columns": columns_of(X), "keep": ["id"], "dialect": database.dialect}
    query = to_sql(model, "data", **options, proba=False)
    assert "EXP" not in query
    labels, probabilities = database.answers(query)
    assert probabilities.size == 0
    assert labels == database.answers(to_sql(model, "data", **options))[0]


def test_names_of_any_text_are_found(database):
    X = np.tile(IRIS, 3)[:, : len(NAMES)]
    model = GaussianNB().fit(X, LABELS)
    database.load(NAMES, X)
    query = to_sql(
        model, "data", columns=NAMES, keep=["id"], label='it\'s "so"', dialect=database.dialect
    )
    assert_agrees(model, X, *database.answers(query), atol=1e-9)


def test_columns_are_kept_whatever_they_are_called(database):
    names = ["x_0", "keep_0", "joint_0", "best", "Total"]
    database.load(names, IRIS[:5, [0, 1, 2, 3, 0]])
    query = to_sql(
        CASES["iris"]()[0], "data", columns=names[:4], keep=names[::-1], dialect=database.dialect
    )
    cursor = database.connection.execute(f"{query} ORDER BY 1, 2, 3")
    kept = sorted(row[:5] for row in cursor.fetchall())
    assert kept == sorted(map(tuple, IRIS[:5, [0, 3, 2, 1, 0]].tolist()))
    shares = [f"p_{label}" for label in ("setosa", "versicolor", "virginica")]
    assert [column[0] for column in cursor.description] == [*names[::-1], "prediction", *shares]


def test_ties_go_to_the_first_class(database):
    database.load(columns_of(IRIS), IRIS)
    query = to_sql(twins(), "data", columns=columns_of(IRIS), keep=["id"], dialect=database.dialect)
    assert set(database.answers(query)[0]) == {"a", "c"}


def test_integers_and_nulls_are_numbers_and_holes(database):
    database.connection.execute("DROP TABLE IF EXISTS data")
    database.connection.execute("CREATE TABLE data (id INTEGER, a SMALLINT, b DECIMAL(9, 3))")
    database.connection.execute(
        "INSERT INTO data VALUES (0, 1, 2.5), (1, NULL, 4.125), (2, 3, NULL)"
    )
    model = GaussianNB().fit(IRIS[:, :2], LABELS)
    query = to_sql(model, "data", columns=["a", "b"], keep=["id"], dialect=database.dialect)
    X = np.array([[1, 2.5], [np.nan, 4.125], [3, np.nan]])
    assert_agrees(model, X, *database.answers(query), atol=1e-9)


def test_a_column_that_is_not_there_is_an_error(database):
    database.load(columns_of(IRIS), IRIS)
    query = to_sql(CASES["iris"]()[0], "data", columns=[*"wxyz"], dialect=database.dialect)
    errors = (duckdb.Error, sqlite3.Error, psycopg.Error)
    with pytest.raises(errors, match=r"(?i)no such column|does not exist|does not have"):
        database.connection.execute(query).fetchall()


# --- in databases that are not here ---------------------------------------------------------------


@pytest.mark.parametrize("dialect", sorted({*DIALECTS} - {"duckdb", "sqlite", "postgres"}))
def test_every_dialect_means_the_same(dialect):
    """What sqlglot reads in one dialect, it writes in DuckDB's, and there it can be run."""
    model, X = CASES["holes"]()
    here = Database("duckdb", duckdb.connect())
    here.load(columns_of(X), X)
    query = to_sql(model, "data", columns=columns_of(X), keep=["id"], dialect=dialect)
    (translated,) = sqlglot.transpile(query, read=dialect, write="duckdb")
    assert_agrees(model, X, *here.answers(translated), atol=1e-9)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_well_formed(dialect):
    labels = ["it's", 'say "x" \\ %s\n', "日本語"]
    model = GaussianNB().fit(IRIS, np.array(labels)[np.arange(150) // 50])
    query = to_sql(model, "lab.data", columns=NAMES[:4], keep=NAMES[4:], dialect=dialect)
    (tree,) = sqlglot.parse(query, dialect=dialect)
    assert isinstance(tree, exp.Select)
    assert not list(tree.find_all(exp.Anonymous)), "a function that sqlglot does not know"
    assert {cell.name for cell in tree.find_all(exp.Column) if cell.table == "t"} == set(NAMES)
    texts = {text.this for text in tree.find_all(exp.Literal) if text.is_string}
    assert texts - {"NaN"} == set(labels)
    assert "lab.data AS t" in [table.sql(dialect) for table in tree.find_all(exp.Table)]


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["a b", "c-d"], ["a_b", "c_d"]),
        (["a b", "a-b"], ["0", "1"]),
        (["A", "a"], ["0", "1"]),
        (["a", "b" * 62], ["0", "1"]),
        ([-1, 1], ["_1", "1"]),
        ([False, True], ["False", "True"]),
    ],
    ids=["odd", "alike", "but for case", "long", "integers", "booleans"],
)
def test_probabilities_are_named_after_the_labels(labels, names):
    model = GaussianNB().fit([[0.0], [1.0]], labels)
    tree = sqlglot.parse_one(to_sql(model, "data", columns=["x"]), dialect="duckdb")
    assert tree.named_selects == ["prediction", *(f"p_{name}" for name in names)]


def test_the_model_knows_its_columns():
    pl = pytest.importorskip("polars")
    model = GaussianNB().fit(pl.DataFrame(IRIS, schema=NAMES[:4]), LABELS)
    assert to_sql(model, "data") == to_sql(CASES["iris"]()[0], "data", columns=NAMES[:4])


@pytest.mark.parametrize("table", ["data", "lab.data", '"my data"', "read_parquet('a.parquet')"])
def test_a_table_is_what_the_dialect_calls_one(table):
    query = to_sql(CASES["iris"]()[0], table, columns=[*"abcd"])
    assert sqlglot.parse_one(query, dialect="duckdb").find(exp.Table) is not None


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dialect": "mysql"}, "dialect must be one of duckdb, postgres, .*; got 'mysql'"),
        ({"columns": None}, r"columns must name the table's columns: .* columns=\[\.\.\.\] with 4"),
        ({"columns": ["a"]}, r"columns must name the 4 columns of the model; got \['a'\]"),
        ({"columns": "abcd"}, "columns must name the 4 columns of the model; got 'abcd'"),
        ({"table": "data; DROP TABLE data"}, "table must be a table's name as duckdb writes it"),
        ({"table": "my data d"}, "table must be a table's name as duckdb writes it"),
        ({"keep": ["prediction"]}, "must have different names; got 'prediction' twice"),
        ({"keep": "id"}, "keep must be a list of names; got 'id'"),
        ({"keep": ["a\0"]}, "names of columns must not hold a zero byte"),
        ({"label": "\ud800"}, "names of columns must be Unicode text"),
    ],
    ids=[
        "dialect",
        "no names",
        "too few",
        "a text",
        "two",
        "alias",
        "twice",
        "keep",
        "zero",
        "half",
    ],
)
def test_what_cannot_be_written_is_refused(options, message):
    options = {"table": "data", "columns": [*"abcd"], **options}
    with pytest.raises(NaivelyError, match=message):
        to_sql(CASES["iris"]()[0], **options)


def test_a_label_with_a_zero_byte_is_refused():
    with pytest.raises(NaivelyError, match="labels must not hold a zero byte"):
        to_sql(GaussianNB().fit([[0.0], [1.0]], ["a\0b", "c"]), "data", columns=["x"])


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    message = f"exporting to SQL needs the package sqlglot: {install('sql')}"
    with pytest.raises(NaivelyError, match=re.escape(message)):
        to_sql(GaussianNB().fit([[0.0]], ["a"]), "data", columns=["x"])
