r"""Categories and words that were seen once: how many new ones are to be expected.

By Good and Turing, the probability that the next cell is one never seen is about the share of the
cells that were seen once, :math:`n_1 / n`. It is judged less three of its standard deviations,
:math:`\sqrt{n_1} / n`.

References
----------
I. J. Good (1953), The population frequencies of species and the estimation of population
parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from naively.data.types import Floats
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import Finding, Severity, Skipped, percent
from naively.inspection.diagnosis.identifier import is_identifier
from naively.statistics import Documents, Occurrences

_CHANCE = 3.0  # standard deviations of the number that were seen once
_SHARES: tuple[tuple[float, Severity], ...] = ((0.3, "high"), (0.1, "medium"), (0.01, "low"))


def seen_once(evidence: Evidence) -> Iterator[Finding | Skipped]:
    """Find columns of which many categories, or words, were seen once."""
    summary, schema = evidence.summary, evidence.summary.schema
    for place, j in enumerate(schema.categories):
        tally = summary.tally(place).sum(axis=0)
        if not is_identifier(tally):
            advice = "Join rare categories, or expect that they say little."
            yield from _one(evidence, j, tally, ("categories", "rows"), advice)
    kind = next((one for one in (Documents, Occurrences) if one in summary.statistics), None)
    if kind is None or not schema.texts:
        return
    values = summary[kind].values
    first = values.shape[1] - summary.axes.word_starts[-1]
    for place, j in enumerate(schema.texts):
        if schema.options[place].hashed is not None:
            yield Skipped("seen once", f"the words of {schema.name(j)} are hashed, not counted.")
            continue
        start, end = (first + at for at in summary.axes.word_starts[place : place + 2])
        advice = "Give it shorter n-grams, or more texts: words seen once say little."
        yield from _one(evidence, j, values[:, start:end].sum(axis=0), ("words", "words"), advice)


def _one(
    evidence: Evidence, j: int, tally: Floats, what: tuple[str, str], advice: str
) -> Iterator[Finding]:
    once, total = int((tally == 1).sum()), float(tally.sum())
    share = once / total if total else 0.0
    certain = (once - _CHANCE * once**0.5) / total if total else 0.0
    severity = next((severity for least, severity in _SHARES if certain >= least), None)
    if severity is None:
        return
    seen = (
        f"{once:,} of {np.count_nonzero(tally):,} {what[0]} of {evidence.summary.schema.name(j)} "
        f"were seen once: about {percent(share)} of new {what[1]} will hold one never seen."
    )
    if what[0] == "words":
        severity = "low" if severity != "high" else "medium"
        seen = seen.replace("will hold one never seen", "will be ones never seen")
    yield Finding("seen once", severity, seen, advice, (evidence.names[j],), figure=share)
