"""How scikit-learn's estimators of counts and categories smooth, and weigh the classes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.model import check_priors, read_prior
from naively.summary import Summary

__all__ = ["large_enough", "prior_of"]

_LEAST_ALPHA = 1e-10


def large_enough(alpha: Any) -> Any:
    """Return alpha, a number or one for each column, raised to 1e-10 with a warning."""
    if np.min(alpha) >= _LEAST_ALPHA:
        return alpha
    warnings.warn(
        f"alpha too small will result in numeric errors, setting alpha = {_LEAST_ALPHA:.1e}. "
        "Use `force_alpha=True` to keep alpha unchanged.",
        UserWarning,
        stacklevel=5,
    )
    return np.maximum(alpha, _LEAST_ALPHA)


def prior_of(summary: Summary, given: Any, *, fit: bool) -> NDArray[np.float64]:
    """Return class probabilities: as given, the shares of the data, or equal ones."""
    if given is not None:
        return check_priors(given, summary.classes)
    n_classes = summary.classes.size
    return read_prior(summary, None if fit else np.full(n_classes, 1 / n_classes))
