"""Two summaries become a `Drift`: every column and class at once, no row is read.

What several tests of a column say together is their least p-value times their number (Bonferroni);
which of many columns and classes are to be believed is Benjamini's and Hochberg's correction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

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
_MAX_WORDS = 20  # new ones that are named
_TESTS = ("p_mean", "p_constant", "p_cells", "p_missing")

# What is found of some columns, of all kinds of statistics: by name, of shape (n_groups, n_columns)
_Measured = Iterator[tuple[Sequence[int], dict[str, Floats]]]


def collect(both: AlignedSummaries, **extra: Any) -> Drift:
    """Compare two summaries on the same axes."""
    schema, weight = both.schema, both.pair(ClassWeight)
    shape = weight[0].size, schema.n_columns
    values: dict[str, Floats]
    names = [*ColumnDrift._fields, "difference", "distance_missing", *_TESTS]
    values = {name: np.full(shape, np.nan) for name in names}  # NaN where there is nothing to say
    for measure in (_numbers, _categories, _texts, _missing):
        for at, measured in measure(both, weight):
            for name, cells in measured.items():
                values[name][:, list(at)] = cells
    p = least(*(values.pop(name) for name in _TESTS))
    shares = _class_drift(both)
    q = adjusted(np.append(p, np.nan if shares is None else shares.p_value))
    if shares is not None:
        shares = shares._replace(p_adjusted=float(q[-1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        values["shift"] = values.pop("difference") / values["spread_before"]
        values["spread_ratio"] = values["spread_after"] / values["spread_before"]
    values["distance"] = np.fmax(values["distance"], values.pop("distance_missing"))
    values |= {"p_value": p, "p_adjusted": q[:-1].reshape(p.shape)}
    columns = schema.names or tuple(f"column {j}" for j in range(schema.n_columns))
    return Drift(
        columns=tuple(map(str, columns)),
        kinds=schema.held,
        classes=both.axes.classes if both.has_classes else np.array([], dtype=object),
        n_before=weight[0],
        n_after=weight[1],
        measures=ColumnDrift(**values),
        class_shares=shares,
        new_categories=_new_categories(both, columns),
        tests_spread=schema.edges is not None or schema.counted is not None or not schema.numbers,
        **extra,
    )


def least(*p_values: Floats) -> Floats:
    """Return the least of several p-values, times their number: Bonferroni's correction.

    Tests that could not be made are NaN and do not count.

    >>> least(np.array([0.01, np.nan]), np.array([0.5, np.nan]), np.array([np.nan, 0.2]))
    array([0.02, 0.2 ])
    """
    n_tests = np.sum(~np.isnan(p_values), axis=0)
    smallest: Floats = np.fmin.reduce(p_values, axis=0)
    return np.minimum(smallest * n_tests, 1.0)


def adjusted(p: Floats) -> Floats:
    """Return p-values adjusted for their number by Benjamini and Hochberg; NaN stays NaN.

    >>> adjusted(np.array([0.01, np.nan, 0.04, 0.03])).round(3)
    array([0.03,  nan, 0.04, 0.04])
    """
    q, is_known = np.full(p.shape, np.nan), ~np.isnan(p)
    q[is_known] = false_discovery_control(p[is_known])
    return q


def _numbers(both: AlignedSummaries, weight: tuple[Floats, Floats]) -> _Measured:
    """Compare columns of numbers: by bins where there are some, else by moments; or as counts."""
    schema, at = both.schema, both.schema.numbers
    if schema.counted == "documents":
        yield at, _cells(_presence(both, weight))
        return
    if schema.counted == "occurrences":
        counts = [values[:, : len(at)] for values in both.pair(Occurrences)]
        before, after = (
            MeanAndVariance.of_counts(values, n[:, np.newaxis])
            for values, n in zip(counts, weight, strict=True)
        )
    else:
        before, after = (MeanAndVariance.of(both.moments(one)) for one in (both.before, both.after))
    divergence, distance = numbers.gaussian_distance(before, after)
    values = {
        "mean_before": before.mean,
        "mean_after": after.mean,
        "spread_before": before.spread,
        "spread_after": after.spread,
        "difference": before.difference(after),
        "divergence": divergence,
        "distance": distance,
        "p_mean": numbers.mean_test(before, after),
    }
    if schema.counted is None:
        values["p_constant"] = numbers.constant_test(before, after)
    if schema.edges is not None:
        bins = both.pair(Bins)
        single = np.count_nonzero(bins[0] + bins[1], axis=2) == 1  # which tells nothing
        by_bins = compare_bins(*bins)
        values |= {
            "divergence": np.where(single, divergence, by_bins.divergence),
            "distance": np.where(single, distance, by_bins.distance),
            "p_cells": by_bins.p,
            "p_mean": np.where(single, values["p_mean"], rank_test(*bins)),
            "p_constant": np.where(single, numbers.constant_test(before, after), np.nan),
        }
    yield at, values


def _presence(both: AlignedSummaries, weight: tuple[Floats, Floats]) -> ComparedCounts:
    """Compare in how many rows numbers are above the threshold, and in how many not."""
    n_columns, pairs = len(both.schema.numbers), []
    missing = both.pair(MissingCells)
    for values, gone, n in zip(both.pair(Documents), missing, weight, strict=True):
        held = values[:, :n_columns]
        absent = n[:, np.newaxis] - held - gone[:, :n_columns]
        pairs.append((held, np.maximum(absent, 0.0)))
    return _two_cells(pairs)


def _categories(both: AlignedSummaries, _: tuple[Floats, Floats]) -> _Measured:
    if at := both.schema.categories:
        column = np.repeat(np.arange(len(at)), np.diff(both.axes.starts))
        yield at, _cells(compare_counts(*both.pair(Tallies), column, len(at)))


def _texts(both: AlignedSummaries, weight: tuple[Floats, Floats]) -> _Measured:
    if at := both.schema.texts:
        column = np.repeat(np.arange(len(at)), np.diff(both.axes.word_starts))
        a, b = (values[:, values.shape[1] - column.size :] for values in both.pair(Documents))
        yield at, _cells(compare_words(a, b, column, len(at), *weight))


def _missing(both: AlignedSummaries, weight: tuple[Floats, Floats]) -> _Measured:
    """Compare missing and present cells."""
    shares, pairs = [], []
    for summary, n in zip((both.before, both.after), weight, strict=True):
        share = _missing_share(both, summary, n[:, np.newaxis])
        gone = np.nan_to_num(share) * n[:, np.newaxis]
        shares.append(share)
        pairs.append((gone, n[:, np.newaxis] - gone))
    compared = _two_cells(pairs)
    some = (np.nan_to_num(shares[0]) > 0) | (np.nan_to_num(shares[1]) > 0)
    yield (
        range(both.schema.n_columns),
        {
            "missing_before": shares[0],
            "missing_after": shares[1],
            "p_missing": np.where(some, compared.p, np.nan),
            "distance_missing": np.where(some, compared.distance, np.nan),
        },
    )


def _missing_share(both: AlignedSummaries, summary: Summary, n: Floats) -> Floats:
    """Return the shares of cells that are missing; NaN where nobody counted."""
    schema, share = both.schema, np.full((n.size, both.schema.n_columns), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        if schema.counted is None:
            share[:, list(schema.numbers)] = 1 - both.moments(summary).weight / n
        elif schema.counted == "documents":
            gone = both.grouped(summary[MissingCells])[:, : len(schema.numbers)]
            share[:, list(schema.numbers)] = gone / n
        for j, start, end in zip(
            schema.categories, both.axes.starts[:-1], both.axes.starts[1:], strict=True
        ):
            held = both.grouped(summary[Tallies])[:, start:end].sum(axis=1)
            share[:, j] = 1 - held / n[:, 0]
    share[share < _ROUNDING] = 0.0
    return share


def _two_cells(pairs: Sequence[tuple[Floats, Floats]]) -> ComparedCounts:
    """Compare two counts of each group and column, before and after."""
    n_groups, n_columns = pairs[0][0].shape
    before, after = (np.stack(pair, axis=2).reshape(n_groups, -1) for pair in pairs)
    return compare_counts(before, after, np.repeat(np.arange(n_columns), 2), n_columns)


def _cells(compared: ComparedCounts) -> dict[str, Floats]:
    names = ("divergence", "distance", "p_cells")
    return dict(zip(names, compared, strict=True))


def _class_drift(both: AlignedSummaries) -> ClassDrift | None:
    if not both.has_classes:
        return None
    a, b = (one[ClassWeight].values for one in (both.before, both.after))
    compared = compare_counts(a[np.newaxis], b[np.newaxis], np.zeros(a.size, np.intp), 1)
    distance, p = float(compared.distance[0, 0]), float(compared.p[0, 0])
    return ClassDrift(a / a.sum(), b / b.sum(), distance, p, np.nan)


def _new_categories(both: AlignedSummaries, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the categories and words that were not there before, by column; the frequent first."""
    axes, schema, new = both.axes, both.schema, {}
    if schema.categories:
        for i, places in _new(*both.pair(Tallies), axes.starts):
            new[names[schema.categories[i]]] = [axes.vocabularies[i].item(at) for at in places]
    if schema.texts:
        first = -axes.word_starts[-1] or None
        before, after = (values[:, first:] for values in both.pair(Documents))
        for i, places in _new(before, after, axes.word_starts):
            new[names[schema.texts[i]]] = [axes.words[i].word(at) for at in places[:_MAX_WORDS]]
    return new


def _new(before: Floats, after: Floats, starts: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield the axes that have new labels, with the places of those."""
    is_new = (before[0] == 0) & (after[0] > 0)
    axis = np.searchsorted(starts, np.flatnonzero(is_new), side="right") - 1
    for i in np.unique(axis).tolist():
        at = slice(starts[i], starts[i + 1])
        order = np.argsort(-after[0][at], kind="stable")
        yield i, order[is_new[at][order]].tolist()
