"""A diagnosis: findings as one value, which prints, plots and becomes a frame."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from numpy.typing import NDArray

from naively.inspection.diagnosis.calibration import CalibrationFigures
from naively.inspection.diagnosis.finding import SEVERITIES, Finding, Skipped
from naively.inspection.diagnosis.fits import Fit
from naively.tabular import Drawn, Shown, figure, frame, plain

_WIDTH = 100  # characters of a line
_MOST = 20  # findings that are printed


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
    >>> found = diagnose(NaiveBayes().fit(X, y))
    >>> [(finding.kind, finding.severity) for finding in found.findings]
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
        found: dict[str, Any] = plain(
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
        return found

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
        found = []
        if self.effective_columns is not None and self.effective_columns > 0:
            number = f"{self.effective_columns:.1f}"
            found.append(f"Within classes, the columns say as much as {number} independent ones.")
        if self.calibration is not None:
            c = self.calibration
            found.append(
                f"On {c.n_rows:,} rows left out, calibration takes the log loss from "
                f"{figure(c.loss_before)} to {figure(c.loss_after)}, and the calibration error "
                f"from {figure(c.error_before)} to {figure(c.error_after)}."
            )
        return found

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
        for one in self.findings[:_MOST]:
            yield ""
            yield f"{one.severity.upper()}: {one.kind}"
            yield from _wrapped(one.seen)
            yield from _wrapped(f"→ {one.advice}")
        if len(self.findings) > _MOST:
            yield ""
            yield f"... and {len(self.findings) - _MOST:,} more findings"
        if self.notes:
            yield ""
            for note in self.notes:
                yield from textwrap.wrap(note, _WIDTH)
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
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
