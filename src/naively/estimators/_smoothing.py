"""How scikit-learn's estimators of counts and categories smooth."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.exceptions import warn

__all__ = ["large_enough"]

_LEAST_ALPHA = 1e-10


def large_enough(alpha: Any) -> Any:
    """Return alpha, a number or one for each column, raised to 1e-10 with a warning."""
    if np.min(alpha) >= _LEAST_ALPHA:
        return alpha
    warn(
        f"alpha too small will result in numeric errors, setting alpha = {_LEAST_ALPHA:.1e}. "
        "Use `force_alpha=True` to keep alpha unchanged.",
    )
    return np.maximum(alpha, _LEAST_ALPHA)
