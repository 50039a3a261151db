"""Learning from single rows: `learn_one`, `forget_one`, and what is predicted for one row.

Where the kernel has running statistics for a model, a row is read, added and predicted by a single
call, and the model is never read as a whole: see `_kernel_stream`. Other models (calibrated ones,
priors that are given, tables of mixed columns) collect rows: see `_row_buffer`. In both, the
summary is taken when somebody asks for it, and is what one batch of the same rows gives. After any
other change of the estimator the stream begins again from the new summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from naively.engines.devices import is_on_device, on_host
from naively.estimators._kernel_stream import KernelStream, NotPlainError
from naively.estimators._plain_row import (
    filled_row,
    named_cells,
    number_cell,
    plain_row,
    plain_weight,
)
from naively.estimators._prediction import PredictionMixin
from naively.estimators._row_buffer import RowBuffer
from naively.exceptions import NaivelyError
from naively.rows import Targets
from naively.schema import Kind, Schema
from naively.summary import Summary

__all__ = ["StreamMixin"]

_STALE = 0.1  # of the rows of a stream: so many may have come since a calibrated model was read


class StreamMixin(PredictionMixin):
    """The methods that learn and forget single rows, and answer for them."""

    calibration: Any = None
    decay: float
    window: int | None
    _alone: ClassVar[Kind | None] = None  # what all columns hold, where they hold the same
    _absent: ClassVar[Any] = None  # the cell of a column that a dict lacks
    _read_at = 0  # the rows of the stream when a calibrated model was last read

    if TYPE_CHECKING:

        def _check_params(self) -> None: ...
        def _measure(self, table: Any, schema: Schema, targets: Targets) -> Summary: ...
        def _sample_size(self) -> int: ...
        def _counting(self) -> dict[str, Any]: ...

    def learn_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Learn from one row of a stream, in a microsecond or two.

        Labels and columns may come at any time. A column that is new is missing in all rows before,
        and one that is not in a dict is missing; where cells are counts, both are 0.

        Parameters
        ----------
        row : dict, list, tuple or array of shape (n_columns,)
            Cells, by column name or in order. None and NaN are missing.
        label : str, int or bool
            Its class.
        weight : float, default=1.0
            Its weight, finite and >= 0; a row of weight 0 is left out.
        """
        rows = self._rows
        if rows is None or rows.learn(row, label, weight):
            self._change_with_care("learn", row, label, weight)
        else:
            self._behind = True
        return self

    def forget_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Remove one row as if it had never been seen; exact up to rounding.

        Parameters
        ----------
        row, label
            As they were given to `learn_one`.
        weight : float, default=1.0
            What the row counts now: less than at first, if there is a decay. In a window, rows
            have the weight that they were learned with.
        """
        self._learned()
        self._change_with_care("forget", row, label, weight)
        return self

    def predict_one(self, row: Any) -> Any:
        """Return the class of one row, in microseconds.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            Cells, in order or by column name. None and NaN are missing. After `learn_one`, a dict
            may lack columns, and those that it has besides are ignored.
        """
        rows = self._rows
        if rows is not None:
            found = rows.label(row)
            if found is None:
                found = rows.label(self._asked(row))
            if found is not None:
                return found
        model = self._recent()
        return model._label_one(model._filled(row))

    def predict_proba_one(self, row: Any) -> NDArray[np.float64]:
        """Return p(k | x) of one row, one number per class.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            As for `predict_one`.
        """
        rows = self._rows
        if rows is not None:
            out = np.empty(0)
            while out.size != rows.n_classes:  # another thread may learn a new class meanwhile
                out = np.empty(rows.n_classes)
                if rows.proba(row, out) or rows.proba(self._asked(row), out):
                    return out
        model = self._recent()
        return model._proba_one(model._filled(row))

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator; a stream goes on with them.

        A smaller window forgets its oldest rows at once. A larger one grows with the next rows.
        Rows that were learned without a window are not kept, and never leave the model.

        Parameters
        ----------
        **params
            The parameters, by name.
        """
        self._pause_stream()
        super().set_params(**params)  # type: ignore[misc]
        if self.window is None:
            self._kept = []
        elif "window" in params and self._kept:
            self._live()
            self._behind = True
        return self

    # --- inside -------------------------------------------------------------------------------

    def _kernel_rows(self) -> Any:
        """Return the kernel's stream for the parameters as they are; None where it has none."""
        return None

    def _kinds(self) -> dict[Any, Kind]:
        """Return what some columns must hold, by name or by place."""
        return {}

    def _stream_schema(self, columns: Schema) -> Schema:
        """Return what is measured of columns, of which names or number are known."""
        kinds = (self._alone or "undecided",) * columns.n_columns
        given: Any = {"kinds": kinds, "sample": self._sample_size(), **self._counting()}
        return Schema(columns.n_columns, columns.names, **given)

    def _cell(self, cell: Any, name: str) -> Any:
        """Return a plain cell of a row, or raise."""
        return number_cell(cell, name)

    def _held_by(self, cell: Any) -> str:
        """Return what a plain cell is: all of a column are the same."""
        return "number"

    def _change_with_care(self, how: str, row: Any, label: Any, weight: Any) -> None:
        """Learn or forget a row that the kernel has not taken at a glance."""
        weight, stream = plain_weight(weight), self._live()
        plain = plain_row(row, stream.columns, self._cell)
        label = on_host(label)[()] if is_on_device(label) else label
        if not weight:
            return
        try:
            getattr(stream, how)(plain, label, weight)
        except NotPlainError:
            self._pause_stream()
            self._stream = self._buffer()
            getattr(self._stream, how)(plain, label, weight)
        self._streams = self._behind = True

    def _live(self) -> Any:
        """Return the stream, begun from what was learned otherwise if need be."""
        if self._stream is None:
            self._check_params()
            rows = self._kernel_rows() if self._is_measured_as_here() else None
            if rows is None:
                self._stream = self._buffer()
            else:
                self._stream, self._rows = KernelStream(rows, self._stream_schema), rows
                if self._state is not None:
                    self._stream.load(self._state.summary, self._kept)
            self._kept = []
        return self._stream

    def _is_measured_as_here(self) -> bool:
        """Whether what was learned has the statistics of a stream, and no others."""
        if self._state is None:
            return True
        schema = self._state.summary.schema
        return schema == self._stream_schema(Schema(schema.n_columns, schema.names))

    def _buffer(self) -> RowBuffer:
        summary = None if self._state is None else self._state.summary
        return RowBuffer(self, summary, self._kept)

    def _measure_rows(
        self, rows: list[Any], targets: Targets, columns: Schema, known: Schema | None
    ) -> Summary:
        """Measure plain rows, under a schema if one is known."""
        return self._measure(
            self._matrix(rows, columns), known or self._stream_schema(columns), targets
        )

    def _matrix(self, rows: list[Any], columns: Schema) -> NDArray[np.float64]:
        """Return rows of numbers as an array."""
        absent = np.nan if self._absent is None else self._absent
        return np.array(
            [
                row if isinstance(row, list) else [row.get(j, absent) for j in columns.names or ()]
                for row in rows
            ],
            dtype=np.float64,
        ).reshape(len(rows), columns.n_columns)

    def _asked(self, row: Any) -> Any:
        """Return a row of plain cells, or as it is where there is something wrong with it."""
        try:
            return plain_row(row, self._stream.columns, self._cell)
        except NaivelyError:
            return row

    def _recent(self) -> Self:
        """Return an estimator to ask: a calibrated one may be of a few rows ago."""
        stream = self._stream
        if isinstance(stream, RowBuffer) and self.calibration is not None and self._behind:
            n = stream.n_rows
            if self._state is not None and n - self._read_at <= _STALE * n:
                return self._copied()
            self._read_at = n
        return self._snapshot()

    def _filled(self, row: Any) -> Any:
        """Return a row that is asked about; of a stream, a dict need not have the columns."""
        schema = self.summary_.schema
        row = named_cells(row, schema)
        return filled_row(row, schema, self._absent) if self._streams else row
