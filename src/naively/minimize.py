r"""Minimise a convex function by L-BFGS, from a start where its curvature is known.

A step is the inverse Hessian times the gradient. The inverse is that of the preconditioner,
corrected by what the last steps have shown. Where the preconditioner is nearly the Hessian, a few
evaluations are enough: general minimisers, which start from the identity, take ten times as many.

Examples
--------
>>> def bowl(x):
...     return float(x @ x), 2 * x
>>> minimize(bowl, np.array([3.0, 4.0]), lambda slope: slope / 2, enough=1e-9).round(6)
array([0., 0.])

References
----------
J. Nocedal, S. J. Wright (2006), Numerical Optimization, chapter 7.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["line_search", "minimize"]

Floats: TypeAlias = NDArray[np.float64]
Judged: TypeAlias = Callable[[Floats], tuple[float, Floats]]
_Pair: TypeAlias = tuple[Floats, Floats, float]

_MOST_ROUNDS = 60
_MEMORY = 10
_SHARE = 1e-4  # of the promised gain that a step must keep
_SHORTEST = 1e-6


def minimize(judged: Judged, x: Floats, solve: Callable[[Floats], Floats], enough: float) -> Floats:
    """Return the x at which no more than about half of ``enough`` is left to gain.

    It is judged by value and gradient; ``solve`` multiplies a gradient by an approximate inverse
    Hessian. It ends where gradient and step promise less than enough, or after 60 steps.
    """
    value, slope = judged(x)
    pairs: deque[_Pair] = deque(maxlen=_MEMORY)
    for _ in range(_MOST_ROUNDS):
        step = _step(slope, pairs, solve)
        gain = float(np.vdot(slope, step))
        if gain < enough:
            break
        before = x, slope
        x, value, slope = line_search(judged, x, step, value, gain)
        moved, changed = x - before[0], slope - before[1]
        curvature = float(np.vdot(moved, changed))
        if curvature > 0:
            pairs.append((moved, changed, 1 / curvature))
    return x


def line_search(
    judged: Judged, x: Floats, step: Floats, value: float, gain: float
) -> tuple[Floats, float, Floats]:
    """Return x - step with its value and gradient; the step is halved until it gains enough."""
    length = 1.0
    while True:
        new = x - length * step
        found, slope = judged(new)
        if found <= value - _SHARE * length * gain or length < _SHORTEST:
            return new, found, slope
        length /= 2


def _step(slope: Floats, pairs: Iterable[_Pair], solve: Callable[[Floats], Floats]) -> Floats:
    """Return the inverse Hessian times the gradient, by the two loops of L-BFGS."""
    pairs = list(pairs)
    step, parts = slope.copy(), []
    for moved, changed, inverse in reversed(pairs):
        parts.append(inverse * np.vdot(moved, step))
        step -= parts[-1] * changed
    step = solve(step)
    for moved, changed, inverse in pairs:
        step += (parts.pop() - inverse * np.vdot(changed, step)) * moved
    return step
