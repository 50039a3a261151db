r"""Files read into memory, for those who need all rows at once: folds, comparisons, reports.

>>> import pathlib, tempfile
>>> from naively.engines.files.csv import CsvDialect
>>> from naively.engines.files.plan import Request
>>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
>>> _ = path.write_text("height,name,sex\n1.7,Ada,f\n1.8,Bob,m\n,Cleo,f\n")
>>> first = FirstRows(path, CsvDialect())
>>> table = read(first, ColumnPlan.of(first, Request("sex", skip_columns=True)))
>>> table.X.column_names, table.y.tolist()
(['height'], ['f', 'm', 'f'])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Targets
from naively.engines.files.cells import RowError, is_number, number_columns, typed_labels
from naively.engines.files.file_pass import FilePass, Progress, errors_in
from naively.engines.files.piece_summary import targets_of
from naively.engines.files.plan import ColumnPlan, source_of
from naively.engines.files.readers import FirstRows, OpenFile
from naively.engines.files.sources import FilePiece, are_text
from naively.engines.memory.native.arrow import decoded, without_views
from naively.errors import NaivelyError, later

pa = later("pyarrow", "reading files", extra="files")


@dataclass(frozen=True)
class LabelledRows:
    """Rows and their labels: X is a ``pyarrow.Table`` of numbers, NaN where a cell is missing.

    Columns of categories are as they are in the files; null is a missing cell. Parts of dates are
    dictionaries, so that numbers among them stay categories.
    """

    X: Any
    y: NDArray[Any]

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels, each once, sorted."""
        return np.unique(self.y)


def read(first: FirstRows, plan: ColumnPlan, progress: Progress | None = None) -> LabelledRows:
    """Read the columns that have been chosen to learn from, and the labels."""
    first.check_sound()
    plan.check_some(first.where)
    found: list[_Part] = []
    rows, before = 0, 0  # in all; of the files before this one
    with FilePass(first) as passing:
        for step in passing.steps(_Collector(plan)):
            with errors_in(step, rows - before):
                its = [part for result in step.results for part in result.result()]
            found += its
            rows += sum(part.targets.codes.size for part in its)
            before = rows if step.piece is None else before
            if progress is not None:
                progress(rows, step.bytes, first.n_bytes)
    y = _labels([part.targets for part in found], are_text(first.files, plan.request.target))
    return LabelledRows(table_of(plan, [part.columns for part in found]), y)


class _Part(NamedTuple):
    """The columns of some rows, and whose the rows are."""

    columns: dict[str, Any]
    targets: Targets


@dataclass(frozen=True)
class _Collector:
    """What keeps all rows; a user of rows."""

    plan: ColumnPlan

    def tasks(self, opened: OpenFile, piece: FilePiece) -> Iterator[Sequence[Callable[[], Any]]]:
        """Yield the one task of a piece."""
        yield [lambda: list(self._parts(opened, piece))]

    def _parts(self, opened: OpenFile, piece: FilePiece) -> Iterator[_Part]:
        names, rows = list(opened.stored(self.plan.types)), 0
        for batch in piece.read(names):
            try:
                targets = targets_of([batch], opened, self.plan.request)
            except RowError as error:
                raise RowError(rows + error.row, error.what, error.advice) from None
            cells = columns_in(self.plan, batch, opened)
            numbers = {n: np.array(c) for n, c in cells.items() if isinstance(c, np.ndarray)}
            yield _Part(cells | numbers, targets)  # the file's memory is given back
            rows += batch.num_rows


def columns_in(plan: ColumnPlan, batch: Any, opened: OpenFile) -> dict[str, Any]:
    """Return the columns of a batch: arrays of numbers, and others of Arrow."""
    others = {*plan.categories, *plan.texts}
    return {
        name: _categories(batch, name, opened.constants, source_of(name, plan.dates) != name)
        if name in others
        else number_columns(batch, [name], opened.constants)[0]
        for name in plan.features
    }


def _categories(batch: Any, name: str, constants: Mapping[str, Any], is_part: bool) -> Any:
    """Return a column of categories, without a dictionary unless it is a part of dates."""
    if name in constants:
        return pa.array([constants[name]] * batch.num_rows, from_pandas=True)
    column = batch.column(name)
    if isinstance(column, np.ndarray):
        return pa.array(column, from_pandas=True)
    return column if is_part else decoded(without_views(column))


def table_of(plan: ColumnPlan, found: Sequence[Mapping[str, Any]]) -> Any:
    """Return the columns of all pieces as a table."""

    def column(name: str) -> Any:
        parts = [columns[name] for columns in found]
        if name not in plan.categories and name not in plan.texts:
            return np.concatenate([np.zeros(0, np.bool_), *parts])
        present = [part for part in parts if not pa.types.is_null(part.type)]
        kind = _common_type(name, present)
        return pa.chunked_array([part.cast(kind) for part in parts], kind)

    return pa.table({name: column(name) for name in plan.features})


def _common_type(name: str, parts: Sequence[Any]) -> Any:
    """Return the type of the parts of a column; CSV shows that of numbers piece by piece."""
    kinds = {part.type for part in parts}
    if len(kinds) < 2 or not all(map(is_number, kinds)):
        return parts[0].type if parts else pa.string()
    values = {value for part in parts for value in part.unique().to_pylist()} - {None}
    try:
        return pa.from_numpy_dtype(labels.number_array([*values]).dtype)
    except NaivelyError as error:
        raise NaivelyError(f"column {name!r}: {error}") from None


def _labels(found: Sequence[Targets], are_text: bool) -> NDArray[Any]:
    """Return the labels; those that were read as text become what all of them look like."""
    classes: NDArray[Any] = np.array([], dtype=np.int64)
    for its in found:
        classes = labels.union(classes, its.classes)
    codes = [labels.positions(its.classes, classes)[its.codes] for its in found]
    if are_text:
        classes = typed_labels(classes, None)
    return classes[np.concatenate([np.zeros(0, np.intp), *codes])]
