"""The rows that are explained: their cells as a reader knows them, and the words of their texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import TEXT
from naively.data.rows import Rows
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.families.forms import WordLines
from naively.model.model import Model

_WHOLE = 1e15  # below which whole numbers are written with all their digits


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Rows, with the model that reads them.

    Attributes
    ----------
    model : Model
        What scores the rows.
    table : Table, Rows or SparseRows
        Rows as the estimator reads them: categories may be others than the model's.
    at : ndarray of int
        Which rows of the table are meant.
    """

    model: Model
    table: Any
    at: NDArray[np.intp]

    def __getitem__(self, rows: Any) -> ExplainedRows:
        return ExplainedRows(self.model, self.table, self.at[rows])

    def cells(self, row: int) -> dict[int, Any]:
        """Return the cells of a row by the place of their column; None where one is missing.

        Sparse rows have those that they hold. A text is as many words as it has.
        """
        at, schema = int(self.at[row]), self.model.schema
        table = self.table[slice(at, at + 1)]
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
            value = int(code) if missing or known is None else known.item(int(code))
            found[j] = None if missing else value
        return found

    def words(self, row: int, column: int) -> dict[str, Floats]:
        """Return what each word of a text adds to the classes; all add up to the column."""
        at = self.model.schema.texts.index(column)
        places, values = self._words(row, at)
        term = next(t for t in self.model.terms if t.family.kind is TEXT and t.at == at)
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
        place = int(self.at[row])
        one: SparseRows = table.texts.columns[at][place : place + 1]
        own, its = table.words[at], self.model.words[at]
        return one if own == its else one.moved(own.positions(its), its.size)


def shown(cell: Any) -> str:
    """Write a cell as a table shows it.

    >>> shown(0.1 + 0.2), shown(1234567.0), shown("Ulm"), shown(None)
    ('0.3', '1234567', 'Ulm', 'missing')
    """
    if cell is None:
        return "missing"
    if isinstance(cell, float):
        return f"{cell:.0f}" if cell.is_integer() and abs(cell) < _WHOLE else f"{cell:.6g}"
    return str(cell)


def _first(columns: Any) -> list[Any]:
    """Return the first cells of an array or of a list of columns."""
    if isinstance(columns, list):
        return [column[0] for column in columns]
    return list(columns[0])


def _cell(x: Any) -> Any:
    """Return a number as Python has it; None where it is missing."""
    value = float(x)
    return None if np.isnan(value) else value
