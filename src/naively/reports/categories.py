"""What a page knows of a column of categories: which there are, and how many rows of each class.

A page names so many categories of a column, the most frequent ones; a model knows them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Categories", "most_named"]

_MOST_NAMED = 40
_MOST_SHARES = 1000  # categories times classes
_FEW = 8


def most_named(n_classes: int) -> int:
    """Return how many categories of a column a page names.

    >>> most_named(2), most_named(100)
    (40, 10)
    """
    return max(_FEW, min(_MOST_NAMED, _MOST_SHARES // n_classes))


@dataclass(frozen=True)
class Categories:
    """A column of categories, as far as a page names them.

    Attributes
    ----------
    named : ndarray of int
        The categories that are named, the most frequent first: their codes in the model.
    labels : list of str
        What they are called.
    counts : ndarray of shape (n_classes, n_named)
        Rows of each class.
    missing : int
        Cells that are missing.
    n_known : int
        How many categories the model knows.
    """

    named: NDArray[np.intp]
    labels: list[str]
    counts: NDArray[np.int64]
    missing: int
    n_known: int

    @classmethod
    def of(
        cls,
        cells: NDArray[np.int32],
        known: NDArray[Any],
        codes: NDArray[np.int32],
        n_classes: int,
        needed: NDArray[np.intp],
    ) -> Categories:
        """Count a column.

        Parameters
        ----------
        cells : ndarray of shape (n_rows,)
            Codes of the known categories, one more for all others; -1 where missing.
        known : ndarray
            The categories that the model knows.
        codes : ndarray of shape (n_rows,)
            The classes.
        n_classes : int
            How many there are.
        needed : ndarray of int
            Rows whose categories are named in any case.
        """
        width = known.size + 1
        here = cells >= 0
        counts = np.bincount(codes[here] * width + cells[here], minlength=n_classes * width)
        counts = counts.reshape(n_classes, width)[:, : known.size]
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        wanted = np.isin(order, cells[needed])
        wanted[: most_named(n_classes)] = True
        named = order[wanted]
        labels = [_text(value) for value in known[named].tolist()]
        return cls(named, labels, counts[:, named], int((~here).sum()), known.size)

    def places(self, cells: NDArray[np.int32]) -> list[int | None]:
        """Return places among those named; after them for all others, None where missing."""
        place_of = {int(code): place for place, code in enumerate(self.named)}
        return [
            None if code < 0 else place_of.get(code, len(self.labels)) for code in cells.tolist()
        ]


def _text(value: Any) -> str:
    """Write a category.

    >>> _text("Ulm"), _text(True), _text(3.0), _text(0.5)
    ('Ulm', 'True', '3', '0.5')
    """
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
