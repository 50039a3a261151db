"""What is measured: columns, whether they hold numbers, categories or text, and what is fixed.

Summaries add where their schemas agree. Sites that will merge share a schema first.

Statistics fix something in columns before they measure: where bins end, where products begin. A
schema holds at most one value of each type and knows none of them: it chooses columns, decides,
unites, compares and saves by going over what it holds. A statistic that fixes something brings a
class of its own, which is known from then on; `Schema` takes its value as a keyword, and has it as
an attribute.

Examples
--------
>>> schema = Schema(2, ("age", "town"), kinds=("number", "category"), centres=(30.0,))
>>> schema.categories, schema.fixed, schema.columns([1]).centres
((1,), (Centres(values=(30.0,)),), ())
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import split_name
from naively.data.functions import FUNCTIONS, ColumnFunction
from naively.data.kinds import CATEGORY, NUMBER, TEXT, UNDECIDED, Kind
from naively.data.tensors import Tensors, UnsoundError
from naively.data.tokens import TextOptions
from naively.errors import NaivelyError

F = TypeVar("F", bound="Fixed")
Counted = Literal["occurrences", "documents"]
SHARE = "Summaries that will be added share a schema."
FIXED: dict[str, type[Fixed]] = {}
"""What can be fixed, by name: each class that has one, in the order in which they were defined."""


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


# --- What statistics fix in columns before they measure -----------------------------------------


@dataclass(frozen=True)
class Fixed(ABC):
    """A value that was fixed beforehand, in all columns of a schema together.

    Attributes
    ----------
    name : str
        What `Schema` and files call it.
    absent : dict
        What `Schema` takes for it, and what that is where nothing is fixed.
    agreement : str
        What summaries must do to be added, for messages.
    """

    values: Any

    name: ClassVar[str]
    absent: ClassVar[Mapping[str, Any]]
    agreement: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if "name" in cls.__dict__:
            FIXED[cls.name] = cls
            if "absent" not in cls.__dict__:
                cls.absent = {cls.name: None}

    @classmethod
    def of(cls, **given: Any) -> Self | None:
        """Return what `Schema` is given; None where that fixes nothing."""
        return cls._of_values(given[cls.name])

    @classmethod
    def _of_values(cls, values: Any) -> Self | None:
        return None if values == cls.absent[cls.name] else cls(values)

    def given(self) -> dict[str, Any]:
        """Return what `Schema` was given."""
        return {self.name: self.values}

    def chosen(self, schema: Schema, at: Sequence[int]) -> Self | None:
        """Return what is fixed in some columns of a schema, in that order."""
        return self

    @classmethod
    def decided(cls, before: Schema, after: Schema, other: Schema | None) -> Self | None:
        """Return what is fixed once undecided columns hold something; perhaps as in another."""
        return before.get(cls)

    def joined(self, other: Self) -> Self:
        """Return what serves for both, of the same columns: either does."""
        return self

    @classmethod
    def difference(cls, a: Schema, b: Schema) -> str:
        """Say that two schemas disagree."""
        return (
            f"summaries must {cls.agreement}; got different ones. {SHARE} "
            "Give the schema of one to the other."
        )

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what is written into the header of a file, and the tensors behind it."""
        return {self.name: self.values}, {}

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], tensors: Tensors, schema: Schema) -> Self | None:
        """Return what was written, or raise; ``schema`` has the columns."""
        return cls.of(**{name: header.get(name, value) for name, value in cls.absent.items()})


