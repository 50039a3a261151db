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
    table : Rows
        Rows as the estimator reads them: categories may be others than the model's.
    at : ndarray of int
        Which rows of the table are meant.
    """

    model: Model
    table: Rows
    at: NDArray[np.intp]

    def __getitem__(self, rows: Any) -> ExplainedRows:
        return ExplainedRows(self.model, self.table, self.at[rows])

    def cells(self, row: int) -> dict[int, Any]:
        """Return the cells of a row by the place of their column; None where one is missing.

        Sparse rows have those that they hold. A text is as many words as it has.
        """
        at, schema = int(self.at[row]), self.model.schema
        table = self.table[slice(at, at + 1)]
        if isinstance(table.numbers, SparseRows):
            one = table.numbers.tidy()
            pairs = zip(one.places.tolist(), one.values.tolist(), strict=True)
            return {j: _cell(value) for j, value in pairs}
        found = {j: _cell(x) for j, x in zip(schema.numbers, table.array()[0], strict=True)}
        found |= self._categories(table)
        for at, j in enumerate(schema.texts):
            n = len(self._words(row, at)[0])
            found[j] = f"{n} word{'' if n == 1 else 's'}"
        return found

    def _categories(self, table: Rows) -> dict[int, Any]:
        found = {}
        columns = zip(self.model.schema.categories, table.code_columns, strict=True)
        for at, (j, (code,)) in enumerate(columns):
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
        table, place = self.table, int(self.at[row])
        assert table.texts is not None
        one: SparseRows = table.texts.columns[at][place : place + 1]
        own, its = table.words[at], self.model.words[at]
        return one if own == its else one.moved(own.positions(its).astype(np.intp), its.size)


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


def _cell(x: Any) -> Any:
    """Return a number as Python has it; None where it is missing."""
    value = float(x)
    return None if np.isnan(value) else value
