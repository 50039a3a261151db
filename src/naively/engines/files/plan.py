"""Which columns are learned from: decided by the first file, and held against all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from naively._optional import need
from naively.engines.columns import (
    LeftOut,
    check_some,
    choose,
    find,
    is_index,
    is_text,
    out_of_files,
)
from naively.engines.files.cells import is_number, plain
from naively.engines.files.sources import File
from naively.engines.native.arrow import held_by_type
from naively.exceptions import NaivelyError
from naively.kinds import check, check_weights, kind_of
from naively.schema import Kind, Schema
from naively.summary import Summary

__all__ = ["FORMS", "READ_AS", "Plan", "Undecided", "Wish"]
__all__ += ["named", "type_of", "with_partitions"]

pa = need("pyarrow", "reading files", extra="files")

_TEXTS = pa.dictionary(pa.int32(), pa.string())
FORMS = {
    "U": "str",
    "O": "str",
    "i": "int",
    "u": "uint",
    "b": "bool",
    "f": "float",
}  # by NumPy's kinds
READ_AS = {"str": _TEXTS, "bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()}
READ_AS["uint"] = pa.uint64()


@dataclass(frozen=True)
class Undecided:
    """What is to be measured, where that depends on the first rows.

    Attributes
    ----------
    kinds : mapping, or None
        What some columns hold; others, what their types say. None where all hold numbers.
    complete : callable, or None
        Given a summary of the first rows, it returns the schema with all that is to be fixed.
    sample : int
        How many rows that summary keeps; 0 where they do not matter, and it is empty.
    """

    kinds: Mapping[str, Kind] | None = None
    complete: Callable[[Summary], Schema] | None = None
    sample: int = 0


@dataclass(frozen=True)
class Wish:
    """What the caller asked for.

    Attributes
    ----------
    target, columns, exclude, weight
        As `scan` has them.
    kinds : dict, or None
        What some columns hold, and others by their types; None where all are to hold numbers.
    types : dict
        What the categories of some columns are in CSV: "str", "int", "float" or "bool".
    skip_columns : bool
        Whether columns that cannot be learned from are left out, instead of an error.
    """

    target: str
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    weight: str | None = None
    kinds: dict[str, Kind] | None = None
    types: dict[str, str] = field(default_factory=dict)
    skip_columns: bool = False

    @property
    def settled(self) -> set[str]:
        """The columns of which it does not matter what their types are."""
        return {*self.exclude, *(self.kinds or ())}


@dataclass(frozen=True)
class Plan:
    """What is read from every file.

    Attributes
    ----------
    schema : Schema
        What is measured.
    features : tuple of str
        The columns to learn from, in this order.
    left_out : tuple of LeftOut
        The columns that are not, and why.
    names : frozenset of str, or None
        The columns that every file must have; None where the caller chose them.
    flags : frozenset of str
        Those of a CSV file that hold true and false, as numbers.
    categories : dict
        For each column of categories, what they are in CSV.
    """

    wish: Wish
    schema: Schema
    features: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    names: frozenset[str] | None
    flags: frozenset[str]
    categories: dict[str, str]

    @classmethod
    def of(
        cls,
        sample: Any,
        wish: Wish,
        file: File,
        declared: Mapping[str, Any],
        *,
        alone: bool,
        fixed: Schema | None = None,
    ) -> Plan:
        """Decide by a table: the first rows of a CSV file, or none where types are declared.

        Where the file is not alone, another one may have what is excluded. A schema that is fixed
        says what the columns hold, by place if it has no names.
        """
        where, present = f" in {file.name!r}", sample.column_names
        extra = [] if wish.weight is None else [find(wish.weight, present, where)]
        chosen = choose(
            sample,
            target=wish.target,
            columns=wish.columns,
            exclude=[*extra, *(name for name in wish.exclude if alone or name in present)],
            kinds=wish.kinds,
            skip_columns=wish.skip_columns,
            types=(known := _known(declared)),
            where=where,
        )
        numbers = wish.kinds is None and bool(wish.exclude or chosen.left_out)
        check_some(chosen, wish.target, where, numbers=numbers)
        types = dict(zip(present, sample.schema.types, strict=True))
        kinds = _kinds(chosen.names, types | known, wish, fixed, where)
        categories = {
            name: wish.types.get(name) or _form(types[name])
            for name, kind in zip(chosen.names, kinds, strict=True)
            if kind == "category"
        }
        kept = frozenset(name for name in present if not is_index(name))
        names = None if wish.columns is not None else kept - set(wish.exclude)
        read = {*chosen.names, *extra} - set(categories)
        flags = frozenset(name for name in read if pa.types.is_boolean(types[name]))
        schema = Schema(len(kinds), chosen.names, kinds) if fixed is None else fixed.decided(kinds)
        plan = cls(wish, schema, chosen.names, chosen.left_out, names, flags, categories)
        is_text = file.format == "csv"  # where categories can be anything
        plan.check(file, types | dict.fromkeys(categories) if is_text else types)
        return plan

    @property
    def is_of_numbers(self) -> bool:
        """Whether moments are all that is measured: columns need not be read together."""
        schema = self.schema
        return not (schema.categories or schema.undecided or schema.edges or schema.sample)

    @property
    def types(self) -> dict[str, Any]:
        """As what each column of a CSV file is read."""
        extra = [] if self.wish.weight is None else [self.wish.weight]
        kinds = {
            name: pa.bool_() if name in self.flags else pa.float64()
            for name in (*self.features, *extra)
        }
        kinds |= {name: READ_AS[form] for name, form in self.categories.items()}
        return kinds | {self.wish.target: _TEXTS}

    def check(self, file: File, types: Mapping[str, Any]) -> None:
        """Raise where a file lacks a column, has another one, or one of the wrong kind."""
        where, present = f" in {file.name!r}", list(types)
        undecided = {self.features[j] for j in self.schema.undecided}
        for name in self.types:
            if name not in types:
                self._raise_missing(name, file, present)
            kind = types[name]
            if name == self.wish.target or kind is None:
                continue
            if name == self.wish.weight:
                check_weights(held_by_type(kind), name, where)
                continue
            if name in undecided:
                kind_of(held_by_type(kind), f"column {name!r}{where}", out_of_files(name))
            else:
                _check_type(name, kind, self.categories.get(name), where)
        if self.names is None:
            return
        for name in sorted(self.names - set(present)):
            self._raise_missing(name, file, present)
        known = {*self.names, *self.wish.exclude}
        extra = [name for name in present if name not in known and not is_index(name)]
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


def _known(types: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types that say something: text has none, and null is that of no cell."""
    kinds = types.items()
    return {name: kind for name, kind in kinds if kind is not None and not pa.types.is_null(kind)}


