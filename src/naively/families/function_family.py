r"""Families whose log density is a sum of lines of functions of the cell.

.. math:: \log f(x \mid k) = A_k + \sum_f B_{kf}\, f(x)

where f are some of `naively.data.functions`. Such a family needs to know no more of a class than
the means of these functions, which are drawn to those of all classes together,

.. math:: t_{kf} = \frac{w_k \bar f_k + \alpha \bar f}{w_k + \alpha}

where :math:`w_k` is the weight of the class's cells, and :math:`\alpha` the rows that all classes
are worth. A family says which A and B are the likeliest for given means: see `FunctionFamily.line`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.data.functions import function_values
from naively.data.types import Floats
from naively.families.family import FARTHEST, MomentFamily
from naively.families.forms import Form, FunctionPart, FunctionSums, Lines
from naively.statistics import FunctionMoments, Moments


@dataclass(frozen=True)
class FunctionParameters:
    """A by class and column, B by class, function and column; means in all classes together.

    All are NaN where the column has no cells, or one value only: then it contributes nothing.
    """

    A: Floats
    B: Floats
    prior: Floats


@dataclass(frozen=True)
class FunctionFamily(MomentFamily):
    """A family of lines of functions.

    Parameters
    ----------
    alpha : float
        Weight of the prior, in rows.
    """

    alpha: float = 1.0

    reads = FunctionMoments
    positive = ("alpha",)
    parts: ClassVar[tuple[str, ...]]  # the functions

    @property
    def functions(self) -> tuple[tuple[str, float], ...]:
        """The functions, with their periods."""
        return tuple((part, 1.0) for part in self.parts)

    @abstractmethod
    def line(self, means: Floats) -> tuple[Floats, Floats]:
        """Return the likeliest A and B for means of functions of shape (..., n_functions, d)."""

    def values(self, x: Floats) -> Floats:
        """Return the functions of cells, of shape (n, n_functions, d)."""
        return np.stack([function_values(name, x, p) for name, p in self.functions], axis=1)

    def prior_of(self, moments: Moments) -> Floats:
        """Return the means of functions in all classes; NaN where a column adds nothing."""
        whole = moments.pooled()
        seen = whole.weight > 0
        weight = np.where(seen, whole.weight, 1.0)
        near = np.finfo(np.float64).eps * np.abs(whole.mean)
        varied = seen & (np.sqrt(whole.m2 / weight) > near)
        return np.where(varied.any(axis=0), whole.mean, np.nan)

    def read(self, weight: Floats, mean: Floats, m2: Floats, prior: Floats) -> FunctionParameters:
        """Return A and B of the means of functions, drawn to those of all classes."""
        return FunctionParameters(
            *self.line(prior + weight / (weight + self.alpha) * (mean - prior)), prior
        )

    def log_term(self, x: Floats, parameters: FunctionParameters) -> Floats:
        """Return A + the sum of B f(x).

        Values so far that a product would be beyond 1e300 count as the farthest that is not.
        """
        A, B = parameters.A, parameters.B
        steepest = np.maximum(np.abs(B), 1.0)
        if B.ndim == x.ndim - 1:  # by class: one bound for all of them
            steepest = steepest.max(axis=0)
        far = FARTHEST / steepest
        return np.nan_to_num(A + (B * np.clip(x, -far, far)).sum(axis=-2), nan=0.0)

    def form(self, parameters: FunctionParameters, weight: Floats) -> Form:
        """Return a line of each function; A goes with the first."""
        starts = [parameters.A, *(parameters.A * 0.0 for _ in self.functions[1:])]
        lines = zip(self.functions, starts, parameters.B.swapaxes(0, 1), strict=True)
        return FunctionSums(
            tuple(
                FunctionPart(*function, Lines.of(A, B, weight, lowest=-np.inf))
                for function, A, B in lines
            )
        )
