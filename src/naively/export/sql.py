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

In symbols,

.. math:: p(k \mid x) = \frac{\exp(\text{joint}_k - \text{best})}
          {\sum_l \exp(\text{joint}_l - \text{best})}

A step is a SELECT from the step before it. PostgreSQL takes 1664 columns in a SELECT, and SQLite
joins 64 tables. So the terms of some columns are worked out and added up at a time, and the rest
wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import is_text
from naively.data.types import Floats
from naively.engines.sql.dialects import (
    Spelling,
    column_names,
    named,
    number,
    reads_dates,
    share_names,
    total,
)
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.export.sql_terms import (
    Curve,
    Ellipsoid,
    Grid,
    InteractionSteps,
    Line,
    Lookup,
    Piece,
    SqlTerm,
    check_products,
    function,
)
from naively.export.sums import IMPOSSIBLE, SQUARE_UNIT, UNIT, Sum, check_text, power_of_ten


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
    errors: joints of Gaussians are in units of 2^512, as `naively.export.sums` explains.
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
    names = column_names(numbers.schema, columns)
    if isinstance(keep, str):
        raise NaivelyError(f"keep must be a list of names; got {keep!r}.")
    shares = share_names(numbers.classes) if proba else []
    _check_names([*names, *keep, label], result=[*keep, label, *shares])
    query = Query(spelling, numbers, reads_dates=reads_dates(numbers.schema, columns))
    return query.text(table, names, list(keep), label, shares)


def _check_names(names: list[str], *, result: list[str]) -> None:
    for name in names:
        check_text(name, "names of columns")
    (name, times), *_ = Counter(map(str.casefold, result)).most_common(1)
    if times > 1:  # upper and lower case are one to most databases
        raise NaivelyError(
            f"the query's columns must have different names; got {name!r} twice. "
            "Call the label otherwise with label=..., or do not keep that column."
        )


# --- The steps of the query -----------------------------------------------------------------------


_LEAST = -700.0  # exp of less is 0 to every purpose, and an error in PostgreSQL
_BEYOND = -SQUARE_UNIT  # in units of 2^512; in units of 1, infinite
_WIDTH = 1500  # columns of a step
_MOST_JOINS = 60  # of a step: SQLite joins 64 tables
_HEAD = """\
-- A naive Bayes model. joint_k is log p(k) + the sum of the terms of all columns{units},
-- up to what is the same for all classes. A missing cell leaves its terms out.
"""


class QueryStep(NamedTuple):
    """What a step selects, and what it joins to the step before it."""

    values: list[str]
    joins: Sequence[str] = ()


