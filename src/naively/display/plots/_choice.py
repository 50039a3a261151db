"""What to show where there is too much: what separates the classes best, and a note on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from naively.display.plots._read import pick
from naively.display.plots.separation import classes_by_separation, columns_by_separation
from naively.errors import NaivelyError
from naively.statistics.summary import Summary

__all__ = ["Choice", "choose_classes", "choose_columns", "choose_pair"]


@dataclass(frozen=True)
class Choice:
    """Positions, and what must be said about them; nothing if they are all there are."""

    at: list[int]
    note: str = ""


def choose_columns(summary: Summary, names: list[str], columns: Any, most: int) -> Choice:
    """Take the columns asked for, or those that separate the classes best, the best first."""
    _check_positive("max_columns", most)
    if columns is not None:
        return Choice(pick(columns, names, schema=summary.schema))
    if len(names) <= most:
        return Choice(list(range(len(names))))
    chosen = columns_by_separation(summary, most)
    which = f"The {most} columns" if most > 1 else "The column"
    verb = "separate" if most > 1 else "separates"
    return Choice(chosen, f"{which} of {len(names):,} that {verb} the classes best.")


def choose_pair(summary: Summary | None, names: list[str], columns: Any) -> Choice:
    """Take the two columns asked for, or the two that separate the classes best, in their order."""
    if len(names) < 2:
        raise NaivelyError("two columns are needed; the model has one. Draw its bell curves.")
    numbers = range(len(names)) if summary is None else summary.schema.numbers
    if columns is not None:
        schema = None if summary is None else summary.schema
        at, which = pick(columns, names, n=2, schema=schema), "2"
        _check_numbers(at, names, summary)
    elif len(numbers) < 2:
        raise NaivelyError(
            f"two columns of numbers are needed; the model has {len(numbers)}. "
            "Draw its columns with BellCurveDisplay."
        )
    elif summary is None:
        at, which = [0, 1], "The first 2"
    else:
        order = columns_by_separation(summary, len(names))
        at, which = sorted([j for j in order if j in numbers][:2]), "The 2"
    if len(names) == 2:
        return Choice(at)
    best = " that separate the classes best" * (columns is None)
    return Choice(at, f"{which} of {len(names):,} columns{best}; the rest left out as missing.")


def _check_numbers(at: list[int], names: list[str], summary: Summary | None) -> None:
    for j in at:
        if summary is not None and j not in summary.schema.numbers:
            kind = summary.schema.held[j]
            held = kind.plural
            raise NaivelyError(
                f"two columns of numbers are needed; {names[j]!r} holds {held}. "
                "Draw it with BellCurveDisplay."
            )


def choose_classes(summary: Summary, most: int, columns: Sequence[int] | None = None) -> Choice:
    """Take all classes, or those that stand apart most."""
    _check_positive("max_classes", most)
    n_classes = summary.classes.size
    if n_classes <= most:
        return Choice(list(range(n_classes)))
    chosen = classes_by_separation(summary, most, columns)
    return Choice(chosen, f"The {most} of {n_classes:,} classes that stand apart most.")


def _check_positive(name: str, value: int) -> None:
    if value < 1:
        raise NaivelyError(f"{name} must be at least 1; got {value}.")
