"""Which columns of files are learned from: by the first file, and held against all others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import (
    CATEGORY,
    NUMBER,
    OUT,
    TEXT,
    UNDECIDED,
    Held,
    Kind,
    check_weights,
    dates_have_time,
    kind_of,
)
from naively.data.labels import quoted
from naively.data.plan import Source, date_columns, held_by_part, inputs_of, named_parts, plan
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.tokens import Words
from naively.engines.files.cells import (
    Batch,
    check_finite,
    checked_weights,
    encode,
    is_number,
    number_columns,
    pa,
    plain,
    read_text,
    rows_of,
)
from naively.engines.files.readers import FirstRows, OpenFile, Unlabelled, source_of
from naively.engines.files.sources import File, FilePiece, are_text
from naively.engines.memory.columns import (
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
from naively.engines.memory.frames.arrow import held_by_type
from naively.engines.memory.tables import Counting
from naively.errors import NaivelyError
from naively.statistics.summary import Summary


@dataclass(frozen=True)
class SchemaFromFirstRows:
    """What is to be measured, where that depends on the first rows."""

    # What some columns hold; others, what their types say. None where all hold numbers.
    kinds: Mapping[str, Kind] | None = None
    # given a summary of the first rows, it returns the schema with all that is to be fixed
    complete: Callable[[Summary], Schema] | None = None
    sample: int = 0  # how many rows that summary keeps; 0 where they do not matter, and it is empty


@dataclass(frozen=True)
class Request:
    """Which columns are learned from, and what they hold, as far as the caller says."""

    # target, columns, exclude and weight: as `scan` has them
    target: str | None
    columns: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    weight: str | None = None
    # what some columns hold, and others by their types; None where all are to hold numbers
    kinds: dict[str, Kind] | None = None
    # what the categories of some columns are in CSV: "str", "int", "float" or "bool"
    types: dict[str, str] = field(default_factory=dict)
    # whether columns that cannot be learned from are left out, instead of an error
    skip_columns: bool = False
    drop_missing_target: bool = False  # the same for rows without a label

    @classmethod
    def of(
        cls,
        target: str | None,
        schema: Schema | SchemaFromFirstRows | None,
        *,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        weight: str | None = None,
        types: Mapping[str, str] | None = None,
        skip_columns: bool = False,
        drop_missing_target: bool = False,
    ) -> Request:
        """Put together what a caller gives; a schema with names chooses the columns."""
        for kind in (types or {}).values():
            check_form(kind)
        if isinstance(schema, Schema) and schema.names is not None:
            if columns is not None or exclude:
                raise NaivelyError(
                    "columns are chosen by the schema, or by columns and exclude; got both."
                )
            columns = schema.names
        chosen = None if columns is None else named(columns)
        kinds, types = _kinds(schema), dict(types or {})
        drops = skip_columns, drop_missing_target
        return cls(target, chosen, named(exclude), weight, kinds, types, *drops)

    @property
    def takes_categories(self) -> bool:
        """Whether columns may hold more than numbers."""
        return self.kinds is not None

    @property
    def settled(self) -> set[str]:
        """The columns of which it does not matter what their types are."""
        return {*self.exclude, *(self.kinds or ())}


def part_of(targets: Targets, start: int, n_rows: int) -> Targets:
    """Return whose some rows are, in the classes of all."""
    own, weights = slice(start, start + n_rows), targets.weights
    return Targets(targets.classes, targets.codes[own], None if weights is None else weights[own])


def check_form(form: str | None) -> None:
    """Raise where labels or categories cannot be what is asked for."""
    if form not in (None, "str", "int", "float", "bool"):
        raise NaivelyError(f"label_type must be str, int, float or bool; got {form!r}.")


def named(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple; one alone may stand for itself.

    >>> named("age"), named(["age", "town"])
    (('age',), ('age', 'town'))
    """
    return (names,) if isinstance(names, str) else tuple(names)


def _kinds(schema: Schema | SchemaFromFirstRows | None) -> dict[str, Kind] | None:
    """Return what the columns hold, as far as it is known; None where all hold numbers."""
    if isinstance(schema, SchemaFromFirstRows):
        return None if schema.kinds is None else dict(schema.kinds)
    if schema is None or schema.kinds is None:
        return {} if schema is None else None
    held = zip(schema.names or (), schema.kinds, strict=False)
    return {name: kind for name, kind in held if kind is not UNDECIDED}


# --- Which columns are learned from -------------------------------------------------------------


