"""Diagnosis: where the assumptions of a model fail, and what to do, read off its summary."""

from naively.inspection.diagnosis.diagnosis import FINDINGS, Diagnosis, diagnose
from naively.inspection.diagnosis.distributions import Fit
from naively.inspection.diagnosis.finding import SEVERITIES, Finding, Skipped

__all__ = ["FINDINGS", "SEVERITIES", "Diagnosis", "Finding", "Fit", "Skipped", "diagnose"]
