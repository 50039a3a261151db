"""Hostile names of tables, columns, labels and categories, in queries on real databases.

Whatever they are called, the query answers as `predict_proba` does, or says before what cannot
be written.
"""

import re

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.export import to_sql
from tests import databases, postgres

NAMES = ["duckdb", "sqlite"] + ["postgres"] * (postgres.binaries() is not None)
PIECES = ['"', "'", "`", "\\", ";", "--", "/*", "*/", "%s", "%", "{0}", "{}", "$1", ":a", "?", "@x"]
PIECES += [
    "]",
    "[",
    "(",
    ")",
    ",",
    ".",
    " ",
    "\n",
    "\t",
    "ü",
    "日本",
    "🦆",
    "é",
    "é",
    "A",
    "a",
    "ß",
]
PIECES += [
    "select",
    "NULL",
    "NaN",
    "null",
    "true",
    "1",
    "01",
    "1e5",
    "id",
    "label",
    "total",
    "best",
]
PIECES += ["naively_total", "naively_cells", "joint_0", "weight_0", "keep_0", "x_0", "rows", "data"]
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
OWN = ["naively_total", "naively_cells", "naively_joint", "naively_rows", "total", "v", "scored"]
tables = texts | st.sampled_from(OWN)


def distinct(values, size):
    """As many values, no two of which a database takes for one."""
    return st.lists(values, min_size=size, max_size=size, unique_by=str.casefold)


CASES = st.fixed_dictionaries(
    {
        "database": st.sampled_from(NAMES),
        "estimator": st.sampled_from(["gaussian", "mixed"]),
        "table": tables,
        "columns": distinct(texts.filter(lambda name: name.casefold() != "id"), 3),
        "labels": distinct(texts, 3),
        "categories": st.lists(texts, min_size=3, max_size=3, unique=True),
    }
)


def check(case):
    frame, y = rows_of(case)
    model = GaussianNB() if case["estimator"] == "gaussian" else NaiveBayes(calibration=None)
    features = frame[case["columns"][: 2 if case["estimator"] == "gaussian" else 3]]
    model.fit(features, y)
    database = databases.opened(case["database"])
    table = databases.quoted(case["table"])
    try:
        query = to_sql(model, table, keep=["id"], label="answer", dialect=case["database"])
    except NaivelyError as error:
        if not re.search("must not hold|different names", str(error)):
            raise
        return
    labels, probabilities = asked(database, table, frame, query)
    np.testing.assert_allclose(probabilities, model.predict_proba(features), atol=1e-9)
    assert labels == model.predict(features).tolist()


def rows_of(case):
    rng = np.random.default_rng(0)
    codes = np.arange(12) % 3
    first, second, third = case["columns"]
    towns = np.array(case["categories"], dtype=object)[(codes + rng.integers(0, 2, 12)) % 3]
    columns = {first: rng.normal(codes), second: rng.normal(2.0 * codes), third: towns}
    return pd.DataFrame({"id": np.arange(12), **columns}), np.array(case["labels"])[codes]


def asked(database, table, frame, query):
    """Fill a table of that name, ask, and remove it."""
    kinds = ["BIGINT", "DOUBLE PRECISION", "DOUBLE PRECISION", "TEXT"]
    columns = [f"{databases.quoted(n)} {k}" for n, k in zip(frame.columns, kinds, strict=True)]
    cursor = database.connection.con.cursor()
    mark = "%s" if database.name == "postgres" else "?"
    run(cursor, f"DROP TABLE IF EXISTS {table}")
    run(cursor, f"CREATE TABLE {table} ({', '.join(columns)})")
    cells = frame.astype(object).to_numpy().tolist()
    cursor.executemany(
        f"INSERT INTO {escaped(table, mark)} VALUES ({', '.join([mark] * 4)})", cells
    )
    try:
        run(cursor, f"SELECT * FROM ({query}) AS scored ORDER BY id")
        _, labels, *probabilities = zip(*cursor.fetchall(), strict=True)
    finally:
        if database.name == "postgres":
            database.connection.con.rollback()
        else:
            run(cursor, f"DROP TABLE {table}")
        cursor.close()
    return list(labels), np.array(probabilities, dtype=float).T


def run(cursor, statement):
    cursor.execute(statement)


def escaped(table, mark):
    return table.replace("%", "%%") if mark == "%s" else table
