"""A grid over two columns, and what a classifier says on it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from naively.data.labels import positions
from naively.data.schema import Schema
from naively.display.plots._families import has_families
from naively.display.plots._read import has_bells
from naively.engines.memory.native import is_frame
from naively.errors import NaivelyError
from naively.statistics.summary import Summary

__all__ = ["Limits", "coordinates", "edges", "limits_of", "predict_on"]

Limits: TypeAlias = tuple[tuple[float, float], tuple[float, float]]
_BLOCK = 1 << 22  # cells that are predicted at once
_MOST_POINTS = 1 << 24


def limits_of(rows: Sequence[NDArray[np.float64]], margin: float = 0.0) -> Limits:
    """Return the smallest and largest of both columns, with a margin as a part of the range."""
    low = np.nanmin([np.nanmin(points, axis=0) for points in rows], axis=0)
    high = np.nanmax([np.nanmax(points, axis=0) for points in rows], axis=0)
    flat = high == low
    room = margin * (high - low) + np.where(flat, np.maximum(np.abs(low), 1.0) * 0.05, 0.0)
    (a, b), (c, d) = (low - room).tolist(), (high + room).tolist()
    return (a, c), (b, d)


def coordinates(
    limits: Limits, n: int, step: float | tuple[float, float] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the grid's coordinates along both columns: n each, or every step from the low end.

    >>> [axis.size for axis in coordinates(((1.0, 6.9), (0.1, 2.5)), 400, 0.02)]
    [296, 121]
    """
    if step is None:
        if n < 2:
            raise NaivelyError(f"grid must be at least 2; got {n}.")
        _check_size(n, n)
        x0, x1 = (np.linspace(low, high, n, dtype=np.float64) for low, high in limits)
        return x0, x1
    steps = np.ravel(np.asarray(step, dtype=np.float64)).tolist()
    if len(steps) not in (1, 2) or not all(s > 0 for s in steps):
        raise NaivelyError(f"step must be a positive number, or two of them; got {step!r}.")
    (low0, high0), (low1, high1) = limits
    # the end belongs to the grid although steps round
    n0 = int((high0 - low0) / steps[0] + 1e-9) + 1
    n1 = int((high1 - low1) / steps[-1] + 1e-9) + 1
    _check_size(n0, n1)
    x0, x1 = np.arange(n0, dtype=np.float64), np.arange(n1, dtype=np.float64)
    return low0 + steps[0] * x0, low1 + steps[-1] * x1


def _check_size(n0: int, n1: int) -> None:
    if n0 * n1 > _MOST_POINTS:
        raise NaivelyError(
            f"a grid must have at most {_MOST_POINTS:,} points; got {n0:,} x {n1:,}. "
            "Use a larger step."
        )


def edges(x: NDArray[np.float64]) -> tuple[float, float]:
    """Return where the outer cells end whose centres these are."""
    half = (x[1] - x[0]) / 2 if x.size > 1 else 0.5
    return float(x[0] - half), float(x[-1] + half)


def predict_on(
    model: Any,
    x0: NDArray[np.float64],
    x1: NDArray[np.float64],
    at: Sequence[int],
    like: Any = None,
) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """Return the classes that win on a grid, and their log-probabilities if there are any.

    To the model, columns other than the two at these places are missing cells. Where it was
    fitted on a frame, it is asked with frames.
    """
    model, at = _marginal(model, at)
    shape = x1.size, x0.size
    points = np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)
    n_columns, classes = int(model.n_features_in_), np.asarray(model.classes_)
    regions = np.empty(len(points), dtype=np.intp)
    probable = hasattr(model, "predict_log_proba")
    log_proba = np.empty((len(points), classes.size)) if probable else None
    size = max(1, _BLOCK // n_columns)
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


def _as_frame(block: NDArray[np.float64], like: Any, model: Any) -> Any:
    names = getattr(model, "feature_names_in_", None)
    if names is None or not is_frame(like) or has_families(model):  # missing cells of any kind
        return block
    backend = nw.get_native_namespace(like)
    columns = {str(name): block[:, j] for j, name in enumerate(names)}
    return nw.from_dict(columns, backend=backend).to_native()
