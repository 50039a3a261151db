"""Arrow batches become summaries, on an executor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple

from naively.data.rows import Targets
from naively.engines.files.cells import RowError, checked_weights, encode, numbers
from naively.engines.spark.columns import FrameColumns
from naively.errors import NaivelyError, need
from naively.statistics.measure import measure
from naively.statistics.summary import Summary

_TEXTS = 1 << 14  # rows with text, whose cells may be long
_CELLS = 1 << 22  # of the rows that are measured together: sparse vectors become dense


class LabelledColumns(NamedTuple):
    """Columns to be measured, and the names of those that hold labels and perhaps weights."""

    columns: FrameColumns
    target: str
    weight: str | None

    def summaries(self, batches: Iterable[Any], where: str, first: int = 0) -> Iterator[Summary]:
        """Yield summaries of batches, which hold the labels, the weights if any, and the columns.

        For messages: where they come from, and the number of the first row there.
        """
        schema = self.columns.schema
        step = max(1, _CELLS // max(1, schema.n_columns))
        step = min(step, _TEXTS) if schema.texts else step
        for batch in batches:
            for start in range(0, batch.num_rows, step):
                rows = batch.slice(start, step)
                try:
                    yield self._summary(rows)
                except RowError as error:
                    what = f"{error.what} in row {first + error.row}. {error.advice}"
                    raise NaivelyError(f"{where}: {what}") from None
                except NaivelyError as error:
                    raise NaivelyError(f"{where}, from row {first}: {error}") from None
                first += rows.num_rows

    def _summary(self, rows: Any) -> Summary:
        pyarrow = need("pyarrow", "Spark", extra="spark")
        schema, columns = self.columns.schema, rows.columns
        classes, codes = encode(pyarrow.chunked_array([columns.pop(0)]), self.target)
        weights = None
        if self.weight is not None:
            weights = checked_weights(numbers(columns.pop(0)), self.weight)
        cells = self.columns.rows(columns, rows.num_rows)
        return measure(cells, Targets(classes, codes, weights), schema, n_jobs=1)


def added(summaries: Iterable[Summary]) -> Summary | None:
    """Add summaries in pairs, and pairs of pairs: rounding errors grow with the logarithm."""
    held: list[tuple[int, Summary]] = []
    for total in summaries:
        size = 1
        while held and held[-1][0] == size:
            total, size = held.pop()[1] + total, 2 * size
        held.append((size, total))
    parts = [part for _, part in reversed(held)]
    return reduce(lambda after, before: before + after, parts) if parts else None
