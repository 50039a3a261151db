"""Two columns of a classifier: what is known of the classes there, and the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.display.plots._choice import choose_classes, choose_pair
from naively.display.plots._families import ShownColumns, has_families
from naively.display.plots._grid import Limits, limits_of
from naively.display.plots._read import bells_of, cells, codes_of, column_names, has_bells
from naively.display.plots.ellipses import naive_ellipse
from naively.errors import NaivelyError

__all__ = ["Pair", "Points", "limits_of_pair", "read_pair", "read_points"]


@dataclass(frozen=True)
class Pair:
    """Two columns, the classes to show, and their bell curves if the model has them."""

    at: list[int]
    names: tuple[str, str]
    shown: list[int]
    notes: list[str]
    means: NDArray[np.float64] | None = None
    variances: NDArray[np.float64] | None = None
    spread: NDArray[np.float64] | None = None  # of the cells, whatever their curves


@dataclass(frozen=True)
class Points:
    """The rows whose two cells are present: all of them, and those to draw."""

    all: NDArray[np.float64]
    drawn: NDArray[np.float64]
    drawn_classes: NDArray[np.intp]
    means: NDArray[np.float64]
    covariances: NDArray[np.float64]
    notes: list[str]


def read_pair(
    model: Any,
    columns: Sequence[str | int] | None,
    feature_names: Sequence[str] | None,
    max_classes: int,
) -> Pair:
    """Choose two columns and the classes to show, and read what is known of them there."""
    n_columns, n_classes = int(model.n_features_in_), len(model.classes_)
    if n_columns > 2 and not hasattr(model, "summary_"):
        raise NaivelyError(
            f"{type(model).__name__} must be fitted on two columns; got {n_columns}. "
            "Only naively's models can leave the other columns out."
        )
    names = column_names(model, n_columns, feature_names)
    if has_families(model):
        return _pair_of_families(model, columns, names, max_classes)
    bells = bells_of(model, "drawing curves") if has_bells(model) else None
    pair = choose_pair(None if bells is None else bells.summary, names, columns)
    a, b = pair.at
    if bells is None:
        more = f"The first {max_classes} of {n_classes:,} classes." * (n_classes > max_classes)
        shown = list(range(min(max_classes, n_classes)))
        return Pair(pair.at, (names[a], names[b]), shown, _said(pair.note, more))
    classes = choose_classes(bells.summary, max_classes, pair.at)
    notes = _said(pair.note, classes.note)
    means, variances = bells.means[:, pair.at], bells.variances[:, pair.at]
    _check_seen(means, pair.at, names)
    return Pair(pair.at, (names[a], names[b]), classes.at, notes, means, variances, variances)


def _pair_of_families(model: Any, columns: Any, names: list[str], max_classes: int) -> Pair:
    """Read the means of the classes, which are no bell curves."""
    pair = choose_pair(model.summary_, names, columns)
    classes = choose_classes(model.summary_, max_classes, pair.at)
    few = ShownColumns.of(model, pair.at, range(len(model.classes_)))
    (mean_a, spread_a), (mean_b, spread_b) = few.bells(0), few.bells(1)
    means, spread = np.column_stack([mean_a, mean_b]), np.column_stack([spread_a, spread_b])
    _check_seen(means, pair.at, names)
    both, notes = (names[pair.at[0]], names[pair.at[1]]), _said(pair.note, classes.note)
    return Pair(pair.at, both, classes.at, notes, means, spread=spread)


def _check_seen(means: NDArray[np.float64], at: list[int], names: list[str]) -> None:
    if np.isnan(means).any():
        unseen = names[at[int(np.isnan(means[0]).argmax())]]
        raise NaivelyError(f"column {unseen!r} has no cell that was seen. Choose another.")


def read_points(model: Any, X: Any, y: Any, pair: Pair, most: int) -> Points:
    """Read two columns of a table; at most so many points are drawn, chosen at random."""
    points = cells(X, pair.at, model)
    codes = codes_of(y, np.asarray(model.classes_), len(points))
    whole = ~np.isnan(points).any(axis=1)
    lost = int((~whole).sum())
    points, codes = points[whole], codes[whole]
    groups = [points[codes == k] for k in range(len(model.classes_))]
    keep = np.flatnonzero(np.isin(codes, pair.shown))
    few = f"{most:,} of {keep.size:,} points are drawn, chosen at random." * (keep.size > most)
    if keep.size > most:
        keep = np.sort(np.random.default_rng(0).choice(keep, most, replace=False))
    rows = f"{lost:,} rows with" if lost > 1 else "One row with"
    are = "are" if lost > 1 else "is"
    return Points(
        points,
        points[keep],
        codes[keep],
        np.array([g.mean(axis=0) if len(g) else [np.nan, np.nan] for g in groups]),
        np.array([_covariance(group) for group in groups]),
        _said(f"{rows} a missing cell {are} not drawn." * (lost > 0), few),
    )


def limits_of_pair(extent: Any, pair: Pair, rows: Points | None, level: float) -> Limits:
    """Return what a grid spans: points and curves with a margin, the points, or as given."""
    seen = [] if rows is None or not len(rows.all) else [rows.all]
    if isinstance(extent, str):
        if extent not in ("curves", "data"):
            raise NaivelyError(f"extent must be 'curves', 'data' or limits; got {extent!r}.")
        curved = extent == "curves" and (pair.variances is not None or not seen)
        if curved and pair.means is not None and pair.spread is not None:
            mean, variance = pair.means[pair.shown], pair.spread[pair.shown]
            seen += [naive_ellipse(m, v, level) for m, v in zip(mean, variance, strict=True)]
        if not seen:
            raise NaivelyError(
                "a grid needs limits: give X and y, or extent=((low, high), (low, high))."
            )
        return limits_of(seen, margin=0.03 if extent == "curves" else 0.0)
    limits = np.asarray(extent, dtype=np.float64)
    if limits.shape != (2, 2) or not (limits[:, 0] < limits[:, 1]).all():
        raise NaivelyError(
            f"extent must be ((low, high), (low, high)), low below high; got {extent!r}."
        )
    (a, b), (c, d) = limits.tolist()
    return (a, b), (c, d)


def _covariance(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sample covariance, NaN for fewer than two rows."""
    return np.cov(rows.T) if len(rows) > 1 else np.full((2, 2), np.nan)


def _said(*notes: str) -> list[str]:
    return [note for note in notes if note]