def _check_type(name: str, kind: Any, form: str | None, where: str) -> None:
    """Raise where a column cannot hold numbers, or categories that are of the first file's form."""
    if form is None and not is_number(kind):
        check(held_by_type(kind), "number", f"column {name!r}{where}", out_of_files(name))
    if form is None or pa.types.is_null(kind):
        return
    check(held_by_type(kind), "category", f"column {name!r}{where}", out_of_files(name))
    if is_text(plain(kind)) != (form == "str"):
        before = "text" if form == "str" else "numbers"
        raise NaivelyError(
            f"column {name!r} must hold {before} as before; got {kind}{where}. "
            "Exclude it, or convert it."
        )


def _kinds(
    names: Sequence[str],
    types: Mapping[str, Any],
    wish: Wish,
    fixed: Schema | None,
    where: str,
) -> tuple[Kind, ...]:
    """Return what columns hold: as the caller says, or by their types."""

    def by_type(name: str) -> Kind:
        held = held_by_type(types[name])
        return kind_of(held, f"column {name!r}{where}", out_of_files(name))

    given = wish.kinds
    if fixed is not None and fixed.n_columns != len(names):
        what = "columns" if fixed.categories else "numeric columns"
        raise NaivelyError(
            f"the model has no column names and takes {fixed.n_columns} {what}; "
            f"got {len(names)}. Choose the columns."
        )
    number: Kind = "number"
    if fixed is not None and fixed.kinds is not None:
        pairs = zip(names, fixed.kinds, strict=True)
        return tuple(by_type(name) if kind == "undecided" else kind for name, kind in pairs)
    if given is None or fixed is not None:
        return (number,) * len(names)
    return tuple(given.get(name) or by_type(name) for name in names)


def _form(kind: Any) -> str:
    """Return what categories are that look like this in the first rows."""
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "int"
    return "float" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else "str"


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
