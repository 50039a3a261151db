"""Diagnosis: where the assumptions of a model fail, and what to do, read off its summary.

`FINDINGS` has all findings by name: each is a function that looks at the evidence and yields what
it found, or could not see.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from numpy.typing import NDArray

from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.naive_bayes import NaiveBayes
from naively.inspection.diagnosis.assumptions import MIN_STRENGTH, dependent_columns, poor_fits
from naively.inspection.diagnosis.classes import (
    CalibrationFigures,
    figures_of,
    never_predicted,
    poor_calibration,
    rare_classes,
)
from naively.inspection.diagnosis.columns import (
    constant_columns,
    identifiers,
    leaks,
    missing_cells,
    seen_once,
)
from naively.inspection.diagnosis.distributions import Fit
from naively.inspection.diagnosis.evidence import Evidence
from naively.inspection.diagnosis.finding import SEVERITIES, Finding, NotMeasuredError, Skipped
from naively.inspection.inputs import model_in, read
from naively.statistics.summary import Summary
from naively.tabular import Drawn, Shown, figure, frame, plain

_LINE_WIDTH = 100  # characters
_MAX_PRINTED = 20  # findings

FINDINGS: dict[str, Callable[[Evidence], Iterator[Finding] | Iterator[Finding | Skipped]]] = {
    "leak": leaks,
    "identifier": identifiers,
    "family": poor_fits,
    "dependence": dependent_columns,
    "calibration": poor_calibration,
    "never predicted": never_predicted,
    "missing": missing_cells,
    "rare class": rare_classes,
    "seen once": seen_once,
    "constant": constant_columns,
}


def diagnose(
    data: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None
) -> Diagnosis:
    """Say where the assumptions of a model fail, and what to do.

    It uses only the model's summary, so that a fitted model needs no data again. Checks that need
    more than the summary holds are skipped, and the diagnosis says so.

    Parameters
    ----------
    data : fitted estimator of naively's, its file, Summary, or data
        Of a summary, or of data with its labels (a table, files, a table of a database), it is the
        diagnosis of `NaiveBayes`.
    y : array-like of shape (n_rows,), default=None
        The labels of data.
    sample_weight : array-like of shape (n_rows,), default=None
        The weights of its rows.
    target : str, default=None
        The column of labels, instead of y.

    Returns
    -------
    Diagnosis
        Findings, the most severe first.

    Examples
    --------
    >>> from naively import NaiveBayes, diagnose
    >>> X = [[float(i % 10), i % 2, 1.0] for i in range(100)]
    >>> diagnosis = diagnose(NaiveBayes().fit(X, ["a", "b"] * 50))
    >>> [(one.severity, one.kind, one.columns) for one in diagnosis.findings[:1]]
    [('high', 'leak', ('column 1',))]
    """
    model = _model_of(data, y, sample_weight, target)
    evidence = Evidence(model)
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    for kind, look in FINDINGS.items():
        try:
            for one in look(evidence):
                findings.append(one) if isinstance(one, Finding) else skipped.append(one)
        except NotMeasuredError as error:
            skipped.append(Skipped(kind, str(error)))
    dependence = _or_none(lambda: evidence.dependence)
    return Diagnosis(
        model=type(model).__name__,
        n_rows=evidence.summary.weight,
        n_columns=evidence.summary.schema.n_columns,
        classes=evidence.model.classes,
        findings=tuple(sorted(findings, key=lambda one: SEVERITIES.index(one.severity))),
        skipped=tuple(skipped),
        fits=_or_none(lambda: evidence.fits) or (),
        pairs=tuple(
            (evidence.names[pair.a], evidence.names[pair.b], pair.strength)
            for pair in (dependence.pairs(MIN_STRENGTH) if dependence else ())
        ),
        effective_columns=dependence.effective() if dependence else None,
        calibration=_or_none(lambda: figures_of(evidence)),
    )


def _model_of(data: Any, y: Any, sample_weight: Any, target: str | None) -> SummaryClassifier:
    """Return a fitted model: the one that is given, or one of data and its labels."""
    has_labels = not (y is None and target is None)
    model = model_in(data)
    if model is not None and has_labels:
        raise NaivelyError(
            "diagnose takes a fitted model alone, and no rows: diagnose(model). Rows and labels "
            "are for evaluate(model, X, y) and report."
        )
    if model is None and not (has_labels or isinstance(data, Summary | tuple)):
        raise NaivelyError(
            f"diagnose needs a fitted estimator of naively's; got "
            f"{type(data).__module__}.{type(data).__qualname__}. Data needs its labels, too: "
            "diagnose(X, y), or diagnose(data, target='y')."
        )
    if model is None:
        inspected = read(data, y, target=target, sample_weight=sample_weight)
        model = inspected.model or NaiveBayes.from_summary(inspected.summary)
    return model


def _or_none(measure: Callable[[], Any]) -> Any:
    """Return what was measured; None where it was not."""
    try:
        return measure()
    except NotMeasuredError:
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Drawn, Shown):
    """Where the assumptions of a model fail, and what to do.

    It prints as text; it is false where nothing was found.

    Attributes
    ----------
    model : str
        The name of the estimator's class.
    n_rows : float
        The weight of the rows that it has seen.
    n_columns : int
        How many columns it has.
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    findings : tuple of Finding
        The most severe first.
    skipped : tuple of Skipped
        Checks that were skipped, and why.
    fits : tuple of Fit
        How well families fit, by column and class.
    pairs : tuple of (str, str, float)
        Columns that depend on each other within classes, and how strongly, the strongest first.
    effective_columns : float or None
        Effective number of columns: how many independent columns carry the same information.
    calibration : CalibrationFigures or None
        Log loss and calibration error without calibration and with, on rows left out.

    Examples
    --------
    >>> from naively import NaiveBayes, diagnose
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> diagnosis = diagnose(NaiveBayes().fit(X, y))
    >>> [(finding.kind, finding.severity) for finding in diagnosis.findings]
    [('rare class', 'low')]
    """

    model: str
    n_rows: float
    n_columns: int
    classes: NDArray[Any]
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]
    fits: tuple[Fit, ...]
    pairs: tuple[tuple[str, str, float], ...]
    effective_columns: float | None
    calibration: CalibrationFigures | None

    def __len__(self) -> int:
        return len(self.findings)

    def of(self, kind: str) -> tuple[Finding, ...]:
        """Return the findings of one kind, such as ``"leak"``."""
        return tuple(one for one in self.findings if one.kind == kind)

    def to_frame(self) -> Any:
        """Return a frame of pandas with a line for each finding."""
        columns = {
            field.name: [_cell(getattr(one, field.name)) for one in self.findings]
            for field in fields(Finding)
        }
        return frame(columns, None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the histograms of fits, as JSON can hold it."""
        fits = [{k: v for k, v in asdict(fit).items() if k != "histogram"} for fit in self.fits]
        written: dict[str, Any] = plain(
            {
                "model": self.model,
                "n_rows": self.n_rows,
                "n_columns": self.n_columns,
                "classes": self.classes,
                "findings": [asdict(one) for one in self.findings],
                "skipped": [asdict(one) for one in self.skipped],
                "fits": fits,
                "pairs": self.pairs,
                "effective_columns": self.effective_columns,
                "calibration": None if self.calibration is None else self.calibration._asdict(),
            }
        )
        return written

    @property
    def title(self) -> str:
        """What was looked at, and how much was found."""
        counts = {s: sum(one.severity == s for one in self.findings) for s in SEVERITIES}
        said = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)
        n, d, k = len(self.findings), self.n_columns, self.classes.size
        findings = f"{n} finding{'s' * (n != 1)} ({said})" if n else "no findings"
        size = f"{d:,} column{'s' * (d != 1)}, {k} class{'es' * (k != 1)}"
        return f"{self.model} of {self.n_rows:,.10g} rows, {size}: {findings}"

    @property
    def notes(self) -> list[str]:
        """The figures of the whole model, in sentences."""
        notes = []
        if self.effective_columns is not None and self.effective_columns > 0:
            number = f"{self.effective_columns:.1f}"
            notes.append(f"Within classes, the columns say as much as {number} independent ones.")
        if self.calibration is not None:
            c = self.calibration
            notes.append(
                f"On {c.n_rows:,} rows left out, calibration takes the log loss from "
                f"{figure(c.loss_before)} to {figure(c.loss_after)}, and the calibration error "
                f"from {figure(c.error_before)} to {figure(c.error_after)}."
            )
        return notes

    @property
    def skipped_by_reason(self) -> list[tuple[str, str]]:
        """What was skipped for one reason together: the kinds of findings, and the reason."""
        kinds: dict[str, list[str]] = {}
        for one in self.skipped:
            kinds.setdefault(one.reason, []).append(one.kind)
        return [(", ".join(of), reason) for reason, of in kinds.items()]

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.title
        for one in self.findings[:_MAX_PRINTED]:
            yield ""
            yield f"{one.severity.upper()}: {one.kind}"
            yield from _wrapped(one.seen)
            yield from _wrapped(f"→ {one.advice}")
        if len(self.findings) > _MAX_PRINTED:
            yield ""
            yield f"... and {len(self.findings) - _MAX_PRINTED:,} more findings"
        if self.notes:
            yield ""
            for note in self.notes:
                yield from textwrap.wrap(note, _LINE_WIDTH)
        if self.skipped:
            yield ""
            yield "Not looked at:"
            for kind, reason in self.skipped_by_reason:
                yield from _wrapped(f"{kind}: {reason}")

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.title}>"


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _LINE_WIDTH, initial_indent="  ", subsequent_indent="  ")
