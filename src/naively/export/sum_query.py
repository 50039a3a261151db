"""The query of a model of any columns: each shape of term has its writer in `sql_terms`.

PostgreSQL takes 1664 columns in a SELECT, and SQLite joins 64 tables. So the terms of some columns
are worked out and added up at a time, and the rest wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naively.export.query import Query, Step, named
from naively.export.spelling import Spelling, number, total
from naively.export.sql_terms import Curve, Line, Piece, Table, Term, near
from naively.export.sums import Sum
from naively.export.terms import power_of_ten
from naively.labels import is_text

__all__ = ["SumQuery"]

Floats = NDArray[np.float64]

_WIDTH = 1500  # columns of a step
_RULED_OUT = -1e300  # the logarithm of a share of 0: infinity is no number to many databases
_BEYOND = -1e299
_MOST_JOINS = 60  # of a step: SQLite joins 64 tables


class SumQuery(Query):
    """The steps. Numbers are ``x_i``, categories ``c_i``; class k has ``joint_k``."""

    head: ClassVar[str] = """\
-- A naive Bayes model. joint_k is log p(k) + the sum of what each column says of class k, weighed,
-- up to what is the same for all classes. A missing cell leaves its term out.
"""

    def __init__(self, spelling: Spelling, model: Sum) -> None:
        super().__init__(spelling, model.classes, model.possible)
        self.model, self.smallest = model, _smallest(model)
        self.rules_out = any(np.isneginf(table.values).any() for table in model.tables)
        self.terms: dict[str, list[Term]] = {}  # by cell
        written = chain(self._curves(), self._lines(), self._pieces(), self._tables())
        for term in written:
            self.terms.setdefault(term.cell, []).append(term)

    def cells(self, names: list[str]) -> list[str]:
        """Write numbers as floats, categories as they are compared; NULL where they are missing."""
        schema = self.model.schema
        numbers = [self.float_of(self.cell(names[j])) for j in schema.numbers]
        categories = [
            self.category(self.cell(names[j]), table.categories)
            for j, table in zip(schema.categories, self.model.tables, strict=True)
        ]
        return [
            *(named(x, f"x_{i}") for i, x in enumerate(numbers)),
            *(named(c, f"c_{i}") for i, c in enumerate(categories)),
        ]

    def lookups(self) -> list[str]:
        """Write the small tables of histograms and categories."""
        every = chain.from_iterable(self.terms.values())
        return [table for term in every for table in term.lookups(self.spelling)]

    def joints(self, kept: list[str]) -> dict[str, Step]:
        """Write the steps to the sum of each class, some columns at a time."""
        joints, cells = self.each("joint"), list(self.terms)
        constants = map(self.spelling.cast, map(number, self.model.constant[self.classes]))
        steps = {"start": Step([*kept, *cells, *map(named, constants, joints)])}
        some = self._some(_WIDTH - len(cells) - len(kept) - len(joints))
        for n, start in enumerate(range(0, len(cells), some)):
            own, rest = cells[start : start + some], cells[start + some :]
            for name, step in self._round(kept, own, rest).items():
                steps[f"{name}_{n}"] = step
        if self.rules_out:
            steps["possible"] = Step([*kept, *map(_possible, joints)])
        return steps

    def shares(self) -> list[str]:
        """Write the probability of each class; NULL for a row that every class rules out."""
        shares = super().shares()
        if not self.rules_out:
            return shares
        return [f"CASE WHEN best > {number(_BEYOND)} THEN {share} END" for share in shares]

    def _some(self, room: int) -> int:
        """Return how many cells are worked on at a time, of which each makes some columns."""
        model, n_classes = self.model, self.labels.size
        wide = (n_classes + 1) * len(model.curves) + (2 * n_classes + 6) * len(model.pieces) + 2
        wide += n_classes + 1 if model.tables else 0
        joins = len(model.pieces) + (1 if model.tables else 0)
        return max(1, min(room // wide, _MOST_JOINS // joins if joins else room))

    def _round(self, kept: list[str], own: list[str], rest: list[str]) -> dict[str, Step]:
        """Write the steps that add the terms of some cells to the joints, and pass on the rest."""
        terms = [term for cell in own for term in self.terms[cell]]
        shared = [value for term in terms for value in term.shared(self.spelling)]
        derived = [value for term in terms for value in term.derived()]
        joins = [join for term in terms for join in term.joins(self.spelling)]
        bounded = [value for cell in own for value in self.bounded(cell)]
        return {
            "bounded": Step([*kept, *self.each("joint"), *rest, *bounded]),
            "shared": Step(["*", *shared]),
            "derived": Step(["*", *derived], joins),
            "joint": Step([*kept, *rest, *(self.added_up(k, terms) for k in self.classes)]),
        }

    def float_of(self, cell: str) -> str:
        """Write a cell as a float, NULL for NaN."""
        return self.spelling.not_nan(self.spelling.cast(cell))

    def category(self, cell: str, categories: NDArray[Any]) -> str:
        """Write a cell as its categories are: text, the text of a boolean, or a float."""
        if self.model.coded:
            return self.spelling.whole(self.float_of(cell))
        if categories.dtype.kind == "b":
            return self.spelling.boolean(cell)
        return self.spelling.cast_text(cell) if is_text(categories) else self.float_of(cell)

    def bounded(self, cell: str) -> list[str]:
        """Write a number that can be subtracted from without overflow, and one to multiply.

        The latter is `near`: its square does not overflow, nor underflow.
        """
        kind, _, i = cell.partition("_")
        if kind == "c":
            return [cell]
        model = self.model
        low, high, small = (
            number(bound[int(i)]) for bound in (model.lowest, model.highest, self.smallest)
        )
        ends = f"CASE WHEN {cell} < {low} THEN {low} WHEN {cell} > {high} THEN {high}"
        values = [named(f"{ends} ELSE {cell} END", cell)]
        if any(isinstance(term, Curve | Line) for term in self.terms[cell]):
            zero = f"{ends} WHEN ABS({cell}) < {small} THEN 0 ELSE {cell} END"
            values.append(named(zero, near(cell)))
        return values

    def added_up(self, k: int, terms: list[Term]) -> str:
        """Write the joint of a class with more terms."""
        addends = list(chain.from_iterable(term.addends(k) for term in terms))
        return named(total([f"joint_{k}", *addends]), f"joint_{k}")

    def _curves(self) -> Iterator[Term]:
        for f, form in enumerate(self.model.curves):
            weight = [None] * len(form.at) if form.weight is None else form.weight
            numbers = zip(form.A, form.B, form.mu, form.s, weight, strict=True)
            for i, (A, B, mu, s, w) in zip(form.at, numbers, strict=True):
                mu = _rounded(mu, self.smallest[i])
                yield Curve(f"x_{i}", f"{f}_{i}", A, B, mu, s, w, form.logarithmic)

    def _lines(self) -> Iterator[Term]:
        for form in self.model.lines:
            for i, A, B in zip(form.at, form.A, form.B, strict=True):
                yield Line(f"x_{i}", f"{i}", A, B, form.lowest)

    def _pieces(self) -> Iterator[Term]:
        for f, form in enumerate(self.model.pieces):
            for i, knots, values in zip(form.at, form.knots, form.values, strict=True):
                knots, first = np.unique(knots, return_index=True)
                yield Piece(f"x_{i}", f"{f}_{i}", knots, *self._relative(values[first]))

    def _tables(self) -> Iterator[Term]:
        for table in self.model.tables:
            i, (values, classes) = table.at, self._relative(table.values)
            if classes:
                yield Table(f"c_{i}", f"c_{i}", table.categories, values, classes)

    def _relative(self, values: Floats) -> tuple[Floats, list[int]]:
        """Return values less those of the first class, and the classes that need any still."""
        if np.isneginf(values).any():
            return np.maximum(values, _RULED_OUT), self.classes
        relative = values - values[:, self.classes[:1]]
        return relative, [k for k in self.classes if relative[:, k].any()]


def _possible(joint: str) -> str:
    """Write a joint; where a category rules the class out, or several do, the same number."""
    return named(
        f"CASE WHEN {joint} < {number(_BEYOND)} THEN {number(_RULED_OUT)} ELSE {joint} END", joint
    )


def _rounded(values: Floats, smallest: float) -> Floats:
    return np.where(np.abs(values) < smallest, 0.0, values)


def _smallest(model: Sum) -> Floats:
    """Return what may count as 0 in each column: 1e-17 of the smallest length of its curves.

    Or 1e-66 of the largest, should that be more: the square of less would be 0, which is an
    error in PostgreSQL.
    """
    lengths: list[list[Floats]] = [[] for _ in model.schema.numbers]
    for curves in model.curves:
        for i, s in zip(curves.at, curves.s, strict=True):
            lengths[i].append(1 / s[s > 0])
    every = [np.concatenate([np.empty(0), *some]) for some in lengths]
    least = [max(1e-17 * one.min(), 1e-66 * one.max()) if one.size else 1e-17 for one in every]
    return power_of_ten(np.maximum(least, 1e-323))
