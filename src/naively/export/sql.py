r"""A model as one SELECT that scores a table where it is.

The query has a step for each step of the formula: the cells as numbers, the sum
:math:`\log p(k) + \sum_j \log f_{kj}(x_j)` of each class, the best of them, weights
:math:`\exp(\text{joint}_k - \text{best})`, and their shares of the total. NULL and NaN are
missing cells, whose term is left out; of equal classes the first is taken.

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

from naively.exceptions import NaivelyError
from naively.export.spelling import Spelling, added, number, total
from naively.export.terms import SQUARE_UNIT, UNIT, Fitted, Terms, check_text, power_of_ten

__all__ = ["column_names", "share_names", "to_sql"]

_HEAD = """\
-- A naive Bayes model. joint_k is log p(k) + the sum of log f_kj(x_j) over the columns j, in units
-- of 2^512: its squares neither overflow nor underflow. A missing cell leaves its term out.
"""
_LEAST = -700.0  # exp of less is 0 to every purpose, and an error in PostgreSQL
_BEYOND = -SQUARE_UNIT  # in units of 2^512; in units of 1, infinite


def to_sql(
    model: Fitted,
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
        `fit` met. Names are quoted: upper and lower case count.
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
    errors: joints are in units of 2^512, as `naively.export.terms` explains. PostgreSQL and
    BigQuery do not cast booleans to floats; cast such columns to integers in a view. BigQuery
    takes queries of up to 1 MB: some 7000 pairs of a class and a column.
    """
    spelling = Spelling(dialect)
    terms = Terms.of(model)
    names = column_names(terms, columns)
    if isinstance(keep, str):
        raise NaivelyError(f"keep must be a list of names; got {keep!r}.")
    shares = share_names(terms.classes) if proba else []
    _check_names([*names, *keep, label], result=[*keep, label, *shares])
    return _Query(spelling, terms).text(table, names, list(keep), label, shares)


