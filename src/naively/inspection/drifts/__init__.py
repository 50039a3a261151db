"""Drift: how new data differs from old, column by column, from summaries alone."""

from naively.inspection.drifts.compare import drift
from naively.inspection.drifts.value import ClassDrift, ColumnDrift, Drift, UnusualRows

__all__ = ["ClassDrift", "ColumnDrift", "Drift", "UnusualRows", "drift"]
