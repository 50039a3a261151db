r"""Files read into memory, for those who need all rows at once: folds, comparisons, reports.

>>> import pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
>>> _ = path.write_text("height,name,sex\n1.7,Ada,f\n1.8,Bob,m\n,Cleo,f\n")
>>> table = read(path, target="sex", skip_columns=True)
>>> table.X.column_names, table.y.tolist()
(['height'], ['f', 'm', 'f'])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import labels
from naively._optional import need
from naively.engines.columns import LeftOut
from naively.engines.files.cells import RowError, encode, read_text, typed
from naively.engines.files.csv import Dialect
from naively.engines.files.folding import Fold, Progress, is_text
from naively.engines.files.mixing import columns_of
from naively.engines.files.opening import reading
from naively.engines.files.plan import Plan, Wish, named
from naively.engines.files.sources import File, change_of, resolve
from naively.exceptions import NaivelyError
from naively.schema import Kind
from naively.summary import Schema, Summary

__all__ = ["Table", "read"]

pa = need("pyarrow", "reading files", extra="files")


@dataclass(frozen=True)
class Table:
    """Rows and their labels: X is a ``pyarrow.Table`` of numbers, NaN where a cell is missing.

    Columns of categories are as they are in the files; null is a missing cell.
    """

    X: Any
    y: NDArray[Any]
    left_out: tuple[LeftOut, ...]


def read(
    source: Any,
    *,
    target: str,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    skip_columns: bool = False,
    progress: Progress | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = (),
) -> Table:
    """Read the columns to learn from and the labels.

    The parameters are those of `scan`, and the kinds those of `Undecided`.
    """
    chosen = None if columns is None else named(columns)
    given = None if kinds is None else dict(kinds)
    wish = Wish(target, chosen, named(exclude), None, given, skip_columns=skip_columns)
    files, dialect = resolve(source), Dialect(separator, decimal, tuple(missing))
    fold = Fold(files, wish, dialect, False, None, None)
    rows = _Rows(fold.plan)
    total, before = None if files[0].size is None else sum(file.size or 0 for file in files), 0
    for file in files:
        start = rows.count
        with reading(file):
            for step in fold._pieces(file, {}, fold.plan):
                piece: Any = step.piece
                rows.add(piece, step.work, file, rows.count - start)
                if progress is not None:
                    progress(rows.count, before + piece.bytes, total)
        if (change := change_of(file)) is not None:
            raise change
        before += file.size or 0
    return Table(rows.X(), rows.y(is_text(files, wish)), fold.plan.left_out)


class _Rows:
    """Rows as they come: columns, classes, and codes of the classes."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.names, self.count = plan, plan.features, 0
        self._numbers = [name for name in self.names if name not in plan.categories]
        self._columns: dict[str, list[Any]] = {
            name: [] if name in plan.categories else [np.zeros(0, np.bool_)] for name in self.names
        }
        self._labels: list[tuple[NDArray[Any], NDArray[np.int32]]] = []

    def add(self, piece: Any, work: Any, file: File, before: int) -> None:
        """Add a piece of a file, of which so many rows came before."""
        target, constants = work.plan.wish.target, work.constants
        wanted = [name for name in (*self.names, target) if name not in constants]
        for batch in piece.read(wanted):
            found = columns_of(batch, self._numbers, constants)
            for name, column in zip(self._numbers, found, strict=True):
                self._columns[name].append(np.array(column))  # the file's memory is given back
            for name in self.plan.categories:
                self._columns[name].append(_spelled_out(batch, name, constants))
            given = [constants[target]] * batch.num_rows if target in constants else None
            column = pa.array(given) if given is not None else batch.column(target)
            try:
                read_labels = read_text if work.is_text else encode
                self._labels.append(read_labels(pa.chunked_array([column]), target))
            except RowError as error:
                raise NaivelyError(
                    f"{error.what} in row {before + error.row + 1} of {file.name!r}. {error.advice}"
                ) from None
            before += batch.num_rows
            self.count += batch.num_rows

    def X(self) -> Any:  # noqa: N802
        """Return the columns as a table."""
        return pa.table({name: self._column(name) for name in self.names})

    def _column(self, name: str) -> Any:
        parts = self._columns[name]
        if name not in self.plan.categories:
            return np.concatenate(parts)
        present = [part for part in parts if not pa.types.is_null(part.type)]
        kind = present[0].type if present else pa.string()
        return pa.chunked_array([part.cast(kind) for part in parts], kind)

    def y(self, are_text: bool) -> NDArray[Any]:
        """Return the labels; those that were read as text become what all of them look like."""
        classes: NDArray[Any] = np.array([], dtype=np.int64)
        for its, _ in self._labels:
            classes = labels.union(classes, its)
        codes = [labels.positions(its, classes)[codes] for its, codes in self._labels]
        if are_text and classes.size:
            kind = typed(Summary.zero(Schema(0), classes), None).classes.dtype
            is_flag = kind.kind == "b"
            flags = [text.lower() == "true" for text in classes.tolist()]
            classes = np.array(flags) if is_flag else classes.astype(kind)
        return classes[np.concatenate([np.zeros(0, np.intp), *codes])]


def _spelled_out(batch: Any, name: str, constants: Mapping[str, Any]) -> Any:
    """Return a column of categories, without a dictionary."""
    if name in constants:
        return pa.array([constants[name]] * batch.num_rows, from_pandas=True)
    column = batch.column(name)
    if isinstance(column, np.ndarray):
        return pa.array(column, from_pandas=True)
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
