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
  CASE WHEN joint_0 = best THEN 'high' WHEN joint_1 = best THEN 'low' END AS "prediction",
  weight_0 / total AS "p_high",
  weight_1 / total AS "p_low"
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

from naively.data.functions import BELOW_ONE, FUNCTIONS
from naively.data.labels import are_booleans, is_text
from naively.data.types import Floats
from naively.engines.dialects import (
    Spelling,
    added,
    column_names,
    halved,
    named,
    number,
    reads_dates,
    share_names,
    total,
)
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.export.sums import IMPOSSIBLE, Curves, LineColumns, PieceColumns, Sum, check_texts
from naively.families.joint_forms import Ellipsoids, Grids, JointForms


def to_sql(
    model: SummaryClassifier,
    table: str,
    *,
    dialect: str = "duckdb",
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    label: str = "prediction",
    proba: bool = True,
) -> str:
    """Return one SELECT that scores the rows of a table.

    Its result has the columns to keep, the predicted label, and ``p_<label>`` for each class:
    the label's letters, digits and underscores, with ``_`` for any other character. Where that
    would give two classes one name, or a long one, they are numbered: ``p_0``, ...

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
    label : str, default="prediction"
        What to call the predicted label.
    proba : bool, default=True
        Whether probabilities are wanted. Labels alone need no ``exp``, which some builds of
        SQLite lack.

    Notes
    -----
    A query cannot refuse a cell of infinity, which is an error in `predict`. Neither that nor a
    cell more than 1e100 standard deviations from a class has a square: PostgreSQL and BigQuery
    raise an error, and in other databases the row has no probabilities.

    PostgreSQL and BigQuery do not cast booleans to floats; cast such columns to integers in a
    view. BigQuery takes queries of up to 1 MB: some 7000 pairs of a class and a column.

    A `NaiveBayes` is written term by term. A Student t takes a logarithm (``LN``, which some builds
    of SQLite lack); histograms and categories are small tables that are joined, so that rows may
    come in another order. A histogram takes some 10 kB, and 3 kB more for each class beyond two:
    DuckDB plans 50 of them in seconds, 200 in a minute. Categories are compared as text or
    as floats, as the model has met them; a boolean may be a boolean, 1 and 0, or the texts
    ``true``, ``True``, ``TRUE``, ``1`` and their likes. Databases limit
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
    names = column_names(numbers.schema, columns)
    if isinstance(keep, str):
        raise NaivelyError(f"keep must be a list of names; got {keep!r}.")
    shares = share_names(numbers.classes) if proba else []
    _check_names([*names, *keep, label], result=[*keep, label, *shares])
    query = _Query(spelling, numbers, has_dates=reads_dates(numbers.schema, columns))
    return query.text(table, names, list(keep), label, shares)


def _check_names(names: list[str], *, result: list[str]) -> None:
    check_texts(names, "names of columns")
    (name, times), *_ = Counter(map(str.casefold, result)).most_common(1)
    if times > 1:  # upper and lower case are one to most databases
        raise NaivelyError(
            f"the query's columns must have different names; got {name!r} twice. "
            "Call the label otherwise with label=..., or do not keep that column."
        )


# --- The steps of the query -----------------------------------------------------------------------


_LEAST_EXPONENT = -700  # exp of less is 0 to every purpose, and an error in PostgreSQL
_MAX_COLUMNS, _MAX_JOINS = 1500, 50  # of a step
_HEAD = """\
-- A naive Bayes model. joint_k is log p(k) + the sum of the terms of all columns,
-- up to what is the same for all classes. A missing cell leaves its terms out.
"""


class _Step(NamedTuple):
    """What a step selects, and what it joins to the step before it."""

    values: list[str]
    joins: Sequence[str] = ()


class _Query:
    """The steps of a model's query.

    Numbers are ``x_i``, categories ``c_i``; class k has ``joint_k`` and ``weight_k``, where it is
    possible at all.
    """

    def __init__(self, spelling: Spelling, model: Sum, *, has_dates: bool) -> None:
        self.spelling, self.model, self.has_dates = spelling, model, has_dates
        self.classes: list[int] = np.flatnonzero(model.possible).tolist()
        K = model.classes.size  # class k has its joint at k, and the cells it never had at K + k
        self.misses = [K + k for k in self.classes] if model.is_strict else []
        self.terms: dict[tuple[str, ...], list[_Term]] = {}  # by the columns that they read
        for term in _Terms(spelling, model, self.classes).all():
            self.terms.setdefault(term.cells, []).append(term)
        joint = model.joint
        self.computed = None if joint is None else _Interactions(spelling, model, joint)

    def text(
        self, table: str, names: list[str], keep: list[str], label: str, shares: list[str]
    ) -> str:
        """Write the query."""
        kept = [f"keep_{i}" for i in range(len(keep))]
        steps = {"cells": _Step([*map(named, map(self._cell, keep), kept), *self._cells(names)])}
        if self.computed is not None:
            steps |= self.computed.steps()
        if self.model.functions:
            steps["functions"] = _Step(["*", *self._functions()])
        steps |= self._joints(kept)
        greatest = self.spelling.greatest(self._each("joint"))
        steps["best"] = _Step(["*", named(greatest, "best")])
        if shares:
            steps["weights"] = _Step(["*", *self._weights()])
            steps["total"] = _Step(["*", named(total(self._each("weight")), "total")])
        written = [] if self.computed is None else self.computed.tables()
        written += [t.lookup.table for t in chain(*self.terms.values()) if t.lookup is not None]
        source = self.spelling.table(table, alias="t")
        for name, (values, joins) in steps.items():
            listed, joined = ",\n    ".join(values), "".join(f"\n  {join}" for join in joins)
            step = f"  SELECT\n    {listed}\n  FROM {source}{joined}{self.spelling.fence}"
            source = self.spelling.step(name)
            written.append(f"{source} AS (\n{step}\n)")
        results = [*kept, self._label(), *(self._shares() if shares else ())]
        quoted = map(self.spelling.name, [*keep, label, *shares])
        listed = ",\n  ".join(map(named, results, quoted))
        return f"{_HEAD}WITH {', '.join(written)}\nSELECT\n  {listed}\nFROM {source}"

    # --- cells --------------------------------------------------------------------------------

    def _cell(self, name: str) -> str:
        """Name a cell of the table."""
        return f"t.{self.spelling.name(name)}"  # SQLite reads an unknown "name" as a text

    def _cells(self, names: list[str]) -> Iterator[str]:
        """Write numbers as floats, categories as they are compared; NULL where they are missing."""
        schema = self.model.schema
        for i, j in enumerate(schema.numbers):
            yield named(self.spelling.float64(self._value(names[j], j)), f"x_{i}")
        for i, (j, table) in enumerate(zip(schema.categories, self.model.tables, strict=True)):
            value, categories = self._value(names[j], j), table.categories
            if self.model.coded:
                cell = self.spelling.whole(self.spelling.float64(value))
            elif are_booleans(categories):
                cell = self.spelling.boolean(value)
            else:
                is_named = is_text(categories)
                cell = self.spelling.cast_text(value) if is_named else self.spelling.float64(value)
            yield named(cell, f"c_{i}")

    def _value(self, name: str, j: int) -> str:
        """Write a column of the model: a cell of the table, or a part of its date."""
        schema = self.model.schema
        own = name if schema.names is None else schema.names[j]
        if not self.has_dates or schema.input(own) == own:
            return self._cell(name)
        part = own.rpartition(".")[2]
        return self.spelling.date_part(self._cell(name), part, as_number=j in schema.numbers)

    def _functions(self) -> Iterator[str]:
        """Write functions of cells, whose places are behind all other numbers."""
        for i, (at, name, period) in enumerate(self.model.functions, self.model.n_given):
            yield named(function_of(f"x_{at}", name, period), f"x_{i}")

    # --- joints -------------------------------------------------------------------------------

    def _joints(self, kept: list[str]) -> dict[str, _Step]:
        """Write the steps to the joint of each class, some columns at a time."""
        classes = [*self.classes, *self.misses]
        constants = [*self.model.constant[self.classes], *(0.0 for _ in self.misses)]
        joints = [self.spelling.cast(number(constant)) for constant in constants]
        names = [f"joint_{k}" for k in classes]
        steps: dict[str, _Step] = {}
        waiting = [*self.terms]
        for n, cells in enumerate(self._rounds(len(kept))):
            passed = [*kept, *(joints if n else ()), *chain(*waiting)]
            waiting = waiting[len(cells) :]
            terms = [term for own in cells for term in self.terms[own]]
            shared = [value for term in terms for value in term.shared]
            derived = [value for term in terms for value in term.derived]
            joins = [term.lookup.join for term in terms if term.lookup is not None]
            if shared or derived or joins:
                steps[f"shared_{n}"] = _Step([*passed, *shared])
            if derived or joins:
                steps[f"derived_{n}"] = _Step(["*", *derived], joins)
            sums = [
                total([joint, *(term.addends[k] for term in terms if k in term.addends)])
                for k, joint in zip(classes, joints, strict=True)
            ]
            steps[f"joint_{n}"] = _Step([*kept, *chain(*waiting), *map(named, sums, names)])
            joints = names
        if not steps:
            steps["joint"] = _Step([*kept, *map(named, joints, names)])
        return steps | self._ruled_out(kept)

    def _ruled_out(self, kept: list[str]) -> dict[str, _Step]:
        """Write the steps that leave the classes with the fewest cells that they never had."""
        if not self.misses:
            return {}
        fewest = self.spelling.greatest([f"joint_{k}" for k in self.misses])
        joints = [
            named(f"joint_{k} + {number(IMPOSSIBLE)} * (joint_{at} - fewest)", f"joint_{k}")
            for k, at in zip(self.classes, self.misses, strict=True)
        ]
        return {
            "fewest": _Step(["*", named(fewest, "fewest")]),
            "ruled_out": _Step([*kept, *joints]),
        }

    def _rounds(self, n_kept: int) -> Iterator[list[tuple[str, ...]]]:
        """Give the cells that are worked on together: so many as a step has room for."""
        n_passed = sum(map(len, self.terms)) + n_kept + len(self.classes) + len(self.misses)
        together: list[tuple[str, ...]] = []
        width = joins = 0
        for cells, terms in self.terms.items():
            wide = sum(term.width for term in terms)
            joined = sum(term.lookup is not None for term in terms)
            is_full = n_passed + width + wide > _MAX_COLUMNS or joins + joined > _MAX_JOINS
            if together and wide and is_full:
                yield together
                together, width, joins = [], 0, 0
            together.append(cells)
            width, joins = width + wide, joins + joined
        if together:
            yield together

    # --- answers ------------------------------------------------------------------------------

    def _each(self, what: str) -> list[str]:
        """Name what every possible class has."""
        return [f"{what}_{k}" for k in self.classes]

    def _weights(self) -> Iterator[str]:
        """Write exp(joint - best)."""
        for k in self.classes:
            gap = f"joint_{k} - best"
            yield f"CASE WHEN {gap} < {_LEAST_EXPONENT} THEN 0 ELSE EXP({gap}) END AS weight_{k}"

    def _label(self) -> str:
        """Write the first class whose joint is the best."""
        labels = map(self.spelling.label, self.model.classes[self.classes].tolist())
        pairs = zip(self.classes, labels, strict=True)
        cases = [f"WHEN joint_{k} = best THEN {label}" for k, label in pairs]
        return f"CASE {' '.join(cases)} END"

    def _shares(self) -> list[str]:
        """Write the probability of each class."""
        never, possible = self.spelling.cast("0"), self.model.possible
        return [f"weight_{k} / total" if fine else never for k, fine in enumerate(possible)]


# --- Terms: a function for each form, of one column -----------------------------------------------


class _Lookup(NamedTuple):
    """A small table with a line for each key, and how it is joined to a column.

    Databases are quick at joins; a CASE for each class would have to be walked through for each
    class, and PostgreSQL would compile all of them.
    """

    table: str
    join: str
    n_columns: int

    @classmethod
    def of(
        cls,
        spelling: Spelling,
        name: str,
        column: str,
        keys: Sequence[str],
        columns: list[str],
        numbers: Floats,
    ) -> _Lookup:
        """Write a table. What is a float in the first row, is one in all."""
        step = spelling.step(f"lookup_{name}")
        rows = [[key, *map(number, line)] for key, line in zip(keys, numbers, strict=True)]
        rows[0][1:] = map(spelling.cast, rows[0][1:])
        table = spelling.rows(step, [f"key_{name}", *columns], rows)
        return cls(table, f"LEFT JOIN {step} ON {column} = key_{name}", len(columns) + 1)


class _Term(NamedTuple):
    """The terms of one column and form."""

    cells: tuple[str, ...]  # the columns that they read
    addends: dict[int, str]  # what is added to the joint of each class; a missing cell adds 0
    shared: Sequence[str] = ()  # what is worked out once for all classes
    lookup: _Lookup | None = None  # a table that is joined to that
    derived: Sequence[str] = ()  # what is worked out from both

    @property
    def width(self) -> int:
        """How many columns these terms add to a step."""
        joined = 0 if self.lookup is None else self.lookup.n_columns
        return len(self.shared) + len(self.derived) + joined


class _Terms(NamedTuple):
    """Writes the terms of a model, of the classes that are possible."""

    spelling: Spelling
    model: Sum
    classes: list[int]

    def all(self) -> Iterator[_Term]:
        """Write the terms of all columns."""
        model, joint = self.model, self.model.joint
        for f, curves in enumerate(model.curves):
            yield from self._curves(f, curves)
        for lines in model.lines:
            yield from self._lines(lines)
        for f, pieces in enumerate(model.pieces):
            yield from self._pieces(f, pieces)
        yield from self._tables()
        if joint is not None and joint.ellipsoids is not None:
            yield self._ellipsoids(joint.ellipsoids)
        if joint is not None and joint.grids is not None:
            yield from self._grids(joint.grids)

    def _curves(self, f: int, form: Curves) -> Iterator[_Term]:
        for row, i in enumerate(form.at):
            written = {}
            weight = None if form.weight is None else form.weight[row]
            for k in range(self.model.classes.size):
                A, B, mu, s = (array[row, k] for array in (form.A, form.B, form.mu, form.s))
                square = self.spelling.square(f"(x_{i} {added(-mu)}) * {number(s)}")
                if not (A or B) and weight is None:
                    continue
                written[k] = f"{number(A)} {'-' if B >= 0 else '+'} {square}"
                if form.logarithmic:
                    written[k] = f"{number(A)} {added(-B)} * LN(1 + {square})"
            yield self._weighted((f"x_{i}",), f"{f}_{i}", written, weight)

    def _weighted(
        self, cells: tuple[str, ...], name: str, curves: dict[int, str], weight: Floats | None
    ) -> _Term:
        """Write curves by class; centred over the classes before, if their weights differ."""
        if weight is None:
            return _Term(cells, {k: f"COALESCE({curve}, 0)" for k, curve in curves.items()})
        shared = [named(curve, f"curve_{name}_{k}") for k, curve in curves.items()]
        every = " + ".join(f"curve_{name}_{k}" for k in curves)
        derived = [named(f"({every}) / {weight.size}", f"mean_{name}")]
        addends = {
            k: f"COALESCE({number(weight[k])} * (curve_{name}_{k} - mean_{name}), 0)"
            for k in curves
        }
        return _Term(cells, addends, shared, derived=derived)

    def _lines(self, line: LineColumns) -> Iterator[_Term]:
        form = line.form
        for i, A, B in zip(line.at, form.A, form.B, strict=True):
            x, addends = f"x_{i}", {}
            for k in self.classes:
                value = f"{number(A[k])} {added(B[k])} * {x}"
                if form.step is not None:
                    above, other = number(A[k] + B[k]), number(A[k])
                    cases = f"WHEN {x} > {number(form.step)} THEN {above} ELSE {other}"
                    addends[k] = f"CASE WHEN {x} IS NULL THEN 0 {cases} END"
                elif np.isinf(form.lowest):
                    addends[k] = f"COALESCE({value}, 0)"
                else:
                    addends[k] = f"CASE WHEN {x} >= {number(form.lowest)} THEN {value} ELSE 0 END"
            yield _Term((x,), addends)

    def _pieces(self, f: int, part: PieceColumns) -> Iterator[_Term]:
        """Write where each piece starts, how wide it is, and the values there and how they rise.

        Before the first knot and after the last nothing rises.
        """
        for i, every, values_of_all in zip(part.at, part.form.knots, part.form.values, strict=True):
            x, name = f"x_{i}", f"{f}_{i}"
            knots, first = np.unique(every, return_index=True)
            values, classes = self._relative(values_of_all[first])
            if not classes:
                continue
            numbers = np.column_stack(
                [
                    np.pad(knots[:-1], 1),
                    np.pad(np.diff(knots), 1, constant_values=1.0),
                    np.vstack([values[:1], values])[:, classes],
                    np.pad(np.diff(values, axis=0), ((1, 1), (0, 0)))[:, classes],
                ]
            )
            columns = [f"knot_{name}", f"width_{name}"]
            columns += [f"{what}_{name}_{k}" for what in ("start", "rise") for k in classes]
            bins = [str(b) for b in range(len(numbers))]
            place = f"CASE WHEN {x} IS NOT NULL THEN {halved(x, [*map(number, knots)], bins)} END"
            addends = {
                k: f"COALESCE(start_{name}_{k} + rise_{name}_{k} * way_{name}, 0)" for k in classes
            }
            yield _Term(
                (x,),
                addends,
                [named(place, f"bin_{name}")],
                _Lookup.of(self.spelling, name, f"bin_{name}", bins, columns, numbers),
                [named(f"({x} - knot_{name}) / width_{name}", f"way_{name}")],
            )

    def _tables(self) -> Iterator[_Term]:
        """Write the values of the categories that are not as any other."""
        K = self.model.classes.size
        for table in self.model.tables:
            cell, (values, classes) = f"c_{table.at}", self._relative(table.values)
            if table.misses is not None:
                values = np.column_stack([values, table.misses])
                classes += [K + k for k in self.classes if values[:, K + k].any()]
            own = np.flatnonzero((values[:-1] != values[-1]).any(axis=1))
            lookup, addends = None, {k: number(values[-1, k]) for k in classes}
            if classes and own.size:
                columns = [f"value_{cell}_{k}" for k in classes]
                keys = category_keys(self.spelling, table.categories[own])
                numbers = values[own][:, classes]
                lookup = _Lookup.of(self.spelling, cell, cell, keys, columns, numbers)
                addends = {k: f"COALESCE(value_{cell}_{k}, {addends[k]})" for k in classes}
            cases = {
                k: f"CASE WHEN {cell} IS NULL THEN 0 ELSE {value} END"
                for k, value in addends.items()
            }
            yield _Term((cell,), cases, lookup=lookup)

    def _ellipsoids(self, form: Ellipsoids) -> _Term:
        numbers = enumerate(zip(form.A, form.B, form.s, strict=True))
        curves = {
            k: f"{number(A)} {added(-B)} * LN(1 + {number(s)} * q_{k})" for k, (A, B, s) in numbers
        }
        return self._weighted(tuple(f"q_{k}" for k in curves), "q", curves, form.weight)

    def _grids(self, grids: Grids) -> Iterator[_Term]:
        """Write v + a s + b t + c s t, by cell of a table and class."""
        for i, parts in enumerate(grids.coefficients()):
            relative = [self._relative(part) for part in parts]
            classes = sorted({k for _, needed in relative for k in needed})
            if not classes:
                continue
            numbers = np.concatenate([part[:, classes] for part, _ in relative], axis=1)
            columns = [f"{what}_pair_{i}_{k}" for what in "vabc" for k in classes]
            keys, name = [str(line) for line in range(len(numbers))], f"pair_{i}"
            addends = {}
            for k in classes:
                v, a, b, c = (f"{what}_pair_{i}_{k}" for what in "vabc")
                value = f"{v} + {a} * s_{i} + {b} * t_{i} + {c} * s_{i} * t_{i}"
                addends[k] = f"COALESCE({value}, 0)"
            lookup = _Lookup.of(self.spelling, name, name, keys, columns, numbers)
            yield _Term((name, f"s_{i}", f"t_{i}"), addends, lookup=lookup)

    def _relative(self, values: Floats) -> tuple[Floats, list[int]]:
        """Return values less those of the first class, and the classes that need any still."""
        relative = values - values[:, self.classes[:1]]
        return relative, [k for k in self.classes if relative[:, k].any()]


def function_of(cell: str, name: str, period: float) -> str:
    """Write a function of a cell; NULL where it has no value.

    >>> function_of("x_0", "log", 1.0)
    'CASE WHEN x_0 > 0 THEN LN(x_0) END'
    """
    function = FUNCTIONS[name]
    if function.periodic:
        far = number(function.highest * period)
        where, x = f"{cell} >= -{far} AND {cell} <= {far}", f"{cell} * {number(2 * np.pi / period)}"
    else:
        where, x = f"{cell} > 0" if function.lowest > 0 else f"{cell} >= 0", cell
        where += f" AND {cell} < 1" if function.highest == BELOW_ONE else ""
    return f"CASE WHEN {where} THEN {function.sql.format(x=x)} END"


def category_keys(spelling: Spelling, categories: NDArray[Any]) -> list[str]:
    """Write categories as cells of their column are: there numbers are floats, booleans texts."""
    if is_text(categories):
        return list(map(spelling.text, categories.tolist()))
    if are_booleans(categories):
        return [spelling.text(str(flag)) for flag in categories.tolist()]
    return [spelling.label(float(category)) for category in categories.tolist()]


# --- Forms of several cells: columns that are computed before the joints --------------------------


_MAX_PRODUCTS = 5000  # of the quadratic term, for a row


class _Interactions:
    """The steps that compute columns, and the small tables that they join.

    A feature is ``f_j``; a direction is a number ``x_i`` behind those of the table, the squared
    distance of class k is ``q_k``, and a pair has the key ``pair_i`` of its cell in a table, with
    ``s_i`` and ``t_i``, how far the row is on the way to the next bins. Terms that read them are
    added like any others.
    """

    def __init__(self, spelling: Spelling, model: Sum, joint: JointForms) -> None:
        self.spelling, self.model, self.joint = spelling, model, joint
        if joint.ellipsoids is not None:
            _check_products(*joint.ellipsoids.mean.shape)
        self.lookups = dict(self._lookups())  # by column of categories

    def steps(self) -> dict[str, _Step]:
        """Write the steps, which pass on all other columns."""
        joins = [lookup.join for lookup in self.lookups.values()]
        starts = range(0, len(joins), _MAX_JOINS)
        steps = {f"joined_{i}": _Step(["*"], joins[i:][:_MAX_JOINS]) for i in starts}
        computed = {
            "features": self._features(),
            "computed": chain(self._directions(), self._factors(), self._positions()),
            "combined": chain(self._distances(), self._pairs()),
        }
        for name, values in computed.items():
            if written := [*values]:
                steps[name] = _Step(["*", *written])
        return steps

    def tables(self) -> list[str]:
        """Write the small tables: what categories add to directions, and their bins."""
        return [lookup.table for lookup in self.lookups.values()]

    def _lookups(self) -> Iterator[tuple[int, _Lookup]]:
        """Write by column of categories those that matter, and what they add."""
        columns: dict[int, list[str]] = {}
        values: dict[int, list[Floats]] = {}
        projection, grids = self.joint.projection, self.joint.grids
        if projection is not None and projection.tables is not None:
            for n, j in enumerate(projection.columns):
                columns[j] = [f"add_{j}_{r}" for r in range(projection.start.size)]
                values[j] = [projection.tables.table(n)]
        if grids is not None:
            for j, bins in zip(grids.axes.categories, grids.axes.bins, strict=True):
                columns.setdefault(j, []).append(f"bin_{j}")
                values.setdefault(j, []).append(bins[:, np.newaxis].astype(np.float64))
        for j in sorted(values):
            every = np.concatenate(values[j], axis=1)
            own = np.flatnonzero((every[:-1] != every[-1]).any(axis=1))
            if own.size:
                keys = category_keys(self.spelling, self.model.tables[j].categories[own])
                names = f"levels_{j}", f"c_{j}", keys, columns[j]
                yield j, _Lookup.of(self.spelling, *names, every[own])

    def _features(self) -> Iterator[str]:
        features = self.joint.features
        if self.joint.projection is None and self.joint.ellipsoids is None:
            return
        numbers = zip(features.at, features.mean, features.scale, strict=True)
        for j, (i, mean, scale) in enumerate(numbers):
            yield named(f"COALESCE((x_{i} {added(-mean)}) * {number(scale)}, 0)", f"f_{j}")

    def _directions(self) -> Iterator[str]:
        projection = self.joint.projection
        if projection is None:
            return
        n = len(self.model.schema.numbers)
        for r, (start, W) in enumerate(zip(projection.start, projection.W.T, strict=True)):
            terms = [self.spelling.cast(number(start)), *_products(W)]
            terms += [f"COALESCE(add_{j}_{r}, 0)" for j in projection.columns if j in self.lookups]
            yield named(total(terms), f"x_{n + r}")

    def _factors(self) -> Iterator[str]:
        form = self.joint.ellipsoids
        if form is None:
            return
        for k, (mean, factor) in enumerate(zip(form.mean, form.factor, strict=True)):
            for i, row in enumerate(factor):
                start = self.spelling.cast(number(-row @ mean))
                yield named(total([start, *_products(row[: i + 1])]), f"y_{k}_{i}")

    def _distances(self) -> Iterator[str]:
        form = self.joint.ellipsoids
        if form is None:
            return
        n_classes, p = form.mean.shape
        for k in range(n_classes):
            squares = [self.spelling.square(f"y_{k}_{i}") for i in range(p)]
            yield named(total(squares), f"q_{k}")

    def _positions(self) -> Iterator[str]:
        """Write the bin before a cell, and how far it is on the way to the next."""
        if self.joint.grids is None:
            return
        axes = self.joint.grids.axes
        for a, (i, knots) in enumerate(zip(axes.numbers, axes.knots, strict=True)):
            x, inner = f"x_{i}", [number(knot) for knot in knots[1:-1]]
            low = halved(x, inner, [str(b) for b in range(knots.size - 1)])
            yield named(f"CASE WHEN {x} IS NOT NULL THEN {low} END", f"low_{a}")
            pairs = zip(knots[:-1], np.diff(knots), strict=True)
            ways = halved(x, inner, [f"({x} {added(-knot)}) / {number(w)}" for knot, w in pairs])
            first, last = number(knots[0]), number(knots[-1])
            ends = f"WHEN {x} <= {first} THEN 0 WHEN {x} >= {last} THEN 1"
            yield named(self.spelling.cast(f"CASE {ends} ELSE {ways} END"), f"share_{a}")
        for a, (j, bins) in enumerate(zip(axes.categories, axes.bins, strict=True)):
            place = f"COALESCE(bin_{j}, {bins[-1]})" if j in self.lookups else str(bins[-1])
            low = f"low_{len(axes.numbers) + a}"
            yield named(f"CASE WHEN c_{j} IS NOT NULL THEN {place} END", low)

    def _pairs(self) -> Iterator[str]:
        grids = self.joint.grids
        if grids is None:
            return
        sizes, n_numbers = grids.axes.sizes, len(grids.axes.numbers)
        for i, (a, b) in enumerate(grids.pairs.tolist()):
            yield named(f"low_{a} * {sizes[b]} + low_{b}", f"pair_{i}")
            for what, axis in (("s", a), ("t", b)):
                share = f"share_{axis}" if axis < n_numbers else self.spelling.cast("0")
                yield named(share, f"{what}_{i}")


def _check_products(n_classes: int, p: int) -> None:
    """Raise where the quadratic term is too long for a query."""
    products = n_classes * p * (p + 1) // 2
    if products > _MAX_PRODUCTS:
        raise NaivelyError(
            f"the quadratic term of {n_classes} classes and {p} columns of numbers takes "
            f"{products:,} products for each row; a query has room for {_MAX_PRODUCTS:,}. Export "
            'a model of interactions=("canonical", "pairs").'
        )


def _products(weights: Floats) -> list[str]:
    return [f"{number(w)} * f_{j}" for j, w in enumerate(weights) if w]
