"""Plain CSV, read by the kernel at twice pyarrow's speed.

Plain is what nearly all large files are: no quotes, numbers as programs write them. What is not
plain is left to pyarrow, which knows all of CSV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively._optional import later
from naively.engines.files.arrow_arrays import numbers, strings
from naively.engines.files.batches import ArrayBatch

__all__ = ["Cells", "parse"]

pa = later("pyarrow", "reading files", extra="files")

_SKIPPED, _NUMBER, _LABEL = range(3)  # as the kernel counts


@dataclass(frozen=True)
class Cells:
    """What the cells of a record are."""

    separator: str  # the character between them
    kinds: NDArray[np.uint8]  # for each, whether it is skipped, a number or a label
    # numbers and labels: the columns that are wanted; of labels, there is at most one
    numbers: list[str]
    labels: list[str]
    missing: list[bytes]  # the texts that mean a missing cell

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        types: Mapping[str, Any],
        separator: str,
        missing: Sequence[str],
    ) -> Cells | None:
        """Return what the kernel can read, or None where columns have types beyond it."""
        numbers = [name for name in names if types.get(name) == pa.float64()]
        texts = pa.dictionary(pa.int32(), pa.string())
        labels = [name for name in names if types.get(name) == texts]
        if len(labels) > 1 or len(numbers) + len(labels) < len(types):
            return None
        kinds = [
            _NUMBER if name in numbers else _LABEL if name in labels else _SKIPPED for name in names
        ]
        words = [text.encode() for text in missing]
        return cls(separator, np.array(kinds, np.uint8), numbers, labels, words)


def parse(rows: memoryview, cells: Cells) -> ArrayBatch | None:
    """Return whole records, NaN where a cell is missing; None where they are not plain."""
    text = np.frombuffer(rows, np.uint8)
    n_lines = _kernel.count_lines(text)
    values = np.empty((len(cells.numbers), n_lines))
    codes = np.empty(n_lines if cells.labels else 0, np.int32)
    found = _kernel.parse_csv(text, cells.separator, cells.kinds, cells.missing, values, codes)
    if found is None:
        return None
    n_rows, labels = found
    columns: dict[str, Any] = dict(zip(cells.numbers, values[:, :n_rows], strict=True))
    for name in cells.labels:
        try:
            texts = strings([label.decode() for label in labels])
        except UnicodeDecodeError:
            return None
        columns[name] = pa.DictionaryArray.from_arrays(numbers(codes[:n_rows]), texts)
    return ArrayBatch(columns, n_rows)
