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
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.families.forms import Quadratics
from naively.model.model import Model

SCORED_TOGETHER = {
    "log_loss": "log_loss",
    "loss": "log_loss",
    "accuracy": "accuracy",
    "brier": "brier",
}
_BLOCK_NUMBERS = 1 << 16  # of a block's distances: they stay in the cache
_MIN_ROWS = 32
_MAX_SQUARE = 1e290  # sums of squares below are finite


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
        mu, taken = np.full((n_columns, n_classes), np.nan), []
        forms: list[Quadratics] = []
        for i, (model, at) in enumerate(zip(models, places, strict=True)):
            form = _plain_form(model)
            if form is None:
                continue
            before = mu[at]
            if forms and (before != form.mu).any():  # NaN differs too: look again
                known = (form.B > 0) & ~np.isnan(before)
                if (before[known] != form.mu[known]).any():
                    continue
            mu[at] = np.where(form.B > 0, form.mu, before)
            taken.append(i)
            forms.append(form)
        A, B = np.zeros((2, len(forms), n_columns, n_classes))
        for c, (i, form) in enumerate(zip(taken, forms, strict=True)):
            A[c, places[i]], B[c, places[i]] = form.A, form.B
        left_out = ~(B > 0)  # terms of columns that are constant or unknown
        A[left_out] = B[left_out] = 0.0
        A, B = (np.ascontiguousarray(part.transpose(2, 1, 0)) for part in (A, B))
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
        low, high = (
            np.fmin.reduce(x, axis=None, initial=0.0),
            np.fmax.reduce(x, axis=None, initial=0.0),
        )
        farthest = max(high, -low) + float(np.abs(self.mu).max(initial=0.0))
        steepest = max(1.0, n_columns * float(self.B.max(initial=0.0)))
        if not farthest < np.sqrt(_MAX_SQUARE / steepest):
            return None
        has_missing = bool(np.isnan(x).any())
        offset = np.ascontiguousarray(self.constant + self.A.sum(axis=1))
        step = max(_MIN_ROWS, _BLOCK_NUMBERS // (n_classes * n_candidates))

        def added(rows: slice) -> Floats:
            total, given = np.zeros(n_candidates), None if weights is None else weights[rows]
            distance = self._distances(x[rows], has_missing)
            _kernel.add_scores(distance, offset, codes[rows], given, score, total)
            return total

        blocks = [slice(start, start + step) for start in range(0, codes.size, step)]
        return np.asarray(np.sum(map_blocks(added, blocks, n_jobs), axis=0))

    def _distances(self, x: Floats, has_missing: bool) -> Floats:
        """Return distances by class, row and candidate."""
        square = x - self.mu.T[:, np.newaxis]
        square *= square
        if not has_missing:
            return np.matmul(square, self.B)
        missing = np.isnan(x)
        square[:, missing] = 0.0
        return np.matmul(square, self.B) + np.matmul(missing.astype(np.float64), self.A)


def _plain_form(model: Model) -> Quadratics | None:
    """Return the form of a model of Gaussians alone, if squares are only subtracted."""
    if len(model.terms) != 1 or model.interactions is not None:
        return None
    form = model.terms[0].form
    plain = isinstance(form, Quadratics) and form.is_plain and form.s is None
    return form if plain else None  # type: ignore[return-value]
