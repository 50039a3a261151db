"""Two columns of a classifier: what is known of the classes there, and the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError
from naively.plots._choice import choose_classes, choose_pair
from naively.plots._grid import Limits, limits_of
from naively.plots._read import bells_of, cells, codes_of, column_names, has_bells
from naively.plots.ellipses import naive_ellipse

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
    if np.isnan(means).any():
        unseen = names[pair.at[int(np.isnan(means[0]).argmax())]]
        raise NaivelyError(f"column {unseen!r} has no cell that was seen. Choose another.")
    return Pair(pair.at, (names[a], names[b]), classes.at, notes, means, variances)


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
        if extent == "curves" and pair.means is not None and pair.variances is not None:
            mean, variance = pair.means[pair.shown], pair.variances[pair.shown]
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
