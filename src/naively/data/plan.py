"""Which columns of a table are read, and as what: the one decision, for every engine.

A `Source` says what its columns are called, what their types say, and what their first cells are,
before any row is read. `plan` returns the schema: as agreed, or by `naively.data.kinds`, with the
parts of dates in the place of dates.

>>> types = {"born": Held("date", "date32"), "town": Held("text", "string")}
>>> born = Source(["born", "town"], types.get)
>>> schema = plan(born)
>>> schema.names, schema.dates
(('born.year', 'born.month', 'born.weekday', 'town'), ('born',))
>>> plan(born, Schema(2, kinds=("undecided", "number")), given={"born": "category"}).kinds
('category', 'number')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from naively.data.dates import part_names, split_name
from naively.data.kinds import DATES, OUT, UNDECIDED, Held, Kind, dates_have_time, kind_of
from naively.data.schema import Schema
from naively.errors import NaivelyError


@dataclass(frozen=True)
class Source:
    """A table wherever it lies, before any of its rows are read.

    Attributes
    ----------
    names : sequence
        What the columns are called; their places where they have no names.
    held : callable
        Given a name, it returns what the type of the column says.
    first_cells : callable
        Given the name of a column of text, it returns its first cells, as many as `LOOKED_AT`.
    """

    names: Sequence[Any]
    held: Callable[[Any], Held]
    first_cells: Callable[[Any], Sequence[Any]] = lambda name: ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "first_cells", cache(self.first_cells))


def plan(
    source: Source,
    agreed: Schema | None = None,
    *,
    given: Mapping[Any, Kind | str] | None = None,
    where: str = "",
    out: str = OUT,
) -> Schema:
    """Return what is read of a table: as agreed or given, and otherwise by its columns' types.

    Parameters
    ----------
    source : Source
        Its columns are those to be read. Where a schema is agreed upon, they are that schema's, in
        its order: its columns, or its inputs.
    agreed : Schema, optional
        The schema, where it is known: types decide only what it leaves undecided.
    given : mapping, optional
        What some columns hold, by name, or by place where there are no names. A column of dates
        of which that is said is not read by its parts.
    where, out : str
        For messages: where the columns are, ``" in 'data.csv'"``, and how one is left out, where
        ``{name!r}`` stands for its name.
    """
    if agreed is not None and not agreed.undecided:
        return agreed
    dates = {} if agreed is not None else date_columns(source, given or ())
    if agreed is None:
        columns = [column for name in source.names for column in _parts(name, dates)]
        kinds: list[Kind] = [UNDECIDED] * len(columns)
    else:
        columns, kinds = _agreed_columns(source, agreed), list(agreed.held)
    without_names = not dates and all(isinstance(name, int) for name in source.names)
    names = None if without_names else tuple(str(name) for name, _ in columns)
    check_distinct(names or ())
    for j, (column, origin) in enumerate(columns):
        name = j if names is None else names[j]
        if given and name in given:
            kinds[j] = Kind.named(given[name])
        elif kinds[j] is UNDECIDED:
            held = source.held(origin) if column == origin else held_by_part(column)
            if agreed is not None and held.what in DATES:
                raise NaivelyError(
                    f"column {name!r}{where} holds dates ({held.type}), and held nothing before. "
                    "Give it the type of dates in the first rows too; or leave it out."
                )
            cells, way_out = partial(source.first_cells, origin), out.format(name=name)
            kinds[j] = kind_of(held, f"column {name!r}{where}", way_out, cells)
    if agreed is not None:
        return agreed.decided(kinds)
    return Schema(len(columns), names, kinds, dates=tuple(map(str, dates)))


def _parts(name: Any, dates: Mapping[Any, bool]) -> list[tuple[Any, Any]]:
    """Return the columns that a column of a table becomes, each with the one it is read from."""
    if name not in dates:
        return [(name, name)]
    return [(part, name) for part in part_names(str(name), has_time=dates[name])]


def _agreed_columns(source: Source, agreed: Schema) -> list[tuple[Any, Any]]:
    """Return the columns of a table in the order of a schema, of which parts are decided."""
    names = list(source.names)
    if len(names) != agreed.n_columns:
        own = dict(zip(agreed.inputs or (), names, strict=True))
        names = [own[agreed.input(name)] for name in agreed.names or ()]
    return [(name, name) for name in names]


def date_columns(source: Source, settled: Collection[Any] = ()) -> dict[Any, bool]:
    """Return the columns of dates, but for those settled, and whether they have a time of day."""
    found: dict[Any, bool] = {}
    for name in source.names:
        if name not in settled:
            times = dates_have_time(source.held(name), partial(source.first_cells, name))
            found |= {} if times is None else {name: times}
    return found


def held_by_part(name: str) -> Held:
    """Return what a part of dates holds, or a column of its name; all but years are categories.

    >>> held_by_part("when.month")
    Held(what='number', type='month', coded=True)
    """
    part = name.rpartition(".")[2]
    return Held("text" if part == "weekday" else "number", part, part != "year")


def check_distinct(names: Iterable[str]) -> None:
    """Raise where a table has a column of the name that a part of dates gets."""
    if (twice := repeated(names)) is not None:
        raise NaivelyError(
            f"columns must have different names; got {twice!r} twice, of which one is read from "
            "dates. Rename the other one."
        )


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that is there twice, or None."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


def inputs_of(columns: Sequence[str] | None, there: Sequence[str]) -> list[str] | None:
    """Return the columns that are named, where a part of dates means the column of dates.

    >>> inputs_of(["when.year", "x", "when.month"], ["when", "x", "z"])
    ['when', 'x']
    """
    if columns is None:
        return None
    split = [(name, split_name(name) or ("", "")) for name in columns]
    return list(dict.fromkeys(s if n not in there and s in there else n for n, (s, _) in split))


def named_parts(schema: Schema, columns: Sequence[str] | None) -> Schema:
    """Return the schema of the columns that are named, which may be some parts of dates."""
    names = schema.names or ()
    if columns is None or not any(n in names and schema.input(n) != n for n in columns):
        return schema
    listed = [
        j
        for column in columns
        for j, name in enumerate(names)
        if column in (name, schema.input(name), name.rpartition("_")[0])
    ]
    return schema.columns(list(dict.fromkeys(listed)))
