"""What statistics fix in columns before they measure: where bins end, where products begin.

A schema holds at most one value of each type and knows none of them: it chooses columns, decides,
unites, compares and saves by going over what it holds. A statistic that fixes something brings a
class of its own, which is known from then on; `Schema` takes its value as a keyword, and has it as
an attribute.

>>> from naively.data.schema import Schema
>>> schema = Schema(2, ("age", "town"), ("number", "category"), centres=(30.0,))
>>> schema.fixed, schema.columns([1]).centres
((Centres(values=(30.0,)),), ())
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from naively.data.functions import FUNCTIONS, ColumnFunction
from naively.data.kinds import NUMBER, TEXT, Kind
from naively.data.tensors import Tensors, UnsoundError
from naively.data.tokens import TextOptions
from naively.errors import NaivelyError

if TYPE_CHECKING:
    from naively.data.schema import Schema

Counted = Literal["occurrences", "documents"]
SHARE = "Summaries that will be added share a schema."
FIXED: dict[str, type[Fixed]] = {}
"""What can be fixed, by name: each class that has one, in the order in which they were defined."""


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
