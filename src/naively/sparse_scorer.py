r"""Scores sparse rows of numbers: by what differs from a row of zeros, or some rows at a time.

A quadratic is a constant, that of a zero, and two lines,

.. math:: A - B (x - \mu)^2 = (A - B \mu^2) + 2 B \mu\,x - B x^2

so that a row costs as much as cells are held of it. Where the constants are so large that their
digits would be missed in the sum, and for other forms, rows are made dense, some at a time.

Labels of many rows of counts are found by weights of 16 bits, of which more stay in the cache. They
come with a bound of their error: rows they leave in doubt are labelled by all digits.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.forms import Lines, Quadratics
from naively.sparse import SparseRows

__all__ = ["SparseQuadratics", "SparseScorer"]

Floats = NDArray[np.float64]

_LARGEST = 1e5  # of constants that are taken in and out again: 1e-11 of them is rounding
_ROWS = 2048  # that are scored together
_CELLS = 1 << 19  # that are made dense together
_SCREENED_CLASSES = range(8, 65)  # fewer fit a line of the cache as they are
_SCREENED_WEIGHTS = 1 << 23  # beyond it, a second table would need too much memory
_FARTHEST = 1e150  # of weights, whose sums must be finite


class SparseQuadratics(NamedTuple):
    """Quadratics as what zeros add, and lines of cells and of their squares."""

    of_zeros: Floats  # (n_classes,)
    A: Floats  # of a zero, by column and class, as are the others
    B: Floats
    C: Floats

    @classmethod
    def of(cls, form: Any) -> SparseQuadratics | None:
        """Return the quadratics of all columns; None where digits would be lost."""
        if not (isinstance(form, Quadratics) and form.weight is None and form.s is None):
            return None
        if np.isnan(form.B).any():
            return None
        squares = form.B * form.mu**2
        if not np.abs(squares).sum(axis=0).max(initial=0.0) < _LARGEST:
            return None
        A = form.A - squares
        return cls(A.sum(axis=0), A, 2 * form.B * form.mu, -form.B)

    def add(self, X: SparseRows, joint: Floats) -> bool:
        """Add the terms; False at infinity."""
        joint += self.of_zeros
        return _kernel.add_sparse_quadratics(X, self.A, self.B, self.C, joint) is None


class SparseScorer:
    """Scores sparse rows of numbers, with the methods of the kernel's own `GaussianModel`.

    Parameters
    ----------
    constant : array of shape (n_classes,)
        Log prior and bias of each class.
    forms : list
        The forms of numbers.
    kernel : object
        What scores dense rows.
    """

    def __init__(self, constant: Floats, forms: list[Any], kernel: Any) -> None:
        self.constant, self.kernel = constant, kernel
        quick = [form if _is_plain_line(form) else SparseQuadratics.of(form) for form in forms]
        self._forms: Any = None if any(form is None for form in quick) else quick

    def joint(self, table: Any, out: NDArray[Any]) -> bool:
        """Write the joint log-probability of each row and class."""
        return self._scored("joint", table, out)

    def log_proba(self, table: Any, out: NDArray[Any]) -> bool:
        """Write log p(k | x)."""
        return self._scored("log_proba", table, out)

    def proba(self, table: Any, out: NDArray[Any]) -> bool:
        """Write p(k | x)."""
        return self._scored("proba", table, out)

    def evidence(self, table: Any, out: NDArray[Any]) -> bool:
        """Write log p(x), one number for each row."""
        return self._scored("evidence", table, out)

    def labels(self, table: Any, out: NDArray[np.int64]) -> bool:
        """Write the index of the most probable class; ties go to the first."""
        return self._scored("labels", table, out)

    def _scored(self, want: str, table: Any, out: NDArray[Any]) -> bool:
        numbers: SparseRows = getattr(table, "numbers", table)
        if self._forms is None:
            return self._scored_dense(want, numbers, out)
        if want == "labels" and numbers.n_cells >= numbers.n_columns and self._screen is not None:
            return self._screened(self._screen, numbers, out)
        return self._scored_sparse(want, numbers, out)

    @cached_property
    def _screen(self) -> _kernel.LineScreen | None:
        """What labels most rows of counts; None where it would gain nothing."""
        if len(self._forms) != 1 or not isinstance(form := self._forms[0], Lines):
            return None
        if form.step is not None or form.B.shape[1] not in _SCREENED_CLASSES:
            return None
        if not 0 < form.B.size <= _SCREENED_WEIGHTS:
            return None
        finite = form.B.min() > -_FARTHEST and form.B.max() < _FARTHEST
        return _kernel.LineScreen(form.B) if finite else None

    def _screened(
        self, screen: _kernel.LineScreen, numbers: SparseRows, out: NDArray[np.int64]
    ) -> bool:
        if screen.labels(numbers, self.constant + self._forms[0].of_zeros, out) is not None:
            return self._scored_sparse("labels", numbers, out)
        doubtful = np.flatnonzero(out < 0)
        labels = np.empty(doubtful.size, np.int64)
        fine = self._scored_sparse("labels", numbers.take(doubtful), labels)
        out[doubtful] = labels
        return fine

    def _scored_sparse(self, want: str, numbers: SparseRows, out: NDArray[Any]) -> bool:
        for start in range(0, len(out), _ROWS):
            rows = slice(start, min(start + _ROWS, len(out)))
            joint = np.empty((rows.stop - rows.start, self.constant.size))
            joint[:] = self.constant
            if not all(form.add(numbers[rows], joint) for form in self._forms):
                return False
            if want == "joint":
                out[rows] = joint
            else:
                _kernel.finish(joint, want, out[rows])
        return True

    def _scored_dense(self, want: str, numbers: SparseRows, out: NDArray[Any]) -> bool:
        step = max(32, _CELLS // max(1, numbers.n_columns))
        parts = [slice(start, start + step) for start in range(0, len(numbers), step)]
        return all(getattr(self.kernel, want)(numbers.dense(at), out[at]) for at in parts)


def _is_plain_line(form: Any) -> bool:
    """Whether a form is A + B x of every cell, and nothing else is added to it."""
    return isinstance(form, Lines) and form.carrier is None and form.lowest == -np.inf
