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
an adaptive fit chooses :math:`\lambda_k` by the evidence of the rows: see `likeliest`. A weight
below 0 is possible: a column that repeats another can tell where the other is wrong.

Beyond 128 classes a sample has too few rows of each for that: a bias for each class, or a weight
for each term and class, would learn which rows happen to be in the sample. Then all classes share
one weight for each term, :math:`w_{kt} = w_t`, drawn to :math:`\tau` as above, and have no biases.
Nothing there is larger than the terms themselves: no table of classes by classes.

A class that never had a category is impossible to it; no weight can express that, so such a term
is replaced by the least one of any class, and log densities are floored at the maximum minus 1000.

The objectives are convex, and the penalties keep their minimum finite where classes are separated.
Temperature is found by Newton's method, the weights by L-BFGS from there, preconditioned with the
Hessian of every class. A general minimiser, such as SciPy's, takes 1.5 to 2.5 times as many
evaluations from the same start, even in variables in which its preconditioner is the identity.

References
----------
D. J. C. MacKay (1992), Bayesian interpolation.
J. Nocedal, S. J. Wright (2006), Numerical Optimization, chapter 7.

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

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.types import Floats
from naively.families.family import Family
from naively.families.forms import without_infinity
from naively.model.terms import Term
from naively.statistics import Sample

