"""How databases spell what a query needs: names, texts, numbers, sums, and where they differ.

>>> Spelling("postgres").name('5" nails')
'"5"" nails"'
>>> number(0.1), added(-2.5), added(3.0)
('0.1e0', '- 2.5e0', '+ 3.0e0')
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import PARTS, WEEKDAYS
from naively.data.rows import BOOLEANS
from naively.data.schema import Schema
from naively.errors import NaivelyError, need

_MAX_TERMS = 50  # SQLite and DuckDB refuse expressions 1000 deep, SQLite 128 arguments

# The text ``{0}`` of a date, in any spelling of ISO 8601, as a minute and an offset: no database
# reads them all. Seconds change none of the parts.
_ZONE = "SUBSTR({0}, 12) LIKE '%+{1}' OR SUBSTR({0}, 12) LIKE '%-{1}'"
_MINUTE = (
    "SUBSTR({0}, 1, 10) || ' ' || CASE WHEN LENGTH({0}) > 10 THEN SUBSTR({0}, 12, 2) "
    "ELSE '00' END || ':' || CASE WHEN SUBSTR({0}, 14, 1) = ':' THEN SUBSTR({0}, 15, 2) "
    "ELSE '00' END || ':00' || "
    f"CASE WHEN {_ZONE.format('{0}', '__')} THEN SUBSTR({{0}}, LENGTH({{0}}) - 2) || ':00' "
    f"WHEN {_ZONE.format('{0}', '____')} THEN SUBSTR({{0}}, LENGTH({{0}}) - 4, 3) || ':' || "
    "SUBSTR({0}, LENGTH({0}) - 1) "
    f"WHEN {_ZONE.format('{0}', '__:__')} THEN SUBSTR({{0}}, LENGTH({{0}}) - 5) ELSE '+00:00' END"
)


@dataclass(frozen=True)
class Dialect:
    """What sqlglot does not tell."""

    # A number ``{0}``, or NULL for NaN. Most hold that NaN equals itself; SQLite has none.
    nan: str = "NULLIF({0}, CAST('NaN' AS {double}))"
    # The square of ``{0}``. Of a product, DuckDB's planner looks for common parts, and needs
    # minutes for wide models; without its mathematical functions, SQLite has nothing else.
    square: str = "POWER({0}, 2)"
    whole: str = "TRUNC({0})"  # the whole part of ``{0}``, which Spark takes of dates alone
    greatest: str = "GREATEST"  # the function of several arguments
    # Ends a step. PostgreSQL and SQLite would write a step out wherever the next one names its
    # columns, and work through it as often; a limit keeps them apart, and stores nothing.
    fence: str = ""
    # the step ``{name}`` of ``{rows}`` that are written out, and the names of its columns
    rows: str = "{name} ({columns}) AS (\n  SELECT * FROM (VALUES\n    {rows}\n  ) AS v\n)"
    struct: bool = False  # whether such a row is a ``STRUCT``, and the first one names the columns
    # The year, month, weekday (0 for Monday) and hour of the date or time ``{0}``, of an instant
    # in UTC whatever the zone of the session; None where nobody has tried. Seconds since 1970 are
    # the same for an instant and for a time without a zone that is taken for UTC.
    dates: tuple[str, str, str, str] | None = None
    instant: str = f"CAST({_MINUTE} AS TIMESTAMPTZ)"  # of the text ``{0}`` of a date


_WHOLE_LONG = "CASE WHEN ABS({0}) < 1e15 THEN CAST({0} AS BIGINT) ELSE {0} END"

_IN_DUCKDB = "MAKE_TIMESTAMP(EPOCH_US({0}))"
_IN_POSTGRES = (
    "(TIMESTAMP '1970-01-01' + CAST(FLOOR(EXTRACT(EPOCH FROM {0})) AS DOUBLE PRECISION) "
    "* INTERVAL '1 second')"
)
# To SQLite, whose dates are texts, the 30th of February is the 1st of March, and what is no date is
# NULL. It has no function that raises an error; a bad path of JSON is one that quotes the cell.
_IN_SQLITE = (
    "COALESCE(STRFTIME('{1}', CASE WHEN DATE(JULIANDAY(SUBSTR({0}, 1, 10))) = SUBSTR({0}, 1, 10) "
    f"THEN {_MINUTE} END), JSON_EXTRACT('[]', 'this must be a date: ' || {{0}}))"
)
_SPARK_SECONDS = "UNIX_SECONDS(CAST({0} AS TIMESTAMP))"  # of a TIMESTAMP, which is an instant
_SPARK_DAY = (
    "CASE WHEN TYPEOF({0}) = 'timestamp' "
    f"THEN DATE_FROM_UNIX_DATE(CAST(FLOOR({_SPARK_SECONDS} / 86400) AS INT)) "
    "ELSE CAST({0} AS DATE) END"
)
_SPARK_HOUR = (
    "CASE WHEN TYPEOF({0}) = 'timestamp' "
    f"THEN PMOD(FLOOR({_SPARK_SECONDS} / 3600), 24) ELSE HOUR(CAST({{0}} AS TIMESTAMP_NTZ)) END"
)
_DATES_IN_SPARK = f"YEAR({_SPARK_DAY})", f"MONTH({_SPARK_DAY})", f"WEEKDAY({_SPARK_DAY})"

DIALECTS = {
    "duckdb": Dialect(
        dates=(
            f"YEAR({_IN_DUCKDB})",
            f"MONTH({_IN_DUCKDB})",
            f"(ISODOW({_IN_DUCKDB}) - 1)",
            f"HOUR({_IN_DUCKDB})",
        )
    ),
    "postgres": Dialect(
        fence="\n  OFFSET 0",
        # The square of less than 1e-162 would be 0, which is an error.
        square="POWER(ABS({0}) + 1e-150, 2)",
        dates=(
            f"EXTRACT(YEAR FROM {_IN_POSTGRES})",
            f"EXTRACT(MONTH FROM {_IN_POSTGRES})",
            f"(EXTRACT(ISODOW FROM {_IN_POSTGRES}) - 1)",
            f"EXTRACT(HOUR FROM {_IN_POSTGRES})",
        ),
    ),
    "sqlite": Dialect(
        "{0}",
        "({0}) * ({0})",
        "CAST({0} AS INTEGER)",
        "MAX",
        fence="\n  LIMIT -1",
        dates=(
            f"CAST({_IN_SQLITE.format('{0}', '%Y')} AS INTEGER)",
            f"CAST({_IN_SQLITE.format('{0}', '%m')} AS INTEGER)",
            f"(CAST({_IN_SQLITE.format('{0}', '%w')} AS INTEGER) + 6) % 7",
            f"CAST({_IN_SQLITE.format('{0}', '%H')} AS INTEGER)",
        ),
        instant="{0}",
    ),
    "bigquery": Dialect(
        nan="CASE WHEN IS_NAN({0}) THEN NULL ELSE {0} END",
        rows="{name} AS (\n  SELECT * FROM UNNEST([\n    {rows}\n  ])\n)",
        struct=True,
    ),
    "snowflake": Dialect(),
    "spark": Dialect(
        whole=_WHOLE_LONG,
        dates=(*_DATES_IN_SPARK, _SPARK_HOUR),
        instant=f"CAST({_MINUTE} AS TIMESTAMP)",
    ),
    "databricks": Dialect(whole=_WHOLE_LONG),
}


class Spelling:
    """Writes in one of `DIALECTS`, by sqlglot's knowledge of it, what reads a table.

    To SQLite, a step of the same name as the table would be the table.
    """

    def __init__(self, dialect: str, table: str = "") -> None:
        self._sqlglot = need("sqlglot", "exporting to SQL", extra="sql")
        if dialect not in DIALECTS:
            raise NaivelyError(f"dialect must be one of {', '.join(DIALECTS)}; got {dialect!r}.")
        self._dialect, self._own = dialect, DIALECTS[dialect]
        build = self._sqlglot.exp.DataType.build
        self.double, self._text = map(self._written, (build("DOUBLE"), build("TEXT")))
        self.fence, self._prefix = self._own.fence, "naively"
        while f"{self._prefix}_" in table.casefold():
            self._prefix += "_own"

    def name(self, name: str) -> str:
        """Quote a name."""
        return self._written(self._sqlglot.to_identifier(name, quoted=True))

    def step(self, name: str) -> str:
        """Name a step of a query otherwise than its table.

        >>> Spelling("sqlite").step("total"), Spelling("sqlite", "Naively_total").step("total")
        ('naively_total', 'naively_own_total')
        """
        return f"{self._prefix}_{name}"

    def text(self, text: str) -> str:
        """Quote a text."""
        return self._written(self._sqlglot.exp.Literal.string(text))

    def cast(self, value: str) -> str:
        """Make a value a float64."""
        return f"CAST({value} AS {self.double})"

    def float64(self, value: str) -> str:
        """Make a value a float64, and NaN NULL."""
        return self.not_nan(self.cast(value))

    def cast_text(self, value: str) -> str:
        """Make a value a text."""
        return f"CAST({value} AS {self._text})"

    def boolean(self, value: str) -> str:
        """Make a value the text ``True`` or ``False`` if it is a boolean in any spelling.

        To SQLite a boolean is 1 or 0, and a file may have left texts; PostgreSQL compares none of
        them with a boolean. As text they are alike everywhere.
        """
        text = self.cast_text(value)
        cases = [
            f"WHEN {text} IN ({', '.join(map(self.text, spellings))}) THEN {self.text(str(flag))}"
            for flag, spellings in BOOLEANS.items()
        ]
        return f"CASE {' '.join(cases)} ELSE {text} END"

    def date_part(self, value: str, part: str, *, as_number: bool = False) -> str:
        """Write a part of a date: a number, or for a weekday its name unless that is wanted."""
        if self._own.dates is None:
            known = ", ".join(name for name, its in DIALECTS.items() if its.dates is not None)
            raise NaivelyError(
                f"the parts of dates are written for {known}; got {self._dialect}. Make a view "
                "with a column for each part."
            )
        found = self._own.dates[PARTS.index(part)].format(value)
        if part != "weekday" or as_number:
            return found
        cases = [f"WHEN {i} THEN {self.text(day)}" for i, day in enumerate(WEEKDAYS)]
        return f"CASE CAST({found} AS INTEGER) {' '.join(cases)} END"

    def instant(self, text: str) -> str:
        """Make a text that is a date an instant: in UTC, unless it has an offset."""
        return self._own.instant.format(text)

    def not_nan(self, value: str) -> str:
        """Make NaN NULL."""
        return self._own.nan.format(value, double=self.double)

    def whole(self, value: str) -> str:
        """Return the whole part of a value."""
        return self._own.whole.format(value)

    def square(self, value: str) -> str:
        """Square a value."""
        return self._own.square.format(value)

    def greatest(self, values: list[str]) -> str:
        """Return the greatest value."""
        while len(values) > 1:
            groups = [values[i : i + _MAX_TERMS] for i in range(0, len(values), _MAX_TERMS)]
            values = [f"{self._own.greatest}({', '.join(group)})" for group in groups]
        return values[0]

    def rows(self, name: str, columns: list[str], rows: list[list[str]]) -> str:
        """Write out the rows of a step."""
        if self._own.struct:
            first = [f"{value} AS {column}" for value, column in zip(rows[0], columns, strict=True)]
            rows = [first, *rows[1:]]
        kind = "STRUCT" if self._own.struct else ""
        written = ",\n    ".join(f"{kind}({', '.join(row)})" for row in rows)
        return self._own.rows.format(name=name, columns=", ".join(columns), rows=written)

    def label(self, label: Any) -> str:
        """Write a label of any type."""
        if isinstance(label, str):
            return self.text(label)
        if isinstance(label, bool):
            return str(label).upper()
        return self.cast(number(label)) if isinstance(label, float) else str(label)

    def table(self, table: str, alias: str) -> str:
        """Give a table an alias: ``readings AS t``."""
        exp, errors = self._sqlglot.exp, self._sqlglot.errors
        try:
            parsed = self._sqlglot.parse_one(table, into=exp.Table, dialect=self._dialect)
        except errors.SqlglotError:
            raise NaivelyError(
                f"table must be a table's name as {self._dialect} writes it; got {table!r}. "
                "Quote a name that is not plain."
            ) from None
        return self._written(exp.alias_(parsed, alias, table=True))

    def _written(self, expression: Any) -> str:
        return str(expression.sql(self._dialect))


def number(value: float) -> str:
    """Write a number to its last bit, and with an exponent: without one it may be a decimal."""
    digits, _, exponent = repr(float(value)).partition("e")
    return f"{digits}e{int(exponent or 0)}"


def named(value: str, name: str) -> str:
    """Give a value a name."""
    return f"{value} AS {name}"


def added(value: float) -> str:
    """Write a number to be added to what stands before it."""
    return f"- {number(-value)}" if value < 0 else f"+ {number(abs(value))}"


def total(terms: list[str]) -> str:
    """Write a sum, one term a line, in groups that keep the expression shallow."""
    while len(terms) > _MAX_TERMS:
        groups = [terms[i : i + _MAX_TERMS] for i in range(0, len(terms), _MAX_TERMS)]
        terms = [f"({' + '.join(group)})" for group in groups]
    return "\n      + ".join(terms) or "0"


def halved(value: str, cuts: list[str], leaves: list[str]) -> str:
    """Write a choice by halving: leaf i where the value is from cut i - 1 to below cut i.

    >>> halved("x", ["1", "2"], ["a", "b", "c"])
    'CASE WHEN x < 2 THEN CASE WHEN x < 1 THEN a ELSE b END ELSE c END'
    """
    if not cuts:
        return leaves[0]
    half = len(cuts) // 2
    below = halved(value, cuts[:half], leaves[: half + 1])
    above = halved(value, cuts[half + 1 :], leaves[half + 1 :])
    return f"CASE WHEN {value} < {cuts[half]} THEN {below} ELSE {above} END"


# --- The columns of a query ----------------------------------------------------------------------


def reads_dates(schema: Schema, columns: Sequence[str] | None) -> bool:
    """Whether the query works out the parts of dates; else they are columns of the table."""
    inputs, names = schema.inputs or (), schema.names or ()
    if not schema.dates or columns is None or len(columns) != len(inputs):
        return bool(schema.dates) and columns is None
    given = zip(columns, names, strict=False)
    return len(names) > len(inputs) or any(c != n for c, n in given if schema.input(n) != n)


def column_names(schema: Schema, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the table's columns, in the model's order."""
    if reads_dates(schema, columns):
        own = dict(zip(schema.inputs or (), columns or schema.inputs or (), strict=True))
        return [own[schema.input(name)] for name in schema.names or ()]
    if columns is None:
        if schema.names is None:
            raise NaivelyError(
                "columns must name the table's columns: the model was fitted on an array "
                f"without names. Give columns=[...] with {schema.n_columns} of them."
            )
        return list(schema.names)
    if isinstance(columns, str) or len(columns) != schema.n_columns:
        raise NaivelyError(
            f"columns must name the {schema.n_columns} columns of the model; got {columns!r}."
        )
    return list(columns)


def share_names(classes: NDArray[np.generic]) -> list[str]:
    """Return names of probabilities that every database takes, each for another one.

    >>> share_names(np.array(["no", "not yet"]))
    ['p_no', 'p_not_yet']
    """
    labels = [re.sub(r"\W", "_", str(label)) for label in classes.tolist()]
    names = [f"p_{label}" for label in labels]
    distinct = len({name.casefold() for name in names}) == len(names)
    if distinct and all(len(name.encode()) <= 63 for name in names):  # PostgreSQL's limit
        return names
    return [f"p_{k}" for k in range(len(names))]
