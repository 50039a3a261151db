r"""How much each column says, in a model whose terms have weights.

.. math::

    \mathrm{say}_j = \frac{1}{n} \sum_i \frac{\frac12 \sum_k |p(k \mid x_{ij}) - p(k)|}
                                             {\sum_k p(k) (1 - p(k))}

is how far a column alone moves the probabilities from the priors, on the mean over rows: 0 where
it says nothing, and 1 where it goes as far as knowing the class would. It sees any family, and the
weights: a column that repeats another may have a weight of 0, and then says nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.estimators.naive_model import NaiveModel
from naively.plots.separation import separation
from naively.reports.columns import rows_at
from naively.reports.given import Given

__all__ = ["telling"]

Floats = NDArray[np.float64]

_MOST_ROWS = 1000
_MOST_CELLS = 1 << 22  # rows times classes times columns


def telling(given: Given) -> tuple[str, Floats]:
    """Return how much each column tells, and what that is called: its separation, or its say."""
    model = given.fitted._model()
    if isinstance(model, NaiveModel):
        return "say", _say(given, model)
    return "separation", np.maximum(separation(given.fitted.summary_), 0.0)  # not below by rounding


def _say(given: Given, model: NaiveModel) -> Floats:
    rows = _some_rows(given)
    numbers = rows_at(given.table.numbers, rows, range(given.table.numbers.shape[1]))
    codes = rows_at(given.table.codes, rows, range(given.table.codes.shape[1])).astype(np.int32)
    total: dict[int, Any] = {}
    start = 0
    for block in model.blocks:
        weight = model.calibration.weight[:, start : start + len(block.columns)]
        start += len(block.columns)
        terms = block.terms(numbers, codes)
        terms = weight * (terms - terms.mean(axis=1, keepdims=True))
        for i, j in enumerate(block.columns):
            total[j] = total.get(j, 0.0) + terms[:, :, i]
    moved = [_moved(model.prior, model.log_prior + total[j]) for j in range(given.schema.n_columns)]
    return np.array(moved)


def _some_rows(given: Given) -> NDArray[np.intp]:
    n_rows, n_columns = given.table.shape
    most = max(50, min(_MOST_ROWS, _MOST_CELLS // (given.n_classes * max(1, n_columns))))
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def _moved(prior: Floats, joint: Floats) -> float:
    """Return how far the probabilities are from the priors, where 1 is to know the class."""
    p = np.exp(joint - joint.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    furthest = float(prior @ (1 - prior))
    return float(np.abs(p - prior).sum(axis=1).mean()) / 2 / furthest if furthest > 0 else 0.0
