r"""Leave-one-out in closed form: every row is judged by the model of all others.

Removing a row x from its class k is the inverse of adding it,

.. math::

    w' = w - 1, \qquad
    \bar x' = \bar x + \frac{\bar x - x}{w'}, \qquad
    m_2' = m_2 - (\bar x - x)^2 \frac{w}{w'}

and the other classes are as they were. Models are read off these moments as off any other, for
a block of rows at once, so that priors, smoothing and shared variances follow as if each model
had been fitted. It costs about one prediction.

Where the row holds nearly all of its class's :math:`m_2`, the difference would be rounding; there
the others are summarized anew. The shares of :math:`m_2` that rows take with them add up to
:math:`w / w' \le 2`, so that happens to at most two rows of a class and column: at most two more
passes over the data, however wild they are.

Examples
--------
>>> from naively import GaussianNB
>>> X, y = np.array([[0.0], [2.0], [3.0], [6.0], [8.0]]), ["a", "a", "b", "b", "b"]
>>> leave_one_out(GaussianNB(), X, Truth.of(X, y)).predicted
array([1, 1, 0, 1, 1])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.rows import Targets
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.engines.memory.arrays import summarize
from naively.errors import NaivelyError
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.measurement import check_table
from naively.evaluation.inputs import Truth
from naively.evaluation.judgement import Judgement
from naively.families import gaussian
from naively.families.gaussian import Gaussian, GaussianParameters
from naively.model.class_weights import weighted_prior
from naively.model.model import check_priors
from naively.statistics import Moments
from naively.statistics.measure import measure
from naively.statistics.summary import Summary

_BLOCK_NUMBERS = 1 << 15  # of a block's moments: they stay in the cache
_MIN_M2_LEFT = 1e-3  # what is left of m2 where its difference would lose three digits


def leave_one_out(model: GaussianNB, X: Any, truth: Truth) -> Judgement:
    """Judge each row by the model of all others.

    A class whose only row is left out keeps its place: its probability is 0, unless priors are
    given, and it borrows the mean and variance of all rows. That is the model of `partial_fit`
    with all classes declared.
    """
    checked = check_table(model, X, None)
    targets = Targets(*truth)
    whole = measure(checked.table, targets, checked.schema, n_jobs=model.n_jobs)
    GaussianNB.from_summary(whole, **model.get_params())  # raises where all rows give no model
    rows_of = _RowsLeftOut(model, whole, checked.table.array(), truth.codes)
    step = max(1, _BLOCK_NUMBERS // whole.moments.mean.size)
    blocks = [slice(at, at + step) for at in range(0, truth.codes.size, step)]
    joint = np.concatenate(map_blocks(rows_of.joint, blocks, model.n_jobs))
    return Judgement.of_joint(truth.codes, joint)


class _RowsLeftOut(NamedTuple):
    """The models without one row, for blocks of rows: classes first, then rows, then columns."""

    model: GaussianNB
    whole: Summary
    X: Floats
    codes: NDArray[np.int32]

    def joint(self, rows: slice) -> Floats:
        """Return log p(k) + log f(x | k) of the rows, each by its own model."""
        x, log_prior = self.X[rows], self.log_prior(rows)
        names = ("ddof", "variance", "var_smoothing", "smoothing")
        how: Any = {name: getattr(self.model, name) for name in names}
        parameters = gaussian.parameters(self.moments(rows), **how)
        self.check_defined(parameters, rows)
        joint = np.ascontiguousarray((log_prior + _log_densities(x, parameters)).T)
        # Where all classes have overflowed, the kernel knows which is the nearest.
        for i in np.flatnonzero(np.isneginf(joint).all(axis=1)):
            mean, variance = parameters.mean[:, i], parameters.variance[:, i]
            form = Gaussian().form(GaussianParameters(mean, variance, 0.0), np.ones_like(mean))
            constant = np.ascontiguousarray(log_prior[:, i])
            kernel = _kernel.GaussianModel(form.A, form.B, form.mu, constant, form.s)
            kernel.log_proba(x[i : i + 1], joint[i : i + 1])
        return joint

    def log_prior(self, rows: slice) -> Floats:
        """Return log p(k): the shares of the other rows, or the priors that were given."""
        k = self.codes[rows]
        if self.model.priors is None:
            weight = np.repeat(self.whole.class_weight[:, np.newaxis], k.size, axis=1)
            weight[k, np.arange(k.size)] -= 1
            prior = weight / (self.whole.weight - 1)
        else:
            given = check_priors(self.model.priors, self.whole.classes)
            prior = np.repeat(given[:, np.newaxis], k.size, axis=1)
        prior = weighted_prior(prior, self.model.class_weight, self.whole.classes)
        return np.log(prior, out=np.full(prior.shape, -np.inf), where=prior > 0)

    def moments(self, rows: slice) -> Moments:
        """Return the moments of every class without each row."""
        x, k, moments = self.X[rows], self.codes[rows], self.whole.moments
        present = ~np.isnan(x)
        own = moments[k]
        rest = own - Moments.of(present, np.where(present, x, 0.0), 0.0)
        values = np.repeat(moments.values[:, :, np.newaxis], k.size, axis=2)
        values[:, k, np.arange(k.size)] = rest.values
        for i, j in np.argwhere((rest.m2 < _MIN_M2_LEFT * own.m2) & (rest.weight > 0)):
            values[:, k[i], i, j] = self.others(rows.start + i, j).values[:, 0]
        return Moments(values)

    def others(self, row: int, j: int) -> Moments:
        """Summarize column j of the other rows of a row's class."""
        members = np.flatnonzero(self.codes == self.codes[row])
        members = members[members != row]
        cells = self.X[members, j]
        return summarize(cells[:, np.newaxis], np.zeros(cells.size, dtype=np.int64)).moments[0]

    def check_defined(self, parameters: GaussianParameters, rows: slice) -> None:
        """Raise where ddof leaves nothing to divide by."""
        if self.model.ddof == 0:
            return
        undefined = np.isnan(parameters.variance) & ~np.isnan(parameters.mean)
        if undefined.any():
            k, i, j = np.argwhere(undefined)[0]
            raise NaivelyError(
                f"class {self.whole.classes.item(k)!r} has no variance with "
                f"ddof={self.model.ddof} in {self.whole.schema.name(int(j))} once row "
                f"{rows.start + i} is left out. Use ddof=0 or more rows."
            )


def _log_densities(x: Floats, parameters: GaussianParameters) -> Floats:
    """Return log f(x | k), the sum over columns; what is missing is left out."""
    variance = np.where(parameters.variance > 0, parameters.variance, np.nan)
    with np.errstate(over="ignore"):
        return np.nansum(gaussian.log_density(x, parameters.mean, variance), axis=-1)
