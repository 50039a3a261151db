r"""A sample of rows, for what needs some: at most ``schema.sample`` of them leave the database.

A sample has the rows of least hash, so that samples add. A database does not know that hash. A
table of more rows has some drawn at random, m rows of n, and they become a sample below the bound
that m of n hashes have (`Sample.thinned`). Another call draws other rows, and rows cannot be taken
out again. A table of no more rows has the sample that it has everywhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines.mixed import sample_rows
from naively.engines.sql.asking import ask
from naively.engines.sql.rows import Rows
from naively.engines.tables import read
from naively.labels import encode, positions
from naively.sample import Sample

__all__ = ["draw"]

ibis = need("ibis", "reading tables inside a database", extra="sql")

_HASHES = 1 << 64


def draw(rows: Rows, classes: NDArray[Any], categories: tuple[NDArray[Any], ...]) -> Sample:
    """Return a sample whose codes are places among classes and categories."""
    schema = rows.schema
    numbers = [f"x{i}" for i in range(len(schema.numbers))]
    texts = [f"c{i}" for i in range(len(schema.categories))]
    table = rows.select([*numbers, *texts])
    if rows.weight is not None:
        table = table.filter(table.w > 0)
    n = int(ask(table.count()))
    if not n:
        return Sample.zero(schema.sample, len(numbers), len(texts))
    few = table if n <= schema.sample else table.order_by(ibis.random())
    frame = ask(few.limit(schema.sample))
    weights = None if rows.weight is None else frame["w"].to_numpy(dtype=np.float64)
    named = dict(zip((*schema.numbers, *schema.categories), (*numbers, *texts), strict=True))
    cells = frame[list(named.values())].copy()
    cells.columns = list(named)
    for j in schema.undecided:
        cells[j] = None
    cells = cells[list(range(schema.n_columns))]
    mixed = read(cells, replace(schema, names=None))
    own, codes = encode(frame["y"].tolist())
    sample = sample_rows(mixed, schema, own, codes, weights, 1)
    places = [positions(*pair) for pair in zip(mixed.categories, categories, strict=True)]
    sample = sample.recoded(positions(own, classes), places)
    return sample if n <= sample.size else sample.thinned(_HASHES * sample.size // n)
