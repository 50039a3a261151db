r"""Calibration: how much each term counts.

Naive Bayes adds up the terms of columns as if they were independent. They are not, so what two
columns both say is counted twice, and probabilities end up near 0 and 1. Here terms get weights,
and classes a bias,

.. math::

    \log p(k \mid x) = \log p(k) + b_k + \sum_t w_{kt}\,\Bigl(\log f_t(x \mid k)
        - \frac{1}{K} \sum_l \log f_t(x \mid l)\Bigr) + \mathrm{const}

fitted on a sample of rows, each judged by the terms of all other rows. Terms are centred over the
classes: a term that is the same for all of them contributes nothing, whatever its weights, and the
unit of a column does not matter. ``"temperature"`` has one weight for all, :math:`w_{kt} = \tau`,
and minimises

.. math:: \sum_i w_i\,(-\log p(y_i \mid x_i)) + \frac{\lambda_\tau}{2} (\tau - 1)^2
          + \frac{\lambda_b}{2} \sum_k b_k^2

``"weights"`` has one for each term and class, which are drawn to the term's own, and those to
:math:`\tau`, by

.. math:: \frac{\lambda_k}{2} \sum_{kt} (w_{kt} - w_t)^2 + \frac{\lambda}{2} \sum_t (w_t - \tau)^2

where both pulls are 10. With interactions there are many terms for few rows of each class, so that
:math:`\lambda_k` may be larger: see `calibration_pull`.

A weight below 0 is possible: a column that repeats another can tell where the other is wrong.

Beyond 128 classes a sample has too few rows of each for that, and held-out log loss is better with
one weight for each term and no biases: see `calibration_of_many`.

Both objectives are convex, and the penalties keep their minimum finite where classes are separated.
Temperature is found by Newton's method, the weights by L-BFGS from there, preconditioned with the
Hessian of every class.

Examples
--------
>>> rng = np.random.default_rng(0)
>>> codes = rng.integers(2, size=1000)
>>> once = np.stack([-codes, codes - 1], axis=1) * 2.0 + rng.normal(size=(1000, 2))
>>> twice = np.stack([once, once], axis=2)  # one column, counted twice
>>> one, two = (fit(t, codes, np.ones(1000), np.log([0.5, 0.5]), "temperature")
...             for t in (once[:, :, np.newaxis], twice))
>>> bool(abs(one.weight[0, 0] - 2 * two.weight[0, 0]) < 0.01)
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.calibration_of_many import common_weight, term_weights
from naively.calibration_pull import PULL, PULLS, common_pull, likeliest, pull_of_class
from naively.minimize import line_search, minimize

__all__ = ["MOST_CLASSES", "MOST_WEIGHTS", "Calibration", "CentredTerms", "fit", "fit_centred"]
__all__ += ["sample_rows"]

Floats = NDArray[np.float64]

_PULL_TAU = 1.0  # of tau towards 1
_PULL_BIAS = 0.1
_TOLERANCE = 3e-5  # nats for each row that may be left to gain, or about that
_MOST_ROUNDS = 60
_MOST_TERMS = 256  # whose Hessians are inverted; beyond, their diagonals are
MOST_CLASSES = 128  # that have weights and biases of their own
_FEWEST_ROWS, _MOST_ROWS = 500, 4000
_WORTHWHILE_CELLS = 1_500_000  # of the terms of a sample
_MOST_CELLS = 40_000_000  # of them, whatever they are worth: 320 MB
_ROUNDING = 1e-12  # of terms that are the same in all classes
_LEAST_TERM = -1e60  # of a row that is 1e30 deviations away: squares must not overflow
_MOST_WEIGHT = 1e6  # of a sample: beyond, penalties are lost to rounding
MOST_WEIGHTS = 200_000  # classes times terms; beyond, 200 rows have too many cells


@dataclass(frozen=True)
class Calibration:
    """Weights by class and term, and a bias by class."""

    weight: Floats  # (K, T)
    bias: Floats  # (K,)

    def joint(self, terms: Floats, log_prior: Floats) -> Floats:
        """Return log p(k | x) up to a constant of the row, of shape (n, K)."""
        centred = terms - terms.mean(axis=1, keepdims=True)
        return log_prior + self.bias + np.einsum("nkt,kt->nk", centred, self.weight)


def sample_rows(n_classes: int, n_terms: int, *, text: bool = False) -> int:
    """Return how many rows are worth their time: 4,000 at most.

    Fewer where their terms would be too many, but 500 at least, or 200 if even those are.

    >>> sample_rows(2, 40), sample_rows(10, 40), sample_rows(10, 400), sample_rows(10, 20_000)
    (4000, 3750, 500, 200)

    Beyond `MOST_WEIGHTS` terms are summed up before they are weighted, and only the sums are kept.

    >>> sample_rows(10, 1_000_000), sample_rows(1_000_000, 10)
    (500, 40)

    The terms of text are groups of words, whose weights gain from twice as many rows.

    >>> sample_rows(20, 11, text=True)
    8000
    """
    per_row = max(n_classes * n_terms, 1)
    most, cells = _MOST_ROWS, _WORTHWHILE_CELLS
    if text:
        most, cells = 2 * most, 12 * cells
    wanted = min(most, cells // per_row)
    kept = per_row if per_row <= MOST_WEIGHTS else n_classes
    return min(max(_FEWEST_ROWS, wanted), _MOST_CELLS // kept)


def fit(
    terms: Floats,
    codes: NDArray[Any],
    weights: Floats,
    log_prior: Floats,
    how: Literal["temperature", "weights"] = "weights",
    *,
    adaptive: bool = False,
) -> Calibration:
    """Fit one weight for all terms, or one for each term and class; and a bias for each class.

    The terms, of shape (n, K, T), are log densities of a sample of rows: in the own class of a
    row, those that leave it out. A class without probability has a log prior of minus infinity.
    An adaptive fit chooses how strongly the weights of classes are drawn together.
    """
    if terms.min(initial=0.0) < _LEAST_TERM:
        terms = np.maximum(terms, _LEAST_TERM)
    if terms.shape[1] > MOST_CLASSES:
        return _fit_many(terms, codes, _bounded(weights), log_prior, how)
    return fit_centred(CentredTerms.of(terms, codes, weights, log_prior), how, adaptive=adaptive)


def fit_centred(
    rows: CentredTerms,
    how: Literal["temperature", "weights"] = "weights",
    *,
    adaptive: bool = False,
) -> Calibration:
    """Fit weights and biases to terms that are centred, of few classes."""
    speaks = _speak(rows.terms[:, :-1], axis=(0, 2))
    if not speaks.all():
        some = rows._replace(terms=rows.terms[:, np.append(speaks, True)])
        found = fit_centred(some, how, adaptive=adaptive)
        return Calibration(_with_silent(found.weight, speaks), found.bias)
    n_classes, n_terms = rows.terms.shape[0], rows.terms.shape[1] - 1
    tau, bias = _temperature(rows)
    weight = np.full((n_classes, n_terms), tau)
    if how == "temperature" or n_terms == 0 or n_classes < 2:
        return Calibration(weight, bias)
    return _weights(rows, np.column_stack([weight, bias]), adaptive)


def _speak(terms: Floats, axis: tuple[int, ...]) -> NDArray[np.bool_]:
    """Whether centred terms are not 0, up to rounding, in all rows and classes: the given axes."""
    spread = terms.max(axis, initial=0.0) - terms.min(axis, initial=0.0)
    return np.asarray(spread > _ROUNDING)


def _with_silent(weight: Floats, speaks: NDArray[np.bool_]) -> Floats:
    """Give terms that are 0 in all rows, and change no fit, the mean weight of the others."""
    found = np.full((len(weight), speaks.size), weight.mean() if weight.size else 1.0)
    found[:, speaks] = weight
    return found


def _bounded(weights: Floats) -> Floats:
    """Return weights of a sum that is not too large: only their ratios matter then.

    >>> _bounded(np.array([1.0, 3.0])), _bounded(np.array([1e15, 3e15]))
    (array([1., 3.]), array([250000., 750000.]))
    """
    largest = weights.max(initial=0.0)
    if largest <= _MOST_WEIGHT / max(1, weights.size):
        return weights
    shares = weights / largest  # first, as their sum may be beyond every float64
    return shares * min(largest, _MOST_WEIGHT / float(shares.sum()))


def _fit_many(
    terms: Floats, codes: NDArray[Any], weights: Floats, log_prior: Floats, how: str
) -> Calibration:
    """Fit one weight for each term, or one for all, that many classes share."""
    _, n_classes, n_terms = terms.shape
    centred = terms - terms.mean(axis=1, keepdims=True)
    given = codes, weights, log_prior, _enough(weights)
    if how == "temperature":
        weight = np.full((1, n_terms), common_weight(centred.sum(axis=2), *given))
    else:
        speaks = _speak(centred, axis=(0, 1))
        weight = _with_silent(term_weights(centred[:, :, speaks], *given)[np.newaxis], speaks)
    return Calibration(np.repeat(weight, n_classes, axis=0), np.zeros(n_classes))


def _enough(weights: Floats) -> float:
    """Return the gain below which a further step is not worth its time."""
    return 2 * _TOLERANCE * max(1.0, float(weights.sum()))


class CentredTerms(NamedTuple):
    """What is fitted to: terms by class, centred, and a constant for the bias.

    Rows stand last, so that sums over classes and products with weights read memory in order.
    """

    terms: Floats  # (K, T + 1, n)
    weights: Floats
    own: Floats  # (K, n): the weight of a row in its class, 0 in the others
    log_prior: Floats  # (K, 1)

    @classmethod
    def room(
        cls, n_terms: int, codes: NDArray[Any], weights: Floats, log_prior: Floats
    ) -> CentredTerms:
        """Return rows whose terms are still to be written."""
        terms, weights = np.empty((log_prior.size, n_terms + 1, codes.size)), _bounded(weights)
        terms[:, -1] = 1.0
        own = np.zeros((log_prior.size, codes.size))
        own[codes, np.arange(codes.size)] = weights
        return cls(terms, weights, own, log_prior[:, np.newaxis])

    @classmethod
    def of(
        cls, terms: Floats, codes: NDArray[Any], weights: Floats, log_prior: Floats
    ) -> CentredTerms:
        """Centre terms of shape (n, K, T)."""
        rows = cls.room(terms.shape[2], codes, weights, log_prior)
        rows.terms[:, :-1] = terms.transpose(1, 2, 0)
        rows.terms[:, :-1] -= rows.terms[:, :-1].mean(axis=0)
        return rows

    def probabilities(self, x: Floats) -> tuple[float, Floats]:
        """Return the log loss of weights and biases, and the probabilities (K, n)."""
        return self.judged(np.matmul(x[:, np.newaxis, :], self.terms)[:, 0])

    def judged(self, scores: Floats) -> tuple[float, Floats]:
        """Return the log loss of scores (K, n), which become probabilities, and those."""
        scores += self.log_prior
        scores -= scores.max(axis=0)
        of_truth = np.vdot(self.own, np.maximum(scores, -1e300))
        p = np.exp(scores, out=scores)
        total = p.sum(axis=0)
        p /= total
        return float(self.weights @ np.log(total) - of_truth), p


def _temperature(rows: CentredTerms) -> tuple[float, Floats]:
    """Return tau and the biases, by Newton's method with halved steps."""
    summed = rows.terms[:, :-1].sum(axis=1)
    pulls = np.append(_PULL_TAU, np.full(summed.shape[0], _PULL_BIAS))
    centre = np.append(1.0, np.zeros(summed.shape[0]))

    def judged(x: Floats) -> tuple[float, Floats]:
        loss, p = rows.judged(x[0] * summed + x[1:, np.newaxis])
        return loss + 0.5 * float(pulls @ (x - centre) ** 2), p

    x = centre / np.sqrt(max(1, rows.terms.shape[1] - 1))
    loss, p = judged(x)
    for _ in range(_MOST_ROUNDS):
        gradient, hessian = _slopes(rows, summed, p)
        gradient += pulls * (x - centre)
        step = np.asarray(np.linalg.solve(hessian + np.diag(pulls), gradient), dtype=np.float64)
        gain = float(gradient @ step)
        if gain < _enough(rows.weights):
            break
        x, loss, p = line_search(judged, x, step, loss, gain)
    return float(x[0]), x[1:]


