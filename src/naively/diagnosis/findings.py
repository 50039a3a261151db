"""All findings, by name: each looks at the evidence and yields what it found or could not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from naively.diagnosis.calibration import poor_calibration
from naively.diagnosis.constant import constant_columns
from naively.diagnosis.dependent import dependent_columns
from naively.diagnosis.evidence import Evidence
from naively.diagnosis.family import poor_fits
from naively.diagnosis.finding import Finding, Skipped
from naively.diagnosis.identifier import identifiers
from naively.diagnosis.leak import leaks
from naively.diagnosis.missing import telling_gaps
from naively.diagnosis.never_predicted import never_predicted
from naively.diagnosis.rare_class import rare_classes
from naively.diagnosis.seen_once import seen_once

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
