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
>>> NUMBER.check(Held("date", "date32"), "column 'born'")
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
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.data.dates import are_dates, has_time
from naively.data.labels import is_missing
from naively.errors import NaivelyError

What = Literal["number", "boolean", "text", "nothing", "date", "datetime", "time", "other"]
DATES = ("date", "datetime")  # without and with a time of day
LOOKED_AT = 2000  # cells of a column that decide whether it holds text or categories
_MIN_WORDS = 3  # of a cell of text, on average
_DISTINCT_SHARE = 0.95  # of the cells are distinct: no categories
_PART = re.compile(r"\w+")
_DATE_LENGTH = len("2024-02-29")
OUT = "leave it out"
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

    @property
    def is_text(self) -> bool:
        """Whether the cells are text, and no categories by declaration."""
        return self.what == "text" and not self.coded

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are read as numbers as they are: numbers, or booleans as 0 and 1."""
        return self.what in ("number", "boolean") and not self.coded


_TEXT = Held("text", "str")


class Kind(str):
    """What the cells of a column are, by the types that it takes; it reads as its name.

    There is one object of each, in `KINDS`. It knows types and cells, and neither statistics nor
    families: what else differs between kinds is a table by kind in the room that needs it. Files
    and callers name a kind; ``Kind.named("text") is TEXT``, and ``TEXT == "text"``.
    """

    __slots__ = ("plural",)
    plural: str  # for messages: "held as ..."

    def __new__(cls, name: str, plural: str) -> Self:  # noqa: D102
        self = super().__new__(cls, name)
        self.plural = plural
        return self

    @staticmethod
    def named(name: str) -> Kind:
        """Return the kind of this name.

        >>> Kind.named("category") is CATEGORY
        True
        """
        kind = KINDS.get(name)
        if kind is None:
            raise NaivelyError(f"kinds must be {', '.join(map(repr, KINDS))}; got {name!r}.")
        return kind

    def __reduce__(self) -> tuple[Any, ...]:
        return Kind.named, (str(self),)

    def takes(self, held: Held, cells: Callable[[], Sequence[Any]] | None) -> bool:
        """Whether a column that nobody decided is of this kind, by its type and first cells."""
        return False

    def fits(self, held: Held) -> bool:
        """Whether a type alone shows that the cells can be read as this kind.

        >>> CATEGORY.fits(Held("boolean", "bool")), NUMBER.fits(Held("boolean", "bool"))
        (True, False)
        """
        return False

    def check(self, held: Held, name: str, out: str = OUT) -> None:
        """Raise where a column cannot be read as this kind, which it is agreed to hold.

        Booleans can be numbers, and numbers can be categories, if somebody says so. What holds
        nothing can be anything.
        """
        if held.what != "nothing":
            check_readable(held, name, out)


class _Number(Kind):
    def takes(self, held: Held, cells: Callable[[], Sequence[Any]] | None) -> bool:
        return self.fits(held)

    def fits(self, held: Held) -> bool:
        return held.what == "number" and not held.coded

    def check(self, held: Held, name: str, out: str = OUT) -> None:
        super().check(held, name, out)
        if not self.fits(held) and held.what not in ("boolean", "nothing"):
            got = "categories" if held.what == "number" else "text"
            raise NaivelyError(
                f"{name} must hold numbers; got {got} ({held.type}). Give numbers; or fit "
                f"NaiveBayes on the {got}, without a family of numbers for this column; or {out}."
            )


class _Category(Kind):
    def takes(self, held: Held, cells: Callable[[], Sequence[Any]] | None) -> bool:
        return held.what in ("number", "text", "boolean")  # numbers that NUMBER did not take

    def fits(self, held: Held) -> bool:
        return held.what in ("text", "boolean")


class _Text(Kind):
    def takes(self, held: Held, cells: Callable[[], Sequence[Any]] | None) -> bool:
        return held.is_text and cells is not None and is_prose(cells())

    def fits(self, held: Held) -> bool:
        return held.what == "text"

    def check(self, held: Held, name: str, out: str = OUT) -> None:
        super().check(held, name, out)
        if held.what not in ("text", "nothing"):
            raise NaivelyError(
                f"{name} must hold text; got {held.type}. Give text, or leave the choice of its "
                "family to its type."
            )


class _Undecided(Kind):
    """A column in which no cell has been seen: it becomes what its first cell is."""

    def takes(self, held: Held, cells: Callable[[], Sequence[Any]] | None) -> bool:
        return held.what == "nothing"

    def check(self, held: Held, name: str, out: str = OUT) -> None:
        return


NUMBER: Final = _Number("number", "numbers")
TEXT: Final = _Text("text", "text")
CATEGORY: Final = _Category("category", "categories")
UNDECIDED: Final = _Undecided("undecided", "no cell")
KINDS: dict[str, Kind] = {kind: kind for kind in (NUMBER, TEXT, CATEGORY, UNDECIDED)}
"""By name. The first that takes what a column holds is its kind."""


def kind_of(
    held: Held, name: str, out: str = OUT, cells: Callable[[], Sequence[Any]] | None = None
) -> Kind:
    """Return what a column holds, or raise where it can be no column of a model.

    For messages: what to call it, such as ``column 'town'``, and how it is left out. Without its
    first cells, text is a column of categories.
    """
    check_readable(held, name, out)
    return next(kind for kind in KINDS.values() if kind.takes(held, cells))


def check_readable(held: Held, name: str, out: str = OUT) -> None:
    """Raise where a column can be no column of a model, whatever its kind."""
    if held.what in (*DATES, "time"):
        message = _TIMES if held.what == "time" else _DATES
        raise NaivelyError(message.format(name=name, type=held.type, out=out))
    if held.what == "other":
        raise NaivelyError(
            f"{name} must hold numbers, text, booleans or dates; got {held.type}. Convert it, such "
            f"as to text, or {out}."
        )


def is_prose(cells: Sequence[Any]) -> bool:
    """Whether a column of text is to be read word by word: the rule of this module."""
    present = [cell for cell in cells if isinstance(cell, str)][:LOOKED_AT]
    n_distinct = len(set(present))
    if not present or 2 * n_distinct < len(present):
        return False
    words = [word for cell in present for word in cell.split()]
    if len(words) >= _MIN_WORDS * len(present):
        return 2 * sum(map(_has_letter, words)) >= len(words)
    return n_distinct >= _DISTINCT_SHARE * len(present) and _shares_parts(present)


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
    if not held.is_text:
        return None
    texts = [cell for cell in cells() if isinstance(cell, str)][:LOOKED_AT]
    return any(len(text) > _DATE_LENGTH for text in texts) if are_dates(texts) else None


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
    NUMBER.check(held_by_objects(values), name)
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
