"""The rows that are explained: their cells as a reader knows them, and the words of their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.contributions import Floats
from naively.forms import WordLines
from naively.model import Model
from naively.rows import Rows
from naively.sparse import SparseRows

__all__ = ["ExplainedRows", "shown"]


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Rows, with the model that reads them.

    Attributes
    ----------
    model : Model
        What scores the rows.
    table : Table, Rows or SparseRows
        The rows as the estimator reads them: categories may be others than the model's.
    """

    model: Model
    table: Any

    def cells(self, row: int) -> dict[int, Any]:
        """Return the cells of a row by the place of their column; None where one is missing.

        Sparse rows have those that they hold. A text is as many words as it has.
        """
        table, schema = self.table[slice(row, row + 1)], self.model.schema
        numbers = getattr(table, "numbers", table)
        if isinstance(numbers, SparseRows):
            one = numbers.tidy()
            pairs = zip(one.places.tolist(), one.values.tolist(), strict=True)
            return {j: _cell(value) for j, value in pairs}
        found = {j: _cell(x) for j, x in zip(schema.numbers, _first(numbers), strict=True)}
        if isinstance(table, Rows):
            found |= self._categories(table)
            for at, j in enumerate(schema.texts):
                n = len(self._words(row, at)[0])
                found[j] = f"{n} word{'' if n == 1 else 's'}"
        return found

    def _categories(self, table: Rows) -> dict[int, Any]:
        found = {}
        for at, (j, code) in enumerate(
            zip(self.model.schema.categories, _first(table.codes), strict=True)
        ):
            missing = np.isnan(code) or code < 0
            known = table.categories[at] if table.categories else None  # None: codes themselves
            value = int(code) if missing or known is None else known[int(code)].item()
            found[j] = None if missing else value
        return found

    def words(self, row: int, column: int) -> dict[str, Floats]:
        """Return what each word of a text adds to the classes; all add up to the column."""
        at = self.model.schema.texts.index(column)
        places, values = self._words(row, at)
        term = next(t for t in self.model.terms if t.family.kind == "text" and t.at == at)
        form: Any = term.form
        assert isinstance(form, WordLines)
        one = self._text(row, at)
        x = np.ones(places.size) if form.presence else values.astype(np.float64)
        said = form.B[places] * (x * form.scale(one))[:, np.newaxis]
        names = self.model.words[at]
        return {names.word(j): line for j, line in zip(places.tolist(), said, strict=True)}

    def _words(self, row: int, at: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the places and numbers of the words of a text that the model knows."""
        one = self._text(row, at).tidy()
        return one.places, one.values

    def _text(self, row: int, at: int) -> SparseRows:
        """Return the words of a text, in the places of the model."""
        table = self.table
        one: SparseRows = table.texts.columns[at][row : row + 1]
        own, its = table.words[at], self.model.words[at]
        return one if own == its else one.moved(own.positions(its), its.size)


def shown(cell: Any) -> str:
    """Write a cell as a table shows it.

    >>> shown(0.1 + 0.2), shown(31.0), shown("Ulm"), shown(None)
    ('0.3', '31', 'Ulm', 'missing')
    """
    if cell is None:
        return "missing"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _first(columns: Any) -> list[Any]:
    """Return the first cells of an array or of a list of columns."""
    if isinstance(columns, list):
        return [column[0] for column in columns]
    return list(columns[0])


def _cell(x: Any) -> Any:
    """Return a number as Python has it; None where it is missing."""
    value = float(x)
    return None if np.isnan(value) else value
