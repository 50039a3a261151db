"""Files of text: words by Zipf's law, of which each class has rare ones of its own.

>>> batch = next(batches(10))
>>> batch.num_rows, batch.schema.names
(10, ['text', 'y'])
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

__all__ = ["batches", "write"]

_WORDS, _FREQUENT, _CLASSES, _LENGTH = 200_000, 200, 10, 100  # the last: words of a row, on average
_LETTERS = np.frombuffer(b"eeeeetttaaaooiinnsshhrrdlluucmfwygpbvkxqjz", np.uint8)
_GROUP = 50_000  # rows of a row group, about 30 MB
_SCHEMA = pa.schema([("text", pa.string()), ("y", pa.int64())])


def write(path: Path, rows: int) -> None:
    """Write so many rows, as the name of the file says."""
    starts = range(0, rows, _GROUP)
    some = (batch[: rows - at] for at, batch in zip(starts, batches(_GROUP), strict=False))
    writer = pa.csv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter
    with writer(path, _SCHEMA) as file:
        for batch in some:
            file.write_batch(batch)


def batches(rows: int) -> Iterator[Any]:
    """Yield batches of so many rows without end, always the same ones."""
    rng = np.random.default_rng(0)
    words = _vocabulary(rng)
    sums = np.cumsum(1 / (np.arange(_WORDS) + 2.7))
    while True:
        y = rng.integers(_CLASSES, size=rows)
        n = rng.geometric(1 / _LENGTH, rows)
        ranks = np.searchsorted(sums[:-1], rng.random(n.sum()) * sums[-1])
        own = np.repeat(y, n) * (ranks > _FREQUENT)
        ends = np.concatenate([[0], np.cumsum(n)]).astype(np.int32)
        chosen = words.take(pa.array((ranks + own) % _WORDS))
        texts = pc.binary_join(pa.ListArray.from_arrays(ends, chosen), " ")
        yield pa.RecordBatch.from_arrays([texts, pa.array(y)], schema=_SCHEMA)


def _vocabulary(rng: np.random.Generator) -> Any:
    """Return words of random letters, of which frequent ones are short."""
    lengths = np.clip(rng.poisson(2 + np.log1p(np.arange(_WORDS)) / 2), 2, 16)
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    letters = rng.choice(_LETTERS, ends[-1]).tobytes()
    return pa.StringArray.from_buffers(_WORDS, pa.py_buffer(ends), pa.py_buffer(letters))