def _slopes(rows: CentredTerms, summed: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return gradient and Hessian of the log loss in tau and the biases."""
    weighted = p * rows.weights
    expected = (p * summed).sum(axis=0)
    around = summed - expected
    rest = weighted - rows.own
    gradient = np.append(np.vdot(rest, summed), rest.sum(axis=1))
    hessian = np.empty((gradient.size, gradient.size))
    hessian[0, 0] = np.vdot(weighted * around, around)
    hessian[0, 1:] = hessian[1:, 0] = (weighted * around).sum(axis=1)
    hessian[1:, 1:] = np.diag(weighted.sum(axis=1)) - weighted @ p.T
    return gradient, hessian


def _weights(rows: CentredTerms, start: Floats, adaptive: bool) -> Calibration:
    """Return weights and biases, by L-BFGS."""
    n_classes = len(start)
    _, p = rows.probabilities(start)
    hessian = _hessians(rows, p)
    pull = PULL
    if adaptive and n_classes > 2:
        slope = np.matmul(rows.terms, (rows.own - p * rows.weights)[:, :, np.newaxis])[:, :-1, 0]
        strengths = [pull_of_class(n_classes, each) for each in PULLS]
        pull = PULLS[likeliest(hessian, slope, strengths)]

    def judged(x: Floats) -> tuple[float, Floats]:
        loss, p = rows.probabilities(x)
        penalty, slope = _penalty(x, pull)
        p *= rows.weights
        p -= rows.own
        slope += np.matmul(rows.terms, p[:, :, np.newaxis])[:, :, 0]
        return loss + penalty, slope

    solve = _preconditioner(hessian, pull_of_class(n_classes, pull))
    x = minimize(judged, start, solve, _enough(rows.weights))
    return Calibration(np.ascontiguousarray(x[:, :-1]), x[:, -1].copy())


def _penalty(x: Floats, pull: float) -> tuple[float, Floats]:
    r"""Return the penalty and its gradient, the best :math:`w_t` and :math:`\tau` put in.

    With the mean :math:`\bar w_t` of a term's weights over classes,

    .. math:: \frac{\lambda_k}{2} \sum_{kt} (w_{kt} - \bar w_t)^2
              + \frac{h}{2} \sum_t (\bar w_t - \tau)^2 + \frac{\lambda_\tau}{2} (\tau - 1)^2,
              \qquad h = \frac{K \lambda_k \lambda}{K \lambda_k + \lambda}, \quad
              \tau = \frac{h \sum_t \bar w_t + \lambda_\tau}{h T + \lambda_\tau}
    """
    weight, bias = x[:, :-1], x[:, -1]
    n_classes, n_terms = weight.shape
    h = common_pull(n_classes, pull)
    mean = weight.mean(axis=0)
    tau = (h * mean.sum() + _PULL_TAU) / (h * n_terms + _PULL_TAU)
    own, common = weight - mean, mean - tau
    slope = np.empty_like(x)
    slope[:, :-1] = pull * own + (h / n_classes) * common
    slope[:, -1] = _PULL_BIAS * bias
    total = pull * np.vdot(own, own) + h * common @ common
    return 0.5 * float(total + _PULL_TAU * (tau - 1) ** 2 + _PULL_BIAS * bias @ bias), slope


def _hessians(rows: CentredTerms, p: Floats) -> Floats:
    """Return the Hessian of every class by itself: (K, T + 1, T + 1); of many terms the diagonals.

    With two classes it is the Hessian of both, as their weights move together.
    """
    n_classes, width, _ = rows.terms.shape
    spread = p * (1 - p) * rows.weights * (n_classes / (n_classes - 1))
    if width > _MOST_TERMS:
        diagonals: Floats = np.einsum("kn,ktn,ktn->kt", spread, rows.terms, rows.terms)
        return diagonals  # without copies
    roots = np.sqrt(spread, out=spread)
    scaled = (terms * root for terms, root in zip(rows.terms, roots, strict=True))
    return np.stack([of_class @ of_class.T for of_class in scaled])


def _preconditioner(hessian: Floats, pull: float) -> Callable[[Floats], Floats]:
    """Return what solves for the Hessian of every class by itself."""
    pulls = np.full(hessian.shape[1], pull)
    pulls[-1] = _PULL_BIAS
    if hessian.ndim == 2:
        diagonal = hessian + pulls
        return lambda slope: slope / diagonal
    inverse = np.linalg.inv(hessian + np.diag(pulls))
    return lambda slope: np.matmul(inverse, slope[:, :, np.newaxis])[:, :, 0]
