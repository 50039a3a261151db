"""Which columns are learned from: decided by the first file, and held against all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from naively._optional import later
from naively.dates import part_names
from naively.engines.columns import (
    OUT_OF_FILES,
    ColumnChoice,
    LeftOut,
    check_some,
    choose,
    find,
    is_index,
    is_text,
    out_of_files,
)
from naively.engines.files.cells import is_number, plain
from naively.engines.files.date_parts import date_columns, source_of, with_parts
from naively.engines.files.first_rows import FirstRows
from naively.engines.files.readers import OpenFile
from naively.engines.files.request import Request
from naively.engines.files.sources import File
from naively.engines.files.unlabelled import Unlabelled
from naively.engines.native.arrow import held_by_type
from naively.exceptions import NaivelyError
from naively.kinds import check, check_weights, kind_of, schema_by_types
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["FORMS", "ColumnPlan", "type_of_form", "types_of"]

pa = later("pyarrow", "reading files", extra="files")

# by NumPy's kinds
FORMS = {"U": "str", "O": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}


@dataclass(frozen=True)
class ColumnPlan:
    """The columns that are read from every file, and what is measured of them."""

    request: Request  # what the caller asked for
    schema: Schema
    features: tuple[str, ...]  # the columns to learn from, in this order
    left_out: tuple[LeftOut, ...]  # the columns that are not, and why
    # the columns that every file must have; None where the caller chose them
    names: frozenset[str] | None
    flags: frozenset[str]  # those of a CSV file that hold true and false, as numbers
    categories: dict[str, str]  # for each column of categories, what they are in CSV
    # the columns of dates that are read by their parts, and whether they have times of day
    dates: dict[str, bool] = field(default_factory=dict)
    unlabelled: Unlabelled | None = None  # the rows that are left out, where that is asked for

    @classmethod
    def of(cls, first: FirstRows, request: Request, fixed: Schema | None = None) -> ColumnPlan:
        """Decide by the first rows.

        A schema that is fixed says what the columns hold, by place if it has no names.
        """
        _fill(first, request)
        dates = date_columns(first, request, fixed)
        request = _with_parts(request, dates)
        table: Any = with_parts(first.table, dates)
        opened: Any = first.file
        declared = _declared(opened, dates)
        chosen = _choice(first, request, table, declared)
        types = dict(zip(table.column_names, table.schema.types, strict=True))
        schema = _schema(chosen.names, types | declared, request, fixed, first)
        schema = replace(schema, dates=tuple(dates)) if fixed is None and dates else schema
        categories = {
            name: request.types.get(name) or _form(plain(types[name]))
            for name, kind in zip(chosen.names, schema.held, strict=True)
            if kind == "category"
        }
        left_out = {one.name for one in chosen.left_out}
        kept = frozenset(n for n in table.column_names if n not in left_out and not is_index(n))
        names = None if request.columns is not None else kept - set(request.exclude)
        weight = [] if request.weight is None else [request.weight]
        words = {chosen.names[j] for j in schema.texts}
        read = {*chosen.names, *weight} - set(categories) - words
        flags = frozenset(name for name in read if pa.types.is_boolean(types[name]))
        drops = request.drop_missing_target and request.target is not None
        unlabelled = Unlabelled(request.target or "") if drops else None
        columns = chosen.names, chosen.left_out, names, flags, categories, dates
        plan = cls(request, schema, *columns, unlabelled)
        is_text = opened.file.format == "csv"  # where categories can be anything
        untyped = dict.fromkeys([*categories, *words] if is_text else ())
        untyped |= dict.fromkeys(name for name in types if source_of(name, dates) != name)
        plan.check(opened.file, types | untyped)
        return plan

    def check_some(self, where: str) -> None:
        """Raise where there is no column to learn from."""
        request = self.request
        numbers = request.kinds is None and bool(request.exclude or self.left_out)
        left_out = self.left_out
        check_some(self.features, request.target, where, left_out=left_out, numbers=numbers)

    def n_unlabelled(self, skipped: Collection[str] = ()) -> int:
        """Return how many rows have been left out for want of a label, but for files skipped."""
        return 0 if self.unlabelled is None else self.unlabelled.count(skipped)

    @property
    def is_of_numbers(self) -> bool:
        """Whether moments are all that is measured: columns need not be read together."""
        schema = self.schema
        others = schema.categories or schema.texts or schema.undecided
        measures = schema.edges, schema.sample, schema.counted, schema.centres, schema.functions
        return not (others or any(measures))

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of text."""
        return tuple(self.features[j] for j in self.schema.texts)

    def forms(self, names: Iterable[str]) -> dict[str, str | None]:
        """Return what cells are: a form of categories, "text", or None for numbers."""
        return {n: "text" if n in self.texts else self.categories.get(n) for n in names}

    def always_numbers(self, schema: Schema) -> list[int]:
        """Return which of a schema's columns of numbers do not depend on what a batch holds."""
        places = enumerate(schema.numbers)
        return [i for i, j in places if j not in self.schema.undecided]

    @property
    def types(self) -> dict[str, Any]:
        """As what each column of a CSV file is read."""
        extra = [] if self.request.weight is None else [self.request.weight]
        kinds = {
            name: pa.bool_() if name in self.flags else pa.float64()
            for name in (*self.features, *extra)
        }
        kinds |= {name: type_of_form(form) for name, form in self.categories.items()}
        kinds |= dict.fromkeys(self.texts, pa.string())
        return (
            kinds
            if self.request.target is None
            else kinds | {self.request.target: type_of_form("str")}
        )

    def columns_of(self, opened: OpenFile) -> dict[str, Any]:
        """Return the columns to read from a file, or raise where it does not have them."""
        self.check(opened.file, opened.types)
        return self.types

    def check(self, file: File, types: Mapping[str, Any]) -> None:
        """Raise where a file lacks a column, has another one, or one of the wrong kind."""
        where, present = f" in {file.name!r}", list(types)
        undecided = {self.features[j] for j in self.schema.undecided}
        for name in self.types:
            if name not in types and name in self.features and file.format == "json":
                continue  # a key that is not there is a missing cell
            if name not in types:
                self._raise_missing(name, file, present)
            kind = types[name]
            if name == self.request.target or kind is None:
                continue
            if name == self.request.weight:
                check_weights(held_by_type(kind), name, where)
                continue
            if name in self.texts:
                check(held_by_type(kind), "text", f"column {name!r}{where}", out_of_files(name))
            elif name in undecided:
                kind_of(held_by_type(kind), f"column {name!r}{where}", out_of_files(name))
            else:
                _check_type(name, kind, self.categories.get(name), where)
        if self.names is None:
            return
        for name in sorted(self.names - set(present)) if file.format != "json" else ():
            self._raise_missing(name, file, present)
        known = {*self.names, *self.request.exclude, *(one.name for one in self.left_out)}
        known |= {*self.dates}  # which a path may hold
        extra = [name for name in present if name not in known and not is_index(name)]
        if extra:
            raise NaivelyError(
                f"files must have the same columns; {file.name!r} has {extra[0]!r}, which the "
                "first file lacks. Exclude it, or name the columns to learn from."
            )

    def _raise_missing(self, name: str, file: File, present: Sequence[str]) -> None:
        is_known = self.names is not None and name in self.names
        name = source_of(name, self.dates)
        if is_known:
            shown = ", ".join([*map(repr, present[:8]), *(["..."] if len(present) > 8 else [])])
            raise NaivelyError(
                f"files must have the same columns; {file.name!r} lacks {name!r}; "
                f"its columns are {shown}."
            )
        find(name, present, f" in {file.name!r}")


