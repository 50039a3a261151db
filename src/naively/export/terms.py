r"""What a Gaussian model is made of: the numbers of the sum that it maximises.

.. math::

    \log p(k) + \sum_j \log f_{kj}(x_j), \qquad
    \log f_{kj}(x) = -(x - \mu_{kj})^2 s_{kj} - n_{kj}

where :math:`s = 1 / 2 \sigma^2` and :math:`n = \log(2 \pi \sigma^2) / 2`, as in the kernel. The
exporters write these numbers down in another language.

Squares are written in units of :math:`2^{512}`, that is, differences in units of :math:`2^{256}`.
A power of two costs no accuracy, and leaves room above: the square of a distance of 1e154
standard deviations is more than a float64 holds, and in PostgreSQL or BigQuery that is an error.
What the units leave over, a bound on each column takes: a cell beyond `lowest` or `highest`, more
than 1e220 of the smallest standard deviation away, counts as being there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError
from naively.labels import is_text
from naively.summary import Summary

__all__ = ["SQUARE_UNIT", "UNIT", "Fitted", "Terms", "check_text", "plain_labels", "power_of_ten"]

UNIT = 2.0**256
SQUARE_UNIT = UNIT**2
_LEAST, _MOST = 1e-300, 1e300  # variances whose inverse is an ordinary float64


class Fitted(Protocol):
    """A fitted estimator: what it has seen, and the model that it reads off that."""

    @property
    def summary_(self) -> Summary:
        """What it has seen."""

    def _model(self) -> Any: ...

    def _snapshot(self) -> Self: ...


@dataclass(frozen=True)
class Terms:
    """The numbers of a model; arrays by class, column, or class and column.

    A column that no class has seen has no say: its scale and norm are 0.
    """

    classes: NDArray[Any]
    names: tuple[str, ...] | None
    log_prior: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    log_norm: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]

    @classmethod
    def of(cls, estimator: Fitted) -> Terms:
        """Read the numbers off a fitted estimator.

        >>> from naively import GaussianNB
        >>> Terms.of(GaussianNB(priors=[0.5, 0.5]).fit([[0.0], [2.0], [8.0]], [0, 0, 1])).mean
        array([[1.],
               [8.]])
        """
        model = estimator._model()
        schema, classes = estimator.summary_.schema, estimator.summary_.classes
        known = model.parameters.variance > 0
        mean = np.where(known, model.parameters.mean, 0.0)
        sigma2 = np.where(known, model.parameters.variance, 1.0)
        if not (sigma2.min(initial=1.0) >= _LEAST and sigma2.max(initial=1.0) <= _MOST):
            raise NaivelyError(
                f"variances must be between {_LEAST:g} and {_MOST:g} to be exported; got "
                f"{sigma2.min():g} to {sigma2.max():g}. Rescale the columns."
            )
        scale = np.where(known, 0.5 / sigma2, 0.0)
        log_norm = np.where(known, 0.5 * (np.log(2 * np.pi) + np.log(sigma2)), 0.0)
        log_prior = model.log_prior
        if model.calibration is not None:
            scale, log_norm = model.calibration.weight * scale, model.calibration.weight * log_norm
            log_prior = log_prior + model.calibration.bias
        scale, lowest, highest = _bounded(mean, scale)
        return cls(
            classes=plain_labels(classes),
            names=schema.names,
            log_prior=log_prior,
            mean=mean,
            scale=scale,
            log_norm=log_norm,
            lowest=lowest,
            highest=highest,
        )

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return self.mean.shape[1]

    @property
    def offset(self) -> NDArray[np.float64]:
        """What does not depend on a row without holes: log p(k) less all norms."""
        return self.log_prior - self.log_norm.sum(axis=1)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Which classes have a probability at all."""
        return np.isfinite(self.log_prior)


def power_of_ten(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round down to a number that reads well.

    >>> power_of_ten(np.array([0.03, 250.0]))
    array([1.e-02, 1.e+02])
    """
    return np.array([float(f"1e{n:.0f}") for n in np.floor(np.log10(values))])


def _bounded(
    mean: NDArray[np.float64], scale: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Return scales, and bounds of each column within which no sum of squares overflows."""
    root = np.sqrt(np.where(scale > 0, scale, 1.0))
    room = UNIT / np.sqrt(mean.shape[1])  # times 1e153: what one column may take
    with np.errstate(over="ignore"):
        reach = power_of_ten(np.minimum(1e150 * room / root.max(axis=0), 1e307))
        most = 1e153 * room / (reach + np.ptp(mean, axis=0))  # if means are 1e230 deviations apart
        scale = np.where(root > most, most**2, scale)
        ends = mean.min(axis=0) - reach, mean.max(axis=0) + reach
    largest = np.finfo(np.float64).max
    return scale, *(np.clip(end, -largest, largest) for end in ends)


def plain_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a type that other languages have."""
    kind = classes.dtype.kind
    if is_text(classes):
        for label in classes.tolist():
            check_text(label, "labels")
        return classes
    if kind not in "iubf":
        raise NaivelyError(
            "only labels that are strings, integers, booleans or floats can be exported; "
            f"got dtype {classes.dtype}."
        )
    fits = kind == "i" or (kind == "u" and classes.max(initial=0) <= np.iinfo(np.int64).max)
    return classes.astype(np.int64 if fits else {"u": "uint64", "b": "bool", "f": "float64"}[kind])


def check_text(text: str, what: str) -> None:
    """Raise where a text cannot be written: a zero byte, or half of a surrogate pair."""
    if "\0" in text:
        raise NaivelyError(f"{what} must not hold a zero byte to be exported; got {text!r}.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NaivelyError(f"{what} must be Unicode text to be exported; got {text!r}.") from None