class Query:
    """The steps of a model's query.

    Numbers are ``x_i``, categories ``c_i``; class k has ``joint_k`` and ``weight_k``, where it is
    possible at all.
    """

    def __init__(self, spelling: Spelling, model: Sum, *, reads_dates: bool = False) -> None:
        self.spelling, self.model, self.reads_dates = spelling, model, reads_dates
        self.classes: list[int] = np.flatnonzero(model.possible).tolist()
        K = model.classes.size  # class k has its joint at k, and the cells it never had at K + k
        self.misses = [K + k for k in self.classes] if model.is_strict else []
        self.unit = SQUARE_UNIT if model.has_squares else 1.0
        self.smallest = _smallest(model)
        self.exact = _columns([*model.lines, *model.pieces])
        self.rounded = _columns([*model.curves, *model.lines])
        self.terms: dict[str, list[SqlTerm]] = {}  # by cell
        columns = self._curves(), self._lines(), self._pieces(), self._tables()
        for term in chain(*columns, self._joint_terms()):
            self.terms.setdefault(term.cell, []).append(term)
        joint = model.joint
        self.computed = None if joint is None else InteractionSteps(spelling, model, joint)

    def text(
        self, table: str, names: list[str], keep: list[str], label: str, shares: list[str]
    ) -> str:
        """Write the query."""
        source = self.spelling.table(table, alias="t")
        kept = [f"keep_{i}" for i in range(len(keep))]
        passed = map(self._cell, keep)
        steps = {"cells": QueryStep([*map(named, passed, kept), *self._cells(names)])}
        if self.computed is not None:
            every_step = self.computed.steps()
            steps |= {name: QueryStep(["*", *values], joins) for name, values, joins in every_step}
        if self.model.functions:
            steps["functions"] = QueryStep(["*", *self._functions()])
        steps |= self._joints(kept)
        steps["best"] = QueryStep(["*", named(self.spelling.greatest(self._each("joint")), "best")])
        if shares:
            steps["weights"] = QueryStep(["*", *self._weights()])
            steps["total"] = QueryStep(["*", named(total(self._each("weight")), "total")])
        every = chain.from_iterable(self.terms.values())
        written = [] if self.computed is None else self.computed.lookups()
        written += [text for term in every for text in term.lookups(self.spelling)]
        for name, (values, joins) in steps.items():
            listed, joined = ",\n    ".join(values), "".join(f"\n  {join}" for join in joins)
            step = f"  SELECT\n    {listed}\n  FROM {source}{joined}{self.spelling.fence}"
            source = self.spelling.step(name)
            written.append(f"{source} AS (\n{step}\n)")
        results = [*kept, self._label(), *(self._shares() if shares else ())]
        quoted = map(self.spelling.name, [*keep, label, *shares])
        listed = ",\n  ".join(map(named, results, quoted))
        head = _HEAD.format(units="" if self.unit == 1 else ", in units of 2^512")
        return f"{head}WITH {', '.join(written)}\nSELECT\n  {listed}\nFROM {source}"

    # --- cells --------------------------------------------------------------------------------

    def _cell(self, name: str) -> str:
        """Name a cell of the table."""
        return f"t.{self.spelling.name(name)}"  # SQLite reads an unknown "name" as a text

    def _cells(self, names: list[str]) -> list[str]:
        """Write numbers as floats, categories as they are compared; NULL where they are missing."""
        schema = self.model.schema
        numbers = [self._float_of(self._value(names[j], j)) for j in schema.numbers]
        categories = [
            self._category(self._value(names[j], j), table.categories)
            for j, table in zip(schema.categories, self.model.tables, strict=True)
        ]
        return [
            *(named(x, f"x_{i}") for i, x in enumerate(numbers)),
            *(named(c, f"c_{i}") for i, c in enumerate(categories)),
        ]

    def _value(self, name: str, j: int) -> str:
        """Write a column of the model: a cell of the table, or a part of its date."""
        schema = self.model.schema
        own = name if schema.names is None else schema.names[j]
        if not self.reads_dates or schema.input(own) == own:
            return self._cell(name)
        part = own.rpartition(".")[2]
        return self.spelling.date_part(self._cell(name), part, as_number=j in schema.numbers)

    def _functions(self) -> Iterator[str]:
        """Write functions of cells, whose places are behind all other numbers."""
        first = self.model.lowest.size - len(self.model.functions)
        for i, (at, name, period) in enumerate(self.model.functions, first):
            yield named(function(f"x_{at}", name, period), f"x_{i}")

    def _float_of(self, cell: str) -> str:
        """Write a cell as a float, NULL for NaN."""
        return self.spelling.not_nan(self.spelling.cast(cell))

    def _category(self, cell: str, categories: NDArray[Any]) -> str:
        """Write a cell as its categories are: text, the text of a boolean, or a float."""
        if self.model.coded:
            return self.spelling.whole(self._float_of(cell))
        if categories.dtype.kind == "b":
            return self.spelling.boolean(cell)
        return self.spelling.cast_text(cell) if is_text(categories) else self._float_of(cell)

    def _bounded(self, cell: str) -> list[str]:
        """Write a number within its bounds: as it is, rounded to be squared, or both."""
        kind, _, i = cell.partition("_")
        if kind != "x":
            return self._columns_of(cell)
        bounds = self.model.lowest, self.model.highest, self.smallest
        low, high, small = (number(bound[int(i)]) for bound in bounds)
        ends = f"CASE WHEN {cell} < {low} THEN {low} WHEN {cell} > {high} THEN {high}"
        values = [named(f"{ends} ELSE {cell} END", cell)] if int(i) in self.exact else []
        if int(i) in self.rounded:
            zero = f"{ends} WHEN ABS({cell}) < {small} THEN 0 ELSE {cell} END"
            values.append(named(zero, self._near(int(i))))
        return values

    def _columns_of(self, cell: str) -> list[str]:
        """Name the columns that a cell stands for: a pair and the distances have several."""
        if cell == "q":
            return [f"q_{k}" for k in range(self.model.classes.size)]
        kind, _, i = cell.partition("_")
        return [cell, f"s_{i}", f"t_{i}"] if kind == "pair" else [cell]

    def _near(self, i: int) -> str:
        """Name a number whose square neither overflows nor underflows."""
        return f"near_x_{i}" if i in self.exact else f"x_{i}"

    # --- joints -------------------------------------------------------------------------------

    def _joints(self, kept: list[str]) -> dict[str, QueryStep]:
        """Write the steps to the joint of each class, some columns at a time."""
        constants = np.append(self.model.constant[self.classes], 0.0 * np.array(self.misses))
        joints = [self.spelling.cast(number(constant)) for constant in constants / self.unit]
        every = [*self.classes, *self.misses]
        names = [f"joint_{k}" for k in every]
        steps, waiting = {}, list(self.terms)
        for n, own in enumerate(self._rounds(len(kept))):
            waiting = waiting[len(own) :]
            rest = [column for cell in waiting for column in self._columns_of(cell)]
            passed = [*kept, *(joints if n else ()), *rest]
            for name, step in self._round(passed, own).items():
                steps[f"{name}_{n}"] = step
            terms = [term for cell in own for term in self.terms[cell]]
            sums = [self._sum(joint, terms, k) for k, joint in zip(every, joints, strict=True)]
            joints = names
            steps[f"joint_{n}"] = QueryStep([*kept, *rest, *map(named, sums, joints)])
        if not steps:
            steps["joint"] = QueryStep([*kept, *map(named, joints, names)])
        return steps | self._ruled_out(kept)

    def _sum(self, joint: str, terms: list[SqlTerm], k: int) -> str:
        """Write a joint and what terms add to it; only categories rule classes out."""
        some = terms if k < self.model.classes.size else [t for t in terms if type(t) is Lookup]
        return total([joint, *(part for t in some for part in t.addends(self.spelling, k))])

    def _ruled_out(self, kept: list[str]) -> dict[str, QueryStep]:
        """Write the steps that leave the classes with the fewest cells that they never had."""
        if not self.misses:
            return {}
        fewest = self.spelling.greatest([f"joint_{k}" for k in self.misses])
        cost = number(IMPOSSIBLE / self.unit)
        joints = [
            named(f"joint_{k} + {cost} * (joint_{at} - fewest)", f"joint_{k}")
            for k, at in zip(self.classes, self.misses, strict=True)
        ]
        return {
            "fewest": QueryStep(["*", named(fewest, "fewest")]),
            "ruled_out": QueryStep([*kept, *joints]),
        }

    def _rounds(self, n_kept: int) -> Iterator[list[str]]:
        """Give the cells that are worked on together: so many as a step has room for."""
        room = _WIDTH - len(self.terms) - n_kept - len(self.classes) - len(self.misses)
        own: list[str] = []
        width = joins = 0
        for cell, terms in self.terms.items():
            wide = sum(term.width for term in terms) + len(self._bounded(cell)) - 1
            joined = sum(term.is_joined for term in terms)
            if own and wide and (width + wide > room or joins + joined > _MOST_JOINS):
                yield own
                own, width, joins = [], 0, 0
            own.append(cell)
            width, joins = width + wide, joins + joined
        if own:
            yield own

    def _round(self, passed: list[str], own: list[str]) -> dict[str, QueryStep]:
        """Write the steps that the terms of some cells need, which pass on the rest."""
        terms = [term for cell in own for term in self.terms[cell]]
        shared = [value for term in terms for value in term.shared(self.spelling)]
        derived = [value for term in terms for value in term.derived()]
        joins = [join for term in terms for join in term.joins(self.spelling)]
        bounded = [value for cell in own for value in self._bounded(cell)]
        steps = {"bounded": QueryStep([*passed, *bounded])}
        if shared:
            steps["shared"] = QueryStep(["*", *shared])
        if derived or joins:
            steps["derived"] = QueryStep(["*", *derived], joins)
        return steps

    # --- answers ------------------------------------------------------------------------------

    def _each(self, what: str) -> list[str]:
        """Name what every possible class has."""
        return [f"{what}_{k}" for k in self.classes]

    def _weights(self) -> list[str]:
        """Write exp(joint - best)."""
        beyond, scale = [""] * self.model.classes.size, ""
        if self.unit != 1:
            # Of rows beyond every class, those that tie go by what is left: the joint of no holes.
            left = np.exp(np.maximum(self._left(), _LEAST))
            beyond = [f" WHEN best < {number(_BEYOND)} THEN {number(weight)}" for weight in left]
            scale = f" * {number(self.unit)}"
        return [
            f"CASE WHEN joint_{k} - best < {number(_LEAST / self.unit)} THEN 0{beyond[k]} "
            f"ELSE EXP((joint_{k} - best){scale}) END AS weight_{k}"
            for k in self.classes
        ]

    def _left(self) -> Floats:
        return self.model.offset - self.model.offset.max()

    def _label(self) -> str:
        """Write the first class whose joint is the best."""
        near = self._first(self.classes)
        if self.unit == 1:
            return near
        left = self._left()
        beyond = self._first(sorted(self.classes, key=lambda k: -left[k]))
        if near == beyond:
            return near
        return f"CASE WHEN best < {number(_BEYOND)} THEN {beyond} ELSE {near} END"

    def _first(self, classes: list[int]) -> str:
        """Write the first of some classes whose joint is the best."""
        labels = map(self.spelling.label, self.model.classes[classes].tolist())
        cases = [
            f"WHEN joint_{k} = best THEN {label}" for k, label in zip(classes, labels, strict=True)
        ]
        return f"CASE {' '.join(cases)} END"

    def _shares(self) -> list[str]:
        """Write the probability of each class."""
        never, possible = self.spelling.cast("0"), self.model.possible
        return [f"weight_{k} / total" if fine else never for k, fine in enumerate(possible)]

    # --- terms --------------------------------------------------------------------------------

    def _curves(self) -> Iterator[SqlTerm]:
        for f, form in enumerate(self.model.curves):
            weight = [None] * len(form.at) if form.weight is None else form.weight
            s = form.s if form.logarithmic else form.s / UNIT
            B = form.B / self.unit if form.logarithmic else form.B
            numbers = zip(form.A / self.unit, B, form.mu, s, weight, strict=True)
            for i, (A, its, mu, scale, w) in zip(form.at, numbers, strict=True):
                mu = np.where(np.abs(mu) < self.smallest[i], 0.0, mu)
                near = self._near(i)
                yield Curve(f"x_{i}", f"{f}_{i}", A, its, mu, scale, w, form.logarithmic, near)

    def _lines(self) -> Iterator[SqlTerm]:
        for line in self.model.lines:
            numbers = zip(line.form.A / self.unit, line.form.B / self.unit, strict=True)
            for i, (A, B) in zip(line.at, numbers, strict=True):
                bounds = line.form.lowest, self._near(i), line.form.step
                yield Line(f"x_{i}", f"{i}", A, B, *bounds)

    def _pieces(self) -> Iterator[SqlTerm]:
        for f, part in enumerate(self.model.pieces):
            each = zip(part.at, part.form.knots, part.form.values, strict=True)
            for i, knots, values in each:
                knots, first = np.unique(knots, return_index=True)
                yield Piece(f"x_{i}", f"{f}_{i}", knots, *self._relative(values[first]))

    def _tables(self) -> Iterator[SqlTerm]:
        for table in self.model.tables:
            name, (values, classes) = f"c_{table.at}", self._relative(table.values)
            if table.misses is not None:
                values = np.column_stack([values, table.misses])
                classes = [*classes, *(k for k in self.misses if values[:, k].any())]
            if classes:
                yield Lookup(name, name, table.categories, values, classes)

    def _joint_terms(self) -> Iterator[SqlTerm]:
        joint, u = self.model.joint, self.unit
        if joint is not None and joint.ellipsoids is not None:
            form, zero = joint.ellipsoids, np.zeros_like(joint.ellipsoids.A)
            curve = form.A / u, form.B / u, zero, form.s, form.weight
            yield Ellipsoid("q", "q", *curve, logarithmic=True, near="")
        if joint is not None and joint.grids is not None:
            for i, parts in enumerate(joint.grids.coefficients()):
                relative = [self._relative(part) for part in parts]
                classes = sorted({k for _, needed in relative for k in needed})
                if classes:
                    yield Grid(f"pair_{i}", f"pair_{i}", tuple(p for p, _ in relative), classes)

    def _relative(self, values: Floats) -> tuple[Floats, list[int]]:
        """Return values less those of the first class, and the classes that need any still."""
        relative = (values - values[:, self.classes[:1]]) / self.unit
        return relative, [k for k in self.classes if relative[:, k].any()]


def _columns(parts: Sequence[Any]) -> set[int]:
    return {i for part in parts for i in part.at.tolist()}


def _smallest(model: Sum) -> Floats:
    """Return what may count as 0 in each column: 1e-17 of the smallest length of its curves.

    Or 1e-66 of the largest, should that be more: the square of less would be 0, which is an
    error in PostgreSQL.
    """
    lengths: list[list[Floats]] = [[] for _ in model.lowest]
    for curves in model.curves:
        for i, s in zip(curves.at, curves.s, strict=True):
            lengths[i].append(1 / s[s > 0])
    every = [np.concatenate([np.empty(0), *some]) for some in lengths]
    least = [max(1e-17 * one.min(), 1e-66 * one.max()) if one.size else 1e-17 for one in every]
    return power_of_ten(np.maximum(least, 1e-323))