# by NumPy's kinds
LABEL_TYPES = {"U": "str", "O": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}


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
    # the categories of a model that reads the columns; None where the files are learned from
    known: Mapping[str, NDArray[Any]] | None = None
    copied: tuple[str, ...] = ()  # the columns that are copied

    @classmethod
    def of(cls, first: FirstRows, request: Request, fixed: Schema | None = None) -> ColumnPlan:
        """Decide by the first rows.

        A schema that is fixed says what the columns hold, by place if it has no names.
        """
        first.check()
        if request.takes_categories or request.skip_columns:  # more rows tell of empty columns
            first.fill(request.settled)
        dates = _dates(first, request, fixed)
        chosen = _choice(first, request, dates)
        schema = _schema(chosen.names, request, fixed, first, dates)
        features = schema.names or chosen.names
        held = dict(zip(first.names, first.table.schema.types, strict=True))
        categories = {
            name: request.types.get(name) or _form(held.get(name), name)
            for name, kind in zip(features, schema.held, strict=True)
            if kind is CATEGORY
        }
        left_out = {one.name for one in chosen.left_out}
        kept = frozenset(n for n in first.names if n not in left_out and not is_index(n))
        names = None if request.columns is not None else kept - set(request.exclude)
        weight = [] if request.weight is None else [request.weight]
        words = {features[j] for j in schema.texts}
        flags = _flags(first, {*features, *weight} - set(categories) - words)
        drops = request.drop_missing_target and request.target is not None
        unlabelled = Unlabelled(request.target or "") if drops else None
        columns = features, chosen.left_out, names, flags, categories, dates
        plan = cls(request, schema, *columns, unlabelled)
        opened: Any = first.file
        untyped = {*categories, *words} if opened.file.format == "csv" else set()  # of any type
        plan.check(opened.file, held | dict.fromkeys(held.keys() & untyped))
        return plan

    @classmethod
    def of_model(
        cls,
        first: FirstRows,
        summary: Summary,
        columns: Sequence[str] | None = None,
        copied: tuple[str, ...] = (),
    ) -> ColumnPlan:
        """Return the columns that a model reads, by name, or by place where it has no names.

        Of those that are undecided nothing is known, and nothing is read.
        """
        schema = summary.schema
        names = schema.names or _places(first, schema, columns, copied)
        for name in copied:
            find(name, first.names, first.where)
        decided = [j for j in range(schema.n_columns) if j not in schema.undecided]
        known = dict(zip([names[j] for j in schema.categories], summary.categories, strict=True))
        forms = {name: LABEL_TYPES[found.dtype.kind] for name, found in known.items()}
        features = tuple(names[j] for j in decided)
        return cls(
            Request(None, features),
            schema.columns(decided),
            features,
            (),
            None,
            _flags(first, features),
            forms,
            dict.fromkeys(schema.dates, True),
            known=known,
            copied=copied,
        )

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
        return not (schema.fixed or schema.categories or schema.texts or schema.undecided)

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
        target, weight = self.request.target, self.request.weight
        types = dict.fromkeys(self.copied, pa.string())
        for name in (*self.features, *([] if weight is None else [weight])):
            types[name] = pa.bool_() if name in self.flags else pa.float64()
        types |= {name: type_of_form(form) for name, form in self.categories.items()}
        types |= dict.fromkeys(self.texts, pa.string())
        return types if target is None else types | {target: type_of_form("str")}

    @property
    def keys(self) -> list[str]:
        """The columns of labels and weights."""
        request = self.request
        return [name for name in (request.target, request.weight) if name is not None]

    def rows(self, opened: OpenFile, piece: FilePiece) -> Iterator[tuple[Batch, Targets, int]]:
        """Yield the rows of a piece: whose they are, and how many came before.

        They come all at once if that costs the same.
        """
        if piece.width is not None:
            targets = self.targets(opened, list(opened.batches(piece, self.keys)))
            batches = opened.batches(piece, self.features)
        else:
            read = list(opened.batches(piece, [*self.keys, *self.features]))
            targets, batches = self.targets(opened, read), iter(read)
        start = 0
        for batch in batches:
            yield batch, part_of(targets, start, batch.num_rows), start
            start += batch.num_rows

    def targets(self, opened: OpenFile, batches: Sequence[Batch]) -> Targets:
        """Return the classes of rows, the code of each row's class, and the weights."""
        target, weight = self.request.target, self.request.weight
        n_rows = sum(batch.num_rows for batch in batches)
        if not n_rows:
            return Targets(np.zeros(0, np.int64), np.zeros(0, np.int32), None)
        if target is None:  # rows without labels are of one class
            classes, codes = np.array([""]), np.zeros(n_rows, np.int32)
        elif target in opened.constants:
            label = pa.chunked_array([[opened.constants[target]]])
            classes, codes = encode(label, target)[0], np.zeros(n_rows, np.int32)
        else:
            column = pa.chunked_array([batch.column(target) for batch in batches])
            read_labels = read_text if are_text([opened.file], target) else encode
            classes, codes = read_labels(column, target)
        if weight is None:
            return Targets(classes, codes, None)
        weights = [number_columns(batch, [weight])[0] for batch in batches]
        return Targets(classes, codes, checked_weights(np.concatenate(weights), weight))

    def table(
        self,
        batch: Batch,
        schema: Schema,
        words: tuple[Words, ...] | None = None,
        *,
        counting: Counting = "rows",
    ) -> Rows:
        """Return the columns of a batch as rows, without those that a schema leaves undecided.

        ``words`` and ``counting`` are as in `naively.engines.memory.tables.read_texts`.
        """
        held = zip(self.features, schema.held, strict=True)
        names = [name for name, kind in held if kind is not UNDECIDED]
        return rows_of(batch, self.forms(names), schema, words, counting=counting)

    def check_finite(self, rows: Rows, schema: Schema, start: int) -> None:
        """Raise an error that names the infinite cell of rows of such a schema, if there is one."""
        check_finite(rows, [self.features[j] for j in schema.numbers], start)

    def columns_of(self, opened: OpenFile) -> dict[str, Any]:
        """Return the columns to read from a file, or raise where it does not have them."""
        self.check(opened.file, opened.types)
        return self.types

    def check(self, file: File, types: Mapping[str, Any]) -> None:
        """Raise where a file lacks a column, has another one, or one of the wrong kind."""
        where, present, texts = f" in {file.name!r}", list(types), set(self.texts)
        learned, beside = set(self.features), {self.request.target, self.request.weight}
        undecided = {self.features[j] for j in self.schema.undecided}
        sources = {n: n if n in types else source_of(n, self.dates) for n in self.types}
        has_none = types.keys().isdisjoint(sources[name] for name in learned)
        may_lack = file.format == "json" and not (has_none and self.known is not None)
        for name, source in sources.items():
            if source not in types:
                if may_lack and name not in beside:
                    continue  # a key that is not there is a missing cell
                self._raise_missing(source, file, present)
            kind = types[source]
            if kind is None or source != name or name not in learned | {self.request.weight}:
                continue
            held, called = held_by_type(kind), f"column {name!r}{where}"
            out = out_of_files(name) if self.known is None else OUT
            if name == self.request.weight:
                check_weights(held, name, where)
            elif name in texts:
                TEXT.check(held, called, out)
            elif name in undecided:
                kind_of(held, called, out)
            else:
                self._check_type(name, kind, where)
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

    def _check_type(self, name: str, kind: Any, where: str) -> None:
        """Raise where a column cannot hold numbers, or categories of the form that is known."""
        form = self.categories.get(name)
        may_be_text = is_text(plain(kind)) or pa.types.is_null(kind)
        fits = may_be_text if form == "str" else is_number(kind)
        if fits:
            return
        wanted = "text" if form == "str" else "numbers"
        if self.known is None:
            held_as = NUMBER if form is None else CATEGORY
            held_as.check(held_by_type(kind), f"column {name!r}{where}", out_of_files(name))
            raise NaivelyError(
                f"column {name!r} must hold {wanted} as before; got {kind}{where}. "
                "Exclude it, or convert it."
            )
        categories = self.known.get(name)
        if form == "str" and categories is not None:
            wanted += f" as the model's does ({quoted(categories)})"
        if categories is None or categories.size:
            raise NaivelyError(f"column {name!r} must hold {wanted}; got {kind}{where}.")

    def _raise_missing(self, name: str, file: File, present: Sequence[str]) -> None:
        if self.names is None or name not in self.names:
            find(name, present, f" in {file.name!r}")
        shown = ", ".join([*map(repr, present[:8]), *(["..."] if len(present) > 8 else [])])
        raise NaivelyError(
            f"files must have the same columns; {file.name!r} lacks {name!r}; "
            f"its columns are {shown}."
        )


