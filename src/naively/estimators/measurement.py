"""How rows become a summary, wherever they are: the same for every estimator, unless it says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from naively.data import labels
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.memory.devices import (
    check_one_place,
    holds_booleans,
    is_dask,
    is_on_device,
    on_host,
)
from naively.engines.memory.weighted_rows import without_zeros
from naively.estimators.validation import Checked, check_labels, check_table, row_weights
from naively.model.model import SAMPLE
from naively.statistics import Sample
from naively.statistics.measure import measure
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.engines.files import SchemaFromFirstRows


class _RowsNeededError(Exception):
    """A schema cannot be settled without a sample of rows."""


def _no_rows(size: int) -> Any:
    raise _RowsNeededError


class MeasurementMixin:
    """The methods that check, read and measure rows."""

    calibration: Any = None
    n_jobs: int | None

    def _measured(
        self, X: Any, y: Any, sample_weight: Any, known: Schema | None
    ) -> tuple[Summary, np.dtype[Any]]:
        """Summarize rows, in memory or wherever they are; and return the type of answers."""
        if is_on_device(X):
            return self._measured_on_device(X, y, sample_weight, known)
        check_one_place(X, y=y, sample_weight=sample_weight)
        if not is_dask(X):
            X, y, sample_weight = without_zeros(X, y, sample_weight)
            checked = self._check(X, None if known is None else self._decided(X, known))
            return self._summarize(checked, y, sample_weight), checked.dtype
        from naively.engines import dask

        is_open = known is None or known.undecided
        example = dask.example(X) if is_open else dask.missing_row(X)
        checked = self._check(example, None if known is None else self._decided(example, known))
        schema = checked.schema

        def measured(schema: Schema, **options: Any) -> Summary:
            options |= {"schema": schema, "sample_weight": sample_weight}
            return dask.summarize(X, y, **options, **self._of_partitions())

        def first(size: int) -> Any:
            return measured(replace(schema, sample=size), most=8).sample

        if known is None:
            schema = self._settled(schema, first)
        return measured(schema), checked.dtype

    def _measured_on_device(
        self, X: Any, y: Any, sample_weight: Any, known: Schema | None
    ) -> tuple[Summary, np.dtype[Any]]:
        """Summarize rows on a GPU: there, where moments are enough, or else on the host."""
        from naively.engines import gpu

        rows = gpu.DeviceRows(X)
        shape = min(2, rows.shape[0]), rows.shape[1]
        few = np.zeros(shape, np.bool_ if holds_booleans(X) else rows.dtype)  # to be looked at
        checked = self._check(few, known)
        try:
            schema = self._settled(checked.schema, _no_rows) if known is None else checked.schema
        except _RowsNeededError:
            schema = None
        if schema is not None and gpu.is_measured_here(schema):
            return gpu.summarize(rows, y, schema=schema, sample_weight=sample_weight), checked.dtype
        check_one_place(X, y=y, sample_weight=sample_weight)
        return self._measured(rows[:], on_host(y), on_host(sample_weight), known)

    def _of_partitions(self) -> dict[str, Any]:
        """Return options of Dask's engine: how this estimator measures a partition."""
        return {}

    def _decided(self, X: Any, known: Schema) -> Schema:
        """Return the schema once rows have decided undecided columns; unchanged by default."""
        return known

    def _schema_of_files(self) -> SchemaFromFirstRows:
        """Return what is measured of files: numbers, and a sample of rows if it is needed."""
        from naively.engines.files import SchemaFromFirstRows

        size, counting = self._sample_size(), self._counting()
        if not (size or counting):
            return SchemaFromFirstRows()
        return SchemaFromFirstRows(
            None, lambda first: replace(first.schema, sample=size, **counting)
        )

    def _settled(self, schema: Schema, first: Callable[[int], Any]) -> Schema:
        """Fix what must be fixed before measuring, by a sample of the first rows if need be."""
        return schema

    def _check(self, X: Any, known: Schema | None) -> Checked:
        """Make rows readable; they must have the columns that are known, if any are."""
        checked = check_table(self, X, known)
        if known is not None and known.names == checked.names:
            table, names, dtype, _ = checked
            return Checked(table, names, dtype, known)  # to be recognised at a glance
        sample = self._sample_size() if known is None else known.sample
        schema = Schema(checked.table.shape[1], checked.names, sample=sample, **self._counting())
        return checked._replace(schema=schema)

    def _counting(self) -> dict[str, Any]:
        """Return what is counted of numbers, by the schema's names; nothing by default."""
        return {}

    def _sample_size(self) -> int:
        """How many rows a summary is to keep: those that calibration needs."""
        return 0 if self.calibration is None else SAMPLE

    def _summarize(
        self, checked: Checked, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> Summary:
        table, schema = checked.table, checked.schema
        n_rows = table.shape[0]
        encoded = labels.encode(check_labels(self, y, n_rows))
        targets = Targets(*encoded, row_weights(n_rows, sample_weight))
        return self._measure(table, schema, targets)

    def _measure(
        self, table: Any, schema: Schema, targets: Targets, sample: Sample | None = None
    ) -> Summary:
        """Measure rows, of which a sample may have been drawn already."""
        rows = Rows.of_numbers(table)
        return measure(rows, targets, schema, n_jobs=self.n_jobs, sample=sample)
