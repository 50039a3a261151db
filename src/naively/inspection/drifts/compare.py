r"""`drift`: two summaries, models or tables compared.

Beside the columns, rows are judged as a whole: how unlikely new rows are under the old model. The
sample of a model's summary holds rows that it was fitted on. The 1 % quantile of their

.. math:: \log p(x) = \log \sum_k p(x, k)

is exceeded by 99 % of rows like those; the share of new rows below it is near 1 % if nothing has
changed, whatever the columns are. Calibration weighs terms by what they tell of the class, so that
a calibrated model's sum is no density of x: the model is read off the same summary without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.data.types import Floats
from naively.inspection.drifts.aligned import align
from naively.inspection.drifts.measures import collect
from naively.inspection.drifts.value import Drift, UnusualRows
from naively.inspection.inputs import Inspected, arranged, read
from naively.statistics.summary import Summary

_EXPECTED_SHARE = 0.01
_MIN_ROWS = 100  # of a sample that has a 1 % quantile


def drift(before: Any, after: Any, *, target: str | None = None) -> Drift:
    """Compare old and new data, column by column and class by class.

    Two summaries are enough: no row is read. Classes are compared where both sides have labels,
    and otherwise all rows together.

    Parameters
    ----------
    before : Summary, fitted estimator, its file, or data
        What was seen before. Data is a table, a pair (X, y), files, a stream of Arrow or a lazy
        frame; with ``target``, also a table of a database or of Spark.
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
    first = read(before, target=target)
    return compare(first, read(after, target=target, like=first))


def compare(first: Inspected, second: Inspected) -> Drift:
    """Compare what has been summarized."""
    both = align(first.summary, second.summary, labelled=first.labelled and second.labelled)
    return collect(both, unusual=_unusual(first, second), library=second.library)


def _unusual(first: Inspected, second: Inspected) -> UnusualRows | None:
    """Judge the new rows; None where there is no model with a sample, or no new rows."""
    own = first.summary.sample
    if first.model is None or own is None or len(own) < _MIN_ROWS:
        return None
    density = density_of(first.model)
    if second.rows is None:
        after = arranged(first.summary, second.summary)[1]
        if not after.sample:
            return None
        scores, weight = _scores(density, after), after.sample.weight
    else:
        scores, weight = density.score_samples(second.rows), None
    threshold = _quantile(_scores(density, first.summary), own.weight, _EXPECTED_SHARE)
    share = float(np.average(scores < threshold, weights=weight))
    return UnusualRows(share, _EXPECTED_SHARE, threshold, len(own), scores.size)


def density_of(estimator: Any) -> Any:
    """Return the estimator whose sum over classes is a density: without calibration."""
    params = estimator.get_params()
    if params.get("calibration") is None:
        return estimator
    params |= {name: None for name in ("calibration", "interactions") if name in params}
    return type(estimator).from_summary(estimator.summary_, **params)


def _scores(estimator: Any, summary: Summary) -> Floats:
    """Return log p(x) of the rows of a sample."""
    return estimator.model_.score(summary.sampled_rows, "evidence")[:, 0]


def _quantile(values: Floats, weight: Floats, share: float) -> float:
    """Return the least value below or at which there is more than a share of the weight."""
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(below, share * below[-1], side="right")])
