"""The value that a comparison of old and new data returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.tabular import Drawn, PrintedTable, Tabular, plain

LEVELS = ("none", "negligible", "moderate", "severe")
_ALPHA = 0.05  # the share of false discoveries that adjusted p-values allow
BOUNDS = (0.1, 0.2)  # of distances: where a drift is moderate, and where severe


class ColumnDrift(NamedTuple):
    """Measures of shape (n_groups, n_columns): of all rows, then of each class.

    What a column does not have is NaN: a mean of categories, anything of a class without rows.

    Attributes
    ----------
    mean_before, mean_after, spread_before, spread_after
        Means and standard deviations of numbers.
    shift
        The difference of means in standard deviations before.
    spread_ratio
        The standard deviation after, divided by that before.
    missing_before, missing_after
        Shares of cells that are missing.
    divergence
        Jensen-Shannon divergence of bins, categories or words, in bits; of two Gaussians where
        numbers have no bins.
    distance
        From 0 to 1: the root of the divergence less what samples of this size differ by without
        any drift; or that of missing cells, where it is greater.
    p_value
        Of the hypothesis that nothing has changed: the least of all tests of the column, times
        their number.
    p_adjusted
        The same, adjusted for the number of columns and classes by Benjamini and Hochberg.
    """

    mean_before: Floats
    mean_after: Floats
    spread_before: Floats
    spread_after: Floats
    shift: Floats
    spread_ratio: Floats
    missing_before: Floats
    missing_after: Floats
    divergence: Floats
    distance: Floats
    p_value: Floats
    p_adjusted: Floats


class ClassDrift(NamedTuple):
    """The shares of classes before and after, and how far they are apart."""

    before: Floats
    after: Floats
    distance: float
    p_value: float
    p_adjusted: float


class UnusualRows(NamedTuple):
    """How unlikely new rows are under the old model, beside the old rows that its sample holds.

    Attributes
    ----------
    share : float
        The share of new rows whose log p(x) is below the threshold.
    expected : float
        The share of old rows that is, 0.01.
    threshold : float
        The quantile of the old rows' log p(x).
    n_before, n_after : int
        How many rows were scored.
    """

    share: float
    expected: float
    threshold: float
    n_before: int
    n_after: int


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Drawn, Tabular):
    """How data has changed, column by column and class by class.

    It prints as a table, in a notebook as a page.

    Attributes
    ----------
    columns, kinds : tuple of str
        The names of columns, and what they hold.
    classes : ndarray of shape (n_classes,)
        The classes that were compared; empty where rows have no labels, or all have the same.
    n_before, n_after : ndarray of shape (n_groups,)
        The weight of rows: of all, then of each class.
    measures : ColumnDrift
        Everything by group and column: ``drift.measures.shift[0]`` is that of all rows.
    class_shares : ClassDrift or None
        The shares of classes.
    new_categories : dict
        For columns that have some, the categories that were not there before, the most frequent
        first; of words, the first twenty.
    tests_spread : bool
        Whether a change of the spread of numbers alone would be found, which needs bins.
    unusual : UnusualRows or None
        How unlikely the new rows are, where a model with a sample and rows are known.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import drift
    >>> rng = np.random.default_rng(0)
    >>> found = drift(rng.normal(size=(900, 1)), rng.normal(1.0, size=(900, 1)))
    >>> found.severity
    {'column 0': 'severe'}
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    classes: NDArray[Any]
    n_before: Floats
    n_after: Floats
    measures: ColumnDrift
    class_shares: ClassDrift | None
    new_categories: Mapping[str, list[Any]]
    tests_spread: bool = True
    unusual: UnusualRows | None = None
    library: str | None = None

    @cached_property
    def levels(self) -> NDArray[np.intp]:
        """The severity of each group and column, as a place in `LEVELS`."""
        return _levels(self.measures.distance, self.measures.p_adjusted)

    @property
    def severity(self) -> dict[str, str]:
        """The severity of each column: that of the group in which it is greatest."""
        worst = self.levels.max(axis=0, initial=0).tolist()
        return {name: LEVELS[level] for name, level in zip(self.columns, worst, strict=True)}

    @property
    def class_severity(self) -> str:
        """The severity of the change of class shares."""
        found = self.class_shares
        if found is None:
            return LEVELS[0]
        return LEVELS[_levels(np.array(found.distance), np.array(found.p_adjusted)).item()]

    @property
    def greatest(self) -> float:
        """The greatest distance that is no chance: of columns, classes or class shares."""
        found = self.measures.distance[self.levels > 0].max(initial=0.0)
        shares = self.class_shares
        if shares is not None and self.class_severity != LEVELS[0]:
            found = max(found, shares.distance)
        return float(found)

    @property
    def has_weights(self) -> bool:
        """Whether rows were weighted or decayed: p-values take weights as numbers of rows."""
        every = np.concatenate([self.n_before, self.n_after])
        return bool((every != np.round(every)).any())

    @property
    def groups(self) -> list[Any]:
        """None for all rows, and then the classes."""
        return [None, *self.classes.tolist()]

    @property
    def order(self) -> NDArray[np.intp]:
        """The places of columns, the one that has changed most first."""
        distance = np.nan_to_num(self.measures.distance).max(axis=0, initial=0.0)
        return np.lexsort((-distance, -self.levels.max(axis=0, initial=0)))

    def to_frame(self) -> Any:
        """Return a frame with a line for each column and group; ``class`` is None for all rows.

        It is of the library that the new data came in, and else of pandas.
        """
        from naively.inspection.drifts import tables

        return tables.frame_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; what is undefined or infinite is None."""
        from naively.inspection.drifts import tables

        found: dict[str, Any] = plain(tables.dict_of(self))
        return found

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: columns, the one that has changed most first; and classes."""
        from naively.inspection.drifts import tables

        return tables.of_drift(self)

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """What is to be said beside figures, in sentences."""
        from naively.inspection.drifts import tables

        return tables.notes_of(self)

    def __repr__(self) -> str:
        found = [level for level in self.severity.values() if level in LEVELS[2:]]
        return (
            f"<Drift of {len(self.columns):,} columns: {len(found):,} moderate or severe, "
            f"greatest {self.greatest:.3f}>"
        )


def _levels(distance: Floats, p: Floats) -> NDArray[np.intp]:
    """Return 0 where a change may be chance, and else 1, 2 or 3 by its distance."""
    with np.errstate(invalid="ignore"):
        return np.where(p < _ALPHA, 1 + np.searchsorted(BOUNDS, distance, side="right"), 0)
