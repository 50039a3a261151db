"""Terms of a sum as SQL: one writer for each form, of one column.

A writer says what is worked out once for all classes (`shared`), which small table is joined to
that (`lookups` and `joins`), what is worked out from both (`derived`), and what is added for a
class (`addends`). A missing cell adds 0.

Histograms and categories are small tables with a column for each class, since databases are quick
at joins; a CASE for each class would have to be walked through for each class, and PostgreSQL
would compile all of them.

Interactions are steps of the query, after the cells and before the joints. A feature is ``f_j``,
and what is computed of features, cells and small tables of categories is a column: a direction is a
number ``x_i`` behind those of the table, the squared distance of class k is ``q_k``, and a pair has
the key ``pair_i`` of its cell in a table, with ``s_i`` and ``t_i``, how far the row is on the way
to the next bins. Terms that read them are added like any others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naively.data.functions import BELOW_ONE, FUNCTIONS
from naively.data.types import Floats
from naively.engines.sql.dialects import Spelling, added, halved, named, number, total
from naively.errors import NaivelyError
from naively.export.sums import Sum
from naively.families.joint_forms import JointForms


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


# --- Forms of several cells -----------------------------------------------------------------------


_MOST_PRODUCTS = 5000  # of the quadratic term, for a row
_FAR = 1e100  # of a feature, as in the kernel
_NEAR_CELLS = 1e-60  # a feature below counts as 0: products must not underflow
_LARGEST = 8e307
_MOST_JOINS = 50  # of a step: SQLite joins 64 tables


def check_products(model: Sum) -> None:
    """Raise where the quadratic term is too long for a query."""
    form = None if model.joint is None else model.joint.ellipsoids
    if form is None:
        return
    n_classes, p = form.mean.shape
    products = n_classes * p * (p + 1) // 2
    if products > _MOST_PRODUCTS:
        raise NaivelyError(
            f"the quadratic term of {n_classes} classes and {p} columns of numbers takes "
            f"{products:,} products for each row; a query has room for {_MOST_PRODUCTS:,}. Export "
            'a model of interactions=("canonical", "pairs").'
        )


@dataclass(frozen=True)
class Ellipsoid(Curve):
    """A - B log(1 + s q), by class, of distances that are columns."""

    def _curve(self, spelling: Spelling, k: int) -> str:
        power = f"LN(1 + {number(self.s[k])} * q_{k})"
        return f"{number(self.A[k])} {added(-self.B[k])} * {power}"


@dataclass(frozen=True)
class Grid(SqlTerm):
    """v + a s + b t + c s t, by cell of a table and class, of the classes that need any."""

    parts: tuple[Floats, ...]
    classes: list[int]

    is_joined: ClassVar[bool] = True

    @property
    def width(self) -> int:
        """What is joined."""
        return len(self.parts) * len(self.classes) + 1

    def lookups(self, spelling: Spelling) -> list[str]:
        """Write the numbers of each cell of the table."""
        numbers = np.concatenate([part[:, self.classes] for part in self.parts], axis=1)
        columns = [f"key_{self.name}"]
        columns += [f"{what}_{self.name}_{k}" for what in "vabc" for k in self.classes]
        return [
            lookup(spelling, self.name, columns, [str(i) for i in range(len(numbers))], numbers)
        ]

    def joins(self, spelling: Spelling) -> list[str]:
        """Find the cell."""
        table = spelling.step(f"lookup_{self.name}")
        return [f"LEFT JOIN {table} ON {self.cell} = key_{self.name}"]

    def addends(self, spelling: Spelling, k: int) -> list[str]:
        """Write the value of a class."""
        if k not in self.classes:
            return []
        v, a, b, c = (f"{what}_{self.name}_{k}" for what in "vabc")
        s, t = (f"{what}_{self.name.removeprefix('pair_')}" for what in "st")
        return [f"COALESCE({v} + {a} * {s} + {b} * {t} + {c} * {s} * {t}, 0)"]


class InteractionSteps:
    """The steps that compute columns, and the small tables that they join."""

    def __init__(self, spelling: Spelling, model: Sum, joint: JointForms) -> None:
        self.spelling, self.model, self.joint = spelling, model, joint
        self.levels = self._levels()

    def steps(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Give the name, the values and the joins of each step, which pass on all others."""
        if features := list(self._features()):
            yield "features", features, []
        columns = sorted(self.levels)
        for n, start in enumerate(range(0, len(columns), _MOST_JOINS)):
            tables = [(j, self.spelling.step(f"levels_{j}")) for j in columns[start:][:_MOST_JOINS]]
            yield f"joined_{n}", [], [f"LEFT JOIN {t} ON c_{j} = level_{j}" for j, t in tables]
        if computed := [*self._directions(), *self._factors(), *self._positions()]:
            yield "computed", computed, []
        if combined := [*self._distances(), *self._pairs()]:
            yield "combined", combined, []

    def lookups(self) -> list[str]:
        """Write the small tables: what categories add to directions, and their bins."""
        written = []
        for j, (own, numbers) in self.levels.items():
            categories = self.model.tables[j].categories[own].tolist()
            keys = [category(self.spelling, one) for one in categories]
            columns = [f"level_{j}", *self._level_columns(j)]
            rows = [[key, *map(number, line)] for key, line in zip(keys, numbers, strict=True)]
            rows[0][1:] = map(self.spelling.cast, rows[0][1:])
            written.append(self.spelling.rows(self.spelling.step(f"levels_{j}"), columns, rows))
        return written

    # --- categories ---------------------------------------------------------------------------

    def _levels(self) -> dict[int, tuple[NDArray[np.intp], Floats]]:
        """Return by column of categories those that matter, and what they add."""
        parts: dict[int, list[Floats]] = {}
        projection, grids = self.joint.projection, self.joint.grids
        if projection is not None and projection.tables is not None:
            for n, j in enumerate(projection.columns):
                parts.setdefault(j, []).append(projection.tables.table(n))
        if grids is not None:
            for j, bins in zip(grids.axes.categories, grids.axes.bins, strict=True):
                parts.setdefault(j, []).append(bins[:, np.newaxis].astype(np.float64))
        found = {}
        for j, several in parts.items():
            every = np.concatenate(several, axis=1)
            own = np.flatnonzero((every[:-1] != every[-1]).any(axis=1))
            if own.size:
                found[j] = own, every[own]
        return found

    def _level_columns(self, j: int) -> list[str]:
        projection, grids = self.joint.projection, self.joint.grids
        columns = []
        if projection is not None and j in projection.columns:
            columns += [f"add_{j}_{r}" for r in range(projection.start.size)]
        if grids is not None and j in grids.axes.categories:
            columns.append(f"bin_{j}")
        return columns

    # --- numbers ------------------------------------------------------------------------------

    def _features(self) -> Iterator[str]:
        features = self.joint.features
        if self.joint.projection is None and self.joint.ellipsoids is None:
            return
        for j, (i, mean, scale) in enumerate(
            zip(features.at, features.mean, features.scale, strict=True)
        ):
            low, high = np.clip([mean - _FAR / scale, mean + _FAR / scale], -_LARGEST, _LARGEST)
            ends = [
                f"WHEN x_{i} {sign} {number(end)} THEN {number((end - mean) * scale)}"
                for sign, end in (("<", low), (">", high))
            ]
            tiny = number(max(_NEAR_CELLS / scale, 1e-300))
            around = f"(x_{i} {added(-mean)})"
            cases = [f"WHEN x_{i} IS NULL THEN 0", *ends, f"WHEN ABS{around} < {tiny} THEN 0"]
            value = f"CASE {' '.join(cases)} ELSE {around} * {number(scale)} END"
            yield named(self.spelling.cast(value), f"f_{j}")

    def _directions(self) -> Iterator[str]:
        projection = self.joint.projection
        if projection is None:
            return
        n = len(self.model.schema.numbers)
        for r, (start, W) in enumerate(zip(projection.start, projection.W.T, strict=True)):
            terms = [self.spelling.cast(number(start)), *_products(W)]
            terms += [f"COALESCE(add_{j}_{r}, 0)" for j in projection.columns if j in self.levels]
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

    # --- pairs --------------------------------------------------------------------------------

    def _positions(self) -> Iterator[str]:
        """Write the bin before a cell, and how far it is on the way to the next."""
        if self.joint.grids is None:
            return
        axes = self.joint.grids.axes
        for a, (i, every) in enumerate(zip(axes.numbers, axes.knots, strict=True)):
            knots = np.clip(every, -_LARGEST, _LARGEST)
            inner = [number(knot) for knot in knots[1:-1]]
            low = halved(f"x_{i}", inner, [str(b) for b in range(knots.size - 1)])
            yield named(f"CASE WHEN x_{i} IS NOT NULL THEN {low} END", f"low_{a}")
            ways = [_way(f"x_{i}", *pair) for pair in zip(knots[:-1], np.diff(knots), strict=True)]
            ends = (
                f"WHEN x_{i} <= {number(knots[0])} THEN 0 WHEN x_{i} >= {number(knots[-1])} THEN 1"
            )
            share = f"CASE {ends} ELSE {halved(f'x_{i}', inner, ways)} END"
            yield named(self.spelling.cast(share), f"share_{a}")
        for a, (j, bins) in enumerate(zip(axes.categories, axes.bins, strict=True)):
            found = f"COALESCE(bin_{j}, {bins[-1]})" if j in self.levels else str(bins[-1])
            place = len(axes.numbers) + a
            yield named(f"CASE WHEN c_{j} IS NOT NULL THEN {found} END", f"low_{place}")

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


def _products(weights: Floats) -> list[str]:
    return [f"{number(w)} * f_{j}" for j, w in enumerate(weights) if abs(w) > 1e-200]


def _way(cell: str, knot: float, width: float) -> str:
    """Write how far a cell is on its way; a grain of the width is 0, lest it underflow."""
    gone = f"({cell} {added(-knot)})"
    grain = number(max(1e-17 * width, 5e-324))
    return f"CASE WHEN {gone} < {grain} THEN 0 ELSE {gone} / {number(width)} END"
