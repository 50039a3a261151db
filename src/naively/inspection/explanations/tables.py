"""Explanations as tables: printed, as frames, and as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.inspection.explanations.row_terms import RowTerm, RowTerms
from naively.tabular import PrintedTable, figure, frame

if TYPE_CHECKING:
    from naively.inspection.explanations.explanation import Explanation

_MOST_TERMS, _MOST_ROWS, _STRONGEST = 20, 20, 3


def of_row(explanation: Explanation) -> PrintedTable:
    """Return the terms of the only row, the strongest first."""
    if explanation.classes.size < 2:
        return _of_one_class(explanation)
    found = RowTerms.read(explanation, 0, most=_MOST_TERMS)
    header = ("", "value", f"for {found.of}", f"for {found.against}", "log-odds")
    lines = [line for term in found.terms for line in _lines(term)]
    lines += [_line(term) for term in (*found.constants, found.total)]
    return PrintedTable(found.title, header, tuple(lines))


def of_rows(explanation: Explanation) -> PrintedTable:
    """Return a line for each row: the answer, and the terms that speak most."""
    some, n_rows = explanation[:_MOST_ROWS], len(explanation)
    title = f"{explanation.model}: {n_rows:,} rows, {len(explanation.names):,} terms"
    if explanation.classes.size < 2 or not n_rows:
        rows = [
            (str(row), str(label)) for row, label in zip(some.rows, some.predicted, strict=True)
        ]
        return PrintedTable(title, ("row", "answer"), tuple(rows))
    found = [RowTerms.read(some, i) for i in range(len(some))]
    header = ("row", "answer", "p", "rather than", "log-odds", "strongest terms")
    lines: list[tuple[str, ...]] = [
        (
            str(one.row),
            str(one.predicted),
            figure(one.p_of),
            str(one.against),
            figure(one.total.log_odds),
            ", ".join(f"{term.name} {term.log_odds:+.2f}" for term in one.terms[:_STRONGEST]),
        )
        for one in found
    ]
    if n_rows > _MOST_ROWS:
        lines.append((f"... {n_rows - _MOST_ROWS:,} more", *[""] * 5))
    return PrintedTable(title, header, tuple(lines))


def frame_of(explanation: Explanation) -> Any:
    """Return a frame with a line for each row, class and term, constants first."""
    parts = explanation.contributions
    n, n_classes, _ = parts.values.shape
    constants = {"prior": parts.log_prior, "bias": parts.bias}
    names = [*constants, *parts.names]
    values = np.empty((n, n_classes, len(names)))
    for t, value in enumerate(constants.values()):
        values[:, :, t] = value
    values[:, :, len(constants) :] = parts.values
    cells = [["", "", *(cell or "" for cell in explanation.cells(i))] for i in range(n)]
    places = np.repeat(np.arange(n_classes), len(names))
    columns = {
        "row": np.repeat(explanation.rows, n_classes * len(names)),
        "class": explanation.classes.take(np.tile(places, n)).tolist(),
        "term": names * (n * n_classes),
        "value": [cell for row in cells for cell in row * n_classes],
        "contribution": values.ravel(),
    }
    return frame(columns, explanation.library)


def dicts_of(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the rows as plain values: contributions by term, each by class."""
    parts = explanation.contributions
    found = []
    for i in range(len(explanation)):
        cells = explanation.cells(i)
        terms = zip(parts.names, cells, parts.values[i].T, strict=True)
        found.append(
            {
                "row": explanation.rows[i],
                "predicted": explanation.predicted[i],
                "probabilities": explanation.probabilities[i],
                "prior": parts.log_prior,
                "bias": parts.bias,
                "terms": [{"term": n, "value": c, "contributions": v} for n, c, v in terms],
                "joint": explanation.joint[i],
            }
        )
    return found


def _of_one_class(explanation: Explanation) -> PrintedTable:
    """Return what the terms add to the only class that there is."""
    label, parts = explanation.classes.tolist()[0], explanation.contributions
    cells = explanation.cells(0)
    terms = zip(parts.names, cells, parts.values[0, 0].tolist(), strict=True)
    lines = [(name, cell or "", figure(value)) for name, cell, value in terms][:_MOST_TERMS]
    title = f"row {explanation.rows[0]}: {label!r}, the only class"
    return PrintedTable(title, ("", "value", f"for {label}"), tuple(lines))


def _lines(term: RowTerm) -> Iterable[tuple[str, ...]]:
    yield _line(term)
    for word in term.words:
        yield _line(word._replace(name=f"  {word.name}"))


def _line(term: RowTerm) -> tuple[str, ...]:
    return (term.name, term.cell or "", *map(figure, (term.of, term.against, term.log_odds)))
