r"""The categorical family: a share for each category, smoothed by a Dirichlet prior.

.. math:: f(c \mid k) = \frac{w_{kc} + a\,q_c}{w_k + a}

where :math:`w_{kc}` is the weight of category c in class k, :math:`w_k` that of all its categories,
:math:`q_c` the share that the prior expects and a the weight of the prior, in rows. With a number,
``alpha``, every category is given that weight: :math:`a\,q_c = \alpha`. With ``alpha=None`` the
prior expects the shares of all classes together, and a maximises the marginal likelihood of the
classes' tallies: the fewer rows a category has, the more its shares are shrunk towards those of all
classes.

A category that was never seen gets the share of one more category of weight 0.

With ``alpha=0`` shares are as they were seen, and a class that never had the category is
impossible: its logarithm is minus infinity. A category that no class has had contributes nothing.

Examples
--------
>>> tallies = np.array([[3.0, 1.0], [0.0, 4.0]])
>>> family = Categorical(alpha=1.0)
>>> np.exp(family.log_density(np.array([0, 1, -1]), family.parameters(tallies))).round(3)
array([[0.667, 0.167],
       [0.333, 0.833],
       [1.   , 1.   ]])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.data.functions import gammaln
from naively.data.kinds import CATEGORY
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, Family
from naively.families.forms import Tables, weighted, without_infinity
from naively.statistics import Tallies
from naively.statistics.summary import Summary

_STRENGTHS = np.array([0.5, 2.0, 8.0, 32.0, 128.0, 512.0])
_LEAST_SHARE = np.finfo(np.float64).smallest_subnormal  # of a weight of 5e-324 among many
_LEAST_PRIOR = 1e-300  # share of a category in all classes: the log gamma of less overflows
_SAME_SHARES = 1e300  # a strength under which all classes have the same shares
_BLOCK_CELLS = 100_000


@dataclass(frozen=True)
class CategoricalPrior:
    """Weight that the prior gives each category, the last for all that were never seen.

    And the logarithm of their shares in all classes together, for a class without cells; and
    whether a class that never had the category is impossible.
    """

    weight: Floats
    total: float
    log_share: Floats
    strict: NDArray[np.bool_]


@dataclass(frozen=True)
class CategoricalParameters:
    """Logarithm of the share of each class and category, the last for any never seen."""

    log_share: Floats
    prior: CategoricalPrior


@dataclass(frozen=True)
class Categorical(Family):
    """Smoothed shares of categories.

    Parameters
    ----------
    alpha : float or None
        Additive (Laplace) smoothing, or None to shrink shares towards those of all classes. With
        0, a class has probability 0 for categories that it never had.
    """

    alpha: float | None = None

    name = "categorical"
    kind = CATEGORY
    reads = Tallies
    oracle = "multinomial"
    support = (0, np.inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.alpha is not None and not 0 <= self.alpha <= 1e100:
            raise NaivelyError(f"alpha must be >= 0 and <= 1e100, or None; got {self.alpha!r}.")

    def statistic_of(self, summary: Summary, columns: Sequence[int], at: int) -> Floats:
        """Return the weights of the column's categories, by class."""
        return summary.tally(at)

    def parameters(
        self, statistic: Floats, prior: CategoricalPrior | None = None
    ) -> CategoricalParameters:
        """Read the shares off weights of shape (K, C)."""
        prior = self._prior(statistic) if prior is None else prior
        weight = _with_unseen(statistic)
        total = statistic.sum(axis=1, keepdims=True)
        log_share = _log_ratio(weight + prior.weight, total + prior.total)
        log_share[prior.strict & (weight == 0)] = -np.inf
        return CategoricalParameters(np.where(total > 0, log_share, prior.log_share), prior)

    def log_density(self, x: Codes, parameters: CategoricalParameters) -> Floats:
        """Return the logarithm of the shares of the categories x, of shape (n, K)."""
        log_share = parameters.log_share
        terms = log_share.T[np.minimum(x, log_share.shape[1] - 1)]
        terms[x < 0] = 0.0
        return terms

    def form(self, parameters: CategoricalParameters, weight: Floats) -> Tables:
        """Return the table of log shares. What is impossible stays so, whatever its weight."""
        log_share = parameters.log_share.T
        table = weighted(without_infinity(log_share, axis=1), weight.T)
        return Tables.of([np.where(log_share == -np.inf, -np.inf, table)])

    def left_out(
        self,
        x: Codes,
        codes: Codes,
        weights: Floats,
        statistic: Floats,
        parameters: CategoricalParameters,
    ) -> Floats:
        """Return the logarithm of the share of each category among the other rows of its class."""
        prior, shape = parameters.prior, parameters.log_share.shape
        if parameters.log_share.size < x.size and bool((weights == weights[0]).all()):
            k, c = (at.ravel() for at in np.indices(shape))  # rows of one class and category agree
            every = self.left_out(c, k, weights[: c.size], statistic, parameters).reshape(shape)
            return np.where(x < 0, 0.0, every[codes, x])
        weight = np.maximum(_with_unseen(statistic)[codes, x] - weights, 0.0)
        total = statistic.sum(axis=1)[codes]
        rest = np.where(total - weights > 1e-12 * total, total - weights, 0.0)
        log_share = _log_ratio(weight + prior.weight[x], rest + prior.total)
        log_share[prior.strict[x] & (weight == 0)] = -np.inf
        return np.where(x < 0, 0.0, np.where(rest > 0, log_share, prior.log_share[x]))

    def _prior(self, tallies: Floats) -> CategoricalPrior:
        weight, n_categories = np.append(tallies.sum(axis=0), 0.0), tallies.shape[1]
        if self.alpha is not None:
            added, total = np.full(n_categories + 1, self.alpha), self.alpha * n_categories
            log_share = _log_ratio(weight + added, weight.sum() + total)
            return CategoricalPrior(added, total, log_share, (weight > 0) & (self.alpha == 0))
        unseen = weight == 0  # also a category whose rows were forgotten: together worth a row
        weight[unseen] = 1 / unseen.sum()
        share = np.maximum(weight / weight.sum(), _LEAST_PRIOR)
        several = np.count_nonzero(tallies.any(axis=0)) > 1  # one category tells no class
        strength = _likeliest(tallies, share) if several else _SAME_SHARES
        return CategoricalPrior(
            strength * share, strength, np.log(share), np.zeros(share.size, bool)
        )


