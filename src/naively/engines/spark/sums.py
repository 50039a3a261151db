"""Moments of plain numbers by Spark's own sums, so that no row goes to Python.

The first rows tell a number near each column's mean; Spark then adds up the differences from it,
and their squares, by block of rows and class: `naively.engines.column_sums` has the formula.
Rounding errors grow within a block only, also those of a column of few values, which all have one
sign. Blocks are added in their order, so that the same partitions give the same bits: here, or by
Spark where they may be many. Where digits would be lost, or a value is not valid, there is no
answer, and the rows go to Python after all.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.axes import Axes
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.engines.column_sums import ColumnSums
from naively.engines.files.cells import RowError, encode, numbers
from naively.engines.spark.batches import LabelledColumns, added
from naively.engines.spark.types import held_by_type
from naively.errors import NaivelyError, need
from naively.statistics import STATISTICS, ClassWeight, Moments
from naively.statistics.summary import Summary

_FIRST = 2048  # rows that the means are estimated from; a smaller frame goes to Python
_BITS = 14  # of the number of a row, to tell its place in a block of 16,384
_FEW = 100_000  # sums of a block and class, about, that are added up here
_FEW_CLASSES = 32  # since partitions may be small, and many
_ENOUGH = 20  # rows of a class, to see how far it is from the others
_MOST = 64  # columns: Spark compiles no code for the sums of more


def summarize_by_sums(rows: Any, labelled: LabelledColumns) -> Summary | None:
    """Summarize rows of plain numbers; None where they must be read one by one.

    The columns are the labels ``y``, the weights ``w`` if there are any, and ``x0``, ``x1``, ...
    """
    schema, weighted = labelled.columns.schema, labelled.weight is not None
    if not _is_plain(labelled) or schema.n_columns > _MOST or not _has_plain_labels(rows):
        return None
    first = rows.take(_FIRST)  # of the first partitions, whichever task ends first
    if len(first) < _FIRST:
        return None
    pyarrow = need("pyarrow", "Spark", extra="spark")
    cells = [pyarrow.array(column) for column in zip(*first, strict=True)]
    try:
        batch = pyarrow.RecordBatch.from_arrays(cells, names=rows.columns)
        sample = added(labelled.summaries([batch], "the first rows"))
        if sample is None:
            return None
        c = _centres(sample)
        if _estimated(sample, c).doubtful().any():
            return None
        K = sample.classes.size
        few = K <= _FEW_CLASSES and _n_blocks(rows) * K <= _FEW
        none_missing = (sample.moments.weight == sample.class_weight[:, np.newaxis]).all()
        for complete in (True, False) if none_missing else (False,):
            blocks = _query(rows, c, weighted, complete)
            found = _sums((blocks if few else _added(blocks)).toArrow(), c, labelled)
            if found is not None:
                break
    except (RowError, NaivelyError):  # which row it is, Python will tell
        return None
    if found is None or found.doubtful().any():
        return None
    values = found.moments()
    if not np.isfinite(values).all():
        return None
    axes = Axes(found.classes, ())
    total = Summary.of(schema, axes, ClassWeight(found.weight), Moments(values))
    return total.ordered(empty_classes=False)


def _is_plain(labelled: LabelledColumns) -> bool:
    """Whether nothing but moments is measured, and no column is a vector."""
    schema: Schema = labelled.columns.schema
    measured = {kind for kind in STATISTICS if kind.is_measured(schema)}
    no_vectors = all(width is None for width in labelled.columns.widths)
    only_numbers = len(schema.numbers) == schema.n_columns and not schema.dates
    return measured == {ClassWeight, Moments} and no_vectors and only_numbers


def _has_plain_labels(rows: Any) -> bool:
    """Whether Spark and Python agree on which labels are equal."""
    kind = rows.schema["y"].dataType
    is_plain_text = kind.simpleString() == "string"  # otherwise "string collate UTF8_LCASE"
    return is_plain_text or held_by_type(kind).what in ("number", "boolean")


def _centres(sample: Summary) -> Floats:
    """Return the means over all classes, to the nearest binary fraction of the spread.

    Differences of whole numbers from it, and their squares, add up without rounding.
    """
    moments = sample.moments.pooled()
    variance = moments.m2 / np.maximum(moments.weight, np.finfo(np.float64).tiny)
    _, exponent = np.frexp(np.sqrt(variance))
    unit = np.ldexp(1.0, exponent - 4)
    return np.where(variance > 0, np.rint(moments.mean / unit) * unit, moments.mean)


def _estimated(sample: Summary, c: Floats) -> ColumnSums:
    """Return the sums that a sample has, of the classes that have enough rows in it."""
    sample = sample.with_classes(np.flatnonzero(sample.class_weight >= _ENOUGH))
    v, shift = sample.moments.weight, sample.moments.mean - c
    s, q = v * shift, sample.moments.m2 + v * shift**2
    weight, c = sample.class_weight, np.broadcast_to(c, v.shape)
    return ColumnSums(sample.classes, weight, weight, v, v, v, s, q, c)


def _query(rows: Any, c: Floats, weighted: bool, complete: bool) -> Any:
    """Return a frame of sums by block and class.

    If all rows seem to be complete, no cells are counted, which saves time. Where one is missing
    after all, there are fewer complete rows than rows, or a sum is NaN.
    """
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    nothing = functions.lit(None).cast("double")
    number = functions.monotonically_increasing_id()  # the partition's, and the row's in it
    keys = [functions.shiftright(number, _BITS).alias("block"), rows.y]
    keys += [rows.w] if weighted else []
    cells = [rows[f"x{j}"].cast("double") for j in range(c.size)]
    if not complete:
        cells = [functions.nanvl(cell, nothing) for cell in cells]
    pairs = enumerate(zip(cells, c.tolist(), strict=True))
    table = rows.select(*keys, *((x - functions.lit(c_j)).alias(f"d{j}") for j, (x, c_j) in pairs))
    sums = [functions.count(functions.lit(1)).alias("n")]
    if complete:
        every = reduce(add, (table[f"d{j}"] for j in range(c.size)))
        sums.append(functions.count(every).alias("complete"))
    if weighted:
        usable = (table.w >= 0) & (table.w < float("inf"))
        sums.append(functions.count(functions.when(usable, 1)).alias("good"))
        sums.append(functions.sum(table.w).alias("weight"))
    for j in range(c.size):
        d = table[f"d{j}"]
        if not complete:
            sums.append(functions.count(d).alias(f"n{j}"))
        if weighted and not complete:
            sums.append(functions.sum(functions.when(d.isNotNull(), table.w)).alias(f"v{j}"))
        w_d = table.w * d if weighted else d
        sums += [functions.sum(w_d).alias(f"s{j}"), functions.sum(w_d * d).alias(f"q{j}")]
    return table.groupBy("block", "y").agg(*sums, functions.lit(1).alias("blocks"))


def _n_blocks(rows: Any) -> float:
    """Return about how many blocks a frame has, as far as Spark knows its size."""
    plan = getattr(rows, "_jdf", None)  # not behind a server
    if plan is None:
        return math.inf
    size = int(str(plan.queryExecution().optimizedPlan().stats().sizeInBytes()))
    return size / (8 * len(rows.columns)) / 2**_BITS


def _added(blocks: Any) -> Any:
    """Return a frame of sums by class, added up in the order of the blocks."""
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    added = [functions.sum(name).alias(name) for name in blocks.columns[2:]]
    in_order = blocks.repartition("y").sortWithinPartitions("block")
    return in_order.groupBy("y").agg(functions.lit(0).alias("block"), *added)


def _sums(result: Any, c: Floats, labelled: LabelledColumns) -> ColumnSums | None:
    """Return the sums of all classes; None where a weight is not valid, or a cell is missing."""
    result = result.sort_by("block")
    classes, codes = encode(result["y"], labelled.target)

    def by_class(name: str) -> NDArray[np.float64]:
        cells = numbers(result[name].combine_chunks().fill_null(0))
        return np.bincount(codes, cells, classes.size).astype(np.float64, copy=False)

    def by_column(name: str) -> Floats:
        return np.stack([by_class(f"{name}{j}") for j in range(c.size)], axis=1)

    rows, complete = by_class("n"), "complete" in result.column_names
    weight = by_class("weight") if labelled.weight is not None else rows
    if labelled.weight is not None and (by_class("good") != rows).any():
        return None
    shape = classes.size, c.size
    used = np.broadcast_to(rows[:, np.newaxis], shape) if complete else by_column("n")
    v = used
    if labelled.weight is not None:
        v = np.broadcast_to(weight[:, np.newaxis], shape) if complete else by_column("v")
    s, q, centres = by_column("s"), by_column("q"), np.broadcast_to(c, v.shape)
    if complete and ((by_class("complete") != rows).any() or np.isnan(s).any()):
        return None
    terms = np.minimum(rows, 2**_BITS) + by_class("blocks")  # of a sum, and of its sums
    return ColumnSums(classes, terms, weight, used, used, v, s, q, centres)