class FixedByColumn(Fixed):
    """One value for each column of a kind, in their order; by default, a number.

    A column that is decided later has the value that another schema has, or the default.
    """

    kind: ClassVar[Kind] = NUMBER
    default: ClassVar[Any] = 0.0

    @classmethod
    def by_column(cls, schema: Schema | None) -> dict[int, Any]:
        """Return the values of a schema by column."""
        own = None if schema is None else schema.get(cls)
        if own is None or schema is None:
            return {}
        return dict(zip(schema.of_kind(cls.kind), own.values, strict=True))

    def chosen(self, schema: Schema, at: Sequence[int]) -> Self | None:
        known = self.by_column(schema)
        return self._of_values(tuple(known[j] for j in at if j in known))

    @classmethod
    def decided(cls, before: Schema, after: Schema, other: Schema | None) -> Self | None:
        if before.get(cls) is None and cls.absent[cls.name] is None:
            return None
        known = cls.by_column(other) | cls.by_column(before)
        return cls._of_values(tuple(known.get(j, cls.default) for j in after.of_kind(cls.kind)))

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {self.name: np.array(self.values, dtype=np.float64)}

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], tensors: Tensors, schema: Schema) -> Self | None:
        if cls.name not in tensors:
            return None
        numbers = tensors.take(cls.name, np.float64, (len(schema.of_kind(cls.kind)),))
        if not np.isfinite(numbers).all():
            raise UnsoundError(f"{cls.name} must be finite")
        return cls(tuple(numbers.tolist()))


class BinEdges(FixedByColumn):
    """For each column of numbers, where the bins of its histogram meet, and their middles."""

    name: ClassVar[str] = "edges"
    absent: ClassVar[Mapping[str, Any]] = {"edges": None, "knots": None}
    agreement: ClassVar[str] = "have histograms of the same edges"

    @classmethod
    def of(cls, **given: Any) -> Self | None:
        edges, knots = given["edges"], given["knots"]
        if edges is None:
            return None
        return cls(tuple(zip(edges, [()] * len(edges) if knots is None else knots, strict=True)))

    def given(self) -> dict[str, Any]:
        edges, knots = (tuple(pair[i] for pair in self.values) for i in (0, 1))
        return {"edges": edges, "knots": knots}

    @classmethod
    def decided(cls, before: Schema, after: Schema, other: Schema | None) -> Self | None:
        """Return the edges of all columns of numbers.

        A column without cells has edges of 0. Where there are no numbers so far, all edges may be
        those of the other schema.
        """
        known = cls.by_column(before)
        if known or not before.numbers:
            known = cls.by_column(other) | known
        if not known:
            return before.get(cls)
        n_bins = {len(middles) for _, middles in known.values()}
        if len(n_bins) > 1:
            raise NaivelyError(cls.difference(before, after))
        n = n_bins.pop()
        none = (0.0,) * (n - 1), (0.0,) * n
        return cls(tuple(known.get(j, none) for j in after.numbers))

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {name: np.array(values) for name, values in self.given().items()}

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], tensors: Tensors, schema: Schema) -> Self | None:
        if "edges" not in tensors and "knots" not in tensors:
            return None
        n, n_bins = len(schema.numbers), tensors.length("knots", axis=-1)
        edges = _ascending(tensors, "edges", (n, max(n_bins - 1, 0)))
        knots = _ascending(tensors, "knots", (n, n_bins))
        if not np.isfinite(knots).all():
            raise UnsoundError("knots must be finite")
        return cls(
            tuple((tuple(e), tuple(k)) for e, k in zip(edges.tolist(), knots.tolist(), strict=True))
        )


class Centres(FixedByColumn):
    """For each column of numbers, what products are measured from; a missing cell counts as it."""

    name: ClassVar[str] = "centres"
    agreement: ClassVar[str] = "measure products of columns around the same centres, or none"


class MeasuredFunctions(Fixed):
    """Functions of columns, of which moments are measured too."""

    name: ClassVar[str] = "functions"
    absent: ClassVar[Mapping[str, Any]] = {"functions": ()}
    agreement: ClassVar[str] = "measure the same functions of columns"

    def joined(self, other: Self) -> Self:
        return replace(self, values=tuple(dict.fromkeys(self.values + other.values)))

    def chosen(self, schema: Schema, at: Sequence[int]) -> Self | None:
        new = (f._replace(column=i) for i, j in enumerate(at) for f in self.values if f.column == j)
        return self.of(functions=tuple(new))

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {self.name: [*map(list, self.values)]}, {}

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], tensors: Tensors, schema: Schema) -> Self | None:
        listed = header.get("functions", [])
        whole = isinstance(listed, list) and all(_is_function(f, schema.n_columns) for f in listed)
        if not whole:
            raise UnsoundError("its functions must be a column, a name and a period each")
        functions = (ColumnFunction(column, name, float(period)) for column, name, period in listed)
        return cls.of(functions=tuple(functions))