def _with_unseen(tallies: Floats) -> Floats:
    """Return the weights with one more category, which has none."""
    return np.concatenate([tallies, np.zeros((len(tallies), 1))], axis=1)


def _likeliest(tallies: Floats, share: Floats) -> float:
    r"""Return the strength a under which the tallies are the most likely.

    .. math:: \prod_k \frac{\Gamma(a)}{\Gamma(a + w_k)}
              \prod_c \frac{\Gamma(a q_c + w_{kc})}{\Gamma(a q_c)}
    """
    k, c = np.nonzero(tallies)
    total, n_of = tallies.sum(axis=1), np.bincount(c, minlength=share.size)
    some = max(
        1, _BLOCK_CELLS // (c.size + len(tallies))
    )  # at a time: there may be a million categories
    blocks = [_STRENGTHS[at : at + some, np.newaxis] for at in range(0, _STRENGTHS.size, some)]
    likelihoods = []
    for a in blocks:
        rises = gammaln(a * share[c] + tallies[k, c]).sum(axis=1) - gammaln(a * share) @ n_of
        likelihoods.append(rises - (gammaln(a + total) - gammaln(a)).sum(axis=1))
    return float(_STRENGTHS[np.argmax(np.concatenate(likelihoods))])


def _log_ratio(a: Floats, b: Floats) -> Floats:
    """Return log(a / b), 0 where there is neither a cell nor a prior."""
    share = np.divide(a, b, out=np.ones(np.broadcast(a, b).shape), where=(a > 0) & (b > 0))
    return np.log(np.maximum(share, _LEAST_SHARE))
