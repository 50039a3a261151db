r"""How unlikely new rows are under the old model: log p(x) beside its own distribution.

The sample of a model's summary holds rows that it was fitted on. The 1 % quantile of their

.. math:: \log p(x) = \log \sum_k p(x, k)

is exceeded by 99 % of rows like those; the share of new rows below it is near 1 % if nothing has
changed, whatever the columns are. Calibration weighs terms by what they tell of the class, so that
a calibrated model's sum is no density of x: the model is read off the same summary without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.data.rows import Rows
from naively.data.types import Floats
from naively.inspection.drifts.value import UnusualRows
from naively.statistics import Sample
from naively.statistics.summary import Summary

_EXPECTED, _FEWEST = 0.01, 100  # rows of a sample that has a 1 % quantile


def of_sample(estimator: Any, after: Summary) -> UnusualRows | None:
    """Judge the rows in the sample of a summary; None where one side has no sample."""
    rows = after.sample
    if rows is None or not len(rows) or not _has_sample(estimator):
        return None
    density = density_of(estimator)
    return _judged(density, _scores(density, rows, after), rows.weight)


def of_rows(estimator: Any, X: Any) -> UnusualRows | None:
    """Judge rows in memory; None where the model has no sample of its own."""
    if not _has_sample(estimator):
        return None
    density = density_of(estimator)
    return _judged(density, density.score_samples(X), None)


def density_of(estimator: Any) -> Any:
    """Return the estimator whose sum over classes is a density: without calibration."""
    params = estimator.get_params()
    if params.get("calibration") is None:
        return estimator
    params |= {name: None for name in ("calibration", "interactions") if name in params}
    return type(estimator).from_summary(estimator.summary_, **params)


def _has_sample(estimator: Any) -> bool:
    sample = estimator.summary_.sample
    return sample is not None and len(sample) >= _FEWEST


def _judged(estimator: Any, scores: Floats, weight: Floats | None) -> UnusualRows:
    own = estimator.summary_.sample
    before = _scores(estimator, own, estimator.summary_)
    threshold = _quantile(before, own.weight, _EXPECTED)
    share = float(np.average(scores < threshold, weights=weight))
    return UnusualRows(share, _EXPECTED, threshold, len(own), scores.size)


def _scores(estimator: Any, sample: Sample, summary: Summary) -> Floats:
    """Return log p(x) of the rows of a sample, of which the model may not know all categories."""
    model, schema = estimator.model_, summary.schema
    words = summary.words if sample.texts is not None else ()
    cells = sample.numbers, sample.categories, summary.categories
    rows = Rows((len(sample), schema.n_columns), *cells, sample.texts, words)
    return model.score(rows, "evidence")[:, 0]


def _quantile(values: Floats, weight: Floats, share: float) -> float:
    """Return the least value below or at which there is more than a share of the weight."""
    order = np.argsort(values)
    below = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(below, share * below[-1], side="right")])
