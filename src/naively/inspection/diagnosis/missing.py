r"""Missing cells that tell the class: a missing cell contributes nothing, so that this is lost.

The shares of missing cells in the classes are compared by the likelihood ratio of the table of
classes and presence, :math:`G = 2 \sum n \log (n / \hat n)`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import chdtrc, xlogy

from naively.data.types import Floats
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, Skipped, percent

_CHANCE = 0.001  # of all columns together
_GAPS: tuple[tuple[float, Severity], ...] = ((0.5, "high"), (0.2, "medium"), (0.05, "low"))
_FEWEST = 10.0  # rows of a class


def telling_gaps(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find columns whose cells are missing much more often in some classes than in others."""
    present = evidence.present()
    if np.isnan(present).any():
        yield Skipped("missing", "the summary does not count missing cells of counts and texts.")
    enough = np.flatnonzero(evidence.summary.class_weight >= _FEWEST)
    if enough.size < 2:
        return
    weight = evidence.summary.class_weight[enough, np.newaxis]
    present = np.where(np.isnan(present), np.inf, present)[enough]
    present = np.minimum(present, weight)  # none are missing where nobody counted
    gone = weight - present
    share = gone.sum(axis=0) / weight.sum()
    G = 2 * (_likelihood(gone, weight * share) + _likelihood(present, weight * (1 - share)))
    p = chdtrc(enough.size - 1, np.maximum(G, 0.0)) * np.count_nonzero(share)
    missing = gone / weight
    for j in np.flatnonzero((share > 0) & (p < _CHANCE)).tolist():
        most, least = missing[:, j].argmax(), missing[:, j].argmin()
        high, low = float(missing[most, j]), float(missing[least, j])
        severity = next((severity for gap, severity in _GAPS if high - low >= gap), None)
        if severity is None:
            continue
        name, classes = evidence.names[j], tuple(evidence.classes[enough[k]] for k in (most, least))
        seen = (
            f"{evidence.column(j)} is missing in {percent(high)} of the rows of class "
            f"{classes[0]!r}, and in {percent(low)} of class {classes[1]!r}. Missing cells "
            "contribute nothing."
        )
        advice = (
            f"Add a column that says whether {name!r} is missing, if it will be missing in new "
            "rows for the same reasons."
        )
        yield Finding("missing", severity, seen, advice, (name,), classes, high - low, float(p[j]))


def _likelihood(observed: Floats, expected: Floats) -> Floats:
    ratio = np.divide(observed, expected, out=np.ones_like(observed), where=expected > 0)
    return np.asarray(xlogy(observed, ratio).sum(axis=0))
