"""Diagnosis: where the assumptions of a model fail, and what to do, read off its summary."""

from naively.inspection.diagnosis.diagnose import diagnose
from naively.inspection.diagnosis.diagnosis import Diagnosis
from naively.inspection.diagnosis.finding import Finding, Skipped
from naively.inspection.diagnosis.findings import FINDINGS

__all__ = ["FINDINGS", "Diagnosis", "Finding", "Skipped", "diagnose"]
