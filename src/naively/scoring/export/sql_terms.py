"""Terms of a sum as SQL: one writer for each form, of one column.

A writer says what is worked out once for all classes (`shared`), which small table is joined to
that (`lookups` and `joins`), what is worked out from both (`derived`), and what is added for a
class (`addends`). A missing cell adds 0.

Histograms and categories are small tables with a column for each class, since databases are quick
at joins; a CASE for each class would have to be walked through for each class, and PostgreSQL
would compile all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naively.data.functions import BELOW_ONE, FUNCTIONS
from naively.data.types import Floats
from naively.engines.sql.dialects import Spelling, added, halved, named, number


@dataclass(frozen=True)
class SqlTerm:
    """The terms of one column and form: its cell, and a name that no other term has."""

    cell: str
    name: str

    is_joined: ClassVar[bool] = False  # whether a small table is joined

    @property
    def width(self) -> int:
        """How many columns these terms add to a step."""
        return 0

    def shared(self, spelling: Spelling) -> list[str]:
        """Write what is needed for all classes."""
        return []

    def lookups(self, spelling: Spelling) -> list[str]:
        """Write a small table."""
        return []

    def joins(self, spelling: Spelling) -> list[str]:
        """Join the small table to what is shared."""
        return []

    def derived(self) -> list[str]:
        """Write what follows from what is shared or joined."""
        return []

    def addends(self, spelling: Spelling, k: int) -> list[str]:
        """Write what is to be added to the joint of class k: one number, or nothing."""
        return []


@dataclass(frozen=True)
class Curve(SqlTerm):
    """A - B log(1 + z^2) or A - B z^2 with z = s (x - mu), by class."""

    A: Floats
    B: Floats
    mu: Floats
    s: Floats
    weight: Floats | None
    logarithmic: bool
    near: str

    @property
    def width(self) -> int:
        """One column for each class and one for their mean, where terms are centred."""
        return 0 if self.weight is None else self.A.size + 1

    def shared(self, spelling: Spelling) -> list[str]:
        """Write the curves of all classes, if their mean is needed."""
        if self.weight is None:
            return []
        every = range(self.A.size)
        return [named(self._curve(spelling, k), f"curve_{self.name}_{k}") for k in every]

    def derived(self) -> list[str]:
        """Write the mean of all curves, if they are weighted differently."""
        if self.weight is None:
            return []
        every = " + ".join(f"curve_{self.name}_{k}" for k in range(self.A.size))
        return [named(f"({every}) / {self.A.size}", f"mean_{self.name}")]

    def addends(self, spelling: Spelling, k: int) -> list[str]:
        """Write the curve of a class; centred and weighted, if the weights differ."""
        if self.weight is None:
            zero = self.A[k] == 0 and self.B[k] == 0
            return [] if zero else [f"COALESCE({self._curve(spelling, k)}, 0)"]
        centred = f"(curve_{self.name}_{k} - mean_{self.name})"
        return [f"COALESCE({number(self.weight[k])} * {centred}, 0)"]

    def _curve(self, spelling: Spelling, k: int) -> str:
        z = f"({self.near} {added(-self.mu[k])}) * {number(self.s[k])}"
        square = spelling.square(z)
        if not self.logarithmic:
            return f"{number(self.A[k])} {'-' if self.B[k] >= 0 else '+'} {square}"
        return f"{number(self.A[k])} {added(-self.B[k])} * LN(1 + {square})"


@dataclass(frozen=True)
class Line(SqlTerm):
    """A + B x by class, where x is not below the lowest; with a step, x is 1 above it, else 0."""

    A: Floats
    B: Floats
    lowest: float
    near: str
    step: float | None = None

    def addends(self, spelling: Spelling, k: int) -> list[str]:
        """Write the line of a class."""
        if self.step is not None:
            above, other = number(self.A[k] + self.B[k]), number(self.A[k])
            cases = f"WHEN {self.cell} > {number(self.step)} THEN {above} ELSE {other}"
            return [f"CASE WHEN {self.cell} IS NULL THEN 0 {cases} END"]
        line = f"{number(self.A[k])} {added(self.B[k])} * {self.near}"
        if np.isinf(self.lowest):
            return [f"COALESCE({line}, 0)"]
        return [f"CASE WHEN {self.cell} >= {number(self.lowest)} THEN {line} ELSE 0 END"]


@dataclass(frozen=True)
class Piece(SqlTerm):
    """Values at ascending knots, by knot and class, of the classes that need any."""

    knots: Floats
    values: Floats
    classes: list[int]

    is_joined: ClassVar[bool] = True

    @property
    def width(self) -> int:
        """The bin, what is joined, and how far x is in its bin."""
        return 2 * len(self.classes) + 6

    def shared(self, spelling: Spelling) -> list[str]:
        """Write the number of knots that x is not before."""
        bins = [str(b) for b in range(self.knots.size + 1)]
        found = halved(self.cell, [number(knot) for knot in self.knots], bins)
        return [named(f"CASE WHEN {self.cell} IS NOT NULL THEN {found} END", f"bin_{self.name}")]

    def lookups(self, spelling: Spelling) -> list[str]:
        """Write where each piece starts, how wide it is, and the values there and how they rise.

        Before the first knot and after the last nothing rises. What is but a grain of the width
        counts as 0: a product with it might underflow.
        """
        width = np.pad(np.diff(self.knots), 1, constant_values=1.0)
        numbers = np.column_stack(
            [
                np.pad(self.knots[:-1], 1),
                width,
                np.maximum(1e-17 * width, 5e-324),
                np.vstack([self.values[:1], self.values])[:, self.classes],
                np.pad(np.diff(self.values, axis=0), ((1, 1), (0, 0)))[:, self.classes],
            ]
        )
        columns = [f"{what}_{self.name}" for what in ("key", "knot", "width", "grain")]
        columns += [f"{what}_{self.name}_{k}" for what in ("start", "rise") for k in self.classes]
        keys = [str(b) for b in range(len(numbers))]
        return [lookup(spelling, self.name, columns, keys, numbers)]

    def joins(self, spelling: Spelling) -> list[str]:
        """Find the piece."""
        table = spelling.step(f"lookup_{self.name}")
        return [f"LEFT JOIN {table} ON bin_{self.name} = key_{self.name}"]

    def derived(self) -> list[str]:
        """Write how far x is on the way to the next knot."""
        gone = f"({self.cell} - knot_{self.name})"
        way = f"WHEN {gone} < grain_{self.name} THEN 0 ELSE {gone} / width_{self.name}"
        return [named(f"CASE {way} END", f"way_{self.name}")]

    def addends(self, spelling: Spelling, k: int) -> list[str]:
        """Write the value of a class."""
        if k not in self.classes:
            return []
        return [f"COALESCE(start_{self.name}_{k} + rise_{self.name}_{k} * way_{self.name}, 0)"]


@dataclass(frozen=True)
class Lookup(SqlTerm):
    """Values by category and class, the last for any other, of the classes that need any."""

    categories: NDArray[Any]
    values: Floats
    classes: list[int]

    is_joined: ClassVar[bool] = True

    @property
    def width(self) -> int:
        """The category that is joined, and its values."""
        return len(self.classes) + 1

    def lookups(self, spelling: Spelling) -> list[str]:
        """Write the values of the categories that are not as any other."""
        own = self._own()
        if not own.size:
            return []
        keys = [category(spelling, one) for one in self.categories[own].tolist()]
        columns = [f"key_{self.name}", *(f"value_{self.name}_{k}" for k in self.classes)]
        numbers = self.values[own][:, self.classes]
        return [lookup(spelling, self.name, columns, keys, numbers)]

    def joins(self, spelling: Spelling) -> list[str]:
        """Find the category."""
        if not self._own().size:
            return []
        table = spelling.step(f"lookup_{self.name}")
        return [f"LEFT JOIN {table} ON {self.cell} = key_{self.name}"]

    def addends(self, spelling: Spelling, k: int) -> list[str]:
        """Write the value of a class."""
        if k not in self.classes:
            return []
        other = number(self.values[-1, k])
        found = f"COALESCE(value_{self.name}_{k}, {other})" if self._own().size else other
        return [f"CASE WHEN {self.cell} IS NULL THEN 0 ELSE {found} END"]

    def _own(self) -> NDArray[np.intp]:
        return np.flatnonzero((self.values[:-1] != self.values[-1]).any(axis=1))


def lookup(
    spelling: Spelling, name: str, columns: list[str], keys: list[str], numbers: Floats
) -> str:
    """Write a small table. What is a float in the first row, is one in all."""
    rows = [[key, *map(number, line)] for key, line in zip(keys, numbers, strict=True)]
    rows[0][1:] = map(spelling.cast, rows[0][1:])
    return spelling.rows(spelling.step(f"lookup_{name}"), columns, rows)


def function(cell: str, name: str, period: float) -> str:
    """Write a function of a cell; NULL where it has no value.

    >>> function("x_0", "log", 1.0)
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


def category(spelling: Spelling, category: Any) -> str:
    """Write a category as cells of its column are: there numbers are floats, booleans texts."""
    if isinstance(category, bool):
        return spelling.text(str(category))
    whole = isinstance(category, int) and not isinstance(category, bool)
    return spelling.label(float(category) if whole else category)
