r"""A sample of rows: at most ``schema.sample`` of them leave the database.

A sample has the rows of least hash, so that samples add. A database does not know that hash. From a
table of more rows, m of n rows are drawn at random, and become a sample below the bound that m of n
hashes have (`Sample.thinned`). Another call draws other rows, and rows cannot be taken out again. A
table of no more rows has the same sample as everywhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.data.axes import Axes
from naively.data.labels import encode
from naively.data.rows import Targets
from naively.engines.memory.tables import read
from naively.engines.sql.execute import exact, exact_cells, execute
from naively.engines.sql.selection import Selection
from naively.errors import need
from naively.statistics import Sample
from naively.statistics.measure import measure_sample

ibis = need("ibis", "reading tables inside a database", extra="sql")

_HASHES = 1 << 64


def draw(rows: Selection, axes: Axes) -> Sample:
    """Return a sample whose codes are places on these axes."""
    schema = rows.schema
    numbers = [f"x{i}" for i in range(len(schema.numbers))]
    texts = [f"c{i}" for i in range(len(schema.categories))]
    table = rows.select([*numbers, *texts])
    if rows.weight is not None:
        table = table.filter(table.w > 0)
    n = int(execute(table.count()))
    if not n:
        return Sample.zero(schema.sample, len(numbers), len(texts), 0)
    few = table if n <= schema.sample else table.order_by(ibis.random())
    frame = execute(exact(few.limit(schema.sample), texts))
    weights = None if rows.weight is None else frame["w"].to_numpy(dtype=np.float64)
    named = dict(zip((*schema.numbers, *schema.categories), (*numbers, *texts), strict=True))
    cells = frame[list(named.values())].copy()
    for name in texts:
        cells[name] = exact_cells(cells[name], table[name].type())
    cells.columns = list(named)
    for j in schema.undecided:
        cells[j] = None
    cells = cells[list(range(schema.n_columns))]
    few = read(cells, replace(schema, names=None))
    targets = Targets(*encode(frame["y"].tolist()), weights)
    sample = measure_sample(few, targets, schema, n_jobs=1)
    sample = sample.moved(Axes(targets.classes, few.categories).move(axes))
    return sample if n <= sample.size else sample.thinned(_HASHES * sample.size // n)
