"""What a column holds: the one decision, for every engine.

Each engine describes its own types in the few words of `Held`; what follows from them is decided
here, so that one table has one schema whoever reads it:

===================================================== ==============================
type                                                  kind
===================================================== ==============================
integers, floats, decimals, also nullable and sparse  number
text, booleans, a frame's own categories, intervals   category
text in sentences: see `is_prose`                     text
null: no cell at all                                  undecided, until a cell comes
dates, with a time of day or without one              their parts: see `naively.data.dates`
text whose cells are dates: see `dates_have_time`     the same
times, lists, structs, bytes, complex, others         an error that names the column
===================================================== ==============================

An estimator of numbers alone, such as `GaussianNB`, reads booleans as 0 and 1, and no dates.

Text is a column of dates, of categories or of words: the first 2,000 cells that are not missing
decide. They are dates where all of them are, as ISO 8601 writes them: 2024-02-29, or with a time of
day, 2024-02-29T13:45. They are words where at least half of the cells are distinct, a cell has 3
words or more on average, and at least half of the words have a letter. A word is what stands
between spaces.

Categories say nothing where nearly every cell is another one, but their parts may, as those of
names, paths and addresses do. So they are words, too, where 95 % of the cells are distinct and more
than half of their parts have a letter and stand in another cell as well. A part is what stands
between anything but letters, digits and underscores.

>>> is_prose(["win a prize now", "see you at ten", None]), is_prose(["Ulm", "Bonn", "Ulm"])
(True, False)
>>> is_prose(["lib-tea", "lib-pot", "tea-pot"]), is_prose(["id-17", "id-18", "id-19"])
(True, False)

>>> kind_of(Held("text", "string"), "column 'town'")
'category'
>>> check(Held("date", "date32"), "number", "column 'born'")
Traceback (most recent call last):
    ...
naively.errors.NaivelyError: column 'born' holds dates or times (date32), which are neither \
numbers nor categories. Give numbers, such as the days since a day; or fit NaiveBayes on the dates \
themselves, without a family for this column: it reads their year, month, weekday and hour; or \
leave it out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import are_dates, has_time
from naively.data.labels import is_missing
from naively.data.schema import Kind, Schema
from naively.errors import NaivelyError

What = Literal["number", "boolean", "text", "nothing", "date", "datetime", "time", "other"]
DATES = ("date", "datetime")  # without and with a time of day
LOOKED_AT = 2000  # cells of a column that decide whether it holds text or categories
_FEWEST_WORDS = 3  # of a cell of text, on average
_NEARLY_ALL = 0.95  # of the cells are distinct: no categories
_PART = re.compile(r"\w+")
_DATE = len("2024-02-29")
_OUT = "leave it out"
_DATES = (
    "{name} holds dates or times ({type}), which are neither numbers nor categories. Give numbers, "
    "such as the days since a day; or fit NaiveBayes on the dates themselves, without a family for "
    "this column: it reads their year, month, weekday and hour; or {out}."
)
_TIMES = (
    "{name} holds times of day or durations ({type}), which are neither numbers nor categories. "
    "Give numbers, such as hours; or {out}."
)


class Held(NamedTuple):
    """What the type of a column says about its cells."""

    what: What  # what the cells are; "nothing" where the type has none but missing ones
    type: str  # what the engine calls the type
    # whether they are categories by declaration: a pandas Categorical, an Arrow dictionary
    coded: bool = False


_TEXT = Held("text", "str")


def kind_of(held: Held, name: str, out: str = _OUT) -> Kind:
    """Return what a column holds, or raise where it can be no column of a model.

    For messages: what to call it, such as ``column 'town'``, and how it is left out.
    """
    if held.what == "nothing":
        return "undecided"
    if held.what in (*DATES, "time"):
        message = _TIMES if held.what == "time" else _DATES
        raise NaivelyError(message.format(name=name, type=held.type, out=out))
    if held.what == "other":
        raise NaivelyError(
            f"{name} must hold numbers, text, booleans or dates; got {held.type}. Convert it, such "
            f"as to text, or {out}."
        )
    return "number" if held.what == "number" and not held.coded else "category"


def check(held: Held, kind: Kind, name: str, out: str = _OUT) -> None:
    """Raise where a column cannot be read as what it is agreed to hold.

    Booleans can be numbers, and numbers can be categories, if somebody says so. What holds nothing
    can be anything.
    """
    if kind == "undecided" or held.what == "nothing":
        return
    decided = kind_of(held, name, out)
    if kind == "text" and held.what != "text":
        raise NaivelyError(
            f"{name} must hold text; got {held.type}. Give text, or leave the choice of its family "
            "to its type."
        )
    if kind == "number" and decided == "category" and held.what != "boolean":
        got = "categories" if held.what == "number" else "text"
        raise NaivelyError(
            f"{name} must hold numbers; got {got} ({held.type}). Give numbers; or fit NaiveBayes "
            f"on the {got}, without a family of numbers for this column; or {out}."
        )


def schema_by_types(
    held: Callable[[int], Held],
    n_columns: int,
    names: tuple[str, ...] | None = None,
    agreed: Schema | None = None,
    *,
    given: Mapping[Any, Kind] | None = None,
    where: str = "",
    out: str = _OUT,
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
    undecided: Kind = "undecided"
    kinds = [undecided] * n_columns if agreed is None else list(agreed.held)
    for j in range(n_columns):
        name = j if names is None else names[j]
        if given and name in given:
            kinds[j] = given[name]
        elif kinds[j] == "undecided":
            its = held(j)
            if agreed is not None and its.what in DATES:
                raise NaivelyError(
                    f"column {name!r}{where} holds dates ({its.type}), and held nothing before. "
                    "Give it the type of dates in the first rows too; or leave it out."
                )
            kinds[j] = kind_of(its, f"column {name!r}{where}", out.format(name=name))
            if its.what == "text" and not its.coded and cells is not None and is_prose(cells(j)):
                kinds[j] = "text"
    return Schema(n_columns, names, tuple(kinds)) if agreed is None else agreed.decided(kinds)


def is_prose(cells: Sequence[Any]) -> bool:
    """Whether a column of text is to be read word by word: the rule of this module."""
    present = [cell for cell in cells if isinstance(cell, str)][:LOOKED_AT]
    n_distinct = len(set(present))
    if not present or 2 * n_distinct < len(present):
        return False
    words = [word for cell in present for word in cell.split()]
    if len(words) >= _FEWEST_WORDS * len(present):
        return 2 * sum(map(_has_letter, words)) >= len(words)
    return n_distinct >= _NEARLY_ALL * len(present) and _shares_parts(present)


def _shares_parts(cells: Sequence[str]) -> bool:
    """Whether cells have several parts, most of them with a letter and in another cell too."""
    parts = [part for cell in cells for part in set(_PART.findall(cell.lower()))]
    shared = sum(n for part, n in Counter(parts).items() if n > 1 and _has_letter(part))
    return len(parts) > len(cells) and 2 * shared > len(parts)


def _has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))


def dates_have_time(held: Held, cells: Callable[[], Sequence[Any]]) -> bool | None:
    """Return whether dates have a time of day; None where a column holds no dates.

    Given the first cells of a column of text, as many as `LOOKED_AT`.

    >>> dates_have_time(Held("date", "date32"), list)
    False
    >>> dates_have_time(Held("text", "str"), lambda: ["2024-02-29", "2024-02-29 13:45"])
    True
    """
    if held.what in DATES:
        return held.what == "datetime"
    if held.coded or held.what != "text":
        return None
    texts = [cell for cell in cells() if isinstance(cell, str)][:LOOKED_AT]
    return any(len(text) > _DATE for text in texts) if are_dates(texts) else None


def fits(held: Held, kind: Kind) -> bool:
    """Whether a type alone shows that the cells are what a column is agreed to hold.

    >>> fits(Held("boolean", "bool"), "category"), fits(Held("boolean", "bool"), "number")
    (True, False)
    """
    if kind == "number":
        return held.what == "number" and not held.coded
    if kind == "text":
        return held.what == "text"
    return kind == "category" and held.what in ("text", "boolean")


def check_weights(held: Held, name: str, where: str = "") -> None:
    """Raise where a column cannot hold the weights of rows: numbers, booleans or nothing can."""
    if held.what not in ("number", "boolean", "nothing"):
        raise NaivelyError(
            f"the weights must be numbers >= 0; got {held.type} in column {name!r}{where}. "
            "Convert the column, or choose another one for the weights."
        )


_WHATS: dict[str, What] = {"f": "number", "i": "number", "u": "number", "b": "boolean"}
_WHATS |= {"U": "text", "T": "text", "M": "date", "m": "time"}


@lru_cache(maxsize=256)
def held_by_dtype(dtype: np.dtype[Any]) -> Held | None:
    """Return what a NumPy dtype says; None for objects, whose cells must be looked at."""
    if dtype.kind == "M" and has_time(dtype):
        return Held("datetime", str(dtype))
    return None if dtype.kind == "O" else Held(_WHATS.get(dtype.kind, "other"), str(dtype))


def held_by_objects(values: Sequence[Any]) -> Held:
    """Return what Python's objects are: numbers, unless there are others among them.

    >>> [held_by_objects(cells).what for cells in ([None, 3], ["a", 3], [None, float("nan")])]
    ['number', 'text', 'nothing']
    """
    if set(map(type, values)) == {str}:
        return _TEXT
    found = {held.what: held for held in map(_held_by_object, _examples(values))}
    for what in ("time", "datetime", "date", "other", "text", "boolean", "number"):
        if what in found:
            return found[what]
    return Held("nothing", "objects, all of them missing")


def is_interval(value: Any) -> bool:
    """Whether a cell is an interval of pandas, as `pandas.cut` makes them; it is not imported."""
    return type(value).__name__ == "Interval" and hasattr(value, "closed")


def numbers_of_objects(values: Sequence[Any], name: str) -> NDArray[np.float64]:
    """Return Python's objects as numbers, of which missing ones are NaN; or raise.

    >>> numbers_of_objects([1, None, True], "column 'age'")
    array([ 1., nan,  1.])
    """
    check(held_by_objects(values), "number", name)
    try:
        return np.array([np.nan if is_missing(value) else float(value) for value in values])
    except OverflowError:
        raise NaivelyError(
            f"{name} must hold numbers below 1.8e308; got an integer beyond. Rescale it."
        ) from None


def _examples(values: Sequence[Any]) -> list[Any]:
    """Return a cell of each type, without missing ones."""
    last = dict(zip(map(type, values), values, strict=True))
    for kind in [kind for kind, value in last.items() if is_missing(value)]:
        present = (value for value in values if type(value) is kind and not is_missing(value))
        last[kind] = next(present, None)
    return [value for value in last.values() if value is not None]


def _held_by_object(value: Any) -> Held:
    """Return what a cell is that is not missing."""
    if isinstance(value, str):
        return _TEXT
    if isinstance(value, bool | np.bool_):
        return Held("boolean", "bool")
    name = f"objects such as {value!r}"
    if is_interval(value):
        return Held("text", name, coded=True)
    if isinstance(value, np.datetime64):
        return Held("datetime" if has_time(value.dtype) else "date", name)
    if isinstance(value, date):
        return Held("datetime" if isinstance(value, datetime) else "date", name)
    if isinstance(value, timedelta | np.timedelta64) or hasattr(value, "isoformat"):
        return Held("time", name)
    if isinstance(value, bytes | np.ndarray | complex | np.complexfloating):
        return Held("other", name)
    try:
        float(value)
    except OverflowError:  # an integer beyond every float64 is a number all the same
        pass
    except (TypeError, ValueError):
        return Held("other", name)
    return Held("number", name)
