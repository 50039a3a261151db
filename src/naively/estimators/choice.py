"""Which families describe which columns.

Numbers are described by `StudentT`, and where terms have weights by `Histogram` too; categories by
`Categorical`, text by `Text`. Names or families given by the user come first; ``"best"`` stands for
the candidates of `naively.model.families_for`, of which rows choose one.

>>> choose("age", NUMBER, {"age": "histogram"}, stacked=True)
(Histogram(growth=2.0, strength=None),)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from math import inf, isinf
from typing import Any

from naively.data.kinds import CATEGORY, NUMBER, TEXT, UNDECIDED, Kind
from naively.data.schema import Schema
from naively.errors import NaivelyError
from naively.families import CANDIDATES, FAMILIES
from naively.families.categorical import Categorical
from naively.families.family import Family
from naively.families.histogram import Histogram
from naively.families.student_t import StudentT
from naively.families.text import Text
from naively.model.interactions import INTERACTIONS

BEST = "best"


def interaction_kinds(given: Any) -> tuple[str, ...]:
    """Return the kinds of interactions that are wanted.

    >>> interaction_kinds("auto"), interaction_kinds(None)
    (('canonical', 'quadratic', 'pairs'), ())
    """
    if given is None:
        return ()
    kinds = INTERACTIONS if given == "auto" else tuple(given)
    unknown = [kind for kind in kinds if kind not in INTERACTIONS]
    if unknown:
        raise NaivelyError(
            f'interactions must be "auto", None, or a tuple of '
            f"{', '.join(map(repr, INTERACTIONS))}; got interactions={given!r}."
        )
    return kinds


def interactions_from_text(text: str) -> Any:
    """Read what `NaiveBayes(interactions=...)` takes: auto, none, or kinds.

    >>> interactions_from_text("none"), interactions_from_text("canonical, pairs")
    (None, ('canonical', 'pairs'))
    """
    plain = text.strip().lower()
    if plain in ("auto", "none"):
        return "auto" if plain == "auto" else None
    kinds = tuple(kind.strip() for kind in plain.split(","))
    interaction_kinds(kinds)
    return kinds


DEFAULTS: dict[Kind, tuple[Family, ...]] = {
    NUMBER: (StudentT(),),
    CATEGORY: (Categorical(),),
    TEXT: (Text(),),
    UNDECIDED: (),
}
"""The families of a column, by its kind, unless somebody says otherwise."""
_STACKED = StudentT(), Histogram()  # of a column of numbers, where each gets a weight


def choose(
    column: Any, kind: Kind, given: Mapping[Any, Any] | str | None, *, stacked: bool = False
) -> tuple[Family, ...]:
    """Return the families of a column, which has a place where it has no name.

    While it is undecided what a column holds, no family describes it. Several do by default only
    where each gets a weight: if they are stacked.
    """
    if given == BEST and kind is NUMBER:
        return CANDIDATES
    own = by_column(given)
    if column in own:
        wanted = own[column]
        if isinstance(wanted, str) and wanted == BEST:
            return CANDIDATES
        several = wanted if isinstance(wanted, list | tuple) else [wanted]
        return tuple(family_of(one, column) for one in several)
    return _STACKED if stacked and kind is NUMBER else DEFAULTS[kind]


def by_column(given: Mapping[Any, Any] | str | None) -> Mapping[Any, Any]:
    """Return the families that are given for columns by name or place."""
    if given is None or isinstance(given, Mapping):
        return given or {}
    if given != BEST:
        raise NaivelyError(f'families must be a dict, "best" or None; got {given!r}.')
    return {}


def family_of(wanted: Any, column: Any) -> Family:
    """Return a family, given as one or by its name."""
    if isinstance(wanted, Family):
        return wanted
    if isinstance(wanted, str) and wanted in FAMILIES:
        return FAMILIES[wanted]()
    close = get_close_matches(str(wanted), FAMILIES, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"There are {', '.join(FAMILIES)}."
    raise NaivelyError(
        f"the family of column {column!r} must be one of naively's; got {wanted!r}. {hint}"
    )


def kind_of_families(wanted: Any, column: Any) -> Kind:
    """Return what a column must hold for the families that are given for it."""
    families = choose(column, NUMBER, {column: wanted})
    if len(set(families)) < len(families):
        raise NaivelyError(f"the families of column {column!r} must be different; got {wanted!r}.")
    kinds = {family.kind for family in families}
    if len(kinds) != 1:
        raise NaivelyError(
            f"the families of column {column!r} must be all of numbers, of categories or of text; "
            f"got {wanted!r}."
        )
    if len({family.options for family in families if isinstance(family, Text)}) > 1:
        raise NaivelyError(
            f"the families of column {column!r} must read text in one way; got {wanted!r}. Give "
            "the column twice, under two names, to read it in two ways."
        )
    return kinds.pop()


def check_columns(given: Mapping[Any, Any] | str | None, schema: Schema) -> None:
    """Raise where families are given for columns that are not there."""
    known = schema.names_or_places
    for column in by_column(given):
        if column not in known:
            close = get_close_matches(str(column), map(str, known), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise NaivelyError(f"families names a column {column!r}, and there is none{hint}")


# --- families as texts, for pickles and files -----------------------------------------------------


def plain(given: Mapping[Any, Any] | str | None) -> Any:
    """Return families by column as pickles may hold them: each of naively's as name and fields.

    >>> plain({"town": Categorical(alpha=2.0), "age": "histogram"})
    {'town': {'family': ['categorical', {'alpha': 2.0}]}, 'age': 'histogram'}
    """
    return _each(given, lambda one: {"family": as_text(one)} if _is_ours(one) else one)


def from_plain(content: Any) -> Any:
    """Return the families by column of which `plain` returned this."""
    return _each(content, lambda one: from_text(one["family"]) if isinstance(one, dict) else one)


def _each(given: Any, change: Callable[[Any], Any]) -> Any:
    """Return families by column, each of them changed."""
    if not isinstance(given, Mapping):
        return given
    return {
        column: type(wanted)(map(change, wanted))
        if isinstance(wanted, list | tuple)
        else change(wanted)
        for column, wanted in given.items()
    }


def as_list(given: Mapping[Any, Any]) -> list[list[Any]]:
    """Return families by column as files of models hold them.

    >>> as_list({"town": Categorical(alpha=2.0), "age": "best"})
    [['town', [['categorical', {'alpha': 2.0}]]], ['age', 'best']]
    """
    several = {column: choose(column, NUMBER, given) for column in given}
    return [
        [column, BEST if families is CANDIDATES else [*map(as_text, families)]]
        for column, families in several.items()
        if families
    ]


def from_list(content: list[Any]) -> dict[Any, Any]:
    """Return the families by column of which `as_list` returned this."""
    return {
        column: BEST if families == BEST else tuple(map(from_text, families))
        for column, families in content
    }


def _is_ours(family: Any) -> bool:
    return isinstance(family, Family) and FAMILIES.get(family.name) is type(family)


def as_text(family: Family) -> list[Any]:
    """Return a family as JSON can hold it: its name and its fields.

    >>> as_text(Categorical(alpha=2.0))
    ['categorical', {'alpha': 2.0}]
    >>> as_text(StudentT(tails=float("inf")))[1]["tails"]  # JSON has no infinity
    'inf'
    """
    if not _is_ours(family):
        raise NaivelyError(
            f"a family must be one of naively's ({', '.join(FAMILIES)}) to be saved, since loading "
            f"a file runs no code; got {family!r}. Keep the model with pickle or joblib instead."
        )
    return [family.name, {name: _text_of(value) for name, value in vars(family).items()}]


def _text_of(value: Any) -> Any:
    return repr(float(value)) if isinstance(value, float) and isinf(value) else value


def from_text(given: Any) -> Family:
    """Return the family of a name and fields."""
    name, fields = given
    if name not in FAMILIES or not isinstance(fields, dict):
        raise NaivelyError(f"a family must be one of naively's, with its fields; got {given!r}.")
    return FAMILIES[name](**{n: inf if value == "inf" else value for n, value in fields.items()})


def with_options(schema: Schema, given: Mapping[Any, Any] | str | None) -> Schema:
    """Return the schema with text read as the families that are given for its columns say."""
    columns, options = schema.names_or_places, list(schema.options)
    for i, j in enumerate(schema.texts):
        if columns[j] in by_column(given):
            several = choose(columns[j], TEXT, given)
            options[i] = next(one for one in several if isinstance(one, Text)).options
    return replace(schema, options=tuple(options))
