r"""How candidates are scored: means over rows, or figures of all rows of a fold.

With :math:`p_{ik}` the probability of class k for row i and :math:`y_i` the row's class, the scores
of a row are

.. math::

    -\log p_{i y_i}, \qquad [\arg\max_k p_{ik} = y_i], \qquad \sum_k (p_{ik} - [k = y_i])^2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.evaluation.metrics import precision_recall_f1

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Scoring:
    """A score by its name.

    Attributes
    ----------
    name : str
        As a user gives it.
    greater_is_better : bool
        Otherwise it is a loss.
    by_row : bool
        Whether it is a mean over rows: then the kernel adds it up for many candidates at once.
    read : callable
        Takes the classes of rows, the log-probabilities and the weights, of which it returns the
        score of each row, or of all rows together.
    """

    name: str
    greater_is_better: bool
    by_row: bool
    read: Callable[[Codes, Floats, Floats], Any]

    def of(self, codes: Codes, log_p: Floats, weights: Floats) -> float:
        """Return the score of some rows."""
        found = self.read(codes, log_p, weights)
        return float(weights @ found / weights.sum() if self.by_row else found)

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ").replace("roc auc", "ROC AUC").replace("f1", "F1")


def _log_loss(codes: Codes, log_p: Floats, weights: Floats) -> Floats:
    return -log_p[np.arange(codes.size), codes]


def _hits(codes: Codes, log_p: Floats, weights: Floats) -> Floats:
    return (log_p.argmax(axis=1) == codes).astype(np.float64)


def _brier(codes: Codes, log_p: Floats, weights: Floats) -> Floats:
    p = np.exp(log_p)
    p[np.arange(codes.size), codes] -= 1
    squares: Floats = np.einsum("ik,ik->i", p, p)
    return squares


def _confusion(codes: Codes, log_p: Floats, weights: Floats) -> Floats:
    n_classes = log_p.shape[1]
    cells = codes * np.intp(n_classes) + log_p.argmax(axis=1)
    found: Any = np.bincount(cells, weights, n_classes**2)
    return np.asarray(found.reshape(n_classes, n_classes), np.float64)


def _balanced_accuracy(codes: Codes, log_p: Floats, weights: Floats) -> float:
    confusion = _confusion(codes, log_p, weights)
    there = confusion.sum(axis=1) > 0
    return float((confusion.diagonal()[there] / confusion.sum(axis=1)[there]).mean())


def _f1(codes: Codes, log_p: Floats, weights: Floats) -> float:
    confusion: Any = _confusion(codes, log_p, weights)
    return float(precision_recall_f1(confusion, "macro")[2])


def _roc_auc(codes: Codes, log_p: Floats, weights: Floats) -> float:
    from sklearn.metrics import roc_auc_score

    if np.unique(codes).size < log_p.shape[1]:
        raise NaivelyError(
            "ROC AUC needs rows of every class in every fold. Use fewer folds, or another scoring."
        )
    if log_p.shape[1] == 2:
        return float(roc_auc_score(codes, log_p[:, 1] - log_p[:, 0], sample_weight=weights))
    p = np.exp(log_p)
    return float(roc_auc_score(codes, p, multi_class="ovr", sample_weight=weights))


SCORINGS: dict[str, Scoring] = {
    one.name: one
    for one in (
        Scoring("log_loss", False, True, _log_loss),
        Scoring("accuracy", True, True, _hits),
        Scoring("brier", False, True, _brier),
        Scoring("balanced_accuracy", True, False, _balanced_accuracy),
        Scoring("f1", True, False, _f1),
        Scoring("roc_auc", True, False, _roc_auc),
    )
}


def scoring_of(name: Any) -> Scoring:
    """Return a score by its name."""
    if not isinstance(name, str) or name not in SCORINGS:
        raise NaivelyError(f"scoring must be one of {', '.join(SCORINGS)}; got {name!r}.")
    return SCORINGS[name]
