"""Databases behind Ibis: DuckDB and SQLite in memory, PostgreSQL on loopback, Spark."""

import atexit
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any

import ibis
import pyarrow as pa
import pytest

from tests import postgres, sparks

NAMES = ["duckdb", "sqlite", "postgres", "spark"]
TYPES = {"float": "REAL", "double": "DOUBLE PRECISION", "string": "TEXT", "int64": "BIGINT"}
TYPES |= {
    "large_string": "TEXT",
    "null": "TEXT",
    "int32": "INTEGER",
    "int16": "SMALLINT",
    "bool": "BOOLEAN",
    "date32[day]": "DATE",
    "timestamp[us]": "TIMESTAMP",
    "timestamp[us, tz=UTC]": "TIMESTAMPTZ",
}

# Ibis 12 calls what DuckDB 2 and pandas 3 have announced to remove.
QUIET = [
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:::ibis.backends.pyspark"),
    pytest.mark.filterwarnings("ignore:::pyspark"),
]


@dataclass
class Database:
    """A connection, and how to get rows into it."""

    name: str
    connection: Any

    def load(self, table, name="data"):
        """Make a table of an Arrow table. NaN stays NaN, but in SQLite, which has none."""
        if self.name == "duckdb":
            self.connection.con.register("given", table)
            self.run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM given")
        elif self.name == "spark":
            frame = self.connection._session.createDataFrame(table)
            frame.repartition(2).createOrReplaceTempView(name)
        else:
            self._insert(table, name)
        return self.connection.table(unquoted(name))

    def run(self, statement):
        """Execute a statement that gives nothing."""
        done = self.connection.raw_sql(statement)
        if self.name in ("sqlite", "postgres"):
            done.connection.commit()
            done.close()

    def _insert(self, table, name):
        kinds = [
            TYPES.get(str(kind)) or f"NUMERIC({kind.precision}, {kind.scale})"
            for kind in table.schema.types
        ]
        columns = [f"{quoted(c)} {k}" for c, k in zip(table.column_names, kinds, strict=True)]
        self.run(f"DROP TABLE IF EXISTS {name} CASCADE" if self.name == "postgres" else
                 f"DROP TABLE IF EXISTS {name}")  # fmt: skip
        self.run(f"CREATE TABLE {name} ({', '.join(columns)})")
        marks = ", ".join([self.mark] * len(columns))
        rows = list(zip(*(map(self._plain, c.to_pylist()) for c in table.columns), strict=True))
        cursor = self.connection.con.cursor()
        cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        self.connection.con.commit()
        cursor.close()

    @property
    def mark(self):
        return "?" if self.name == "sqlite" else "%s"

    def _plain(self, cell):
        return float(cell) if self.name == "sqlite" and hasattr(cell, "as_tuple") else cell


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def unquoted(name):
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def connect(name):
    """Return a connection of its own, or skip the test where there is no such database."""
    if name == "duckdb":
        return Database(name, ibis.duckdb.connect())
    if name == "sqlite":
        return Database(name, ibis.sqlite.connect())
    if name == "spark":
        if sparks.absent():
            pytest.skip(sparks.absent())
        return Database(name, ibis.pyspark.connect(sparks.session()))
    if postgres.binaries() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    given = dict(part.split("=") for part in address().split())
    connection = ibis.postgres.connect(
        host=given["host"], port=int(given["port"]), user=given["user"], database=given["dbname"]
    )
    connection.con.prepare_threshold = None  # tables of one name get columns of other types
    return Database(name, connection)


@cache
def opened(name):
    """Return a connection for all tests that do not harm it."""
    database = connect(name)
    if name in ("sqlite", "postgres"):
        atexit.register(database.connection.disconnect)
    return database


@cache
def address():
    """Start PostgreSQL, which ends with the process; return what psycopg needs to connect."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(postgres.server())


def table_of(columns):
    """Return an Arrow table of columns, in which NaN is NaN."""
    return pa.table({name: pa.array(column) for name, column in columns.items()})
