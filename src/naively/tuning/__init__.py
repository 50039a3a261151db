"""Tuning in one pass: every candidate is read off the same summaries of folds."""

from naively.tuning.tune import tune
from naively.tuning.tuning import Tuning

__all__ = ["Tuning", "tune"]
