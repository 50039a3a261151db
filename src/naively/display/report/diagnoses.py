"""The diagnosis of a report: of the model with a sample of the rows, where it keeps none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from naively.data.rows import Targets
from naively.display.report.inputs import Given
from naively.estimators.estimator import SummaryClassifier
from naively.inspection.diagnosis import SEVERITIES, diagnose
from naively.model.model import SAMPLE
from naively.statistics.measure import measure

_OF_A_KIND = 3  # findings that are shown
_MOST_NAMES = 12  # columns of further findings of a kind
_MOST_PAIRS = 10
_KEPT = ("kind", "severity", "seen", "advice")


def describe_diagnosis(given: Given) -> dict[str, Any]:
    """Return the gravest findings and the strongest pairs, as the page holds them."""
    found = diagnose(_with_sample(given))
    whole = found.to_dict()
    return {
        "findings": _gravest(whole["findings"]),
        "n_findings": len(found),
        "pairs": whole["pairs"][:_MOST_PAIRS],
        "n_pairs": len(found.pairs),
        "notes": found.notes,
        "skipped": [f"{kinds}: {reason}" for kinds, reason in found.skipped_by_reason],
    }


def _with_sample(given: Given) -> SummaryClassifier:
    """Return the model; with a sample, where it has learned from these rows and keeps none."""
    model, schema = given.fitted, given.schema
    if model.summary_.sample is not None or not given.learned_from_rows:
        return model
    targets = Targets(model.classes_, given.codes)
    summary = measure(given.table, targets, replace(schema, sample=SAMPLE))
    return type(model).from_summary(summary, **model.get_params(deep=False))


def _gravest(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first findings of each kind, and the columns of the others of that kind."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for one in findings:
        kinds.setdefault(one["kind"], []).append(one)
    kept = []
    for alike in kinds.values():
        shown = [{name: one[name] for name in _KEPT} for one in alike[:_OF_A_KIND]]
        others = [name for one in alike[_OF_A_KIND:] for name in one["columns"]]
        shown[-1] |= {"more": len(alike) - len(shown), "others": others[:_MOST_NAMES]}
        kept += shown
    return sorted(kept, key=lambda one: SEVERITIES.index(one["severity"]))
