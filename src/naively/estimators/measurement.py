"""How rows become a summary, wherever they are: the same for every estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naively.data import labels
from naively.data.rows import Targets
from naively.data.schema import Schema
from naively.engines.memory.devices import (
    check_one_place,
    holds_booleans,
    is_dask,
    is_on_device,
    on_host,
)
from naively.engines.memory.weighted_rows import without_zeros
from naively.estimators.validation import Checked, check_labels, row_weights
from naively.statistics.summary import Summary


class _RowsNeededError(Exception):
    """A schema cannot be settled without a sample of rows."""


def _no_rows(size: int) -> Any:
    raise _RowsNeededError


def measured(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, known: Schema | None = None
) -> tuple[Summary, np.dtype[Any]]:
    """Summarize rows, in memory or wherever they are; and return the type of answers."""
    if is_on_device(X):
        return _measured_on_device(estimator, X, y, sample_weight, known)
    check_one_place(X, y=y, sample_weight=sample_weight)
    if is_dask(X):
        return _measured_by_dask(estimator, X, y, sample_weight, known)
    X, y, sample_weight = without_zeros(X, y, sample_weight)
    checked = estimator.check_rows(X, None if known is None else estimator._decided(X, known))
    return summarized(estimator, checked, y, sample_weight), checked.dtype


def summarized(
    estimator: Any, checked: Checked, y: ArrayLike, sample_weight: ArrayLike | None
) -> Summary:
    """Summarize rows that are readable, with their labels and weights."""
    n_rows = checked.table.shape[0]
    classes, codes = labels.encode(check_labels(estimator, y, n_rows))
    targets = Targets(classes, codes, row_weights(n_rows, sample_weight))
    summary: Summary = estimator.measure_rows(checked.table, checked.schema, targets)
    return summary


def _measured_by_dask(
    estimator: Any, X: Any, y: Any, sample_weight: Any, known: Schema | None
) -> tuple[Summary, np.dtype[Any]]:
    from naively.engines import dask

    is_open = known is None or known.undecided
    example = dask.example(X) if is_open else dask.missing_row(X)
    decided = None if known is None else estimator._decided(example, known)
    checked = estimator.check_rows(example, decided)
    schema: Schema = checked.schema

    def summarize(schema: Schema, **options: Any) -> Summary:
        options |= {"schema": schema, "sample_weight": sample_weight}
        return dask.summarize(X, y, **options, **estimator._of_partitions())

    def first(size: int) -> Any:
        return summarize(replace(schema, sample=size), most=8).sample

    schema = estimator.settled(schema, first) if known is None else schema
    return summarize(schema), checked.dtype


def _measured_on_device(
    estimator: Any, X: Any, y: Any, sample_weight: Any, known: Schema | None
) -> tuple[Summary, np.dtype[Any]]:
    """Summarize rows on a GPU: there, where moments are enough, or else on the host."""
    from naively.engines import gpu

    rows = gpu.DeviceRows(X)
    shape = min(2, rows.shape[0]), rows.shape[1]
    few = np.zeros(shape, np.bool_ if holds_booleans(X) else rows.dtype)  # to be looked at
    checked = estimator.check_rows(few, known)
    schema = checked.schema
    try:
        schema = estimator.settled(schema, _no_rows) if known is None else schema
    except _RowsNeededError:
        schema = None
    if schema is not None and gpu.is_measured_here(schema):
        return gpu.summarize(rows, y, schema=schema, sample_weight=sample_weight), checked.dtype
    check_one_place(X, y=y, sample_weight=sample_weight)
    return measured(estimator, rows[:], on_host(y), on_host(sample_weight), known)