class _Query:
    """The steps. Column j is ``x_j``; class k has ``joint_k`` and ``weight_k``."""

    def __init__(self, spelling: Spelling, terms: Terms) -> None:
        self.spelling, self.terms = spelling, terms
        self.classes: list[int] = np.flatnonzero(terms.possible).tolist()
        # Of rows beyond every class, those that tie go by what is left: the joint of no holes.
        rest = terms.offset - terms.offset.max()
        self.weight_beyond = np.exp(np.maximum(rest, _LEAST))
        self.classes_beyond = sorted(self.classes, key=lambda k: -rest[k])

    def text(
        self, table: str, names: list[str], keep: list[str], label: str, shares: list[str]
    ) -> str:
        """Write the query."""
        source = self.spelling.table(table, alias="t")
        kept = [f"keep_{i}" for i in range(len(keep))]
        passed = [self.cell(name) for name in keep]
        steps = {
            "cells": [*map(_named, passed, kept), *self.cells(names)],
            "bounded": [*kept, *self.bounded()],
            "joint": [*kept, *self.joint()],
            "best": ["*", _named(self.spelling.greatest(self.each("joint")), "best")],
        }
        if shares:
            steps["weights"] = ["*", *self.weights()]
            steps["total"] = ["*", _named(total(self.each("weight")), "total")]
        written = []
        for name, values in steps.items():
            listed = ",\n    ".join(values)
            step = f"  SELECT\n    {listed}\n  FROM {source}{self.spelling.fence}"
            source = f"naively_{name}"
            written.append(f"{source} AS (\n{step}\n)")
        results = [*kept, self.label(), *(self.shares() if shares else ())]
        quoted = map(self.spelling.name, [*keep, label, *shares])
        listed = ",\n  ".join(map(_named, results, quoted))
        return f"{_HEAD}WITH {', '.join(written)}\nSELECT\n  {listed}\nFROM {source}"

    def cell(self, name: str) -> str:
        return f"t.{self.spelling.name(name)}"  # SQLite reads an unknown "name" as a text

    def each(self, what: str) -> list[str]:
        return [f"{what}_{k}" for k in self.classes]

    def cells(self, names: list[str]) -> list[str]:
        """Write cells as numbers, NULL where they are missing."""
        numbers = [self.spelling.cast(self.cell(name)) for name in names]
        return [_named(self.spelling.not_nan(x), f"x_{j}") for j, x in enumerate(numbers)]

    def bounded(self) -> list[str]:
        """Write cells that can be squared without overflow, or underflow."""
        terms = self.terms
        bounds = [map(number, b) for b in (terms.lowest, terms.highest, _smallest(terms))]
        return [
            f"CASE WHEN x_{j} < {lowest} THEN {lowest} WHEN x_{j} > {highest} THEN {highest} "
            f"WHEN ABS(x_{j}) < {smallest} THEN 0 ELSE x_{j} END AS x_{j}"
            for j, (lowest, highest, smallest) in enumerate(zip(*bounds, strict=True))
        ]

    def joint(self) -> list[str]:
        """Write log p(k) + sum_j log f_kj(x_j), in units of 2^512."""
        terms = self.terms
        mean = np.where(np.abs(terms.mean) < _smallest(terms), 0.0, terms.mean)
        root, norm = np.sqrt(terms.scale) / UNIT, terms.log_norm / SQUARE_UNIT
        seen = np.flatnonzero(terms.scale.any(axis=0)).tolist()

        def term(k: int, j: int) -> str:
            z = f"(x_{j} {added(-mean[k, j])}) * {number(root[k, j])}"
            return f"COALESCE({self.spelling.square(z)} {added(norm[k, j])}, 0)"

        def sum_of(k: int) -> str:
            log_prior = self.spelling.cast(number(terms.log_prior[k] / SQUARE_UNIT))
            return f"{log_prior} - (\n      {total([term(k, j) for j in seen])}\n    )"

        return [_named(sum_of(k), f"joint_{k}") for k in self.classes]

    def weights(self) -> list[str]:
        """Write exp(joint - best)."""
        return [
            f"CASE WHEN joint_{k} - best < {number(_LEAST / SQUARE_UNIT)} THEN 0 "
            f"WHEN best < {number(_BEYOND)} THEN {number(self.weight_beyond[k])} "
            f"ELSE EXP((joint_{k} - best) * {number(SQUARE_UNIT)}) END AS weight_{k}"
            for k in self.classes
        ]

    def label(self) -> str:
        """Write the first class whose joint is the best."""
        near, beyond = self.first(self.classes), self.first(self.classes_beyond)
        if near == beyond:
            return near
        return f"CASE WHEN best < {number(_BEYOND)} THEN {beyond} ELSE {near} END"

    def first(self, classes: list[int]) -> str:
        labels = map(self.spelling.label, self.terms.classes[classes].tolist())
        cases = [
            f"WHEN joint_{k} = best THEN {label}" for k, label in zip(classes, labels, strict=True)
        ]
        return f"CASE {' '.join(cases)} END"

    def shares(self) -> list[str]:
        """Write the probability of each class."""
        never = self.spelling.cast("0")
        shares = [f"weight_{k} / total" for k in range(self.terms.classes.size)]
        return [
            share if possible else never
            for share, possible in zip(shares, self.terms.possible, strict=True)
        ]


def _named(value: str, name: str) -> str:
    return f"{value} AS {name}"


def _smallest(terms: Terms) -> NDArray[np.float64]:
    """Return what may count as 0 in each column: 1e-17 of the smallest deviation.

    Or 1e-66 of the largest, should that be more: the square of less would be 0, which is an
    error in PostgreSQL.
    """
    root = np.sqrt(np.where(terms.scale > 0, terms.scale, 1.0))
    return power_of_ten(np.maximum(1e-17 / root.max(axis=0), 1e-66 / root.min(axis=0)))


def column_names(terms: Terms, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the table's columns, in the model's order."""
    n_columns = terms.mean.shape[1]
    if columns is None:
        if terms.names is None:
            raise NaivelyError(
                "columns must name the table's columns: the model was fitted on an array "
                f"without names. Give columns=[...] with {n_columns} of them."
            )
        return list(terms.names)
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
