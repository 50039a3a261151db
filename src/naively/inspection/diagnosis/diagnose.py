"""Look at a model in all ways that there are."""

from __future__ import annotations

from typing import Any

from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.state import snapshot
from naively.inspection.diagnosis.calibration import figures_of
from naively.inspection.diagnosis.dependent import LEAST
from naively.inspection.diagnosis.diagnosis import Diagnosis
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import SEVERITIES, Finding, NotMeasuredError, Skipped
from naively.inspection.diagnosis.findings import FINDINGS


def diagnose(model: Any, *rows: Any) -> Diagnosis:
    """Say where the assumptions of a fitted model fail, and what to do.

    It uses only the model's summary, so the data is not needed again. Checks that need more than
    the summary holds are skipped, and the diagnosis says so.

    Parameters
    ----------
    model : fitted estimator
        One of naively's; nothing else is taken.

    Returns
    -------
    Diagnosis
        Findings, the most severe first.

    Examples
    --------
    >>> from naively import NaiveBayes, diagnose
    >>> X = [[float(i % 10), i % 2, 1.0] for i in range(100)]
    >>> found = diagnose(NaiveBayes().fit(X, ["a", "b"] * 50))
    >>> [(one.severity, one.kind, one.columns) for one in found.findings[:1]]
    [('high', 'leak', ('column 1',))]
    """
    if not isinstance(model, SummaryClassifier):
        raise NaivelyError(
            f"diagnose needs a fitted estimator of naively's; got "
            f"{type(model).__module__}.{type(model).__qualname__}."
        )
    if rows:
        raise NaivelyError(
            f"diagnose takes a fitted model alone, and no rows; got {len(rows)} more. Call "
            "diagnose(model); rows and labels are for evaluate(model, X, y) and report."
        )
    evidence = Evidence(snapshot(model))
    found: list[Finding] = []
    skipped: list[Skipped] = []
    for kind, look in FINDINGS.items():
        try:
            for one in look(evidence):
                found.append(one) if isinstance(one, Finding) else skipped.append(one)
        except NotMeasuredError as error:
            skipped.append(Skipped(kind, str(error)))
    dependence = _or_none(lambda: evidence.dependence)
    return Diagnosis(
        model=type(model).__name__,
        n_rows=evidence.summary.weight,
        n_columns=evidence.summary.schema.n_columns,
        classes=evidence.model.classes,
        findings=tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity))),
        skipped=tuple(skipped),
        fits=_or_none(lambda: evidence.fits) or (),
        pairs=tuple(
            (evidence.names[pair.a], evidence.names[pair.b], pair.strength)
            for pair in (dependence.pairs(LEAST) if dependence else ())
        ),
        effective_columns=dependence.effective() if dependence else None,
        calibration=_or_none(lambda: figures_of(evidence)),
    )


def _or_none(found: Any) -> Any:
    """Return what was measured; None where it was not."""
    try:
        return found()
    except NotMeasuredError:
        return None
