"""Two summaries brought to the same columns, classes and categories, or the first difference."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.schema import Schema
from naively.errors import NaivelyError
from naively.statistics import (
    Bins,
    ClassWeight,
    Documents,
    MissingCells,
    Moments,
    Occurrences,
    Statistic,
    Tallies,
)
from naively.statistics.axes import Axes, Move
from naively.statistics.summary import Summary

_COMPARED: list[type[Statistic]] = [ClassWeight, Moments, Tallies, Bins, Occurrences, Documents]
_COMPARED += [MissingCells]
_ADVICE = (
    "Summarize the data after with the schema before: summarize(X, y, schema=before.schema), "
    "or give the data itself to drift."
)


class AlignedSummaries(NamedTuple):
    """What was measured before and after, without samples, on the same axes."""

    schema: Schema
    axes: Axes
    before: Summary
    after: Summary
    labelled: bool  # whether the rows of both have classes

    def pair(self, kind: type[Statistic]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights that a statistic of both holds, all classes together first."""
        return self.grouped(self.before[kind]), self.grouped(self.after[kind])

    def grouped(self, statistic: Statistic) -> NDArray[np.float64]:
        """Return weights by group: of all rows, and then of each class where there are several."""
        values: NDArray[np.float64] = statistic.values  # type: ignore[attr-defined]
        total = values.sum(axis=0, keepdims=True)
        return np.concatenate([total, values]) if self.has_classes else total

    def moments(self, summary: Summary) -> Moments:
        """Return moments by group."""
        found = summary[Moments]
        values = found.pooled().values[:, np.newaxis]
        return Moments(
            np.concatenate([values, found.values], axis=1) if self.has_classes else values
        )

    @property
    def has_classes(self) -> bool:
        """Whether classes are compared beside all rows."""
        return self.labelled and self.axes.classes.size > 1


def align(before: Summary, after: Summary, *, labelled: bool) -> AlignedSummaries:
    """Bring two summaries to the same axes; raise where they are of different columns."""
    for name, summary in (("before", before), ("after", after)):
        if not summary.weight > 0:
            raise NaivelyError(f"the data {name} must have at least one row; got none.")
    before, after = arranged(before, after)
    schema = _measured_alike(before.schema, after.schema)
    if not labelled:  # classes add up, whatever they are called
        before, after = _numbered(before), _numbered(after)
    axes = before.axes.united(after.axes, schema)
    a, b = (_moved(one, schema, one.axes.move(axes)) for one in (before, after))
    return AlignedSummaries(schema, axes, a, b, labelled)


def arranged(before: Summary, after: Summary) -> tuple[Summary, Summary]:
    """Bring the columns of a summary to the order of another, and let both hold the same."""
    return _decided(before, _in_order(after, before.schema.names))


def _numbered(summary: Summary) -> Summary:
    axes = replace(summary.axes, classes=np.arange(summary.classes.size))
    return Summary(summary.schema, axes, summary.statistics)


def _moved(summary: Summary, schema: Schema, move: Move) -> Summary:
    """Return what is compared, at its places on common axes."""
    kinds = [kind for kind in _COMPARED if kind in summary.statistics]
    found = {kind: summary.statistics[kind].moved(move) for kind in kinds}
    return Summary(schema, move.after, found)


def _in_order(summary: Summary, names: tuple[str, ...] | None) -> Summary:
    """Return a summary with its columns in the order of these names, if it has all of them."""
    own = summary.schema.names
    if names is None or own is None or own == names or sorted(own) != sorted(names):
        return summary
    return summary.with_columns([own.index(name) for name in names])


def _decided(before: Summary, after: Summary) -> tuple[Summary, Summary]:
    """Let a column in which one side has seen no cell hold what it holds on the other."""
    a, b = before.schema, after.schema
    if a.n_columns != b.n_columns or not (a.undecided or b.undecided):
        return before, after
    return before.decided(b.held), after.decided(a.held)


def _measured_alike(a: Schema, b: Schema) -> Schema:
    """Return what both measure; raise with the first difference."""
    if a.names is not None and b.names is not None and a.names != b.names:
        _raise_of_names(a.names, b.names)
    if a.n_columns != b.n_columns:
        raise NaivelyError(
            f"before and after must have the same columns; got {a.n_columns} and {b.n_columns} "
            f"of them. {_ADVICE}"
        )
    names = a if a.names is not None else b
    for j, (mine, its) in enumerate(zip(a.held, b.held, strict=True)):
        if mine != its:
            raise NaivelyError(
                f"before and after must agree on what a column holds; got {names.name(j)} as "
                f"{mine.plural} before and as {its.plural} after. {_ADVICE}"
            )
    if (a.counted, a.threshold) != (b.counted, b.threshold):
        raise NaivelyError(
            f"before and after must count the same; got {a.counted or 'moments'} before and "
            f"{b.counted or 'moments'} after. {_ADVICE}"
        )
    if a.edges != b.edges:
        _raise_of_edges(a, b, names)
    for j, own, other in zip(a.texts, a.options, b.options, strict=True):
        if own != other:
            raise NaivelyError(
                f"before and after must read text in the same way; got {own} and {other} for "
                f"{names.name(j)}. {_ADVICE}"
            )
    return replace(names, sample=0, centres=None)


def _raise_of_names(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    missing = next((name for name in a if name not in b), None)
    if missing is not None:
        raise NaivelyError(f"the data after has no column {missing!r}, which was there before.")
    more = next((name for name in b if name not in a), None)
    raise NaivelyError(f"the data before has no column {more!r}, which is there after.")


def _raise_of_edges(a: Schema, b: Schema, names: Schema) -> None:
    if a.edges is None or b.edges is None:
        first, second = ("bins", "none") if b.edges is None else ("none", "bins")
        raise NaivelyError(
            f"columns of numbers must have the same bins before and after; got {first} before and "
            f"{second} after. {_ADVICE}"
        )
    pairs = zip(a.numbers, a.edges, b.edges, strict=True)
    j = next(j for j, mine, its in pairs if mine != its)
    raise NaivelyError(
        f"{names.name(j)} must have the same edges of bins before and after; got others. {_ADVICE}"
    )
