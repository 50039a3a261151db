"""What is measured: columns, whether they hold numbers, categories or text, and what is fixed.

Summaries add where their schemas agree. Sites that will merge share a schema first.

Examples
--------
>>> Schema(2, ("age", "town"), kinds=("number", "category")).categories
(1,)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import split_name
from naively.data.functions import ColumnFunction
from naively.data.kinds import (
    CATEGORY,
    DATES,
    NUMBER,
    OUT,
    TEXT,
    UNDECIDED,
    Held,
    Kind,
    kind_of,
)
from naively.data.text.tokens import TextOptions
from naively.errors import NaivelyError

Counted = Literal["occurrences", "documents"]
_SHARE = "Summaries that will be added share a schema."
_OTHER_EDGES = (
    "summaries must have histograms of the same edges; got different ones. "
    f"{_SHARE} Give the schema of one to the other."
)


@dataclass(frozen=True)
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
    >>> from naively import Schema, summarize
    >>> schema = Schema(2, ("age", "town"), ("number", "category"))
    >>> summarize([[31, "Ulm"], [None, "Bonn"]], ["no", "yes"], schema=schema).schema == schema
    True
    """

    n_columns: int
    names: tuple[str, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    edges: tuple[tuple[float, ...], ...] | None = None
    knots: tuple[tuple[float, ...], ...] | None = None
    sample: int = 0
    centres: tuple[float, ...] | None = None
    counted: Counted | None = None
    threshold: float = 0.0
    functions: tuple[ColumnFunction, ...] = ()
    options: tuple[TextOptions, ...] = ()
    dates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kinds is not None:  # one way to say it, so that equal is equal
            kinds = tuple(map(Kind.named, self.kinds))
            object.__setattr__(self, "kinds", None if set(kinds) <= {NUMBER} else kinds)
        if self.kinds is not None and not self.options and self.texts:
            object.__setattr__(self, "options", (TextOptions(),) * len(self.texts))

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

    def functions_of(self, j: int) -> list[ColumnFunction]:
        """Return the functions of column j."""
        return [function for function in self.functions if function.column == j]

    def name(self, j: int) -> str:
        """Name column j for a message.

        >>> Schema(2).name(1), Schema(1, ("age",)).name(0)
        ('column 1', "column 'age'")
        """
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def decided(self, kinds: Sequence[Kind | str], other: Schema | None = None) -> Schema:
        """Return the schema once undecided columns are known to hold something.

        Where there are histograms, the edges of such a column are those of the other schema, if it
        has some; and else 0, as of any column without cells when edges are fixed. So are centres.

        >>> Schema(2, kinds=("category", "undecided")).decided(("category", "number")).numbers
        [1]
        """
        kinds = tuple(map(Kind.named, kinds))
        if kinds == self.held:
            return self
        known = self._histograms()
        if other is not None and (known or not self.numbers):
            known = other._histograms() | known
        edges, knots = self.edges, self.knots
        if known:
            n_bins = len(next(iter(known.values()))[1])
            none = (0.0,) * (n_bins - 1), (0.0,) * n_bins
            found = [known.get(j, none) for j, kind in enumerate(kinds) if kind is NUMBER]
            edges, knots = tuple(cuts for cuts, _ in found), tuple(middles for _, middles in found)
        centres = self.centres
        if centres is not None:
            held = {} if other is None else other._centres()
            near = held | self._centres()
            centres = tuple(near.get(j, 0.0) for j, kind in enumerate(kinds) if kind is NUMBER)
        options = dict(zip(self.texts, self.options, strict=True))
        if other is not None:
            options = dict(zip(other.texts, other.options, strict=True)) | options
        default, texts = TextOptions(), [j for j, kind in enumerate(kinds) if kind is TEXT]
        read_as = tuple(options.get(j, default) for j in texts)
        measures = {"edges": edges, "knots": knots, "centres": centres, "options": read_as}
        return replace(self, kinds=kinds, **measures)  # type: ignore[arg-type]

    def columns(self, at: Sequence[int]) -> Schema:
        """Return the schema of some columns, in that order.

        >>> Schema(2, ("age", "town"), kinds=("number", "category")).columns([1]).names
        ('town',)
        """
        number = {j: i for i, j in enumerate(self.numbers)}
        kept = [number[j] for j in at if j in number]
        inputs = {self.input(self.names[j]) for j in at} if self.names else set()
        options = dict(zip(self.texts, self.options, strict=True))
        return replace(
            self,
            n_columns=len(at),
            names=None if self.names is None else tuple(self.names[j] for j in at),
            kinds=None if self.kinds is None else tuple(self.kinds[j] for j in at),
            edges=None if self.edges is None else tuple(self.edges[i] for i in kept),
            knots=None if self.knots is None else tuple(self.knots[i] for i in kept),
            centres=None if self.centres is None else tuple(self.centres[i] for i in kept),
            functions=tuple(
                f._replace(column=i) for i, j in enumerate(at) for f in self.functions_of(j)
            ),
            options=tuple(options[j] for j in at if j in options),
            dates=tuple(name for name in self.dates if name in inputs),
        )

    def _histograms(self) -> dict[int, tuple[tuple[float, ...], tuple[float, ...]]]:
        """Return the edges and middles of bins, by column."""
        if not self.edges or self.knots is None:
            return {}
        pairs = zip(self.edges, self.knots, strict=True)
        return dict(zip(self.numbers, pairs, strict=True))

    def _centres(self) -> dict[int, float]:
        """Return the centres, by column."""
        return {} if self.centres is None else dict(zip(self.numbers, self.centres, strict=True))

    def united(self, other: Schema) -> Schema:
        """Return the schema both share, or raise. A schema without names matches any names.

        What is undecided in one is what it is in the other.
        """
        if self is other or self == other:
            return self
        if self.n_columns != other.n_columns:
            raise NaivelyError(
                f"summaries must have the same columns; got {self.n_columns} and "
                f"{other.n_columns} of them. {_SHARE}"
            )
        if self.names is not None and other.names is not None and self.names != other.names:
            a, b = next((a, b) for a, b in zip(self.names, other.names, strict=True) if a != b)
            raise NaivelyError(
                f"summaries must have the same columns in the same order; got {a!r} and {b!r}. "
                f"{_SHARE}"
            )
        if self.kinds != other.kinds:
            return self._agreed(other)
        self._check_measures(other)
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
                    f"{kinds[j].plural} in one and as {kind.plural} in the other. {_SHARE}"
                )
        mine, its = self.decided(kinds, other), other.decided(kinds, self)
        if len({len(cuts) for cuts in mine.edges or ()}) > 1:
            raise NaivelyError(_OTHER_EDGES)
        return mine.united(its)

    def _check_measures(self, other: Schema) -> None:
        if (self.edges, self.knots) != (other.edges, other.knots):
            raise NaivelyError(_OTHER_EDGES)
        if self.centres != other.centres:
            raise NaivelyError(
                "summaries must measure products of columns around the same centres, or none; got "
                f"different ones. {_SHARE} Give the schema of one to the other."
            )
        if self.functions != other.functions:
            raise NaivelyError(
                "summaries must measure the same functions of columns; got different ones. "
                f"{_SHARE} Give the schema of one to the other."
            )
        if (self.counted, self.threshold) != (other.counted, other.threshold):
            raise NaivelyError(
                "summaries must count the same; got "
                f"{self._counting()} in one and {other._counting()} in the other. {_SHARE}"
            )
        for j, mine, its in zip(self.texts, self.options, other.options, strict=True):
            if mine != its:
                raise NaivelyError(
                    f"summaries must read text in the same way; got {mine} and {its} for "
                    f"{self.name(j)}. {_SHARE}"
                )
        if self.sample != other.sample:
            raise NaivelyError(
                f"summaries must keep samples of the same size; got {self.sample} and "
                f"{other.sample} rows. {_SHARE}"
            )

    def _counting(self) -> str:
        """Return what is measured of numbers, for messages."""
        if self.counted is None:
            return "moments of numbers"
        return self.counted + (f" above {self.threshold:g}" if self.counted == "documents" else "")


