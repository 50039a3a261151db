r"""The figures of an evaluation, by their formulas.

With :math:`p_{ik}` the probability of class k for row i, :math:`y_i` the row's true class and
:math:`\hat p_i = \max_k p_{ik}` the confidence,

.. math::

    \text{loss} = -\frac1n \sum_i \log p_{i y_i}, \qquad
    \text{Brier} = \frac1n \sum_i \sum_k (p_{ik} - [k = y_i])^2, \qquad
    \text{ECE} = \sum_b \frac{n_b}{n} \left| \text{acc}_b - \text{conf}_b \right|

where b runs over ten bins of equal width :math:`((b-1)/10, b/10]` of the confidence, and
:math:`\text{acc}_b` and :math:`\text{conf}_b` are the share of right rows and the mean confidence
in the bin. Of two classes, scikit-learn's Brier score looks at one: it is half of this.

References
----------
C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger (2017), On calibration of modern neural networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support

N_BINS = 10


@dataclass(frozen=True)
class Averages:
    """Precision, recall and F1, averaged over the classes."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Confidence:
    """Mean confidence over all rows, the right and the wrong ones; NaN where there are none."""

    overall: float
    correct: float
    wrong: float


@dataclass(frozen=True, eq=False)
class Reliability:
    """How often a classifier is right when it is so sure: what a reliability diagram shows.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Of the bins; each holds its upper edge.
    confidence, accuracy : ndarray of shape (n_bins,)
        Mean confidence and share of right rows; NaN in an empty bin.
    count : ndarray of shape (n_bins,)
        Rows in each bin.
    """

    edges: NDArray[np.float64]
    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    count: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error; NaN where no bin holds a row."""
        if not self.count.any():
            return float("nan")
        gap = np.abs(self.accuracy - self.confidence)
        return float(np.nansum(self.count * gap) / self.count.sum())


def confusion_matrix(
    truth: NDArray[Any], predicted: NDArray[Any], n_classes: int
) -> NDArray[np.int64]:
    """Count rows by true class (down) and predicted class (across).

    >>> confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    cells = np.bincount(predicted + n_classes * truth.astype(np.intp), minlength=n_classes**2)
    return cells.reshape(n_classes, n_classes)


def precision_recall_f1(
    confusion: NDArray[np.int64], average: Literal["macro", "weighted"] | None = None
) -> tuple[Any, Any, Any]:
    """Return scikit-learn's figures, which are 0 where they are undefined.

    A cell of the confusion matrix is a row with a weight: scikit-learn need not see them all. An
    average is over the classes that are there, as truth or as prediction.
    """
    truth, predicted = np.nonzero(confusion)
    figures = precision_recall_fscore_support(
        truth,
        predicted,
        labels=np.arange(len(confusion)) if average is None else None,
        average=average,
        sample_weight=confusion[truth, predicted],
        zero_division=0.0,
    )
    return figures[:3]


def confidence(top: NDArray[np.float64], correct: NDArray[np.bool_]) -> Confidence:
    """Average the confidence of all rows, the right and the wrong ones."""
    return Confidence(_mean(top), _mean(top[correct]), _mean(top[~correct]))


def reliability(top: NDArray[np.float64], correct: NDArray[np.bool_]) -> Reliability:
    """Compare confidence and accuracy in ten bins of the confidence; NaN is in none."""
    edges, at = np.linspace(0.0, 1.0, N_BINS + 1), bins(top)
    at[np.isnan(top)] = N_BINS
    count = np.bincount(at, minlength=N_BINS)[:N_BINS]

    def mean(values: NDArray[Any]) -> NDArray[np.float64]:
        sums = np.bincount(at, weights=values, minlength=N_BINS)[:N_BINS]
        return np.divide(sums, count, out=np.full(N_BINS, np.nan), where=count > 0)

    return Reliability(edges, mean(top), mean(correct), count)


def bins(p: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the bin of each probability: ten of equal width, each with its upper edge."""
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    below = ((p > edge).view(np.int8) for edge in edges[1:-1])
    return reduce(np.add, below).astype(np.intp)  # quicker than a search


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else float("nan")
