"""Tensors on a GPU: moments are measured there, and only the summary comes to the host.

Where a schema asks for more (histograms, a sample of rows, products of columns, counts), blocks of
rows are copied to the host and measured there. Several GPUs: summarize on each, and add the
summaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from naively.data.axes import Axes
from naively.data.labels import encode
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.gpu.batches import BatchSender
from naively.engines.gpu.moments import measured
from naively.engines.gpu.rows import DeviceRows, DeviceTargets
from naively.engines.memory import arrays
from naively.engines.memory.devices import check_one_place, on_host
from naively.errors import NaivelyError
from naively.statistics import STATISTICS, ClassWeight, Moments
from naively.statistics.measure import measure, raise_not_finite
from naively.statistics.summary import Summary
from naively.statistics.weights import check_weight

__all__ = ["DeviceRows", "is_measured_here", "summarize", "summarize_batches"]

_HERE = {ClassWeight, Moments}  # what is measured on the GPU


def is_measured_here(schema: Schema) -> bool:
    """Whether a GPU measures all that a schema asks for."""
    asked = {kind for kind in STATISTICS if kind.is_measured(schema)}
    return asked <= _HERE and len(schema.numbers) == schema.n_columns


def summarize(
    X: Any, y: Any, *, schema: Schema | None = None, sample_weight: Any = None
) -> Summary:
    """Summarize rows on a GPU by their labels.

    Parameters
    ----------
    X : array on a GPU of shape (n_rows, n_columns)
        A tensor of torch's, an array of CuPy's, or any that speaks DLPack. NaN is missing.
    y : array of shape (n_rows,)
        Labels, on the same GPU or on the host.
    schema : Schema, optional
        What to measure; by default the moments of numbers without names.
    sample_weight : array of shape (n_rows,), optional
        Weights, finite and >= 0, on the same GPU or on the host.
    """
    rows = X if isinstance(X, DeviceRows) else DeviceRows(X)
    n_rows, n_columns = rows.shape
    schema = schema or Schema(n_columns)
    if len(schema.numbers) != n_columns:
        raise NaivelyError(
            f"an array on a GPU holds numbers; got a schema in which {len(schema.numbers)} of "
            f"{schema.n_columns} columns do, for {n_columns} columns. Give a frame instead."
        )
    if not (n_rows and n_columns and is_measured_here(schema)):
        check_one_place(rows.tensor, y=y, sample_weight=sample_weight)
        weights = arrays.as_weights(on_host(sample_weight))
        return measure(Rows.of_numbers(rows), Targets(*encode(on_host(y)), weights), schema)
    targets = DeviceTargets.of(rows, y, sample_weight)
    weight, found = measured(rows, targets)
    check_weight(weight)
    if found is None:
        raise_not_finite(rows, schema)
        raise AssertionError  # it never returns
    there = weight > 0
    statistics = ClassWeight(weight[there]), Moments(np.ascontiguousarray(found[:, there]))
    return Summary.of(schema, Axes(targets.classes[there]), *statistics)


def summarize_batches(
    batches: Iterable[Sequence[Any]], *, device: Any = "cuda", schema: Schema | None = None
) -> Summary:
    """Summarize batches of the host's memory on a GPU; the next is sent while one is measured.

    Parameters
    ----------
    batches : iterable of (X, y) or (X, y, sample_weight)
        Arrays of NumPy's or tensors, of any numbers of rows.
    device : torch.device or str, default="cuda"
        Where they are measured.
    schema : Schema, optional
        As for `summarize`.
    """
    total = None
    for X, y, weight in BatchSender(device).sent(batches):
        found = summarize(X, y, schema=schema, sample_weight=weight)
        total = found if total is None else total + found
    if total is None:
        raise NaivelyError("there must be at least one batch of rows; got none.")
    return total
