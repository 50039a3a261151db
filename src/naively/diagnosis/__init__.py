"""Diagnosis: where the assumptions of a model fail, and what to do, read off its summary."""

from naively.diagnosis.diagnose import diagnose
from naively.diagnosis.diagnosis import Diagnosis
from naively.diagnosis.finding import Finding, Skipped
from naively.diagnosis.findings import FINDINGS

__all__ = ["FINDINGS", "Diagnosis", "Finding", "Skipped", "diagnose"]
