"""A Gaussian naive Bayes model, read off a summary.

The summary holds what was seen; a `Reading` says how to read it: priors, smoothing, variance.
Nothing is kept of the reading in the summary, so another model is another reading away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.calibration import Calibration
from naively.exceptions import NaivelyError
from naively.families import gaussian
from naively.families.family import SpreadError
from naively.labels import quoted
from naively.summary import Summary

__all__ = ["GaussianModel", "Reading", "check_priors", "logarithm", "read_prior"]


@dataclass(frozen=True)
class Reading:
    """How a model is read off a summary."""

    priors: ArrayLike | None
    var_smoothing: float
    variance: Literal["class", "shared"]
    ddof: int
    smoothing: Literal["global", "column"]


class GaussianModel:
    """Class probabilities, means and variances, ready to score rows."""

    categories = ()
    coded = False

    def __init__(self, summary: Summary, reading: Reading) -> None:
        self.classes: list[Any] = summary.classes.tolist()
        self.prior = read_prior(summary, reading.priors)
        self.parameters = _parameters(summary, reading)
        _check_defined(summary, self.parameters, reading)
        self.log_prior = logarithm(self.prior)
        self.calibration: Calibration | None = None
        self.kernel: Any = _kernel.GaussianModel(
            np.ascontiguousarray(self.parameters.mean),
            np.ascontiguousarray(self.parameters.variance),
            self.log_prior,
        )

    def linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Return weights and constants of the linear form, one row per class.

        .. math::

            \log p(k) + \sum_j \log f_{kj}(x_j) = w_k \cdot x + b_k + \text{the same for all } k,
            \qquad w_{kj} = \frac{\mu_{kj}}{\sigma_j^2}, \quad
            b_k = \log p(k) - \sum_j \frac{\mu_{kj}^2}{2 \sigma_j^2}

        For two classes, the difference of the second from the first: positive means
        ``classes_[1]``, as everywhere in scikit-learn.
        """
        mean, variance = self.parameters.mean, self.parameters.variance
        known = ~np.isnan(variance)
        weights = np.divide(mean, variance, out=np.zeros_like(mean), where=known)
        constants = self.log_prior - 0.5 * np.sum(np.where(known, weights * mean, 0.0), axis=1)
        if len(self.classes) == 2:
            return weights[1:] - weights[:1], constants[1:] - constants[:1]
        return weights, constants


def _parameters(summary: Summary, reading: Reading) -> gaussian.Parameters:
    try:
        return gaussian.parameters(
            summary.moments,
            ddof=reading.ddof,
            variance=reading.variance,
            var_smoothing=reading.var_smoothing,
            smoothing=reading.smoothing,
        )
    except SpreadError as error:
        raise NaivelyError(f"{summary.schema.name(error.at)} {error.what}") from None


def logarithm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log p, minus infinity where p is 0."""
    return np.log(p, out=np.full(p.shape, -np.inf), where=p > 0)


def check_priors(priors: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the priors as an array: one per class, >= 0, of sum 1."""
    priors = np.asarray(priors, dtype=np.float64)
    if priors.shape != classes.shape:
        raise NaivelyError(
            "Number of priors must match number of classes: priors must have one entry per "
            f"class ({classes.size}: {quoted(classes)}); got {priors.size}."
        )
    if not np.isclose(priors.sum(), 1.0):
        raise NaivelyError(f"The sum of the priors should be 1; got {priors.sum()}.")
    if (priors < 0).any():
        k = int(np.argmax(priors < 0))
        raise NaivelyError(
            f"Priors must be non-negative; got {priors[k]} for class {classes[k].item()!r}."
        )
    return priors


def read_prior(summary: Summary, priors: ArrayLike | None) -> NDArray[np.float64]:
    """Return the probability of each class: as given, or its share of all rows."""
    if priors is not None:
        return check_priors(priors, summary.classes)
    if not summary.weight > 0:
        raise NaivelyError("there must be at least one row of positive weight; got none.")
    return summary.class_weight / summary.weight


def _check_defined(summary: Summary, parameters: gaussian.Parameters, reading: Reading) -> None:
    """Raise where ddof leaves nothing to divide by. A column nobody has seen is NaN and legal."""
    undefined = np.isnan(parameters.variance) & ~np.isnan(parameters.mean)
    if not undefined.any():
        return
    k, j = np.argwhere(undefined)[0]
    label, column = summary.classes[k].item(), summary.schema.name(int(j))
    if reading.variance == "shared":
        raise NaivelyError(
            f"with variance='shared' and ddof={reading.ddof}, {column} needs more rows than "
            f"classes times ddof; got weight {summary.moments.weight[:, j].sum():g}. "
            "Use ddof=0 or more rows."
        )
    raise NaivelyError(
        f"class {label!r} has no variance with ddof={reading.ddof}: it needs more weight than "
        f"that in {column}; got {summary.moments.weight[k, j]:g}. Use ddof=0 or more rows."
    )
