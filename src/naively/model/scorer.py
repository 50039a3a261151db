r"""Scores rows by a sum of forms; plain quadratics by the kernel's own `GaussianModel`.

Sparse rows of numbers are scored by what differs from a row of zeros, or some rows at a time. A
quadratic is a constant, that of a zero, and two lines,

.. math:: A - B (x - \mu)^2 = (A - B \mu^2) + 2 B \mu\,x - B x^2

so that a row costs as much as cells are held of it. Where the constants are so large that their
digits would be missed in the sum, and for other forms, rows are made dense, some at a time.

Labels of many rows of counts are found by weights of 16 bits, of which more stay in the cache. They
come with a bound of their error: rows they leave in doubt are labelled by all digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.rows import Rows
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.forms import Form, Lines, Quadratics, Tables, columns_of
from naively.families.joint_forms import JointForms

Answer = Literal["labels", "proba", "log_proba", "joint", "evidence"]
_BLOCK_ROWS = 2048  # that are scored together: their sums stay in the cache


class Scorer:
    """Adds up the terms of rows, by what is fastest for them, and computes what was asked for.

    The constant of a class is its log prior and bias. Forms of numbers and of text come after the
    places of their columns among those; all columns of categories have one form. Where rows are
    coded, codes are what the user gave: then a negative one is an error.
    """

    def __init__(
        self,
        constant: Floats,
        numbers: Sequence[tuple[Sequence[int], Form]],
        categories: Tables | None = None,
        texts: Sequence[tuple[int, Form]] = (),
        *,
        n_numbers: int,
        joint_forms: JointForms | None = None,
        coded: bool = False,
    ) -> None:
        self.constant, self.numbers, self.categories = constant, numbers, categories
        self.joint_forms, self.texts = joint_forms, texts
        # the kernel's own model, and the forms of all columns, where nothing else is added up
        self.kernel: _kernel.GaussianModel | None = None
        self._forms: list[Any] | None = None
        self._exceptions = None if categories is None else categories.exceptions()
        self._coded = coded
        if categories is not None or texts or joint_forms is not None:
            return
        if any(len(at) < n_numbers for at, _ in numbers):
            return
        self._forms = [form for _, form in numbers]
        if len(numbers) == 1 and isinstance(form := numbers[0][1], Quadratics) and form.is_plain:
            self.kernel = _kernel.GaussianModel(form.A, form.B, form.mu, constant, form.s)

    def write(self, want: Answer, rows: Rows, out: NDArray[Any]) -> bool:
        """Write what is asked of rows; False at infinity.

        That is the place of the most probable class, of which ties go to the first, as int64 of
        shape (n,); or p(k | x), its logarithm or log p(x, k), of shape (n, K), or log p(x), (n, 1).
        The rows have the codes and words of the model.
        """
        numbers = rows.numbers
        if isinstance(numbers, SparseRows):
            if self._sparse is not None:
                return self._sparse.write(want, numbers, out)
            step = max(32, _DENSE_CELLS // max(1, numbers.n_columns))
            parts = [slice(start, start + step) for start in range(0, len(out), step)]
            return all(self.write(want, rows[at].dense(), out[at]) for at in parts)
        if self.kernel is not None:
            finite: bool = getattr(self.kernel, want)(numbers, out)
            return finite
        steps = range(0, len(out), _BLOCK_ROWS)
        blocks = [slice(start, min(start + _BLOCK_ROWS, len(out))) for start in steps]
        return all(self._write_block(want, rows[at], out[at]) for at in blocks)

    def label_one(self, row: Floats) -> int:
        """Return the place of the most probable class of a row of numbers; -1 at infinity."""
        if self.kernel is not None:
            return int(self.kernel.label_one(row))
        out = np.empty(1, np.int64)
        return int(out[0]) if self.write("labels", Rows.of_numbers(row[np.newaxis]), out) else -1

    @cached_property
    def _sparse(self) -> _SparseScorer | None:
        return None if self._forms is None else _SparseScorer.of(self.constant, self._forms)

    def _write_block(self, want: Answer, rows: Rows, out: NDArray[Any]) -> bool:
        x, codes = rows.numbers, rows.codes
        if self._coded and self.categories is not None:  # while they are in the cache
            check_not_negative(codes)
            codes = np.minimum(codes, np.diff(self.categories.offsets) - 1)
        joint = self._begun(rows)
        if not self._add_numbers(x, codes, joint):
            return False
        if self.categories is not None and not self.categories.add(codes, joint):
            return False
        if want in ("joint", "evidence"):
            for at, form in self.numbers:
                if isinstance(form, Lines):
                    form.add_carrier(columns_of(x, at), joint)
        elif self._exceptions is not None:
            self._rank_impossible(x, codes, joint, self._begun(rows))
        if want == "joint":
            out[:] = joint
        else:
            _kernel.finish(joint, want, out)
        return True

    def _begun(self, rows: Rows) -> Floats:
        """Return the constants, with the terms of text added."""
        joint = np.tile(self.constant, (len(rows), 1))
        for at, form in self.texts:
            assert rows.texts is not None
            form.add(rows.texts.columns[at], joint)
        return joint

    def _add_numbers(self, x: Any, codes: Any, joint: Floats) -> bool:
        """Add all terms but those of categories by themselves, which alone may be impossible."""
        if not all(form.add(columns_of(x, at), joint) for at, form in self.numbers):
            return False
        return self.joint_forms is None or self.joint_forms.add(x, codes, joint)

    def _rank_impossible(self, x: Any, codes: Any, joint: Floats, rest: Floats) -> None:
        """Where every class is impossible, keep those that have the fewest impossible cells."""
        lost = ~(joint > -np.inf).any(axis=1)
        if not lost.any():
            return
        assert self._exceptions is not None
        count = np.zeros_like(joint)
        self._add_numbers(x, codes, rest)
        for form, total in zip(self._exceptions, (rest, count), strict=True):
            form.add(codes, total)
        count[rest == -np.inf] = np.inf  # a class without a probability of its own
        fewest = count == count.min(axis=1, keepdims=True)
        joint[lost] = np.where(fewest, rest, -np.inf)[lost]


def check_not_negative(codes: NDArray[Any]) -> None:
    """Raise where a code of the user's is below 0."""
    if codes.size and np.fmin.reduce(codes, axis=None) < 0:
        raise NaivelyError("Negative values in data passed to CategoricalNB (input X).")


