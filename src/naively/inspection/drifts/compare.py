"""`drift`: two summaries, models or tables compared."""

from __future__ import annotations

from typing import Any

from naively.inspection.drifts import unusual
from naively.inspection.drifts.aligned import align, arranged
from naively.inspection.drifts.collect import collect
from naively.inspection.drifts.inputs import Compared, read_after, read_before
from naively.inspection.drifts.value import Drift, UnusualRows


def drift(before: Any, after: Any, *, target: str | None = None) -> Drift:
    """Compare old and new data, column by column and class by class.

    Two summaries are enough: no row is read. Classes are compared where both sides have labels,
    and otherwise all rows together.

    Parameters
    ----------
    before : Summary, fitted estimator, its file, or data
        What was seen before. Data is a table, a pair (X, y), or files.
    after : the same
        What is seen now. Data is summarized with the schema of ``before``: columns are found by
        name, and have the same bins.
    target : str, default=None
        The column of labels in frames and files; None where they have none.

    Returns
    -------
    Drift
        Shift of means and spreads, Jensen-Shannon divergence, new categories, missing cells and
        class shares, with p-values adjusted for the number of columns, and a severity.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import drift
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(1000, 2)), rng.normal(size=(1000, 2))
    >>> new[:, 1] += 0.5
    >>> drift(old, new).severity
    {'column 0': 'none', 'column 1': 'severe'}
    """
    first = read_before(before, target)
    return compare(first, read_after(after, target, first))


def compare(first: Compared, second: Compared) -> Drift:
    """Compare what has been summarized."""
    both = align(first.summary, second.summary, labelled=first.labelled and second.labelled)
    return collect(both, unusual=_unusual(first, second), library=second.library)


def _unusual(first: Compared, second: Compared) -> UnusualRows | None:
    if first.model is None:
        return None
    if second.rows is None:
        return unusual.of_sample(first.model, arranged(first.summary, second.summary)[1])
    return unusual.of_rows(first.model, second.rows)