How: TypeAlias = Literal["temperature", "weights"]
Judged: TypeAlias = Callable[[Floats], tuple[float, Floats]]
_Pair: TypeAlias = tuple[Floats, Floats, float]
_PULL_TAU = 1.0  # of tau towards 1
_PULL_BIAS = 0.1
PULL = 10.0  # of a weight towards its term's, and of a term's towards that of all
PULLS = tuple(PULL * 2.0**i for i in range(7))  # of a weight towards its term's, to choose from
_TOLERANCE_NATS = 3e-5  # nats for each row that may be left to gain, or about that
_MAX_ROUNDS = 60
_MAX_PAIRS = 10  # steps that correct the preconditioner
_LEAST_SHARE = 1e-4  # of the promised gain that a step must keep
_SHORTEST_STEP = 1e-6  # step, of the one that was promised
_MAX_TERMS = 256  # whose Hessians are inverted; beyond, their diagonals are
MOST_CLASSES = 128  # that have weights and biases of their own
_MIN_ROWS, _MAX_ROWS = 500, 4000
_WORTHWHILE_CELLS = 1_500_000  # of the terms of a sample
_MAX_CELLS = 40_000_000  # of them, whatever they are worth: 320 MB
_BLOCK_CELLS = 10_000_000  # of them, that are computed together
_SQUARED_CELLS = 1_000_000  # and that are squared at a time
_CACHED_CELLS = 200_000  # and that are looked at more than once
_ROUNDED_NATS = 1e-12  # of terms that are the same in all classes
_LEAST_TERM = -1e60  # of a row that is 1e30 deviations away: squares must not overflow
_MAX_WEIGHT = 1e6  # of a sample: beyond, penalties are lost to rounding
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
    most, cells = _MAX_ROWS, _WORTHWHILE_CELLS
    if text:
        most, cells = 2 * most, 12 * cells
    wanted = min(most, cells // per_row)
    kept = per_row if per_row <= MOST_WEIGHTS else n_classes
    return min(max(_MIN_ROWS, wanted), _MAX_CELLS // kept)


def calibrate(
    terms: Sequence[Term],
    log_prior: Floats,
    sample: Sample,
    how: How,
) -> Calibration:
    """Fit weights and biases of terms on a sample of rows that they were read off."""
    n_classes, n_terms = log_prior.size, sum(term.n_weights for term in terms)
    size = sample_rows(n_classes, n_terms, text=sample.texts is not None)
    sample = sample.least(size)
    rows = _TermsOfSample.of(terms, sample)
    if n_classes * n_terms <= MOST_WEIGHTS:
        return fit_centred(rows.centred(log_prior, how), how)
    sums = rows.sums(n_classes)[:, :, np.newaxis]
    common = fit(sums, sample.codes, sample.weight, log_prior, "temperature")
    return Calibration(np.repeat(common.weight, n_terms, axis=1), common.bias)


def fit(
    terms: Floats,
    codes: NDArray[Any],
    weights: Floats,
    log_prior: Floats,
    how: How = "weights",
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
    return fit_centred(CentredTerms.of(terms, codes, weights, log_prior), how, adaptive=adaptive)


def fit_centred(
    rows: CentredTerms,
    how: How = "weights",
    *,
    adaptive: bool = False,
) -> Calibration:
    """Fit weights and biases to terms that are centred."""
    terms = rows.terms[:, :-1]
    spread = terms.max((0, 2), initial=0.0) - terms.min((0, 2), initial=0.0)
    informative = spread > _ROUNDED_NATS  # the others are 0 in all rows and classes
    if not informative.all():
        some = rows._replace(terms=rows.terms[:, np.append(informative, True)])
        fitted = fit_centred(some, how, adaptive=adaptive)
        mean = fitted.weight.mean() if fitted.weight.size else 1.0  # whatever it is, no fit changes
        weight = np.full((len(terms), informative.size), mean)
        weight[:, informative] = fitted.weight
        return Calibration(weight, fitted.bias)
    n_classes, n_terms, _ = terms.shape
    many = n_classes > MOST_CLASSES
    tau, bias = (_shared_temperature(rows), np.zeros(n_classes)) if many else _temperature(rows)
    weight = np.full((n_classes, n_terms), tau)
    if how == "temperature" or n_terms == 0 or n_classes < 2:
        return Calibration(weight, bias)
    if many:
        own = _shared_weights(rows, weight[0], _drawn_together, PULL)
        return Calibration(np.tile(own, (n_classes, 1)), bias)
    return _weights(rows, np.column_stack([weight, bias]), adaptive)


# --- The terms of a sample ----------------------------------------------------------------------


def terms_of_sample(terms: Sequence[Term], sample: Sample, n_classes: int) -> Floats:
    """Return all terms of a sample, of shape (n, K, T): each row judged as if it was not seen."""
    return _TermsOfSample.of(terms, sample).terms(slice(None), n_classes)


def floored(terms: Floats, floor: float = Family.floor) -> Floats:
    """Replace what is impossible or far below the maximum of classes, the second axis, in place."""
    for block in np.array_split(terms, max(1, terms.size // _CACHED_CELLS)):
        possible = without_infinity(block, axis=1)
        np.maximum(possible, possible.max(axis=1, keepdims=True) - floor, out=block)
    return terms


class _TermsOfSample(NamedTuple):
    """All terms of a sample: in each row's own class, as if it had not been seen."""

    parts: Sequence[Term]
    sample: Sample
    own: Floats  # (n, T): of the own classes

    @classmethod
    def of(cls, parts: Sequence[Term], sample: Sample) -> _TermsOfSample:
        own = np.concatenate([part.left_out(sample) for part in parts], axis=1)
        return cls(parts, sample, own)

    def centred(self, log_prior: Floats, how: How) -> CentredTerms:
        """Return the terms by class, centred; they are written one by one, in the cache.

        With one weight for all, it does not matter what terms are centred by: a class without
        probability is left out, lest the others are floored by what it says.
        """
        sample, n_terms = self.sample, self.own.shape[1]
        absent = np.flatnonzero(log_prior == -np.inf) if how == "temperature" else ()
        rows = CentredTerms.room(n_terms, sample.codes, sample.weight, log_prior)
        each = ((part, values) for part in self.parts for values in part.each_column(sample))
        for t, (part, values) in enumerate(each):
            floor = part.family.floor
            if len(absent):
                values[:, absent] = -np.inf
            _kernel.centre_term(values, self.own[:, t], sample.codes, floor, t, rows.terms)
        return rows

    def terms(self, rows: slice, n_classes: int) -> Floats:
        """Return the terms of some rows, of shape (n, K, T)."""
        sample, own = self.sample[rows], self.own[rows]
        terms = np.empty((len(sample), n_classes, own.shape[1]))
        start = 0
        for part in self.parts:
            end = start + part.n_weights
            terms[:, :, start:end] = part.among_others(sample)
            start = end
        terms[np.arange(len(sample)), sample.codes] = own
        return floored(terms, max((part.family.floor for part in self.parts), default=Family.floor))

    def sums(self, n_classes: int) -> Floats:
        """Return the sums of each row's terms, centred over the classes: (n, K)."""
        n, n_terms = self.own.shape
        some = max(1, _BLOCK_CELLS // (n_classes * n_terms))
        sums = np.empty((n, n_classes))
        for start in range(0, n, some):
            rows = slice(start, start + some)
            sums[rows] = self.terms(rows, n_classes).sum(axis=2)
        return sums - sums.mean(axis=1, keepdims=True)


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

    def slope(self, x: Floats) -> tuple[float, Floats]:
        """Return the log loss of weights and biases, and its gradient."""
        loss, p = self.probabilities(x)
        p *= self.weights
        p -= self.own
        return loss, np.matmul(self.terms, p[:, :, np.newaxis])[:, :, 0]

    def judged(self, scores: Floats) -> tuple[float, Floats]:
        """Return the log loss of scores (K, n), which become probabilities, and those."""
        scores += self.log_prior
        scores -= scores.max(axis=0)
        of_truth = np.vdot(self.own, np.maximum(scores, -1e300))
        p = np.exp(scores, out=scores)
        total = p.sum(axis=0)
        p /= total
        return float(self.weights @ np.log(total) - of_truth), p


def _bounded(weights: Floats) -> Floats:
    """Return weights of a sum that is not too large: only their ratios matter then.

    >>> _bounded(np.array([1.0, 3.0])), _bounded(np.array([1e15, 3e15]))
    (array([1., 3.]), array([250000., 750000.]))
    """
    largest = weights.max(initial=0.0)
    if largest <= _MAX_WEIGHT / max(1, weights.size):
        return weights
    shares = weights / largest  # first, as their sum may be beyond every float64
    return shares * min(largest, _MAX_WEIGHT / float(shares.sum()))


def _enough(weights: Floats) -> float:
    """Return the gain below which a further step is not worth its time."""
    return 2 * _TOLERANCE_NATS * max(1.0, float(weights.sum()))


# --- One weight for each term and class ---------------------------------------------------------


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
    for _ in range(_MAX_ROUNDS):
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
        (loss, slope), (penalty, own) = rows.slope(x), _penalty(x, pull)
        return loss + penalty, slope + own

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
    if width > _MAX_TERMS:
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


def common_pull(n_classes: int, pull: float) -> float:
    """Return how strongly the mean weight of a term is drawn to that of all terms."""
    return n_classes * pull * PULL / (n_classes * pull + PULL)


def pull_of_class(n_classes: int, pull: float) -> float:
    """Return how strongly the weight of one class is drawn back where the others balance it."""
    alone = 1 / (n_classes - 1)
    return pull * (1 - alone) + common_pull(n_classes, pull) / n_classes * alone


def likeliest(hessian: Floats, slope: Floats, pulls: Sequence[float]) -> int:
    r"""Return the place of the pull of the largest evidence; ties go to the first.

    A weight for each term and class is many numbers where there are few rows of a class. Seen as
    the variance of a prior, the pull can be judged by the likelihood of the rows under it, the
    weights being integrated out (empirical Bayes). At weights that are all the same, with the
    slope :math:`g_k` of the log likelihood and its Hessian :math:`H_k` in the weights of class k, a
    pull :math:`\lambda` has the logarithm of evidence, up to a constant,

    .. math:: \frac12 \sum_k \Bigl( g_k^T (H_k + \lambda I)^{-1} g_k
              - \frac{K - 1}{K} \log \Bigl| I + \frac{H_k}{\lambda} \Bigr| \Bigr)

    whose factor (K - 1) / K is there since the weights of all classes together have one dimension
    less. The slopes are of shape (K, T); the Hessians, or their diagonals, have the bias too.
    """
    n_classes, n_terms = slope.shape
    evidence = np.zeros(len(pulls))
    for H, g in zip(hessian, slope, strict=True):
        if hessian.ndim == 3:
            h, U = np.linalg.eigh(H[:n_terms, :n_terms])
            g = U.T @ g
        else:
            h = H[:n_terms]
        h = np.maximum(h, 0.0)
        for i, pull in enumerate(pulls):
            lost = (n_classes - 1) / n_classes * np.log1p(h / pull).sum()
            evidence[i] += 0.5 * (float(g**2 @ (1 / (h + pull))) - lost)
    return int(evidence.argmax())


# --- One weight for each term, which many classes share -----------------------------------------


def _shared_temperature(rows: CentredTerms) -> float:
    """Return tau: one weight for the sum of all terms."""

    def penalty(w: Floats) -> tuple[float, Floats]:
        return 0.5 * _PULL_TAU * float((w - 1) @ (w - 1)), _PULL_TAU * (w - 1)

    summed = rows.terms[:, :-1].sum(axis=1, keepdims=True)
    spread = float(np.abs(summed).max(initial=1.0))
    start = np.array([min(1.0, 100.0 / spread)])  # where probabilities are not yet all 0 and 1
    summed = np.concatenate([summed, np.ones_like(summed)], axis=1)
    return float(_shared_weights(rows._replace(terms=summed), start, penalty, _PULL_TAU)[0])


def _drawn_together(w: Floats) -> tuple[float, Floats]:
    """Return the penalty and its gradient, the best tau put in."""
    tau = (PULL * w.sum() + _PULL_TAU) / (PULL * w.size + _PULL_TAU)
    apart = w - tau
    return 0.5 * float(PULL * apart @ apart + _PULL_TAU * (tau - 1) ** 2), PULL * apart


def _shared_weights(rows: CentredTerms, start: Floats, penalty: Judged, pull: float) -> Floats:
    """Return one weight for each term."""

    def of_classes(w: Floats) -> Floats:
        x = np.zeros(rows.terms.shape[:2])
        x[:, :-1] = w
        return x

    def judged(w: Floats) -> tuple[float, Floats]:
        (loss, slope), (more, own) = rows.slope(of_classes(w)), penalty(w)
        return loss + more, slope[:, :-1].sum(axis=0) + own

    _, p = rows.probabilities(of_classes(start))
    hessian = _shared_hessian(rows, p)
    if hessian.ndim == 1:
        return minimize(
            judged, start, lambda slope: slope / (hessian + pull), _enough(rows.weights)
        )
    inverse = np.linalg.inv(hessian + pull * np.eye(start.size))
    return minimize(judged, start, lambda slope: inverse @ slope, _enough(rows.weights))


def _shared_hessian(rows: CentredTerms, p: Floats) -> Floats:
    """Return the weighted sum of the covariances of terms over classes; of many, its diagonal."""
    n_classes, width, n = rows.terms.shape
    weighted, expected = p * rows.weights, np.zeros((width - 1, n))
    hessian = np.zeros((width - 1, width - 1) if width - 1 <= _MAX_TERMS else width - 1)
    some = max(1, _SQUARED_CELLS // max(1, width * n))
    for start in range(0, n_classes, some):
        at = slice(start, start + some)
        terms = rows.terms[at, :-1]
        scaled = terms * weighted[at, np.newaxis]
        expected += np.einsum("kn,ktn->tn", p[at], terms)
        if hessian.ndim == 1:
            hessian += np.einsum("ktn,ktn->t", scaled, terms)
        else:
            hessian += np.matmul(scaled, terms.swapaxes(1, 2)).sum(axis=0)
    if hessian.ndim == 1:
        return hessian - expected**2 @ rows.weights
    return hessian - (expected * rows.weights) @ expected.T


# --- L-BFGS -------------------------------------------------------------------------------------


def minimize(judged: Judged, x: Floats, solve: Callable[[Floats], Floats], enough: float) -> Floats:
    """Return the x at which no more than about half of ``enough`` is left to gain.

    It is judged by value and gradient; ``solve`` multiplies a gradient by an approximate inverse
    Hessian, which is corrected by what the last steps have shown. It ends where gradient and step
    promise less than enough, or after 60 steps.

    >>> def bowl(x):
    ...     return float(x @ x), 2 * x
    >>> minimize(bowl, np.array([3.0, 4.0]), lambda slope: slope / 2, enough=1e-9).round(6)
    array([0., 0.])
    """
    value, slope = judged(x)
    pairs: deque[_Pair] = deque(maxlen=_MAX_PAIRS)
    for _ in range(_MAX_ROUNDS):
        step = _step(slope, pairs, solve)
        gain = float(np.vdot(slope, step))
        if gain < enough:
            break
        before = x, slope
        x, value, slope = line_search(judged, x, step, value, gain)
        moved, changed = x - before[0], slope - before[1]
        curvature = float(np.vdot(moved, changed))
        if curvature > 0:
            pairs.append((moved, changed, 1 / curvature))
    return x


def line_search(
    judged: Judged, x: Floats, step: Floats, value: float, gain: float
) -> tuple[Floats, float, Floats]:
    """Return x - step with its value and gradient; the step is halved until it gains enough."""
    length = 1.0
    while True:
        new = x - length * step
        new_value, slope = judged(new)
        if new_value <= value - _LEAST_SHARE * length * gain or length < _SHORTEST_STEP:
            return new, new_value, slope
        length /= 2


def _step(slope: Floats, pairs: Iterable[_Pair], solve: Callable[[Floats], Floats]) -> Floats:
    """Return the inverse Hessian times the gradient, by the two loops of L-BFGS."""
    pairs = list(pairs)
    step, parts = slope.copy(), []
    for moved, changed, inverse in reversed(pairs):
        parts.append(inverse * np.vdot(moved, step))
        step -= parts[-1] * changed
    step = solve(step)
    for moved, changed, inverse in pairs:
        step += (parts.pop() - inverse * np.vdot(changed, step)) * moved
    return step
