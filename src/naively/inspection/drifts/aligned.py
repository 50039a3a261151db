"""Two summaries brought to the same columns, classes and categories, or the first difference."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.schema import Schema
from naively.errors import NaivelyError
from naively.inspection.inputs import arranged
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
        of_classes = summary[Moments]
        values = of_classes.pooled().values[:, np.newaxis]
        if self.has_classes:
            values = np.concatenate([values, of_classes.values], axis=1)
        return Moments(values)

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
    _check_measured_alike(before.schema, after.schema)
    named = before.schema if before.schema.names is not None else after.schema
    schema = replace(named, sample=0, centres=None)
    if not labelled:  # classes add up, whatever they are called
        before, after = _numbered(before), _numbered(after)
    axes = before.axes.united(after.axes, schema)
    a, b = (_moved(one, schema, one.axes.move(axes)) for one in (before, after))
    return AlignedSummaries(schema, axes, a, b, labelled)


def _numbered(summary: Summary) -> Summary:
    axes = replace(summary.axes, classes=np.arange(summary.classes.size))
    return Summary(summary.schema, axes, summary.statistics)


def _moved(summary: Summary, schema: Schema, move: Move) -> Summary:
    """Return what is compared, at its places on common axes."""
    kinds = [kind for kind in _COMPARED if kind in summary.statistics]
    return Summary(
        schema, move.after, {kind: summary.statistics[kind].moved(move) for kind in kinds}
    )


def _check_measured_alike(a: Schema, b: Schema) -> None:
    """Raise with the first difference of what both measure."""
    if a.names is not None and b.names is not None:
        for name in a.names:
            if name not in b.names:
                raise NaivelyError(
                    f"the data after has no column {name!r}, which was there before."
                )
        for name in b.names:
            if name not in a.names:
                raise NaivelyError(f"the data before has no column {name!r}, which is there after.")
    if (difference := _difference(a, b)) is not None:
        raise NaivelyError(
            f"{difference}. Summarize the data after with the schema before: "
            "summarize(X, y, schema=before.schema), or give the data itself to drift."
        )


def _difference(a: Schema, b: Schema) -> str | None:
    """Say in what two schemas differ first; None where they do not."""
    name = (a if a.names is not None else b).name
    if a.n_columns != b.n_columns:
        return (
            f"before and after must have the same columns; got {a.n_columns} and {b.n_columns} "
            "of them"
        )
    for j, (one, other) in enumerate(zip(a.held, b.held, strict=True)):
        if one != other:
            return (
                f"before and after must agree on what a column holds; got {name(j)} as "
                f"{one.plural} before and as {other.plural} after"
            )
    if (a.counted, a.threshold) != (b.counted, b.threshold):
        counted = f"{a.counted or 'moments'} before and {b.counted or 'moments'} after"
        return f"before and after must count the same; got {counted}"
    if a.edges is None or b.edges is None:
        if a.edges is not b.edges:
            bins = "bins before and none after" if b.edges is None else "none before and bins after"
            return f"columns of numbers must have the same bins before and after; got {bins}"
    elif a.edges != b.edges:
        pairs = zip(a.numbers, a.edges, b.edges, strict=True)
        j = next(j for j, one, other in pairs if one != other)
        return f"{name(j)} must have the same edges of bins before and after; got others"
    for j, mine, others in zip(a.texts, a.options, b.options, strict=True):
        if mine != others:
            return (
                f"before and after must read text in the same way; got {mine} and {others} for "
                f"{name(j)}"
            )
    return None
