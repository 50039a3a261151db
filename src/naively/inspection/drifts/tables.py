"""Drift as tables: printed, as frames, and as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from naively.inspection.drifts.value import LEVELS
from naively.tabular import PrintedTable, figure, frame

if TYPE_CHECKING:
    from naively.inspection.drifts.value import Drift

_MOST_COLUMNS, _MOST_CLASSES, _MOST_NAMES = 20, 10, 5


def title_of(drift: Drift) -> str:
    """Return what was compared, and the result, in a sentence."""
    worst = [*drift.severity.values(), drift.class_severity]
    found = ", ".join(f"{worst.count(level)} {level}" for level in LEVELS[:0:-1] if level in worst)
    rows = f"{drift.n_before[0]:,.10g} rows before, {drift.n_after[0]:,.10g} after"
    return f"Drift of {len(drift.columns):,} columns ({rows}): {found or 'none'}"


def of_drift(drift: Drift) -> list[PrintedTable]:
    """Return the columns that have changed most, and the classes."""
    found = [_of_columns(drift)]
    if drift.class_shares is not None:
        found.append(_of_classes(drift))
    return found


def notes_of(drift: Drift) -> list[str]:
    """Return what is to be said beside figures, in sentences."""
    notes = [
        f"{name} holds what was not there before: {_listed(new)}."
        for name, new in drift.new_categories.items()
    ][:_MOST_COLUMNS]
    unusual = drift.unusual
    if unusual is not None:
        notes.append(
            f"{unusual.share:.1%} of {unusual.n_after:,} new rows are less likely than all but "
            f"{unusual.expected:.0%} of {unusual.n_before:,} old ones."
        )
    if not drift.tests_spread:
        notes.append(
            "Numbers are compared by their means: without histograms, as NaiveBayes has them, a "
            "change of the spread alone is not tested."
        )
    if drift.has_weights:
        notes.append("Rows are weighted: p-values take weights as numbers of rows.")
    return notes


def _listed(labels: list[Any]) -> str:
    more = ", ..." if len(labels) > _MOST_NAMES else ""
    return ", ".join(map(repr, labels[:_MOST_NAMES])) + more


def most_in(drift: Drift, j: int) -> str:
    """Return the class in which a column has changed most; nothing where that is all rows."""
    distance = np.where(drift.levels[:, j] > 0, drift.measures.distance[:, j], -1.0)
    at = int(np.argmax(distance))
    return f"{drift.groups[at]} ({distance[at]:.3f})" if at and distance[at] > 0 else ""


def p_text(p: float) -> str:
    """Write a p-value.

    >>> p_text(0.25), p_text(3e-7), p_text(0.0), p_text(float("nan"))
    ('0.250', '3e-07', '<1e-300', '-')
    """
    if np.isnan(p):
        return "-"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}" if p > 1e-300 else "<1e-300"


def _of_columns(drift: Drift) -> PrintedTable:
    header = [
        "",
        "holds",
        "mean before",
        "after",
        "shift",
        "spread",
        "missing",
        "after",
        "distance",
    ]
    header += ["p", *(["most in"] if drift.classes.size else []), "severity"]
    severity, lines = list(drift.severity.values()), []
    for j in drift.order[:_MOST_COLUMNS].tolist():
        one = {name: float(values[0, j]) for name, values in drift.measures._asdict().items()}
        means = [number_text(one["mean_before"]), number_text(one["mean_after"])]
        moved = [number_text(one["shift"], "+.3f"), number_text(one["spread_ratio"], ".3f", "x ")]
        gone = [share_text(one["missing_before"]), share_text(one["missing_after"])]
        line = [drift.columns[j], drift.kinds[j], *means, *moved, *gone]
        line += [figure(one["distance"]), p_text(one["p_adjusted"])]
        line += [most_in(drift, j)] if drift.classes.size else []
        lines.append((*line, severity[j]))
    if len(drift.columns) > _MOST_COLUMNS:
        more = f"... {len(drift.columns) - _MOST_COLUMNS:,} more"
        lines.append((more, *[""] * (len(header) - 1)))
    return PrintedTable(title_of(drift), tuple(header), tuple(lines))


def _of_classes(drift: Drift) -> PrintedTable:
    found: Any = drift.class_shares
    title = (
        f"Shares of classes: distance {figure(found.distance)}, p {p_text(found.p_adjusted)}, "
        f"{drift.class_severity}"
    )
    order = np.argsort(-np.abs(found.after - found.before), kind="stable")
    lines = [
        (str(drift.classes[k]), f"{found.before[k]:.2%}", f"{found.after[k]:.2%}")
        for k in order[:_MOST_CLASSES].tolist()
    ]
    if order.size > _MOST_CLASSES:
        lines.append((f"... {order.size - _MOST_CLASSES:,} more", "", ""))
    return PrintedTable(title, ("", "before", "after"), tuple(lines))


def number_text(value: float, form: str = ".4g", before: str = "") -> str:
    """Write a number; "-" where it is undefined."""
    return "-" if np.isnan(value) else before + format(value, form)


def share_text(value: float) -> str:
    """Write a share in percent; "-" where it is undefined."""
    return "-" if np.isnan(value) else f"{value:.1%}"


def frame_of(drift: Drift) -> Any:
    """Return a frame with a line for each column and group."""
    n_groups, n_columns = drift.levels.shape
    columns = {
        "column": list(drift.columns) * n_groups,
        "kind": list(drift.kinds) * n_groups,
        "class": [group for group in drift.groups for _ in range(n_columns)],
        "n_before": np.repeat(drift.n_before, n_columns),
        "n_after": np.repeat(drift.n_after, n_columns),
        **{name: values.ravel() for name, values in drift.measures._asdict().items()},
        "severity": [LEVELS[level] for level in drift.levels.ravel().tolist()],
    }
    return frame(columns, drift.library)


def dict_of(drift: Drift) -> dict[str, Any]:
    """Return everything as plain values, by column; measures are lists over groups."""
    measures, severity = drift.measures._asdict(), drift.severity
    shares = drift.class_shares
    return {
        "greatest": drift.greatest,
        "groups": drift.groups,
        "n_before": drift.n_before,
        "n_after": drift.n_after,
        "columns": [
            {
                "column": name,
                "kind": drift.kinds[j],
                "severity": severity[name],
                "new_categories": drift.new_categories.get(name, []),
                **{measure: values[:, j] for measure, values in measures.items()},
            }
            for j, name in enumerate(drift.columns)
        ],
        "class_shares": None
        if shares is None
        else {**shares._asdict(), "severity": drift.class_severity},
        "unusual": None if drift.unusual is None else drift.unusual._asdict(),
    }
