"""Some rows of files, as the columns of a model: read up to the last one that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.engines.files.batches import rows_of
from naively.engines.files.csv import CsvDialect
from naively.engines.files.read_ahead import FilePass, errors_in
from naively.engines.files.readers import FirstRows
from naively.errors import NaivelyError, need
from naively.estimators.estimator import SummaryClassifier
from naively.scoring.files.answers import FileAnswers
from naively.scoring.files.piece_answers import PieceScorer

pa = need("pyarrow", "reading files", extra="files")


def read_some(
    model: SummaryClassifier,
    source: Any,
    rows: Sequence[int],
    at_most: bool = False,
    *,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = (),
    encoding: str | None = None,
) -> Any:
    """Return some rows of files as `predict` takes them: a table, or an array without names.

    Parameters
    ----------
    model : SummaryClassifier
        Fitted. Its columns are found by name; others may be there.
    source : str, path-like, list of those, or FirstRows
        What `naively.engines.files.scan` reads.
    rows : sequence of int
        Which rows of all files together, from 0.
    at_most : bool, default=False
        Whether rows beyond the last are left out; or are an error.
    columns, separator, decimal, missing, encoding
        As for `naively.scoring.files.predict`.
    """
    first = FirstRows.of(source, CsvDialect(separator, decimal, tuple(missing), encoding))
    first.check_sound()
    plan = _CellReader(FileAnswers.of(model, first, False, (), columns))
    found: list[Any] = []
    seen, before = 0, 0  # rows in all; of the files before this one
    with FilePass(first) as passing:
        for step in passing.steps(PieceScorer(plan, passing)):  # type: ignore[arg-type]
            with errors_in(step, seen - before):
                found += [result.result() for result in step.results]
            seen = sum(table.num_rows for table in found)
            before = seen if step.piece is None else before
            if seen > max(rows):
                break  # what comes later is not read
    if at_most:
        rows = [row for row in rows if row < seen]
    if not rows:
        raise NaivelyError(f"there must be at least one row{first.where}; got none.")
    if not 0 <= min(rows) <= max(rows) < seen:
        wrong = min(rows) if min(rows) < 0 else max(rows)
        raise NaivelyError(f"rows must be from 0 to {seen - 1:,}{first.where}; got {wrong}.")
    table = pa.concat_tables(found).take(list(rows))
    if model.summary_.schema.names is not None:
        return table
    cells = [column.to_pylist() for column in table.columns]
    return np.array(cells, dtype=object if plan.holds_more else np.float64).T


@dataclass(frozen=True)
class _CellReader:
    """The columns of a model, as cells of Python's or numbers, in the place of its answers."""

    answers: FileAnswers

    @property
    def kept(self) -> tuple[str, ...]:
        """No columns, which would be copied."""
        return ()

    @property
    def dates(self) -> Mapping[str, bool]:
        """The columns of dates that are read by their parts."""
        return self.answers.dates

    @property
    def types(self) -> dict[str, Any]:
        """As what each column of a CSV file is read."""
        return self.answers.types

    @property
    def holds_more(self) -> bool:
        """Whether there are columns of other things than numbers."""
        return any(form is not None for form in self.answers.columns.values())

    @property
    def schema(self) -> Any:
        """What is read; numbers are float64, also those that are categories."""
        return pa.schema([(name, _kind(form)) for name, form in self.answers.columns.items()])

    def columns_of(self, opened: Any) -> dict[str, Any]:
        """Return the columns to read from a file, or raise where one is missing."""
        return self.answers.columns_of(opened)

    def table(self, batch: Any, constants: Mapping[str, Any]) -> Any:
        """Return the cells of a batch."""
        columns = self.answers.columns
        rows = rows_of(batch, {n: f for n, f in columns.items() if f != "text"}, constants)
        numbers = iter(rows.numbers[:])
        categories = iter(zip(rows.codes[:], rows.categories, strict=True))
        found = []
        for name, form in columns.items():
            if form is None:
                cells = pa.array(next(numbers), pa.float64(), from_pandas=True)
            elif form == "text":
                cells = self._text(batch, name, constants)
            else:
                codes, known = next(categories)
                values = [None if code < 0 else known.item(code) for code in codes.tolist()]
                cells = pa.array(values, _kind(form))
            found.append(cells)
        return pa.Table.from_arrays(found, schema=self.schema)

    def _text(self, batch: Any, name: str, constants: Mapping[str, Any]) -> Any:
        if name in constants:
            return pa.array([constants[name]] * batch.num_rows, pa.string())
        return batch.column(name).cast(pa.string())


def _kind(form: str | None) -> Any:
    """Return the type of a column."""
    if form in ("str", "text"):
        return pa.string()
    return pa.bool_() if form == "bool" else pa.float64()
