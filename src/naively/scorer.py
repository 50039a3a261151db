"""Scores rows by a sum of forms, with the methods of the kernel's own `GaussianModel`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.exceptions import NaivelyError
from naively.forms import Form, Lines, Tables, columns_of
from naively.joint_forms import JointForms

__all__ = ["FormScorer", "check_not_negative"]

Floats = NDArray[np.float64]

_ROWS = 2048  # that are scored together: their sums stay in the cache


class FormScorer:
    """Adds up the terms of rows, and computes what was asked for.

    Rows are an array or a list of columns of numbers, or a table with ``numbers``, ``codes`` and
    ``texts``. The constant of a class is its log prior and bias. Forms of numbers and of text come
    after the places of their columns among those; all columns of categories have one form. Where
    rows are coded, codes are what the user gave: then a negative one is an error.
    """

    def __init__(
        self,
        constant: Floats,
        numbers: Sequence[tuple[Sequence[int], Form]],
        categories: Tables | None,
        texts: Sequence[tuple[int, Form]] = (),
        *,
        joint_forms: JointForms | None = None,
        coded: bool = False,
    ) -> None:
        self.constant, self.numbers, self.categories = constant, numbers, categories
        self.joint_forms = joint_forms
        self._exceptions = None if categories is None else categories.exceptions()
        self._coded, self.texts = coded, texts

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

    def label_one(self, row: Floats) -> int:
        """Return the index of the most probable class of a row of numbers; -1 at infinity."""
        out = np.empty(1, np.int64)
        return int(out[0]) if self._scored("labels", row[np.newaxis], out) else -1

    def _scored(self, want: str, table: Any, out: NDArray[Any]) -> bool:
        numbers, codes = getattr(table, "numbers", table), getattr(table, "codes", None)
        for start in range(0, len(out), _ROWS):
            rows = slice(start, min(start + _ROWS, len(out)))
            x = _rows_of(numbers, rows)
            c = None if self.categories is None else _rows_of(codes, rows)
            joint = self._begun(table, rows)
            if not self._add(x, c, joint):
                return False
            if want in ("joint", "evidence"):
                self._add_carriers(x, joint)
            elif self._exceptions is not None:
                self._rank_impossible(x, c, joint, self._begun(table, rows))
            if want == "joint":
                out[rows] = joint
            else:
                _kernel.finish(joint, want, out[rows])
        return True

    def _begun(self, table: Any, rows: slice) -> Floats:
        """Return the constants, with the terms of text added."""
        joint = np.tile(self.constant, (rows.stop - rows.start, 1))
        for at, form in self.texts:
            form.add(table.texts.columns[at][rows], joint)
        return joint

    def _add(self, x: Any, codes: Any, joint: Floats) -> bool:
        if not self._add_numbers(x, codes, joint):
            return False
        if self.categories is None:
            return True
        if self._coded:  # while they are in the cache
            check_not_negative(codes)
        return self.categories.add(codes, joint)

    def _add_numbers(self, x: Any, codes: Any, joint: Floats) -> bool:
        """Add all terms but those of categories by themselves, which alone may be impossible."""
        if not all(form.add(columns_of(x, at), joint) for at, form in self.numbers):
            return False
        return self.joint_forms is None or self.joint_forms.add(x, codes, joint)

    def _add_carriers(self, x: Any, joint: Floats) -> None:
        for at, form in self.numbers:
            if isinstance(form, Lines):
                form.add_carrier(columns_of(x, at), joint)

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


def _rows_of(X: Any, rows: slice) -> Any:
    return [column[rows] for column in X] if isinstance(X, list) else X[rows]
