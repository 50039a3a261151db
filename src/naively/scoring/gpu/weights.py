r"""What the kernel of matrix products needs of a Gaussian model, and a bound of its error.

With :math:`z_j = (x_j - o_j)\,t_j`, a sum of squares is a sum of products,

.. math::

    c_k + \sum_j A_{kj} - B_{kj} (x_j - \mu_{kj})^2 = c'_k + \sum_j b_{kj} z_j + q_{kj} z_j^2

and what all classes share is taken from b and q: the less they are, the smaller is the error. With
u the relative and v the absolute error of numbers in float16, and :math:`\beta, \gamma` the largest
:math:`|b|, |q|` of a column, no score is wrong by more than

.. math:: \sum_j u (\beta |z| + \gamma z^2) + v (\beta + \gamma + |z| + z^2),
          \qquad |z| \le \tfrac12 (1 + z^2)

which is linear in :math:`z^2`, as the score of a class is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.families.forms import Quadratics

_LARGEST = 6e4  # in float16
_ONE = 2.0**-10  # of a product of two float16: each is rounded to 11 bits
_TWO = 2.0**-20  # where both are sums of two
_TINY = 2.0**-24  # what rounding may change of the least numbers
_SUM = 2.0**-22  # of a sum in float32, for each of its terms


class ScreenWeights(NamedTuple):
    """Arrays as the kernel reads them, with zeros beyond the columns and classes of the model."""

    columns: NDArray[np.float32]  # origins, and scales
    linear: NDArray[np.float16]  # firsts and seconds, by column and class; the last is the bound
    square: NDArray[np.float16]
    constant: NDArray[np.float32]  # by class
    limits: NDArray[np.float32]  # the unit of the bound, and the largest error of probabilities


def screen_weights(
    form: Quadratics, constant: Floats, shape: tuple[int, int], *, exact: bool, limit: float
) -> ScreenWeights | None:
    """Return the weights of a model, for so many columns and classes; None where they are too far.

    Exact ones are for probabilities, whose bound is what errors typically are: sums of float32
    are taken as right.
    """
    d, K = form.B.shape
    s = np.ones_like(form.B) if form.s is None else form.s
    known = ~np.isnan(form.A + form.B + form.mu + s)
    with np.errstate(all="ignore"):
        A, B, mu = (np.where(known, part, 0.0) for part in (form.A, form.B * s * s, form.mu))
        count = np.maximum(known.sum(axis=1), 1)
        origin = (mu.sum(axis=1) / count).astype(np.float32)
        width = np.sqrt(2 * B.sum(axis=1) / count)
        scale = np.exp2(np.round(np.log2(np.where(width > 0, width, 1.0))))
        m = np.where(known, mu - origin[:, np.newaxis], 0.0)
        possible, t = constant > -np.inf, scale[:, np.newaxis]
        b, q = (_centred(part, possible) for part in (2 * B * m / t, -B / t**2))
        c = constant + (A - B * m * m).sum(axis=0)
        c -= c.max()
        u = _TWO if exact else _ONE + 2 * d * _SUM
        beta, gamma = (np.abs(part).max(axis=1) for part in (b, q))
        bound = u * (gamma + beta / 2) + 2 * _TINY
        rest = (u * beta / 2 + _TINY * (beta + gamma + 1)).sum()
        rest += 2 * d * _SUM * np.abs(c[possible]).max()
        columns = np.zeros((2, shape[0]), np.float32)
        columns[0, :d], columns[1, :d] = origin, scale
        unit = np.exp2(np.ceil(np.log2(bound.max())))
        lines = np.zeros((2, *shape))
        lines[0, :d, :K], lines[1, :d, :K] = b, q
        lines[1, :d, -1] = 1.01 * bound / unit + _TINY
        constants = np.full(shape[1], -np.inf, np.float32)
        constants[:K], constants[-1] = c, 1.01 * rest / unit
        limits = np.array([unit, limit], np.float32)
    fine = [np.isfinite(part).all() for part in (columns, lines, c[possible], limits)]
    if not all(fine) or np.abs(lines).max() > _LARGEST or not (columns[1, :d] > 0).all():
        return None
    first = lines.astype(np.float16)
    second = (lines - first).astype(np.float16)
    linear, square = np.stack([first, second], axis=1)
    return ScreenWeights(columns, linear, square, constants, limits)


def _centred(part: Floats, possible: NDArray[np.bool_]) -> Floats:
    """Return weights without the middle of their range over possible classes; 0 for others."""
    some = part[:, possible]
    middle = (some.max(axis=1) + some.min(axis=1)) / 2
    return np.where(possible, part - middle[:, np.newaxis], 0.0)
