r"""Folds by content: what a row holds decides its fold, by the hash of its cells.

.. math:: f(x) = h(x) \bmod F

where h is the hash of `naively.statistics.hashes`. Rows of the same cells are in one fold,
whatever their order, the file format, the threads and the number of rows; labels have no part in
it. A seed mixes the hash anew.

>>> hashes = np.array([3, 14, 15, 3], np.uint64)
>>> ContentFolds(10).of(hashes).tolist()
[3, 4, 5, 3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.data.rows import Rows, Targets
from naively.data.types import Hashes
from naively.engines.memory.tables import code_columns
from naively.statistics.hashes import hash_rows, hashes_of

_STEP, *_FACTORS = (
    np.array([value], np.uint64)
    for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(frozen=True)
class ContentFolds:
    """How the content of rows decides their folds.

    Attributes
    ----------
    n_folds : int
        How many folds there are.
    seed : int or None
        Of the mixed hash; None for the hash itself.
    test_share : float or None
        The share of rows that is in fold 0, the test rows, of two folds; None for equal folds.
    """

    n_folds: int
    seed: int | None = None
    test_share: float | None = None

    def of(self, hashes: Hashes) -> NDArray[np.int32]:
        """Return the fold of each row."""
        if self.test_share is not None:
            limit = np.uint64(min(int(self.test_share * 2.0**64), 2**64 - 1))
            return (mixed(hashes, self.seed or 0) >= limit).astype(np.int32)
        if self.seed is not None:
            hashes = mixed(hashes, self.seed)
        return (hashes % np.uint64(self.n_folds)).astype(np.int32)

    @property
    def learned_share(self) -> float:
        """About the least share of all rows that a model learns from."""
        if self.test_share is not None:
            return 1 - self.test_share
        return 1 - 1 / self.n_folds if self.n_folds > 1 else 1.0


def content_hashes(rows: Rows, numbers: Sequence[int] | None = None) -> Hashes:
    """Return the hash of each row's cells: of all columns, or of some of those of numbers."""
    cells, hashes = rows.numbers[:], np.empty(rows.shape[0], np.uint64)
    if isinstance(cells, list) and numbers is not None:
        cells = [cells[i] for i in numbers] or np.empty((hashes.size, 0))
    known = [hashes_of(categories) for categories in rows.categories]
    codes = [np.ascontiguousarray(column) for column in code_columns(rows)]
    hash_rows(cells, codes or np.empty((hashes.size, 0), np.int32), known, rows.texts, hashes)
    return hashes


def mixed(hashes: Hashes, seed: int) -> Hashes:
    """Return other hashes: the steps of SplitMix64 (Steele, Lea and Flood, 2014).

    >>> mixed(np.zeros(1, np.uint64), 0)
    array([16294208416658607535], dtype=uint64)
    """
    start = np.array([seed % 2**64], np.uint64)
    with np.errstate(over="ignore"):
        h = hashes + _STEP * (start + np.uint64(1))
        h = (h ^ (h >> np.uint64(30))) * _FACTORS[0]
        h = (h ^ (h >> np.uint64(27))) * _FACTORS[1]
    return h ^ (h >> np.uint64(31))


class FoldTargets:
    """Labels and folds as the classes of one pass: class k of fold f is ``k * n_folds + f``.

    Labels get their numbers as they come, since nobody knows all of them before the end.
    """

    def __init__(self, folds: ContentFolds) -> None:
        self.folds, self.classes = folds, np.array([], dtype=np.int64)
        self._numbers, self._lock = dict[Any, int](), Lock()

    @property
    def found(self) -> list[Any]:
        """The labels in the order of their numbers."""
        return list(self._numbers)

    def regroup(self, rows: Rows, numbers: Sequence[int], targets: Targets) -> Targets:
        """Return the classes of rows: those of their folds."""
        n, own = self.folds.n_folds, self._numbers_of(targets.classes)
        places = np.argsort(np.argsort(own)).astype(np.int32)
        fold = self.folds.of(content_hashes(rows, numbers))
        classes = (np.sort(own)[:, np.newaxis] * n + np.arange(n)).ravel()
        return Targets(classes, places[targets.codes] * np.int32(n) + fold, targets.weights)

    def _numbers_of(self, classes: NDArray[Any]) -> NDArray[np.int64]:
        with self._lock:
            known, listed = self._numbers, classes.tolist()
            if not all(label in known for label in listed):
                self.classes = labels.union(self.classes, classes)
                for label in listed:
                    known.setdefault(label, len(known))
            return np.array([known[label] for label in listed], dtype=np.int64)
