"""The importance of columns in a report: on the model's own sample, else on the rows given."""

from __future__ import annotations

import numpy as np

from naively.display.report.inputs import Given
from naively.model.column_losses import ColumnLosses, JudgedRows, column_losses

_MOST_ROWS = 4000


def importance(given: Given) -> ColumnLosses:
    """Return how much the log loss of unseen rows grows without each column.

    Rows that were given may be those that the model has learned: then each is taken out.
    """
    model, table = given.fitted.model_, given.table
    sample = given.fitted.summary_.sample
    if sample is not None and len(sample):
        return column_losses(model, sample)
    n_rows, at = table.shape[0], np.arange(table.shape[0])
    if n_rows > _MOST_ROWS:
        at = np.sort(np.random.default_rng(0).choice(n_rows, _MOST_ROWS, replace=False))
    rows = JudgedRows.of(model, table[at], given.codes[at])
    return column_losses(model, rows, seen=given.learned_from_rows)
