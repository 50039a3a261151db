"""What is measured: columns, whether they hold numbers or categories, and what is fixed before.

Summaries add where their schemas agree. Sites that will merge share a schema first.

Examples
--------
>>> Schema(2, ("age", "town"), kinds=("number", "category")).categories
(1,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from naively.exceptions import NaivelyError

__all__ = ["Kind", "Schema"]

Kind = Literal["number", "category"]
_SHARE = "Summaries that will be added share a schema."


@dataclass(frozen=True)
class Schema:
    """What is measured.

    Parameters
    ----------
    n_columns : int
        How many columns.
    names : tuple of str, or None
        What they are called; None where the data has no names (an array).
    kinds : tuple of {"number", "category"}, or None
        What they hold; None where all hold numbers.
    edges : tuple of tuple of float, or None
        For each column of numbers, where the bins of its histogram meet; None for no histograms.
    knots : tuple of tuple of float, or None
        The middles of those bins.
    sample : int
        How many rows a summary keeps at most: 0 for none.
    """

    n_columns: int
    names: tuple[str, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    edges: tuple[tuple[float, ...], ...] | None = None
    knots: tuple[tuple[float, ...], ...] | None = None
    sample: int = 0

    def __post_init__(self) -> None:
        if self.kinds is not None and "category" not in self.kinds:
            object.__setattr__(self, "kinds", None)  # one way to say it, so that equal is equal

    @cached_property
    def numbers(self) -> Sequence[int]:
        """The columns of numbers."""
        if self.kinds is None:
            return range(self.n_columns)
        return [j for j, kind in enumerate(self.kinds) if kind == "number"]

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """The columns of categories."""
        return tuple(j for j, kind in enumerate(self.kinds or ()) if kind == "category")

    @property
    def n_bins(self) -> int:
        """How many bins a histogram has."""
        return len(self.edges[0]) + 1 if self.edges else 0

    def name(self, j: int) -> str:
        """Name column j for a message.

        >>> Schema(2).name(1), Schema(1, ("age",)).name(0)
        ('column 1', "column 'age'")
        """
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def united(self, other: Schema) -> Schema:
        """Return the schema both share, or raise. Names meet no names."""
        if self is other or self == other:
            return self
        if self.n_columns != other.n_columns:
            raise NaivelyError(
                f"summaries must have the same columns; got {self.n_columns} and "
                f"{other.n_columns} of them. {_SHARE}"
            )
        if self.names is not None and other.names is not None and self.names != other.names:
            a, b = next((a, b) for a, b in zip(self.names, other.names, strict=True) if a != b)
            raise NaivelyError(
                f"summaries must have the same columns in the same order; got {a!r} and {b!r}. "
                f"{_SHARE}"
            )
        self._check_measures(other)
        return self if self.names is not None else other

    def _check_measures(self, other: Schema) -> None:
        if self.kinds != other.kinds:
            j = min(set(self.numbers) ^ set(other.numbers))
            raise NaivelyError(
                f"summaries must agree on what a column holds; got {self.name(j)} as numbers in "
                f"one and as categories in the other. {_SHARE}"
            )
        if (self.edges, self.knots) != (other.edges, other.knots):
            raise NaivelyError(
                "summaries must have histograms of the same edges; got different ones. "
                f"{_SHARE} Give the schema of one to the other."
            )
        if self.sample != other.sample:
            raise NaivelyError(
                f"summaries must keep samples of the same size; got {self.sample} and "
                f"{other.sample} rows. {_SHARE}"
            )
