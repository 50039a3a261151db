"""Plain CSV, read by the kernel: several times as fast as by a reader that knows all of CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from naively import _kernel
from naively._optional import need

__all__ = ["LABEL", "NUMBER", "OTHER", "SKIPPED", "parse"]

pa = need("pyarrow", "reading files", extra="files")

SKIPPED, NUMBER, LABEL, OTHER = range(4)  # what a cell is; OTHER is beyond the kernel


def parse(
    rows: memoryview,
    separator: str,
    names: Sequence[str],
    kinds: list[int],
    missing: list[bytes],
) -> Any | None:
    """Return the rows as a record batch, or None where they are not plain.

    Parameters
    ----------
    rows : memoryview
        Whole records.
    separator : str
        The character between cells.
    names : sequence of str
        All columns of the file.
    kinds : list of int
        What each of them is: SKIPPED, NUMBER, or for at most one of them LABEL.
    missing : list of bytes
        The texts that mean a missing cell, which is NaN.
    """
    kernel: Any = _kernel
    if not hasattr(kernel, "parse_csv"):
        return None
    text = np.frombuffer(rows, np.uint8)
    n_lines, cells = kernel.count_lines(text), np.array(kinds, np.uint8)
    values = np.empty((kinds.count(NUMBER), n_lines))
    codes = np.empty(n_lines if LABEL in kinds else 0, np.int32)
    found = kernel.parse_csv(text, separator, cells, missing, values, codes)
    if found is None:
        return None
    n_rows, labels = found
    columns: dict[str, Any] = {}
    numbers = iter(values)
    for name, kind in zip(names, kinds, strict=True):
        if kind == NUMBER:
            columns[name] = pa.array(next(numbers)[:n_rows])
        elif kind == LABEL:
            try:
                texts = pa.array([label.decode() for label in labels], pa.string())
            except UnicodeDecodeError:
                return None
            columns[name] = pa.DictionaryArray.from_arrays(codes[:n_rows], texts)
    return pa.RecordBatch.from_pydict(columns)
