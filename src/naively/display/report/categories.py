"""What a page knows of a column of categories: which there are, and how many rows of each class.

A page names so many categories of a column, the most frequent ones; a model knows them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """A column of categories, as far as a page names them."""

    # the categories that are named, the most frequent first: their codes in the model
    named: NDArray[np.intp]
    labels: list[str]  # what they are called
    counts: NDArray[np.int64]  # (n_classes, n_named): rows of each class
    others: NDArray[np.int64]  # (n_classes,): rows of each class that have another category
    missing: int
    n_known: int  # how many categories the model knows

    @classmethod
    def of(
        cls,
        cells: NDArray[np.int32],
        known: NDArray[Any],
        codes: NDArray[np.int32],
        n_classes: int,
        needed: NDArray[np.intp],
    ) -> Categories:
        """Count a column of codes: of known categories, one more for others, -1 where missing.

        The categories of the rows that are needed are named in any case.
        """
        width = known.size + 1
        here = cells >= 0
        counts = np.bincount(codes[here] * width + cells[here], minlength=n_classes * width)
        return cls.counted(counts.reshape(n_classes, width), cells.size, known, cells[needed])

    @classmethod
    def counted(
        cls,
        counts: NDArray[np.int64],
        n_rows: int,
        known: NDArray[Any],
        needed: NDArray[np.int32],
    ) -> Categories:
        """Choose the categories that are named by the rows of each class that have them.

        After those of the known categories there may be rows of others.
        """
        total, n_classes = counts.sum(axis=1), len(counts)
        counts = counts[:, : known.size]
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        commons = counts.argmax(axis=1) if known.size else []
        wanted = np.isin(order, needed) | np.isin(order, commons)
        wanted[: most_named(n_classes)] = True
        named = order[wanted]
        labels = [_text(value) for value in known[named].tolist()]
        counts = counts[:, named]
        others = total - counts.sum(axis=1)
        missing = n_rows - int(total.sum())
        return cls(named, labels, counts, others, missing, known.size)

    def places(self, cells: NDArray[np.int32]) -> list[int | None]:
        """Return places among those named; after them for all others, None where missing."""
        place_of = {int(code): place for place, code in enumerate(self.named)}
        return [
            None if code < 0 else place_of.get(code, len(self.labels)) for code in cells.tolist()
        ]


def _text(value: Any) -> str:
    """Write a category.

    >>> _text("Ulm"), _text(True), _text(3.0), _text(0.5), _text(" ")
    ('Ulm', 'True', '3', '0.5', "' '")
    """
    return visible(f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value))


def visible(text: str) -> str:
    """Put quotes around a text of nothing but spaces."""
    return text if text.strip() else repr(text)


def shortened(text: str, most: int) -> str:
    """Cut a text that is too long.

    >>> shortened("a long text", 6)
    'a lon…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
