"""What an estimator has to export: the numbers of a Gaussian model, or the sum of any other."""

from __future__ import annotations

from typing import Any

from naively.exceptions import NaivelyError
from naively.export.sums import Sum
from naively.export.terms import Fitted, Terms

__all__ = ["read"]


def read(estimator: Fitted) -> Terms | Sum:
    """Read the numbers off a fitted estimator, or raise where it cannot be exported."""
    estimator = estimator._snapshot()
    model = estimator._model()
    calibration = getattr(model, "calibration", None)
    if hasattr(model, "parameters") and _is_gaussian(calibration):
        return Terms.of(estimator)
    for name in ("costs", "reject"):
        if getattr(estimator, name, None) is not None:
            raise NaivelyError(
                f"{name} cannot be exported; got {getattr(estimator, name)!r}. Export a model of "
                f"{name}=None, and decide by its probabilities."
            )
    return Sum.of(estimator)


def _is_gaussian(calibration: Any) -> bool:
    """Whether weights leave the terms the logarithms of Gaussians: one positive weight for all."""
    if calibration is None:
        return True
    weight = calibration.weight
    return bool((weight == weight[:1]).all() and (weight > 0).all())