# --- Sparse rows of numbers ----------------------------------------------------------------------


_MAX_CONSTANT = 1e5  # of constants that are taken in and out again: 1e-11 of them is rounding
_DENSE_CELLS = 1 << 19  # that are made dense together
_SCREENED_CLASSES = range(8, 65)  # fewer fit a line of the cache as they are
_SCREENED_WEIGHTS = 1 << 23  # beyond it, a second table would need too much memory
_MAX_WEIGHT = 1e150  # of weights, whose sums must be finite


class SparseQuadratics(NamedTuple):
    """Quadratics as what zeros add, and lines of cells and of their squares."""

    of_zeros: Floats  # (n_classes,)
    A: Floats  # of a zero, by column and class, as are the others
    B: Floats
    C: Floats

    @classmethod
    def of(cls, form: Form) -> SparseQuadratics | None:
        """Return the quadratics of all columns; None where digits would be lost."""
        if not (isinstance(form, Quadratics) and form.weight is None and form.s is None):
            return None
        if np.isnan(form.B).any():
            return None
        squares = form.B * form.mu**2
        if not np.abs(squares).sum(axis=0).max(initial=0.0) < _MAX_CONSTANT:
            return None
        A = form.A - squares
        return cls(A.sum(axis=0), A, 2 * form.B * form.mu, -form.B)

    def add(self, X: SparseRows, joint: Floats) -> bool:
        """Add the terms; False at infinity."""
        joint += self.of_zeros
        return _kernel.add_sparse_quadratics(X, self.A, self.B, self.C, joint) is None


class _SparseScorer:
    """Scores sparse rows by forms that are added up over the cells that are held."""

    def __init__(self, constant: Floats, forms: list[Any]) -> None:
        self.constant, self._forms = constant, forms

    @classmethod
    def of(cls, constant: Floats, forms: list[Any]) -> _SparseScorer | None:
        """Return what scores sparse rows; None where they are to be made dense."""
        quick = [form if _is_plain_line(form) else SparseQuadratics.of(form) for form in forms]
        return None if any(form is None for form in quick) else cls(constant, quick)

    def write(self, want: Answer, numbers: SparseRows, out: NDArray[Any]) -> bool:
        """Write what is asked of rows; False at infinity."""
        if want == "labels" and numbers.n_cells >= numbers.n_columns and self._screen is not None:
            return self._screened(self._screen, numbers, out)
        return self._scored(want, numbers, out)

    @cached_property
    def _screen(self) -> _kernel.LineScreen | None:
        """What labels most rows of counts; None where it would gain nothing."""
        if len(self._forms) != 1 or not isinstance(form := self._forms[0], Lines):
            return None
        if form.step is not None or form.B.shape[1] not in _SCREENED_CLASSES:
            return None
        if not 0 < form.B.size <= _SCREENED_WEIGHTS:
            return None
        finite = form.B.min() > -_MAX_WEIGHT and form.B.max() < _MAX_WEIGHT
        return _kernel.LineScreen(form.B) if finite else None

    def _screened(
        self, screen: _kernel.LineScreen, numbers: SparseRows, out: NDArray[np.int64]
    ) -> bool:
        if screen.labels(numbers, self.constant + self._forms[0].of_zeros, out) is not None:
            return self._scored("labels", numbers, out)
        doubtful = np.flatnonzero(out < 0)
        labels = np.empty(doubtful.size, np.int64)
        fine = self._scored("labels", numbers[doubtful], labels)
        out[doubtful] = labels
        return fine

    def _scored(self, want: Answer, numbers: SparseRows, out: NDArray[Any]) -> bool:
        for start in range(0, len(out), _BLOCK_ROWS):
            rows = slice(start, min(start + _BLOCK_ROWS, len(out)))
            joint = np.empty((rows.stop - rows.start, self.constant.size))
            joint[:] = self.constant
            if not all(form.add(numbers[rows], joint) for form in self._forms):
                return False
            if want == "joint":
                out[rows] = joint
            else:
                _kernel.finish(joint, want, out[rows])
        return True


def _is_plain_line(form: Form) -> bool:
    """Whether a form is A + B x of every cell, and nothing else is added to it."""
    return isinstance(form, Lines) and form.carrier is None and form.lowest == -np.inf
