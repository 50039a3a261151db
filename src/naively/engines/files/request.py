"""What a caller asks of a pass over files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from naively.exceptions import NaivelyError
from naively.schema import Kind, Schema
from naively.summary import Summary

__all__ = ["Request", "SchemaFromFirstRows", "named"]


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
    return {name: kind for name, kind in held if kind != "undecided"}