def _flags(first: FirstRows, names: Iterable[str]) -> frozenset[str]:
    """Return the columns that hold true and false in the first rows."""
    types = dict(zip(first.names, first.table.schema.types, strict=True))
    return frozenset(n for n in names if n in types and pa.types.is_boolean(types[n]))


def _places(
    first: FirstRows, schema: Schema, columns: Sequence[str] | None, copied: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that a model without names reads: those named, or all that it can."""
    names = choose(
        first.table,
        columns=None if columns is None else named(columns),
        exclude=() if columns else copied,
        kinds={} if schema.kinds else None,
        skip_columns=True,
        where=first.where,
    ).names
    _check_number(names, schema, first.where)
    return names


def _check_number(names: Sequence[str], schema: Schema, where: str = "") -> None:
    """Raise where a model without names takes more or fewer columns."""
    if schema.names is None and schema.n_columns != len(names):
        what = "columns" if schema.kinds else "numeric columns"
        raise NaivelyError(
            f"the model has no column names and takes {schema.n_columns} {what}; "
            f"got {len(names)}{where}. Choose the columns."
        )


def _choice(first: FirstRows, request: Request, dates: Mapping[str, bool]) -> ColumnChoice:
    """Return which columns are learned from, by the first rows; dates are taken as they are.

    Where there are several files, another one may have what is excluded.
    """
    present, alone = first.names, len(first.files) == 1
    excluded = [source_of(name, dates) for name in request.exclude]
    return choose(
        first.table,
        target=request.target,
        weight=request.weight,
        columns=inputs_of(request.columns, present) if dates else request.columns,
        exclude=[
            name
            for name, source in zip(request.exclude, excluded, strict=True)
            if source == name and (alone or name in present)
        ],
        kinds=None if request.kinds is None else request.kinds | dict.fromkeys(dates, CATEGORY),
        skip_columns=request.skip_columns,
        types=_declared(first, dates),
        where=first.where,
    )


def _declared(first: FirstRows, dates: Collection[str] = ()) -> dict[str, Any]:
    """Return the types that a file declares: text has none, and null is that of no cell."""
    kinds = {} if first.file is None else first.file.reader.types
    return {
        name: kind
        for name, kind in kinds.items()
        if name not in dates and kind is not None and not pa.types.is_null(kind)
    }


def _schema(
    names: tuple[str, ...],
    request: Request,
    fixed: Schema | None,
    first: FirstRows,
    dates: Mapping[str, bool],
) -> Schema:
    """Return what columns hold: as the caller says, or by their types."""
    how: dict[str, Any] = {"where": first.where, "out": OUT_OF_FILES}
    if fixed is not None:
        _check_number(names, fixed)
        return plan(_source(first, names, request.weight), fixed, **how)
    if not request.takes_categories:
        return Schema(len(names), names)
    schema = plan(_source(first, names, request.weight), given=request.kinds, **how)
    if not dates:
        return schema
    schema = named_parts(schema, request.columns)
    kept = [j for j, name in enumerate(schema.names or ()) if name not in request.exclude]
    return schema.columns(kept)


def _source(first: FirstRows, names: Sequence[str], weight: str | None) -> Source:
    """Return what `plan` asks of files: the types that the first declares, or its rows show."""
    table = first.table.schema  # a declared type may have a dictionary
    types = dict(zip(table.names, table.types, strict=True)) | _declared(first)

    def held(name: str) -> Held:
        held = held_by_type(types[name])
        if first.file is not None and name in first.file.constants:  # dates that a path holds
            cells = [file.partitions.get(name) for file in first.files]
            times = dates_have_time(held, lambda: cells)
            return held if times is None else Held("datetime" if times else "date", held.type)
        return held

    return Source(names, held, lambda name: first.cells(name, weight))


def _form(kind: Any, name: str) -> str:
    """Return what categories are that look like this in the first rows; or parts of dates."""
    if kind is None:
        return "str" if held_by_part(name).what == "text" else "int"
    kind = plain(kind)
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind):
        return "int"
    return "float" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else "str"


def type_of_form(form: str) -> Any:
    """Return the type that cells of such a form are read as: a dictionary of categories."""
    if form == "bool":
        return pa.bool_()
    names = {"str": "string", "int": "int64", "float": "float64"}
    return pa.dictionary(pa.int32(), getattr(pa, names[form])())


def types_of(summary: Summary) -> dict[str, str]:
    """Return what the categories of a summary's columns are."""
    schema = summary.schema
    return {
        schema.names[j]: LABEL_TYPES[found.dtype.kind]
        for j, found in zip(schema.categories, summary.categories, strict=True)
        if schema.names is not None and found.size
    }


# --- Files whose columns of dates are read by their parts ---------------------------------------


def _dates(first: FirstRows, request: Request, fixed: Schema | None) -> dict[str, bool]:
    """Return which columns are read by the parts of their dates, and whether those have times."""
    if fixed is not None:
        return {name: f"{name}.hour" in (fixed.names or ()) for name in fixed.dates}
    if not request.takes_categories:
        return {}
    settled = {*request.settled, request.target, request.weight}
    wanted = inputs_of(request.columns, first.names) or first.names
    names = [n for n in first.names if n in wanted and n not in settled and not is_index(n)]
    return date_columns(_source(first, names, request.weight))