def schema_by_types(
    held: Callable[[int], Held],
    n_columns: int,
    names: tuple[str, ...] | None = None,
    agreed: Schema | None = None,
    *,
    given: Mapping[Any, Kind | str] | None = None,
    where: str = "",
    out: str = OUT,
    cells: Callable[[int], Sequence[Any]] | None = None,
) -> Schema:
    """Return what columns hold: as agreed or given, and otherwise as their types say.

    Parameters
    ----------
    held : callable
        Given a column's place, it returns what the column's type says.
    n_columns : int
        How many columns there are.
    names : tuple of str, optional
        What they are called.
    agreed : Schema, optional
        The schema, where it is known: types decide only what it leaves undecided.
    given : mapping, optional
        What some columns hold, by name, or by place where there are no names.
    where : str
        Where the columns are, for messages: ``" in 'data.csv'"``.
    out : str
        How a column is left out, for messages; ``{name!r}`` stands for its name.
    cells : callable, optional
        Given a column's place, it returns the first cells of a column of text, as many as
        `LOOKED_AT`. Without it, text is a column of categories.

    >>> types = [Held("number", "int64"), Held("text", "string")]
    >>> schema_by_types(types.__getitem__, 2, ("age", "town")).kinds
    ('number', 'category')
    """
    if agreed is not None and not agreed.undecided:
        return agreed
    kinds: list[Kind] = [UNDECIDED] * n_columns if agreed is None else list(agreed.held)
    for j in range(n_columns):
        name = j if names is None else names[j]
        if given and name in given:
            kinds[j] = Kind.named(given[name])
        elif kinds[j] is UNDECIDED:
            its = held(j)
            if agreed is not None and its.what in DATES:
                raise NaivelyError(
                    f"column {name!r}{where} holds dates ({its.type}), and held nothing before. "
                    "Give it the type of dates in the first rows too; or leave it out."
                )
            first = None if cells is None else partial(cells, j)
            kinds[j] = kind_of(its, f"column {name!r}{where}", out.format(name=name), first)
    return Schema(n_columns, names, tuple(kinds)) if agreed is None else agreed.decided(kinds)
