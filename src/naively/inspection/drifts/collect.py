"""Two summaries become a `Drift`: every column and class at once, no row is read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from naively.data.types import Floats
from naively.inspection.drifts import numbers
from naively.inspection.drifts.aligned import AlignedSummaries
from naively.inspection.drifts.counts import (
    ComparedCounts,
    compare_bins,
    compare_counts,
    compare_words,
    rank_test,
)
from naively.inspection.drifts.numbers import MeanAndVariance
from naively.inspection.drifts.significance import adjusted, least
from naively.inspection.drifts.value import ClassDrift, ColumnDrift, Drift
from naively.statistics import (
    Bins,
    ClassWeight,
    Documents,
    MissingCells,
    Occurrences,
    Tallies,
)
from naively.statistics.summary import Summary

_ROUNDING = 1e-9  # of sums of weights in another order
_MOST_WORDS = 20  # new ones that are named


def collect(both: AlignedSummaries, **extra: Any) -> Drift:
    """Compare two summaries on the same axes."""
    weight = both.pair(ClassWeight)
    schema = both.schema
    room = _Room.of(weight[0].size, schema.n_columns)
    _add_numbers(both, room, weight)
    _add_categories(both, room)
    _add_texts(both, room, weight)
    missing = _missing(both, weight)
    gone = _of_missing(missing, weight)
    p = least(room.p_mean, room.p_constant, room.p_cells, gone.p)
    shares = _class_drift(both)
    q = adjusted(np.append(p, np.nan if shares is None else shares.p_value))
    if shares is not None:
        shares = shares._replace(p_adjusted=float(q[-1]))
    before, after = room.before, room.after
    with np.errstate(invalid="ignore", divide="ignore"):
        shift, ratio = room.difference / before.spread, after.spread / before.spread
    found = ColumnDrift(
        mean_before=before.mean,
        mean_after=after.mean,
        spread_before=before.spread,
        spread_after=after.spread,
        shift=shift,
        spread_ratio=ratio,
        missing_before=missing[0],
        missing_after=missing[1],
        divergence=room.divergence,
        distance=np.fmax(room.distance, gone.distance),
        p_value=p,
        p_adjusted=q[:-1].reshape(p.shape),
    )
    names = schema.names or tuple(f"column {j}" for j in range(schema.n_columns))
    classes = both.axes.classes if both.has_classes else np.array([], dtype=object)
    return Drift(
        columns=tuple(map(str, names)),
        kinds=schema.held,
        classes=classes,
        n_before=weight[0],
        n_after=weight[1],
        measures=found,
        class_shares=shares,
        new_categories=_new_categories(both, names),
        tests_spread=schema.edges is not None or schema.counted is not None or not schema.numbers,
        **extra,
    )


class _Room(NamedTuple):
    """What is found, by group and column; NaN where there is nothing to say."""

    p_mean: Floats
    p_constant: Floats
    p_cells: Floats
    divergence: Floats
    distance: Floats
    difference: Floats  # of means
    before: MeanAndVariance
    after: MeanAndVariance

    @classmethod
    def of(cls, n_groups: int, n_columns: int) -> _Room:
        def empty() -> Floats:
            return np.full((n_groups, n_columns), np.nan)

        own, its = (MeanAndVariance(empty(), empty(), empty()) for _ in range(2))
        return cls(empty(), empty(), empty(), empty(), empty(), empty(), own, its)

    def put_counts(self, at: Any, found: ComparedCounts) -> None:
        """Keep what counts differ by, for some columns."""
        self.divergence[:, at], self.distance[:, at] = found.divergence, found.distance
        self.p_cells[:, at] = found.p

    def put_means(self, at: Any, before: MeanAndVariance, after: MeanAndVariance) -> None:
        """Keep means and spreads, for some columns."""
        for mine, its in ((self.before, before), (self.after, after)):
            mine.n[:, at], mine.mean[:, at], mine.variance[:, at] = its.n, its.mean, its.variance
        self.difference[:, at] = before.difference(after)
        self.p_mean[:, at] = numbers.mean_test(before, after)


def _add_numbers(both: AlignedSummaries, room: _Room, weight: tuple[Floats, Floats]) -> None:
    """Compare columns of numbers: by bins where there are some, else by moments; or as counts."""
    schema, at = both.schema, list(both.schema.numbers)
    if schema.counted == "documents":
        _add_presence(both, room, weight)
        return
    if schema.counted == "occurrences":
        some = [values[:, : len(at)] for values in both.pair(Occurrences)]
        before, after = (
            MeanAndVariance.of_counts(values, n[:, np.newaxis])
            for values, n in zip(some, weight, strict=True)
        )
    else:
        before, after = (MeanAndVariance.of(both.moments(one)) for one in (both.before, both.after))
    room.put_means(at, before, after)
    divergence, distance = numbers.gaussian_distance(before, after)
    if schema.edges is not None:
        bins = both.pair(Bins)
        found = compare_bins(*bins)
        single = np.count_nonzero(bins[0] + bins[1], axis=2) == 1  # which tells nothing
        room.p_constant[:, at] = np.where(single, numbers.constant_test(before, after), np.nan)
        room.p_mean[:, at] = np.where(single, room.p_mean[:, at], rank_test(*bins))
        divergence = np.where(single, divergence, found.divergence)
        distance = np.where(single, distance, found.distance)
        room.put_counts(at, found._replace(divergence=divergence, distance=distance))
        return
    room.divergence[:, at], room.distance[:, at] = divergence, distance
    if schema.counted is None:
        room.p_constant[:, at] = numbers.constant_test(before, after)


def _add_presence(both: AlignedSummaries, room: _Room, weight: tuple[Floats, Floats]) -> None:
    """Compare in how many rows numbers are above the threshold, and in how many not."""
    at, pairs = list(both.schema.numbers), []
    lacking = both.pair(MissingCells)
    for values, gone, n in zip(both.pair(Documents), lacking, weight, strict=True):
        held = values[:, : len(at)]
        absent = n[:, np.newaxis] - held - gone[:, : len(at)]
        pairs.append(np.stack([held, np.maximum(absent, 0.0)], axis=2).reshape(len(held), -1))
    room.put_counts(
        at, compare_counts(pairs[0], pairs[1], np.repeat(np.arange(len(at)), 2), len(at))
    )


def _add_categories(both: AlignedSummaries, room: _Room) -> None:
    at = both.schema.categories
    if at:
        column = np.repeat(np.arange(len(at)), np.diff(both.axes.starts))
        room.put_counts(at, compare_counts(*both.pair(Tallies), column, len(at)))


def _add_texts(both: AlignedSummaries, room: _Room, weight: tuple[Floats, Floats]) -> None:
    at = both.schema.texts
    if at:
        column = np.repeat(np.arange(len(at)), np.diff(both.axes.word_starts))
        a, b = (values[:, values.shape[1] - column.size :] for values in both.pair(Documents))
        room.put_counts(at, compare_words(a, b, column, len(at), *weight))


def _missing(both: AlignedSummaries, weight: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the shares of cells that are missing before and after; NaN where nobody counted."""
    pair = zip((both.before, both.after), weight, strict=True)
    found = [_missing_share(both, summary, n[:, np.newaxis]) for summary, n in pair]
    return found[0], found[1]


