"""Slow, obvious twins of the kernel: exact fractions, decimals of fifty digits, plain loops.

Numbers go in as the doubles they are and nothing is rounded on the way, so that what comes out
is the truth that the kernel's rounding is measured against.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from naively import _kernel

__all__ = ["Exact", "evidence", "joint", "log_proba", "merged", "moments", "proba", "removed"]
__all__ += ["date_parts", "gaussian_model", "moments_of_cells", "roughness"]

FIFTY = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
TWO_PI = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494")


class Exact(NamedTuple):
    """Weight, mean and sum of squared deviations, without rounding."""

    weight: Fraction
    mean: Fraction
    m2: Fraction


NOTHING = Exact(Fraction(0), Fraction(0), Fraction(0))


def moments_of_cells(cells: Iterable[float], weights: Iterable[float] | None = None) -> Exact:
    """Return the moments of the cells that are present.

    m2 = sum w x^2 - (sum w x)^2 / sum w, in integers, which round nothing.
    """
    cells = list(cells)
    weights = [1.0] * len(cells) if weights is None else list(weights)
    pairs = zip(cells, weights, strict=True)
    present = [(float(x), float(w)) for x, w in pairs if not math.isnan(x) and w > 0]
    if not present:
        return NOTHING
    (x, of_x), (w, of_w) = (_whole(numbers) for numbers in zip(*present, strict=True))
    weight, first = sum(w), sum(a * b for a, b in zip(w, x, strict=True))
    second = sum(a * b * b for a, b in zip(w, x, strict=True))
    m2 = Fraction(weight * second - first**2, weight * of_w * of_x**2)
    return Exact(Fraction(weight, of_w), Fraction(first, weight * of_x), m2)


def _whole(numbers: Sequence[float]) -> tuple[list[int], int]:
    """Return integers and the one power of two that they are to be divided by."""
    ratios = [number.as_integer_ratio() for number in numbers]
    unit = max(below for _, below in ratios)
    return [above * (unit // below) for above, below in ratios], unit


def moments(
    X: Any, codes: Sequence[int], n_classes: int, weights: Sequence[float] | None = None
) -> list[list[Exact]]:
    """Return the moments of every class (rows) and column, of a table that can be indexed."""
    X = np.asarray(X)
    table: list[list[Exact]] = []
    for k in range(n_classes):
        rows = np.flatnonzero(np.asarray(codes) == k)
        given = None if weights is None else [weights[i] for i in rows]
        table.append([moments_of_cells(X[rows, j].tolist(), given) for j in range(X.shape[1])])
    return table


def rounded(table: list[list[Exact]]) -> Any:
    """Return exact moments in float64, and what rounding took from the means."""
    rows = [[(*e, e.mean - Fraction(float(e.mean))) for e in row] for row in table]
    return np.ascontiguousarray(np.moveaxis(np.array(rows, dtype=float), 2, 0))


def merged(a: Exact, b: Exact) -> Exact:
    """Return the moments of both together."""
    weight = a.weight + b.weight
    if weight == 0:
        return NOTHING
    mean = (a.weight * a.mean + b.weight * b.mean) / weight
    m2 = sum(part.m2 + part.weight * (part.mean - mean) ** 2 for part in (a, b))
    return Exact(weight, mean, Fraction(m2))


def removed(whole: Exact, part: Exact) -> Exact:
    """Return what is left of the whole without the part."""
    weight = whole.weight - part.weight
    if weight == 0:
        return NOTHING
    mean = (whole.weight * whole.mean - part.weight * part.mean) / weight
    m2 = whole.m2 - part.m2
    m2 -= part.weight * (part.mean - whole.mean) ** 2 + weight * (mean - whole.mean) ** 2
    return Exact(weight, mean, m2)


def joint(
    x: Sequence[float], mean: Any, variance: Any, log_prior: Sequence[float]
) -> list[Decimal]:
    """Return log p(k) + sum over present cells of log f(x | k), for each class k, to 50 digits."""
    with localcontext(FIFTY):
        return [
            Decimal(float(log_prior[k]))
            - sum(
                (_distance(x[j], mean[k][j], variance[k][j]) + _log_norm(variance[k][j]))
                for j in range(len(x))
                if not math.isnan(x[j])
            )
            for k in range(len(log_prior))
        ]


def proba(joints: Sequence[Decimal]) -> list[Decimal]:
    """Return exp(joint_k) / sum over classes of exp(joint)."""
    with localcontext(FIFTY):
        largest = max(joints)
        powers = [(value - largest).exp() for value in joints]
        return [power / sum(powers) for power in powers]


def evidence(joints: Sequence[Decimal]) -> Decimal:
    """Return the logarithm of the sum over classes of exp(joint)."""
    with localcontext(FIFTY):
        largest = max(joints)
        return largest + sum((value - largest).exp() for value in joints).ln()


def log_proba(joints: Sequence[Decimal]) -> list[Decimal]:
    """Return joint_k - evidence."""
    with localcontext(FIFTY):
        return [value - evidence(joints) for value in joints]


def roughness(
    x: Sequence[float], mean: Any, variance: Any, log_prior: Sequence[float]
) -> list[float]:
    """Return the sum of the sizes of all terms of the joint: what relative rounding is relative to.

    Each class's normalizing terms are in it for present and missing cells alike.
    """
    with localcontext(FIFTY):
        return [
            float(
                abs(Decimal(float(log_prior[k])))
                + sum(abs(_log_norm(v)) for v in variance[k])
                + sum(
                    _distance(x[j], mean[k][j], variance[k][j])
                    for j in range(len(x))
                    if not math.isnan(x[j])
                )
            )
            for k in range(len(log_prior))
        ]


def gaussian_model(mean: Any, variance: Any, log_prior: Any) -> Any:
    """Return the kernel's model of means and variances by class and column."""
    variance = np.where(np.asarray(variance) > 0, variance, np.nan).T
    A = -0.5 * (np.log(2 * np.pi) + np.log(variance))
    arrays = map(np.ascontiguousarray, (A, 0.5 / variance, np.transpose(mean), log_prior))
    return _kernel.GaussianModel(*arrays)


def _distance(x: float, mean: float, variance: float) -> Decimal:
    return (Decimal(float(x)) - Decimal(float(mean))) ** 2 / (2 * Decimal(float(variance)))


def _log_norm(variance: float) -> Decimal:
    return (TWO_PI * Decimal(float(variance))).ln() / 2


def date_parts(cell: date | str | None) -> dict[str, Any]:
    """Return the parts of a date as Python's datetime knows them; None for each if it is missing.

    A time with a zone is converted to UTC; an ISO text is read by Python first.
    """
    if cell is None:
        return dict.fromkeys(("year", "month", "weekday", "hour"))
    if isinstance(cell, str):
        cell = datetime.fromisoformat(cell)
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC)
    names = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    hour = cell.hour if isinstance(cell, datetime) else 0
    weekday = names[cell.weekday()]
    return {"year": cell.year, "month": cell.month, "weekday": weekday, "hour": hour}
