r"""Two columns of a classifier: classes, points, curves around them, and answers on a grid.

The curve around a class's mean holds a given share of it. For a Gaussian in two dimensions the
squared distance from the mean, in units of the spread, follows the chi-squared distribution with
two degrees of freedom, whose quantile is :math:`r^2 = -2 \log(1 - \mathrm{level})`. The naive
curve is the ellipse

.. math::

    \frac{(x_0 - \mu_0)^2}{\sigma_0^2} + \frac{(x_1 - \mu_1)^2}{\sigma_1^2} = r^2

with its axes along the columns, since columns are taken to be independent; the data's own is
:math:`(x - \mu)^T \Sigma^{-1} (x - \mu) = r^2` with their covariance.

>>> float(radius(0.95).round(4))
2.4477
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data.labels import positions
from naively.data.schema import Schema
from naively.data.types import Floats
from naively.display.plots.reading import (
    bells_of,
    cells,
    choose_classes,
    choose_pair,
    codes_of,
    column_names,
    has_bells,
    has_families,
    schema_of,
)
from naively.engines.memory.frames import is_frame
from naively.errors import NaivelyError
from naively.families import gaussian
from naively.statistics.summary import Summary

Limits: TypeAlias = tuple[tuple[float, float], tuple[float, float]]

_BLOCK_CELLS = 1 << 22  # that are predicted at once
_MAX_GRID = 1 << 24  # points


@dataclass(frozen=True)
class Pair:
    """Two columns, the classes to show, and their means and variances if the model has them."""

    at: list[int]
    names: tuple[str, str]
    shown: list[int]
    notes: list[str]
    means: Floats | None = None
    variances: Floats | None = None  # of bell curves
    spread: Floats | None = None  # of the cells, whatever their curves


@dataclass(frozen=True)
class Points:
    """The rows whose two cells are present: all of them, and those to draw."""

    all: Floats
    drawn: Floats
    drawn_classes: NDArray[np.intp]
    means: Floats
    covariances: Floats
    notes: list[str]


def read_pair(
    model: Any,
    columns: Sequence[str | int] | None,
    feature_names: Sequence[str] | None,
    max_classes: int,
) -> Pair:
    """Choose two columns and the classes to show, and read what is known of them there."""
    n_columns, n_classes = schema_of(model).n_columns, len(model.classes_)
    names, several = column_names(model, n_columns, feature_names), has_families(model)
    summary: Summary | None = None
    if several:
        summary = model.summary_
        parameters = gaussian.parameters(model.summary_.moments, var_smoothing=0.0)
        means, variances = parameters.mean, parameters.variance
    elif has_bells(model):
        bells = bells_of(model, "drawing curves")
        summary, means, variances = bells.summary, bells.means, bells.variances
    pair = choose_pair(summary, names, columns)
    both = names[pair.at[0]], names[pair.at[1]]
    if summary is None:
        more = f"The first {max_classes} of {n_classes:,} classes." * (n_classes > max_classes)
        shown = list(range(min(max_classes, n_classes)))
        return Pair(pair.at, both, shown, _written(pair.note, more))
    classes = choose_classes(summary, max_classes, pair.at)
    at = [summary.schema.numbers.index(j) for j in pair.at]
    means, variances = means[:, at], variances[:, at]
    for place in np.flatnonzero(np.isnan(means).any(axis=0)):
        raise NaivelyError(f"column {both[place]!r} has no cell that was seen. Choose another.")
    notes = _written(pair.note, classes.note)
    of_bells = None if several else variances
    return Pair(pair.at, both, classes.at, notes, means, of_bells, variances)


def read_points(model: Any, X: Any, y: Any, pair: Pair, most: int) -> Points:
    """Read two columns of a table; at most so many points are drawn, chosen at random."""
    points = cells(X, pair.at, model)
    codes = codes_of(y, np.asarray(model.classes_), len(points))
    whole = ~np.isnan(points).any(axis=1)
    n_lost = int((~whole).sum())
    points, codes = points[whole], codes[whole]
    groups = [points[codes == k] for k in range(len(model.classes_))]
    keep = np.flatnonzero(np.isin(codes, pair.shown))
    few = f"{most:,} of {keep.size:,} points are drawn, chosen at random." * (keep.size > most)
    if keep.size > most:
        keep = np.sort(np.random.default_rng(0).choice(keep, most, replace=False))
    rows, are = (f"{n_lost:,} rows with", "are") if n_lost > 1 else ("One row with", "is")
    unknown = np.full((2, 2), np.nan)
    return Points(
        points,
        points[keep],
        codes[keep],
        np.array([g.mean(axis=0) if len(g) else unknown[0] for g in groups]),
        np.array([np.cov(g.T) if len(g) > 1 else unknown for g in groups]),
        _written(f"{rows} a missing cell {are} not drawn." * (n_lost > 0), few),
    )


def _written(*notes: str) -> list[str]:
    return [note for note in notes if note]


# --- a grid, and what is answered on it ---


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


def limits_of(rows: Sequence[Floats], margin: float = 0.0) -> Limits:
    """Return the smallest and largest of both columns, with a margin as a part of the range."""
    every = np.concatenate(rows)
    low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
    room = margin * (high - low) + (high == low) * np.maximum(np.abs(low), 1.0) * 0.05
    (a, b), (c, d) = (low - room).tolist(), (high + room).tolist()
    return (a, c), (b, d)


def coordinates(
    limits: Limits, n: int, step: float | tuple[float, float] | None
) -> tuple[Floats, Floats]:
    """Return the grid's coordinates along both columns: n each, or every step from the low end.

    >>> [axis.size for axis in coordinates(((1.0, 6.9), (0.1, 2.5)), 400, 0.02)]
    [296, 121]
    """
    (low0, high0), (low1, high1) = limits
    if step is None:
        if n < 2:
            raise NaivelyError(f"grid must be at least 2; got {n}.")
        _check_grid(n, n)
        x0, x1 = (np.linspace(low, high, n, dtype=np.float64) for low, high in limits)
        return x0, x1
    steps = np.ravel(np.asarray(step, dtype=np.float64)).tolist()
    if len(steps) not in (1, 2) or not all(s > 0 for s in steps):
        raise NaivelyError(f"step must be a positive number, or two of them; got {step!r}.")
    # the end belongs to the grid although steps round
    n0 = int((high0 - low0) / steps[0] + 1e-9) + 1
    n1 = int((high1 - low1) / steps[-1] + 1e-9) + 1
    _check_grid(n0, n1)
    x0, x1 = np.arange(n0, dtype=np.float64), np.arange(n1, dtype=np.float64)
    return low0 + steps[0] * x0, low1 + steps[-1] * x1


def _check_grid(n0: int, n1: int) -> None:
    if n0 * n1 > _MAX_GRID:
        raise NaivelyError(
            f"a grid must have at most {_MAX_GRID:,} points; got {n0:,} x {n1:,}. "
            "Use a larger step."
        )


def edges(x: Floats) -> tuple[float, float]:
    """Return where the outer cells end whose centres these are."""
    half = (x[1] - x[0]) / 2 if x.size > 1 else 0.5
    return float(x[0] - half), float(x[-1] + half)


def predict_on(
    model: Any,
    x0: Floats,
    x1: Floats,
    at: Sequence[int],
    like: Any = None,
) -> tuple[NDArray[np.intp], Floats | None]:
    """Return the classes that win on a grid, and their log-probabilities if there are any.

    To the model, columns other than the two at these places are missing cells. Where it was
    fitted on a frame, it is asked with frames.
    """
    model, at = _marginal(model, at)
    shape = x1.size, x0.size
    points = np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)
    n_columns, classes = schema_of(model).n_columns, np.asarray(model.classes_)
    regions = np.empty(len(points), dtype=np.intp)
    probable = hasattr(model, "predict_log_proba")
    log_proba = np.empty((len(points), classes.size)) if probable else None
    size = max(1, _BLOCK_CELLS // n_columns)
    for rows in (slice(start, start + size) for start in range(0, len(points), size)):
        block = np.full((len(points[rows]), n_columns), np.nan)
        block[:, at] = points[rows]
        table = _as_frame(block, like, model)
        with np.errstate(divide="ignore"), warnings.catch_warnings():  # the logarithm of 0
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            regions[rows] = positions(model.predict(table), classes)
            if log_proba is not None:
                log_proba[rows] = model.predict_log_proba(table)
    return regions.reshape(shape), None if log_proba is None else log_proba.reshape(*shape, -1)


def _marginal(model: Any, at: Sequence[int]) -> tuple[Any, Sequence[int]]:
    """Return the same model of few columns without names, and where the two are among them.

    A missing cell adds no term, so the columns of Gaussians may be absent as well: all but the
    widest, by which the variances are smoothed. Other models are asked with all their columns,
    and so are those whose terms have weights, which all columns have decided.
    """
    summary = getattr(model, "summary_", None)
    if not isinstance(summary, Summary):
        return model, at
    if getattr(model, "reject", None) is not None:  # a region belongs to a class
        params = {**model.get_params(deep=False), "reject": None}
        return type(model).from_summary(summary, **params), at
    if not has_bells(model) or getattr(model, "calibration", None) is not None:
        return model, at
    whole = summary.moments.pooled()
    widest = int(np.argmax(whole.m2 / np.maximum(whole.weight, np.finfo(float).tiny)))
    kept = list(at) if widest in at else [*at, widest]
    some = summary.with_columns(kept)
    few = Summary.of(Schema(len(kept)), some.axes, *some.statistics.values())
    return type(model).from_summary(few, **model.get_params(deep=False)), [0, 1]


def _as_frame(block: Floats, like: Any, model: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    if names is None or not is_frame(like) or has_families(model):  # missing cells of any kind
        return block
    backend = nw.get_native_namespace(like)
    columns = {str(name): block[:, j] for j, name in enumerate(names)}
    return nw.from_dict(columns, backend=backend).to_native()


# --- curves ---


def radius(level: float) -> np.float64:
    """Return the distance, in standard deviations, within which this share of a class lies."""
    if not 0 < level < 1:
        raise NaivelyError(f"level must lie between 0 and 1; got level={level!r}. Use 0.95.")
    return np.sqrt(-2 * np.log1p(-level))


def naive_ellipse(mean: ArrayLike, variance: ArrayLike, level: float = 0.95) -> Floats:
    """Return the closed curve that holds this share of a class by the model."""
    return np.asarray(mean) + radius(level) * _circle() * np.sqrt(np.asarray(variance))


def data_ellipse(mean: ArrayLike, covariance: ArrayLike, level: float = 0.95) -> Floats:
    """Return the same with correlation: what a Gaussian that is not naive would hold."""
    spread, axes = np.linalg.eigh(np.asarray(covariance, dtype=np.float64))
    root = axes * np.sqrt(np.maximum(spread, 0.0))  # a degenerate one may round below zero
    return np.asarray(mean) + radius(level) * _circle() @ root.T


def _circle() -> Floats:
    angle = np.linspace(0, 2 * np.pi, 181)
    return np.column_stack([np.cos(angle), np.sin(angle)])