def _missing_share(both: AlignedSummaries, summary: Summary, n: Floats) -> Floats:
    schema, share = both.schema, np.full((n.size, both.schema.n_columns), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        if schema.counted is None:
            share[:, list(schema.numbers)] = 1 - both.moments(summary).weight / n
        elif schema.counted == "documents":
            gone = both.grouped(summary[MissingCells])[:, : len(schema.numbers)]
            share[:, list(schema.numbers)] = gone / n
        if schema.categories:
            tallies, starts = both.grouped(summary[Tallies]), both.axes.starts
            column = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            held = np.zeros((n.size, len(starts) - 1))
            for k, row in enumerate(tallies):  # classes
                held[k] = np.bincount(column, row, held.shape[1])
            share[:, list(schema.categories)] = 1 - held / n
    share[share < _ROUNDING] = 0.0
    return share


def _of_missing(share: tuple[Floats, Floats], weight: tuple[Floats, Floats]) -> ComparedCounts:
    """Compare missing and present cells."""
    n_columns = share[0].shape[1]
    pair = []
    for part, n in zip(share, weight, strict=True):
        gone = np.nan_to_num(part) * n[:, np.newaxis]
        pair.append(np.stack([gone, n[:, np.newaxis] - gone], axis=2).reshape(len(gone), -1))
    found = compare_counts(pair[0], pair[1], np.repeat(np.arange(n_columns), 2), n_columns)
    some = (np.nan_to_num(share[0]) > 0) | (np.nan_to_num(share[1]) > 0)
    return found._replace(
        p=np.where(some, found.p, np.nan), distance=np.where(some, found.distance, np.nan)
    )


def _class_drift(both: AlignedSummaries) -> ClassDrift | None:
    if not both.has_classes:
        return None
    a, b = (one[ClassWeight].values for one in (both.before, both.after))
    found = compare_counts(a[np.newaxis], b[np.newaxis], np.zeros(a.size, np.intp), 1)
    distance, p = float(found.distance[0, 0]), float(found.p[0, 0])
    return ClassDrift(a / a.sum(), b / b.sum(), distance, p, np.nan)


def _new_categories(both: AlignedSummaries, names: Any) -> dict[str, list[Any]]:
    """Return the categories and words that were not there before, by column; the frequent first."""
    found: dict[str, list[Any]] = {}
    axes, schema = both.axes, both.schema
    if schema.categories:
        for i, places in _new(*both.pair(Tallies), axes.starts):
            labels = axes.vocabularies[i]
            found[names[schema.categories[i]]] = [labels.item(at) for at in places]
    if schema.texts:
        pair = [
            values[:1, values.shape[1] - axes.word_starts[-1] :] for values in both.pair(Documents)
        ]
        for i, places in _new(pair[0], pair[1], axes.word_starts):
            words = axes.words[i]
            found[names[schema.texts[i]]] = [words.word(at) for at in places[:_MOST_WORDS]]
    return found


def _new(before: Floats, after: Floats, starts: list[int]) -> list[tuple[int, list[int]]]:
    """Return the places of new labels on each axis that has some."""
    at = np.flatnonzero((before[0] == 0) & (after[0] > 0))
    if not at.size:
        return []
    owner = np.searchsorted(starts, at, side="right") - 1
    order = np.lexsort((-after[0][at], owner))
    at, owner = at[order], owner[order]
    present, first = np.unique(owner, return_index=True)
    parts = np.split(at, first[1:])
    pairs = zip(present.tolist(), parts, strict=True)
    return [(i, (part - starts[i]).tolist()) for i, part in pairs]
