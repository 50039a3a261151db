"""What is measured: columns, whether they hold numbers, categories or text, and what is fixed.

Summaries add where their schemas agree. Sites that will merge share a schema first.

Examples
--------
>>> Schema(2, ("age", "town"), kinds=("number", "category")).categories
(1,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import split_name
from naively.data.fixed import FIXED, SHARE, Counted, Fixed, TextReading
from naively.data.functions import ColumnFunction
from naively.data.kinds import (
    CATEGORY,
    NUMBER,
    TEXT,
    UNDECIDED,
    Kind,
)
from naively.data.tokens import TextOptions
from naively.errors import NaivelyError

F = TypeVar("F", bound=Fixed)


@dataclass(frozen=True, init=False)
class Schema:
    """What is measured.

    Parameters
    ----------
    n_columns : int
        How many columns.
    names : tuple of str, or None
        What they are called; None where the data has no names (an array).
    kinds : tuple of Kind or {"number", "category", "text", "undecided"}, or None
        What they hold; None where all hold numbers. A column in which no cell has been seen is
        undecided: nothing is measured of it, and it becomes what its first cell is.
    edges : tuple of tuple of float, or None
        For each column of numbers, where the bins of its histogram meet; None for no histograms.
    knots : tuple of tuple of float, or None
        The middles of those bins.
    sample : int
        How many rows a summary keeps at most: 0 for none.
    centres : tuple of float, or None
        For each column of numbers, what it is measured from where products of columns are, and
        what a missing cell counts as; None for no products.
    counted : {"occurrences", "documents"} or None
        Where numbers are counts, as of words: whether they are added up, or the rows are counted
        in which they are above the threshold. None for numbers of which moments are measured.
    threshold : float
        Where documents are counted, what a number must be above.
    functions : tuple of ColumnFunction
        Functions of columns, such as the logarithm, of which moments are measured too.
    options : tuple of TextOptions
        For each column of text, how it becomes words; by default in the default way.
    dates : tuple of str
        The columns of a table that hold dates, of which some columns here are the parts: of
        ``when``, ``when.year`` and ``when.month``, say. See `naively.data.dates`.

    Examples
    --------
    >>> from naively import summarize
    >>> from naively.data.schema import Schema
    >>> schema = Schema(2, ("age", "town"), ("number", "category"))
    >>> summarize([[31, "Ulm"], [None, "Bonn"]], ["no", "yes"], schema=schema).schema == schema
    True
    """

    n_columns: int
    names: tuple[str, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    fixed: tuple[Fixed, ...] = ()
    dates: tuple[str, ...] = ()

    if TYPE_CHECKING:  # what is fixed, by the keywords of each
        edges: tuple[tuple[float, ...], ...] | None = None
        knots: tuple[tuple[float, ...], ...] | None = None
        centres: tuple[float, ...] | None = None
        functions: tuple[ColumnFunction, ...] = ()
        counted: Counted | None = None
        threshold: float = 0.0
        options: tuple[TextOptions, ...] = ()
        sample: int = 0

    def __init__(
        self,
        n_columns: int,
        names: tuple[str, ...] | None = None,
        kinds: Sequence[Kind | str] | None = None,
        *,
        fixed: tuple[Fixed, ...] = (),
        dates: tuple[str, ...] = (),
        **given: Any,
    ) -> None:
        held = None if kinds is None else tuple(map(Kind.named, kinds))
        if held is not None and set(held) <= {NUMBER}:
            held = None  # one way to say it, so that equal is equal
        self.__dict__.update(n_columns=n_columns, names=names, kinds=held, fixed=(), dates=dates)
        if fixed or given or self.texts:
            self.__dict__["fixed"] = self._fixed({type(one): one for one in fixed}, given)

    def _fixed(
        self, fixed: dict[type[Fixed], Fixed | None], given: dict[str, Any]
    ) -> tuple[Fixed, ...]:
        """Return what is fixed, with what is given by keywords instead, in one order."""
        for kind in FIXED.values():
            if new := {name: given.pop(name) for name in kind.absent if name in given}:
                before = fixed.get(kind)
                fixed[kind] = kind.of(**{**(before.given() if before else kind.absent), **new})
        if given:
            raise TypeError(f"a schema has no {next(iter(given))!r}.")
        if self.texts and not fixed.get(TextReading):
            fixed[TextReading] = TextReading((TextReading.default,) * len(self.texts))
        return tuple(one for kind in FIXED.values() if (one := fixed.get(kind)) is not None)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            kind = next((kind for kind in FIXED.values() if name in kind.absent), None)
            if kind is None:
                raise AttributeError(f"a schema has no {name!r}.")
            own = self.get(kind)
            value = self.__dict__[name] = (own.given() if own else kind.absent)[name]
            return value

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what was computed of them is not part of a pickle."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def get(self, kind: type[F]) -> F | None:
        """Return what was fixed, by its type; None where it was not."""
        found: Any = next((one for one in self.fixed if type(one) is kind), None)
        return found

    @property
    def held(self) -> tuple[Kind, ...]:
        """What each column holds."""
        return (NUMBER,) * self.n_columns if self.kinds is None else self.kinds

    @cached_property
    def numbers(self) -> Sequence[int]:
        """The columns of numbers."""
        return self.of_kind(NUMBER)

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """The columns of categories."""
        return tuple(self.of_kind(CATEGORY))

    @cached_property
    def texts(self) -> tuple[int, ...]:
        """The columns of text."""
        return tuple(self.of_kind(TEXT))

    @cached_property
    def undecided(self) -> tuple[int, ...]:
        """The columns in which no cell has been seen."""
        return tuple(self.of_kind(UNDECIDED))

    def of_kind(self, kind: Kind) -> Sequence[int]:
        """Return the columns of a kind."""
        if self.kinds is None:
            return range(self.n_columns) if kind is NUMBER else []
        return [j for j, its in enumerate(self.kinds) if its is kind]

    @cached_property
    def inputs(self) -> tuple[str, ...] | None:
        """The columns of a table that are read: one of dates for all of its parts.

        >>> Schema(2, ("when.year", "when.month"), dates=("when",)).inputs
        ('when',)
        """
        if self.names is None or not self.dates:
            return self.names
        return tuple(dict.fromkeys(map(self.input, self.names)))

    def input(self, name: str) -> str:
        """Return the column of a table that a column is read from, by their names."""
        split = split_name(name) if self.dates else None
        return split[0] if split is not None and split[0] in self.dates else name

    def parts(self, name: str) -> list[int]:
        """Return where the parts of a column of dates stand.

        >>> Schema(3, ("x", "when.year", "when.month"), dates=("when",)).parts("when")
        [1, 2]
        """
        return [j for j, own in enumerate(self.names or ()) if self.input(own) == name]

    @property
    def n_bins(self) -> int:
        """How many bins a histogram has."""
        return len(self.edges[0]) + 1 if self.edges else 0

    @cached_property
    def edge_array(self) -> NDArray[np.float64]:
        """The edges as the kernel reads them."""
        return np.array(self.edges or [()], dtype=np.float64)

    @property
    def names_or_places(self) -> Sequence[Any]:
        """The names of the columns, or their places where they have none."""
        return self.names or range(self.n_columns)

    def name(self, j: int) -> str:
        """Name column j for a message.

        >>> Schema(2).name(1), Schema(1, ("age",)).name(0)
        ('column 1', "column 'age'")
        """
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def decided(self, kinds: Sequence[Kind | str], other: Schema | None = None) -> Schema:
        """Return the schema once undecided columns are known to hold something.

        What is fixed in such a column is as in the other schema, if it says so; and else as in any
        column without cells.

        >>> Schema(2, kinds=("category", "undecided")).decided(("category", "number")).numbers
        [1]
        """
        kinds = tuple(map(Kind.named, kinds))
        if kinds == self.held:
            return self
        after = Schema(self.n_columns, self.names, kinds, dates=self.dates)
        fixed = (kind.decided(self, after, other) for kind in FIXED.values())
        return replace(after, fixed=tuple(one for one in fixed if one is not None))

    def columns(self, at: Sequence[int]) -> Schema:
        """Return the schema of some columns, in that order.

        >>> Schema(2, ("age", "town"), kinds=("number", "category")).columns([1]).names
        ('town',)
        """
        inputs = {self.input(self.names[j]) for j in at} if self.names else set()
        fixed = (one.chosen(self, at) for one in self.fixed)
        return Schema(
            len(at),
            None if self.names is None else tuple(self.names[j] for j in at),
            None if self.kinds is None else tuple(self.kinds[j] for j in at),
            fixed=tuple(one for one in fixed if one is not None),
            dates=tuple(name for name in self.dates if name in inputs),
        )

    def widened(self, other: Schema) -> Schema:
        """Return the schema that fixes what this one or another fixes, of the same columns."""
        fixed = []
        for kind in FIXED.values():
            own, its = self.get(kind), other.get(kind)
            fixed += [own.joined(its)] if own and its else [one for one in (own, its) if one]
        return replace(self, fixed=tuple(fixed))

    def united(self, other: Schema) -> Schema:
        """Return the schema both share, or raise. A schema without names matches any names.

        What is undecided in one is what it is in the other.
        """
        if self is other or self == other:
            return self
        if self.n_columns != other.n_columns:
            raise NaivelyError(
                f"summaries must have the same columns; got {self.n_columns} and "
                f"{other.n_columns} of them. {SHARE}"
            )
        if self.names is not None and other.names is not None and self.names != other.names:
            a, b = next((a, b) for a, b in zip(self.names, other.names, strict=True) if a != b)
            raise NaivelyError(
                f"summaries must have the same columns in the same order; got {a!r} and {b!r}. "
                f"{SHARE}"
            )
        if self.kinds != other.kinds:
            return self._agreed(other)
        for kind in FIXED.values():
            if self.get(kind) != other.get(kind):
                raise NaivelyError(kind.difference(self, other))
        found = self if self.names is not None else other
        return found if self.dates == other.dates else replace(found, dates=self._dates(other))

    def _dates(self, other: Schema) -> tuple[str, ...]:
        """Return the columns of dates of both: in one, their parts may be columns themselves."""
        return tuple(sorted({*self.dates, *other.dates}))

    def _agreed(self, other: Schema) -> Schema:
        """Return the schema of both, of which some columns are undecided in one of them."""
        kinds = list(self.held)
        for j, kind in enumerate(other.held):
            if kinds[j] is UNDECIDED:
                kinds[j] = kind
            elif kind not in (UNDECIDED, kinds[j]):
                raise NaivelyError(
                    f"summaries must agree on what a column holds; got {self.name(j)} as "
                    f"{kinds[j].plural} in one and as {kind.plural} in the other. {SHARE}"
                )
        return self.decided(kinds, other).united(other.decided(kinds, self))
