r"""A model as one SELECT that scores a table where it is.

The query has a step for each step of the formula: the cells as numbers, the sum
:math:`\log p(k) + \sum_j \log f_{kj}(x_j)` of each class, the best of them, weights
:math:`\exp(\text{joint}_k - \text{best})`, and their shares of the total. NULL and NaN are
missing cells, whose term is left out; a category that was never seen is what it is to `predict`;
ties go to the first class.

Examples
--------
>>> from naively import GaussianNB
>>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["low", "low", "high", "high"])
>>> query = to_sql(model, "readings", columns=["level"], keep=["id"])
>>> print(query[query.rindex("SELECT"):])
SELECT
  keep_0 AS "id",
  CASE WHEN joint_0 = best THEN 'high' WHEN joint_1 = best THEN 'low' END AS "label",
  weight_0 / total AS "probability_high",
  weight_1 / total AS "probability_low"
FROM naively_total
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from naively.data.schema import Schema
from naively.engines.sql.dialects import Spelling
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.scoring.export.plain import check_text
from naively.scoring.export.query import Query
from naively.scoring.export.sql_interactions import check_products
from naively.scoring.export.sums import Sum


def to_sql(
    model: SummaryClassifier,
    table: str,
    *,
    dialect: str = "duckdb",
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    label: str = "label",
    proba: bool = True,
) -> str:
    """Return one SELECT that scores the rows of a table.

    Its result has the columns to keep, the label, and ``probability_<label>`` for each class:
    the label's letters, digits and underscores, with ``_`` for any other character. Where that
    would give two classes one name, or a long one, they are numbered: ``probability_0``, ...

    Parameters
    ----------
    model : estimator
        Fitted.
    table : str
        The table as the dialect writes it: ``readings``, ``lab.readings``, ``"my readings"``.
    dialect : str, default="duckdb"
        One of duckdb, postgres, sqlite, bigquery, snowflake, spark and databricks.
    columns : sequence of str, default=None
        What the table calls the model's columns, in the model's order; None for the names that
        `fit` met. Names are quoted: upper and lower case count. A column of dates stands for all
        of its parts, which the query works out; where the table itself has a column for each part,
        name those.
    keep : sequence of str, default=()
        Columns of the table to pass on, such as a key: SQL promises no order of rows.
    label : str, default="label"
        What to call the predicted label.
    proba : bool, default=True
        Whether probabilities are wanted. Labels alone need no ``exp``, which some builds of
        SQLite lack.

    Notes
    -----
    A query cannot refuse a cell of infinity, which is an error in `predict`: it counts as very
    far. Of classes that are infinitely and equally far, one is chosen as if no cell were missing.

    No row of finite numbers raises an overflow or underflow, where a database knows such
    errors: joints of Gaussians are in units of 2^512, as `naively.scoring.export.sums` explains.
    PostgreSQL and BigQuery do not cast booleans to floats; cast such columns to integers in a
    view. BigQuery takes queries of up to 1 MB: some 7000 pairs of a class and a column.

    A `NaiveBayes` is written term by term. A Student t takes a logarithm (``LN``, which some builds
    of SQLite lack); histograms and categories are small tables that are joined, so that rows may
    come in another order. A histogram takes some 10 kB, and 3 kB more for each class beyond two:
    DuckDB plans 50 of them in seconds, 200 in a minute. Categories are compared as text or
    as floats, as the model has met them; a boolean may be a boolean, 1 and 0, or the texts
    ``true``, ``True``, ``TRUE``, ``1`` and their likes. A cell more than 1e150 lengths from all
    classes (1e220 of a `GaussianNB`), or beyond 8e307, counts as being there. Databases limit
    the columns of a step (SQLite has 2000, PostgreSQL 1664): some hundred classes fit. Of the
    codes of a `CategoricalNB` the whole part counts; a negative one, which is an error in
    `predict`, was never seen. Where ``alpha=0`` makes every class impossible, those with the
    fewest impossible cells remain. Directions and pairs of columns are steps
    and small tables of their own; a quadratic term of more than 5,000 products for a row is an
    error that names ``interactions=("canonical", "pairs")``. ``costs`` and ``reject`` cannot be
    written, and are an error.
    """
    spelling = Spelling(dialect, table)
    numbers = Sum.of(model)
    check_products(numbers)
    names = column_names(numbers, columns)
    if isinstance(keep, str):
        raise NaivelyError(f"keep must be a list of names; got {keep!r}.")
    shares = share_names(numbers.classes) if proba else []
    _check_names([*names, *keep, label], result=[*keep, label, *shares])
    query = Query(spelling, numbers, reads_dates=reads_dates(numbers.schema, columns))
    return query.text(table, names, list(keep), label, shares)


def reads_dates(schema: Schema, columns: Sequence[str] | None) -> bool:
    """Whether the query works out the parts of dates; else they are columns of the table."""
    inputs, names = schema.inputs or (), schema.names or ()
    if not schema.dates or columns is None or len(columns) != len(inputs):
        return bool(schema.dates) and columns is None
    given = zip(columns, names, strict=False)
    return len(names) > len(inputs) or any(c != n for c, n in given if schema.input(n) != n)


def column_names(model: Sum, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the table's columns, in the model's order."""
    n_columns, schema = model.n_columns, model.schema
    if reads_dates(schema, columns):
        own = dict(zip(schema.inputs or (), columns or schema.inputs or (), strict=True))
        return [own[schema.input(name)] for name in schema.names or ()]
    if columns is None:
        if model.names is None:
            raise NaivelyError(
                "columns must name the table's columns: the model was fitted on an array "
                f"without names. Give columns=[...] with {n_columns} of them."
            )
        return list(model.names)
    if isinstance(columns, str) or len(columns) != n_columns:
        raise NaivelyError(
            f"columns must name the {n_columns} columns of the model; got {columns!r}."
        )
    return list(columns)


def share_names(classes: NDArray[np.generic]) -> list[str]:
    """Return names that every database takes, and no two of which it takes for one."""
    labels = [re.sub(r"\W", "_", str(label)) for label in classes.tolist()]
    names = [f"probability_{label}" for label in labels]
    distinct = len({name.casefold() for name in names}) == len(names)
    if distinct and all(len(name.encode()) <= 63 for name in names):  # PostgreSQL's limit
        return names
    return [f"probability_{k}" for k in range(len(names))]


def _check_names(names: list[str], *, result: list[str]) -> None:
    for name in names:
        check_text(name, "names of columns")
    (name, times), *_ = Counter(map(str.casefold, result)).most_common(1)
    if times > 1:  # upper and lower case are one to most databases
        raise NaivelyError(
            f"the query's columns must have different names; got {name!r} twice. "
            "Call the label otherwise with label=..., or do not keep that column."
        )
