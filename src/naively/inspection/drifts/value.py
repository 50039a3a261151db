"""The value that a comparison of old and new data returns, and how it prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.tabular import Drawn, PrintedTable, Tabular, figure, frame, plain

LEVELS = ("none", "negligible", "moderate", "severe")
_MAX_COLUMNS, _MAX_CLASSES, _MAX_NAMES = 20, 10, 5  # that are printed
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
    >>> compared = drift(rng.normal(size=(900, 1)), rng.normal(1.0, size=(900, 1)))
    >>> compared.severity
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
        return {name: LEVELS[level] for name, level in zip(self.columns, self.worst, strict=True)}

    @property
    def worst(self) -> list[int]:
        """The place in `LEVELS` of each column's severity."""
        worst: list[int] = self.levels.max(axis=0, initial=0).tolist()
        return worst

    @property
    def class_severity(self) -> str:
        """The severity of the change of class shares."""
        shares = self.class_shares
        if shares is None:
            return LEVELS[0]
        return LEVELS[_levels(np.array(shares.distance), np.array(shares.p_adjusted)).item()]

    @property
    def greatest(self) -> float:
        """The greatest distance that is no chance: of columns, classes or class shares."""
        greatest = float(self.measures.distance[self.levels > 0].max(initial=0.0))
        if self.class_shares is not None and self.class_severity != LEVELS[0]:
            greatest = max(greatest, self.class_shares.distance)
        return greatest

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
        return np.lexsort((-distance, -np.array(self.worst)))

    @property
    def title(self) -> str:
        """What was compared, and the result, in a sentence."""
        worst = [*self.severity.values(), self.class_severity]
        counts = [(worst.count(level), level) for level in LEVELS[:0:-1]]
        result = ", ".join(f"{count} {level}" for count, level in counts if count)
        rows = f"{self.n_before[0]:,.10g} rows before, {self.n_after[0]:,.10g} after"
        return f"Drift of {len(self.columns):,} columns ({rows}): {result or 'none'}"

    @property
    def class_title(self) -> str:
        """How the shares of classes have changed, in a sentence."""
        shares: Any = self.class_shares
        return (
            f"Shares of classes: distance {figure(shares.distance)}, p "
            f"{p_text(shares.p_adjusted)}, {self.class_severity}"
        )

    @property
    def class_order(self) -> NDArray[np.intp]:
        """The places of classes, the one whose share has changed most first."""
        shares: Any = self.class_shares
        return np.argsort(-np.abs(shares.after - shares.before), kind="stable")

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """What is to be said beside figures, in sentences."""
        notes = [
            f"{name} holds what was not there before: {_listed(new)}."
            for name, new in self.new_categories.items()
        ][:_MAX_COLUMNS]
        if (unusual := self.unusual) is not None:
            notes.append(
                f"{unusual.share:.1%} of {unusual.n_after:,} new rows are less likely than all but "
                f"{unusual.expected:.0%} of {unusual.n_before:,} old ones."
            )
        if not self.tests_spread:
            notes.append(
                "Numbers are compared by their means: without histograms, as NaiveBayes has them, "
                "a change of the spread alone is not tested."
            )
        if self.has_weights:
            notes.append("Rows are weighted: p-values take weights as numbers of rows.")
        return notes

    def most_in(self, j: int) -> str:
        """Return the class in which a column has changed most; nothing where that is all rows."""
        distance = np.where(self.levels[:, j] > 0, self.measures.distance[:, j], -1.0)
        at = int(np.argmax(distance))
        return f"{self.groups[at]} ({distance[at]:.3f})" if at and distance[at] > 0 else ""

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: columns, the one that has changed most first; and classes."""
        names = ["holds", "mean before", "after", "shift", "spread", "missing", "after"]
        has_classes = bool(self.classes.size)
        header = ["", *names, "distance", "p", *["most in"] * has_classes, "severity"]
        lines = [
            (name, *cells, *[most] * has_classes, level)
            for name, cells, most, level in map(self._cells, self.order[:_MAX_COLUMNS].tolist())
        ]
        tables = [_table(self.title, header, lines, len(self.columns))]
        if self.class_shares is not None:
            before, after = self.class_shares[:2]
            lines = [
                (str(self.classes[k]), f"{before[k]:.2%}", f"{after[k]:.2%}")
                for k in self.class_order[:_MAX_CLASSES].tolist()
            ]
            tables.append(
                _table(self.class_title, ["", "before", "after"], lines, self.classes.size)
            )
        return tables

    def _cells(self, j: int) -> tuple[str, list[str], str, str]:
        """Return a column's name, its cells, the class that has changed most, and its severity."""
        one = {name: float(values[0, j]) for name, values in self.measures._asdict().items()}
        cells = [
            str(self.kinds[j]),
            number_text(one["mean_before"]),
            number_text(one["mean_after"]),
            number_text(one["shift"], "+.3f"),
            number_text(one["spread_ratio"], ".3f", "x "),
            share_text(one["missing_before"]),
            share_text(one["missing_after"]),
            figure(one["distance"]),
            p_text(one["p_adjusted"]),
        ]
        return self.columns[j], cells, self.most_in(j), LEVELS[self.worst[j]]

    def to_frame(self) -> Any:
        """Return a frame with a line for each column and group; ``class`` is None for all rows.

        It is of the library that the new data came in, and else of pandas.
        """
        n_groups, n_columns = self.levels.shape
        columns = {
            "column": list(self.columns) * n_groups,
            "kind": list(self.kinds) * n_groups,
            "class": [group for group in self.groups for _ in range(n_columns)],
            "n_before": np.repeat(self.n_before, n_columns),
            "n_after": np.repeat(self.n_after, n_columns),
            **{name: values.ravel() for name, values in self.measures._asdict().items()},
            "severity": [LEVELS[level] for level in self.levels.ravel().tolist()],
        }
        return frame(columns, self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it; what is undefined or infinite is None."""
        measures, shares = self.measures._asdict(), self.class_shares
        columns = [
            {
                "column": name,
                "kind": self.kinds[j],
                "severity": LEVELS[self.worst[j]],
                "new_categories": self.new_categories.get(name, []),
                **{measure: values[:, j] for measure, values in measures.items()},
            }
            for j, name in enumerate(self.columns)
        ]
        parts = {
            "greatest": self.greatest,
            "groups": self.groups,
            "n_before": self.n_before,
            "n_after": self.n_after,
            "columns": columns,
            "class_shares": shares and {**shares._asdict(), "severity": self.class_severity},
            "unusual": self.unusual and self.unusual._asdict(),
        }
        written: dict[str, Any] = plain(parts)
        return written

    def __repr__(self) -> str:
        n_drifting = sum(level in LEVELS[2:] for level in self.severity.values())
        return (
            f"<Drift of {len(self.columns):,} columns: {n_drifting:,} moderate or severe, "
            f"greatest {self.greatest:.3f}>"
        )


def _levels(distance: Floats, p: Floats) -> NDArray[np.intp]:
    """Return 0 where a change may be chance, and else 1, 2 or 3 by its distance."""
    with np.errstate(invalid="ignore"):
        return np.where(p < _ALPHA, 1 + np.searchsorted(BOUNDS, distance, side="right"), 0)


def _table(
    title: str, header: list[str], lines: list[tuple[str, ...]], n_lines: int
) -> PrintedTable:
    """Return a table that says how many lines there are beyond those that are printed."""
    if n_lines > len(lines):
        lines = [*lines, (f"... {n_lines - len(lines):,} more", *[""] * (len(header) - 1))]
    return PrintedTable(title, tuple(header), tuple(lines))


def _listed(labels: list[Any]) -> str:
    more = ", ..." if len(labels) > _MAX_NAMES else ""
    return ", ".join(map(repr, labels[:_MAX_NAMES])) + more


def p_text(p: float) -> str:
    """Write a p-value.

    >>> p_text(0.25), p_text(3e-7), p_text(0.0), p_text(float("nan"))
    ('0.250', '3e-07', '<1e-300', '-')
    """
    if np.isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}" if p > 1e-300 else "<1e-300"


def number_text(value: float, form: str = ".4g", before: str = "") -> str:
    """Write a number; "-" where it is undefined."""
    return "-" if np.isnan(value) else before + format(value, form)


def share_text(value: float) -> str:
    """Write a share in percent; "-" where it is undefined."""
    return "-" if np.isnan(value) else f"{value:.1%}"
