r"""How strongly the weights of classes are drawn together: as the rows themselves suggest.

A weight for each term and class is many numbers where there are few rows of a class. Seen as the
variance of a prior, the pull can be judged by the likelihood of the rows under it, the weights
being integrated out (empirical Bayes). At weights that are all the same, with the slope
:math:`g_k` of the log likelihood and its Hessian :math:`H_k` in the weights of class k, a pull
:math:`\lambda` has the logarithm of evidence, up to a constant,

.. math:: \frac12 \sum_k \Bigl( g_k^T (H_k + \lambda I)^{-1} g_k
          - \frac{K - 1}{K} \log \Bigl| I + \frac{H_k}{\lambda} \Bigr| \Bigr)

whose factor (K - 1) / K is there since the weights of all classes together have one dimension less.

References
----------
D. J. C. MacKay (1992), Bayesian interpolation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["PULL", "PULLS", "common_pull", "likeliest", "pull_of_class"]

Floats = NDArray[np.float64]

PULL = 10.0  # of a weight towards its term's, and of a term's towards that of all
PULLS = tuple(PULL * 2.0**i for i in range(7))  # of a weight towards its term's, to choose from


def common_pull(n_classes: int, pull: float) -> float:
    """Return how strongly the mean weight of a term is drawn to that of all terms."""
    return n_classes * pull * PULL / (n_classes * pull + PULL)


def pull_of_class(n_classes: int, pull: float) -> float:
    """Return how strongly the weight of one class is drawn back where the others balance it."""
    alone = 1 / (n_classes - 1)
    return pull * (1 - alone) + common_pull(n_classes, pull) / n_classes * alone


def likeliest(hessian: Floats, slope: Floats, pulls: Sequence[float]) -> int:
    """Return the place of the pull of the largest evidence, the first of equal ones.

    The slopes are those of weights (K, T); the Hessians, or their diagonals, have the bias too.
    """
    n_classes, n_terms = slope.shape
    found = np.zeros(len(pulls))
    for H, g in zip(hessian, slope, strict=True):
        if hessian.ndim == 3:
            h, U = np.linalg.eigh(H[:n_terms, :n_terms])
            g = U.T @ g
        else:
            h = H[:n_terms]
        h = np.maximum(h, 0.0)
        for i, pull in enumerate(pulls):
            lost = (n_classes - 1) / n_classes * np.log1p(h / pull).sum()
            found[i] += 0.5 * (float(g**2 @ (1 / (h + pull))) - lost)
    return int(found.argmax())
