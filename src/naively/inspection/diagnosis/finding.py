"""What a diagnosis finds: how grave it is, what was seen, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")
_MAX_NAMES = 5  # in a sentence


@dataclass(frozen=True)
class Finding:
    """One thing that a person should know of a model.

    Attributes
    ----------
    kind : str
        Its name in `FINDINGS`.
    severity : {"high", "medium", "low"}
        High where answers are probably wrong, or too good to be true; low where nothing is lost.
    seen : str
        What was seen: a sentence with the figures.
    advice : str
        What to do.
    columns : tuple of str
        The columns that it is about.
    classes : tuple of labels
        The classes that it is about.
    figure : float
        The number that decides about the severity; what it is depends on the kind.
    p_value : float or None
        How probable so large a figure would be by chance, all tests of this kind together.
    """

    kind: str
    severity: Severity
    seen: str
    advice: str
    columns: tuple[str, ...] = ()
    classes: tuple[Any, ...] = ()
    figure: float = float("nan")
    p_value: float | None = None


@dataclass(frozen=True)
class Skipped:
    """What could not be looked at, and why."""

    kind: str
    reason: str


class NotMeasuredError(Exception):
    """A finding needs what the summary does not hold; the message says what."""


def severity_of(value: float, bounds: Sequence[tuple[float, Severity]]) -> Severity | None:
    """Return the severity of the first bound that a value reaches; None below all of them."""
    return next((severity for least, severity in bounds if value >= least), None)


def listed(names: Sequence[Any], most: int = _MAX_NAMES) -> str:
    """Write names for a sentence.

    >>> listed(["a", "b", "c"]), listed(range(9), most=2)
    ("'a', 'b' and 'c'", '0, 1 and 7 more')
    """
    shown = [repr(name) for name in names[: most if len(names) > most + 1 else len(names)]]
    if len(names) > len(shown):
        return f"{', '.join(shown)} and {len(names) - len(shown):,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def percent(share: float) -> str:
    """Write a share as a percentage.

    >>> percent(0.5), percent(0.123), percent(0.00456), percent(0.9996)
    ('50 %', '12 %', '0.46 %', '99.96 %')
    """
    value = 100 * share
    digits = 0 if 1 <= value <= 99 or value in (0, 100) else 2
    return f"{value:.{digits}f} %"
