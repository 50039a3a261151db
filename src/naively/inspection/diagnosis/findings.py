"""All findings, by name: each looks at the evidence and yields what it found or could not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from naively.inspection.diagnosis.calibration import poor_calibration
from naively.inspection.diagnosis.constant import constant_columns
from naively.inspection.diagnosis.dependent import dependent_columns
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.family import poor_fits
from naively.inspection.diagnosis.finding import Finding, Skipped
from naively.inspection.diagnosis.identifier import identifiers
from naively.inspection.diagnosis.leak import leaks
from naively.inspection.diagnosis.missing import telling_gaps
from naively.inspection.diagnosis.never_predicted import never_predicted
from naively.inspection.diagnosis.rare_class import rare_classes
from naively.inspection.diagnosis.seen_once import seen_once

Look: TypeAlias = Callable[[Evidence], Iterator[Finding] | Iterator[Finding | Skipped]]

FINDINGS: dict[str, Look] = {
    "leak": leaks,
    "identifier": identifiers,
    "family": poor_fits,
    "dependence": dependent_columns,
    "calibration": poor_calibration,
    "never predicted": never_predicted,
    "missing": telling_gaps,
    "rare class": rare_classes,
    "seen once": seen_once,
    "constant": constant_columns,
}
