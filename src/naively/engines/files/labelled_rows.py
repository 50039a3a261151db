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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Targets
from naively.engines.files.cells import columns_in, is_number, pa, typed_labels
from naively.engines.files.file_pass import FilePass, Progress, one_task
from naively.engines.files.plan import ColumnPlan
from naively.engines.files.readers import FirstRows, OpenFile
from naively.engines.files.sources import FilePiece, are_text
from naively.errors import NaivelyError


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

    def read_piece(opened: OpenFile, piece: FilePiece) -> list[tuple[dict[str, Any], Targets]]:
        rows, forms = plan.rows(opened, piece), plan.forms(plan.features)
        return [(_own(columns_in(forms, batch)), targets) for batch, targets, _ in rows]

    with FilePass(first) as passing:
        steps = passing.results(plan, one_task(read_piece), _n_rows, progress)
        parts = [part for results in steps for result in results for part in result]
    y = _labels([targets for _, targets in parts], are_text(first.files, plan.request.target))
    return LabelledRows(table_of(plan, [columns for columns, _ in parts]), y)


def _n_rows(parts: Sequence[tuple[Any, Targets]]) -> int:
    return sum(targets.codes.size for _, targets in parts)


def _own(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns whose numbers lie in memory of their own, so that the file's is given back."""
    return {n: np.array(c) if isinstance(c, np.ndarray) else c for n, c in columns.items()}


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
