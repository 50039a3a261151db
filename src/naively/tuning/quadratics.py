r"""Scores of many Gaussian models whose means agree, as smoothing, priors and columns leave them.

.. math:: \text{joint}_{kc}(x) = o_{kc} - \sum_j B_{kjc} (x_j - \mu_{kj})^2

for class k and candidate c. The squares are computed once for all candidates, and the sums over
columns are products of matrices. All terms of a sum are positive, so nothing cancels. A missing
cell takes its :math:`A_{kjc}` out of :math:`o_{kc} = b_k + \sum_j A_{kjc}` again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively._threads import map_blocks
from naively.forms import Quadratics
from naively.model import Model

__all__ = ["QuadraticModels"]

Floats = NDArray[np.float64]

_NUMBERS = 1 << 17  # of a block's distances: they stay in the cache
_FEWEST_ROWS = 32
_FAR = 1e290  # sums of squares below are finite


@dataclass(frozen=True, eq=False)
class QuadraticModels:
    """Models of one table: means by column and class; A and B by class, column and candidate."""

    mu: Floats
    A: Floats
    B: Floats
    constant: Floats  # by class and candidate

    @classmethod
    def of(
        cls, models: Sequence[Model], places: Sequence[Any], n_columns: int
    ) -> tuple[QuadraticModels, list[int]]:
        """Put together the models that can be; returns their places among those given.

        Each model describes some of the columns of numbers, by their places.
        """
        n_classes = models[0].classes.size
        mu, taken, parts = np.full((n_columns, n_classes), np.nan), [], []
        for i, (model, at) in enumerate(zip(models, places, strict=True)):
            form = _plain_form(model)
            if form is None:
                continue
            known = form.B > 0
            own = np.where(known, form.mu, np.nan)
            before = mu[at]
            if ((before != own) & ~np.isnan(before) & known).any():
                continue
            mu[at] = np.where(known, own, before)
            taken.append(i)
            parts.append((at, np.where(known, form.A, 0.0), np.where(known, form.B, 0.0)))
        A, B = np.zeros((2, n_classes, n_columns, len(parts)))
        for c, (at, a, b) in enumerate(parts):
            A[:, at, c], B[:, at, c] = a.T, b.T
        constant = np.array([models[i].constant for i in taken]).T.reshape(n_classes, -1)
        return cls(np.nan_to_num(mu), A, B, np.ascontiguousarray(constant)), taken

    def scores(
        self,
        x: Floats,
        codes: NDArray[np.int32],
        weights: Floats | None,
        score: str,
        n_jobs: int | None,
    ) -> Floats | None:
        """Return the sums of scores over rows, by candidate; None where numbers are too far."""
        n_classes, n_columns, n_candidates = self.B.shape
        offset = np.ascontiguousarray(self.constant + self.A.sum(axis=1))
        farthest = _FAR / max(1.0, n_columns * float(self.B.max(initial=0.0)))
        step = max(_FEWEST_ROWS, _NUMBERS // (n_classes * n_candidates))

        def added(rows: slice) -> Floats | None:
            distance = self._distances(x[rows], farthest)
            if distance is None:
                return None
            total, given = np.zeros(n_candidates), None if weights is None else weights[rows]
            _kernel.add_scores(distance, offset, codes[rows], given, score, total)
            return total

        blocks = [slice(start, start + step) for start in range(0, codes.size, step)]
        found = [one for one in map_blocks(added, blocks, n_jobs) if one is not None]
        return np.sum(found, axis=0) if len(found) == len(blocks) else None

    def _distances(self, x: Floats, farthest: float) -> Floats | None:
        """Return distances by class, row and candidate; None where one might not be finite."""
        n_classes, _, n_candidates = self.B.shape
        distance = np.empty((n_classes, len(x), n_candidates))
        missing = np.isnan(x)
        absent = missing.astype(np.float64) if missing.any() else None
        for k in range(n_classes):
            square = x - self.mu[:, k]
            with np.errstate(over="ignore"):
                square *= square
            if absent is not None:
                square[missing] = 0.0
            if not square.max(initial=0.0) < farthest:
                return None
            np.matmul(square, self.B[k], out=distance[k])
            if absent is not None:
                distance[k] += absent @ self.A[k]
        return distance


def _plain_form(model: Model) -> Quadratics | None:
    """Return the form of a model of Gaussians alone, if squares are only subtracted."""
    if len(model.terms) != 1 or model.interactions is not None:
        return None
    form = model.terms[0].form
    plain = isinstance(form, Quadratics) and form.is_plain and form.s is None
    return form if plain else None  # type: ignore[return-value]
