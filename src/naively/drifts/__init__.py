"""Drift: how new data differs from old, column by column, from summaries alone."""

from naively.drifts.compare import drift
from naively.drifts.value import ClassDrift, ColumnDrift, Drift, UnusualRows

__all__ = ["ClassDrift", "ColumnDrift", "Drift", "UnusualRows", "drift"]
