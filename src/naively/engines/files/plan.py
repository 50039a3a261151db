"""Which columns are learned from: decided by the first file, and held against all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naively._optional import need
from naively.engines.columns import LeftOut, choose, find
from naively.engines.files.cells import is_number
from naively.engines.files.sources import File
from naively.exceptions import NaivelyError
from naively.summary import Schema

__all__ = ["Plan", "Wish", "named", "type_of", "with_partitions"]

pa = need("pyarrow", "reading files", extra="files")


@dataclass(frozen=True)
class Wish:
    """What the caller asked for."""

    target: str
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    weight: str | None = None


@dataclass(frozen=True)
class Plan:
    """What is read from every file.

    Attributes
    ----------
    features : tuple of str
        The columns to learn from, in this order.
    left_out : tuple of LeftOut
        The columns that are not, and why.
    names : frozenset of str, or None
        The columns that every file must have; None where the caller chose them.
    flags : frozenset of str
        Those of a CSV file that hold true and false.
    """

    wish: Wish
    features: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    names: frozenset[str] | None
    flags: frozenset[str]

    @classmethod
    def of(cls, sample: Any, wish: Wish, file: File, *, alone: bool) -> Plan:
        """Decide by a table: the first rows of a CSV file, or none where types are known.

        Where the file is not alone, another one may have what is excluded.
        """
        where = f" in {file.name!r}"
        present = sample.column_names
        extra = [] if wish.weight is None else [find(wish.weight, present, where)]
        chosen = choose(
            sample,
            target=wish.target,
            columns=wish.columns,
            exclude=[*extra, *(name for name in wish.exclude if alone or name in present)],
            where=where,
        )
        types = dict(zip(present, sample.schema.types, strict=True))
        if not chosen.names:
            raise NaivelyError(
                f"there must be a numeric column beside the target {wish.target!r}{where}; "
                "got none."
            )
        names = None if wish.columns is not None else frozenset(present) - {"", *wish.exclude}
        read = [*chosen.names, *extra]
        flags = frozenset(name for name in read if pa.types.is_boolean(types[name]))
        plan = cls(wish, chosen.names, chosen.left_out, names, flags)
        plan.check(file, types)
        return plan

    @property
    def schema(self) -> Schema:
        """The columns of the summary."""
        return Schema(len(self.features), self.features)

    @property
    def types(self) -> dict[str, Any]:
        """As what each column of a CSV file is read."""
        extra = [] if self.wish.weight is None else [self.wish.weight]
        kinds = {
            name: pa.bool_() if name in self.flags else pa.float64()
            for name in (*self.features, *extra)
        }
        return kinds | {self.wish.target: pa.dictionary(pa.int32(), pa.string())}

    def check(self, file: File, types: Mapping[str, Any]) -> None:
        """Raise where a file lacks a column, has another one, or one that is not numeric."""
        where, present = f" in {file.name!r}", list(types)
        for name in self.types:
            if name not in types:
                self._raise_missing(name, file, present)
            kind = types[name]
            if name != self.wish.target and kind is not None and not is_number(kind):
                raise NaivelyError(
                    f"column {name!r} must hold numbers; got {kind}{where}. "
                    "Exclude it, or make it numeric in every file."
                )
        if self.names is None:
            return
        for name in sorted(self.names - set(present)):
            self._raise_missing(name, file, present)
        extra = [name for name in present if name not in {"", *self.names, *self.wish.exclude}]
        if extra:
            raise NaivelyError(
                f"files must have the same columns; {file.name!r} has {extra[0]!r}, which the "
                "first file lacks. Exclude it, or name the columns to learn from."
            )

    def _raise_missing(self, name: str, file: File, present: Sequence[str]) -> None:
        if self.names is not None and name in self.names:
            shown = ", ".join([*map(repr, present[:8]), *(["..."] if len(present) > 8 else [])])
            raise NaivelyError(
                f"files must have the same columns; {file.name!r} lacks {name!r}; "
                f"its columns are {shown}."
            )
        find(name, present, f" in {file.name!r}")


def with_partitions(table: Any, partitions: Mapping[str, Any]) -> Any:
    """Append to a table the columns that its file's path holds, if it lacks them."""
    for name, value in partitions.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.array([value] * table.num_rows, type_of(value)))
    return table


def type_of(value: Any) -> Any:
    """Return the type of a column that a path holds."""
    kinds = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return kinds.get(type(value), pa.string())


def named(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple; one alone may stand for itself.

    >>> named("age"), named(["age", "town"])
    (('age',), ('age', 'town'))
    """
    return (names,) if isinstance(names, str) else tuple(names)