class Counting(Fixed):
    """Where numbers are counts, whether they are added up, or rows counted: above a threshold."""

    name: ClassVar[str] = "counted"
    absent: ClassVar[Mapping[str, Any]] = {"counted": None, "threshold": 0.0}

    @classmethod
    def of(cls, **given: Any) -> Self | None:
        return None if given["counted"] is None else cls((given["counted"], given["threshold"]))

    def given(self) -> dict[str, Any]:
        return dict(zip(self.absent, self.values, strict=True))

    def __str__(self) -> str:
        counted, threshold = self.values
        return counted + (f" above {threshold:g}" if counted == "documents" else "")

    @classmethod
    def difference(cls, a: Schema, b: Schema) -> str:
        mine, its = (schema.get(cls) or "moments of numbers" for schema in (a, b))
        return f"summaries must count the same; got {mine} in one and {its} in the other. {SHARE}"

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return self.given(), {}

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], tensors: Tensors, schema: Schema) -> Self | None:
        counted, threshold = header.get("counted"), header.get("threshold", 0.0)
        if counted not in (None, *get_args(Counted)) or type(threshold) not in (int, float):
            raise UnsoundError(f"it counts {counted!r} above {threshold!r}")
        if not 0 <= threshold < np.inf:
            raise UnsoundError(f"it counts what is above {threshold!r}")
        return cls.of(counted=counted, threshold=float(threshold))


class TextReading(FixedByColumn):
    """For each column of text, how it becomes words; by default in the default way."""

    name: ClassVar[str] = "options"
    absent: ClassVar[Mapping[str, Any]] = {"options": ()}
    kind: ClassVar[Kind] = TEXT
    default: ClassVar[Any] = TextOptions()

    @classmethod
    def difference(cls, a: Schema, b: Schema) -> str:
        triples = zip(a.texts, a.options, b.options, strict=True)
        j, mine, its = next((j, mine, its) for j, mine, its in triples if mine != its)
        return (
            f"summaries must read text in the same way; got {mine} and {its} for {a.name(j)}. "
            f"{SHARE}"
        )

    def packed(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"text": [*map(asdict, self.values)]}, {}

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], tensors: Tensors, schema: Schema) -> Self | None:
        listed = header.get("text", [])
        if not isinstance(listed, list) or len(listed) != len(schema.texts):
            raise UnsoundError("it must say for each column of text how it becomes words")
        try:
            ranges = [tuple(option["ngram_range"]) for option in listed]
            pairs = zip(listed, ranges, strict=True)
            return cls._of_values(tuple(TextOptions(**{**o, "ngram_range": r}) for o, r in pairs))
        except (KeyError, TypeError, ValueError) as error:
            raise UnsoundError(f"how its text becomes words is not valid: {error}") from None


class SampleSize(Fixed):
    """How many rows a summary keeps at most."""

    name: ClassVar[str] = "sample"
    absent: ClassVar[Mapping[str, Any]] = {"sample": 0}

    def joined(self, other: Self) -> Self:
        return max(self, other, key=lambda one: one.values)

    @classmethod
    def difference(cls, a: Schema, b: Schema) -> str:
        return (
            f"summaries must keep samples of the same size; got {a.sample} and {b.sample} rows. "
            f"{SHARE}"
        )

    @classmethod
    def unpacked(cls, header: Mapping[str, Any], tensors: Tensors, schema: Schema) -> Self | None:
        size = header.get("sample", 0)
        if type(size) is not int or size < 0:
            raise UnsoundError(f"the size of its sample is {size!r}")
        return cls.of(sample=size)


def _ascending(tensors: Tensors, name: str, shape: tuple[int, int]) -> NDArray[np.float64]:
    values = tensors.take(name, np.float64, shape)
    if np.isnan(values).any() or (values[:, 1:] < values[:, :-1]).any():
        raise UnsoundError(f"{name} must ascend")
    return values


def _is_function(given: Any, n_columns: int) -> bool:
    if not isinstance(given, list) or len(given) != 3:
        return False
    column, name, period = given
    placed = type(column) is int and 0 <= column < n_columns
    named = isinstance(name, str) and name in FUNCTIONS
    return placed and named and type(period) in (int, float) and 0 < period < np.inf
