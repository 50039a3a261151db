r"""Whether two classifiers differ: tests on the same rows, held out by the same folds.

*Loss.* With :math:`d_f` the mean difference of the rows' losses in fold f of k, and :math:`s^2` the
variance of these,

.. math:: t = \frac{\bar d}{\sqrt{(1/k + n_\text{test} / n_\text{train}) \, s^2}}

has a t distribution with k - 1 degrees of freedom. Models of different folds learn from nearly
the same rows, so that :math:`d_f` are not independent; :math:`n_\text{test} / n_\text{train}` makes
up for it (Nadeau and Bengio).

*Accuracy.* Of the rows on which only one of the two is right, each is as often the one as the other
if they are equally good: McNemar's test, by the exact binomial distribution.

References
----------
C. Nadeau, Y. Bengio (2003), Inference for the generalization error. Q. McNemar (1947), Note on the
sampling error of the difference between correlated proportions.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEAST = float(np.log(np.finfo(np.float64).eps))  # log-probabilities are cut here, as in log_loss


class PairedDifference(NamedTuple):
    """The first classifier less the other: negative losses and positive accuracies favour it.

    Attributes
    ----------
    loss, loss_low, loss_high : float
        The difference of the losses, and its 95 % interval.
    loss_p : float
        How probable so large a difference of losses is if there is none.
    accuracy : float
        The difference of the accuracies.
    only_first, only_other : int
        Rows on which only one of the two is right.
    accuracy_p : float
        How probable so large a difference of these is if there is none.
    """

    loss: float
    loss_low: float
    loss_high: float
    loss_p: float
    accuracy: float
    only_first: int
    only_other: int
    accuracy_p: float


def corrected_t(by_fold: NDArray[np.float64], ratio: float) -> tuple[float, float, float]:
    """Return the p-value of folds' differences, and the ends of the 95 % interval of their mean.

    The ratio is that of test rows to training rows.
    """
    from scipy.stats import t

    k, mean = by_fold.size, float(by_fold.mean())
    error = sqrt((1 / k + ratio) * by_fold.var(ddof=1))
    if not error > 0:
        return (1.0 if mean == 0 else 0.0), mean, mean
    half = float(t.ppf(0.975, k - 1)) * error
    return float(2 * t.sf(abs(mean) / error, k - 1)), mean - half, mean + half


def mcnemar(only_first: int, only_other: int) -> float:
    """Return the p-value of the rows on which one of two classifiers is right.

    >>> mcnemar(1, 5)
    0.21875
    """
    from scipy.stats import binomtest

    n = only_first + only_other
    return float(binomtest(only_first, n, 0.5).pvalue) if n else 1.0


def paired_difference(
    losses: tuple[NDArray[np.float64], NDArray[np.float64]],
    right: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    fold: NDArray[np.int32],
) -> PairedDifference:
    """Compare the losses and the right answers of two classifiers, row by row."""
    rows = np.bincount(fold)
    gap = losses[0] - losses[1]
    by_fold = np.bincount(fold, weights=gap) / rows
    ratio = float(np.mean(rows / (fold.size - rows)))
    p, low, high = corrected_t(by_fold, ratio)
    first, other = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    return PairedDifference(
        loss=float(by_fold.mean()),
        loss_low=low,
        loss_high=high,
        loss_p=p,
        accuracy=(first - other) / fold.size,
        only_first=first,
        only_other=other,
        accuracy_p=mcnemar(first, other),
    )