def _fill(first: FirstRows, request: Request) -> None:
    """Look at the first rows, and at more of them where not all columns need be numbers."""
    first.check()
    if request.takes_categories or request.skip_columns:
        first.fill(request.settled)


def _with_parts(request: Request, dates: Mapping[str, bool]) -> Request:
    """Return a request in which a column of dates means all of its parts."""
    if request.columns is None or not dates:
        return request
    parts = [
        part_names(name, has_time=dates[name]) if name in dates else [name]
        for name in request.columns
    ]
    return replace(request, columns=tuple(chain(*parts)))


def _choice(
    first: FirstRows, request: Request, table: Any, declared: Mapping[str, Any]
) -> ColumnChoice:
    """Return which columns are learned from, by the first rows.

    Where there are several files, another one may have what is excluded.
    """
    present, alone = table.column_names, len(first.files) == 1
    return choose(
        table,
        target=request.target,
        weight=request.weight,
        columns=request.columns,
        exclude=[name for name in request.exclude if alone or name in present],
        kinds=request.kinds,
        skip_columns=request.skip_columns,
        types=declared,
        where=first.where,
    )


def _declared(opened: Any, dates: Mapping[str, bool]) -> dict[str, Any]:
    """Return the types that a file declares: text has none, and null is that of no cell."""
    kinds = {name: kind for name, kind in opened.reader.types.items() if name not in dates}
    return {n: kind for n, kind in kinds.items() if kind is not None and not pa.types.is_null(kind)}


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


def _schema(
    names: tuple[str, ...],
    types: Mapping[str, Any],
    request: Request,
    fixed: Schema | None,
    first: FirstRows,
) -> Schema:
    """Return what columns hold: as the caller says, or by their types."""
    if fixed is not None and fixed.n_columns != len(names):
        what = "columns" if fixed.kinds else "numeric columns"
        raise NaivelyError(
            f"the model has no column names and takes {fixed.n_columns} {what}; "
            f"got {len(names)}. Choose the columns."
        )
    numbers = None if request.takes_categories else Schema(len(names), names)
    return schema_by_types(
        lambda j: held_by_type(types[names[j]]),
        len(names),
        names,
        numbers if fixed is None else fixed,
        given=None if fixed is not None else request.kinds,
        where=first.where,
        out=OUT_OF_FILES,
        cells=lambda j: first.cells(names[j]),
    )


def _form(kind: Any) -> str:
    """Return what categories are that look like this in the first rows."""
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "int"
    return "float" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else "str"


def type_of_form(form: str) -> Any:
    """Return the type that cells of such a form are read as: a dictionary of categories."""
    if form == "bool":
        return pa.bool_()
    if form == "text":
        return pa.string()
    names = {"str": "string", "int": "int64", "float": "float64"}
    return pa.dictionary(pa.int32(), getattr(pa, names[form])())


def types_of(summary: Summary) -> dict[str, str]:
    """Return what the categories of a summary's columns are."""
    schema = summary.schema
    return {
        schema.names[j]: FORMS[found.dtype.kind]
        for j, found in zip(schema.categories, summary.categories, strict=True)
        if schema.names is not None and found.size
    }
