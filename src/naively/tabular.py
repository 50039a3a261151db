"""Small tables that print as text, in colour, and as HTML.

>>> print(PrintedTable("Fruit", ("", "number"), (("apples", "3"), ("pears", "12"))))
Fruit
        number
apples       3
pears       12
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from importlib import import_module
from typing import Any

import numpy as np

from naively.errors import need

_DISPLAY = "naively.display"  # the room above, which knows what draws a value


@dataclass(frozen=True)
class PrintedTable:
    """A title, a header and rows of text. The first column names the rows."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        lines = (self.header, *self.rows)
        first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))
        texts = (
            line[0].ljust(first)
            + "".join("  " + cell.rjust(w) for cell, w in zip(line[1:], others, strict=True))
            for line in lines
        )
        return "\n".join([self.title, *(text.rstrip() for text in texts)])

    def __rich__(self) -> Any:
        text = need("rich.text", "printing in colour", extra="cli").Text  # takes [b] as it stands
        tables = need("rich.table", "printing in colour", extra="cli")
        box = need("rich.box", "printing in colour", extra="cli").SIMPLE_HEAD
        group = need("rich.console", "printing in colour", extra="cli").Group
        table = tables.Table(box=box)
        for at, name in enumerate(self.header):
            table.add_column(text(name), justify="right" if at else "left", no_wrap=at == 0)
        for row in self.rows:
            table.add_row(*map(text, row))
        return group(text(self.title, "bold"), table)  # a title of the table's would be wrapped

    def _repr_html_(self) -> str:
        lines = [f"<tr>{_cells('th', self.header)}</tr>"]
        lines += [f"<tr>{_cells('th', row[:1])}{_cells('td', row[1:])}</tr>" for row in self.rows]
        return f"<table><caption>{escape(self.title)}</caption>{''.join(lines)}</table>"


class Shown:
    """A value that notebooks show as HTML: `naively.display.pages` writes it."""

    def _repr_html_(self) -> str:
        text: str = import_module(f"{_DISPLAY}.pages").fragment(self)
        return text


class Tabular(Shown):
    """A value that prints as tables, and sentences after them: as text, in colour, as HTML."""

    notes: Sequence[str] = ()

    @abstractmethod
    def tables(self) -> list[PrintedTable]:
        """Return what is printed."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, [*self.tables(), *self.notes]))

    def __rich__(self) -> Any:
        group = need("rich.console", "printing in colour", extra="cli").Group
        text = need("rich.text", "printing in colour", extra="cli").Text  # takes [b] as it stands
        return group(*self.tables(), *map(text, self.notes))


class Drawn:
    """A value that can be drawn: `naively.display.plots.DISPLAYS` says by what."""

    def plot(self, *args: Any, **options: Any) -> Any:
        """Draw, by the display of such values in `naively.plots`, which has the same options."""
        return import_module(_DISPLAY).draw(self, *args, **options)


def figure(value: float) -> str:
    """Write a figure with four decimals, or digits where it is large; "-" where it is undefined.

    >>> figure(0.95), figure(float("nan")), figure(float("inf")), figure(-1e-9)
    ('0.9500', '-', 'inf', '0.0000')
    """
    if np.isnan(value):
        return "-"
    return f"{round(value, 4) + 0.0:.4f}" if abs(value) < 1e4 else f"{value:.4g}"  # no "-0.0000"


def frame(columns: dict[str, Any], library: str | None) -> Any:
    """Return columns as a frame of a library: pandas where none is given."""
    import narwhals

    backend = need(library or "pandas", "making a frame")
    return narwhals.from_dict(columns, backend=backend).to_native()


def plain(value: Any) -> Any:
    """Return what JSON can hold: lists for arrays, None for NaN and infinity, text for dates.

    >>> import numpy as np
    >>> plain({"a": np.array([1.0, np.nan]), "b": (np.int64(2), "x")})
    {'a': [1.0, None], 'b': [2, 'x']}
    """
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, date | timedelta):
        return str(value)
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
