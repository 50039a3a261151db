"""Records become tables: the same for the terminal and for the documentation.

>>> print(table({"n": lambda r: str(r["n"])}, [{"n": 1}]))
| n |
|---|
| 1 |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

__all__ = ["Columns", "Options", "mark", "megabytes", "seconds", "table"]

Columns: TypeAlias = dict[str, Callable[[dict[str, Any]], str]]


class Options(NamedTuple):
    """How much to measure: rounds and seconds of a contest, works whose name holds a text."""

    rounds: int = 5
    patience: float = 40.0
    only: str = ""


def table(columns: Columns, records: Iterable[dict[str, Any]]) -> str:
    """Write records as a Markdown table whose columns are aligned."""
    rows = [list(columns), *([cell(record) for cell in columns.values()] for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def seconds(value: float) -> str:
    """Write a time with three digits.

    >>> seconds(0.0123), seconds(4.56e-6)
    ('12.3 ms', '4.56 µs')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def megabytes(value: float) -> str:
    """Write a size.

    >>> megabytes(12_300_000)
    '12.3 MB'
    """
    return f"{value / 1e6:.1f} MB"


def mark(met: bool | None) -> str:
    """Write whether a bar is met; nothing where there is none."""
    return {None: "", True: "yes", False: "no"}[met]
