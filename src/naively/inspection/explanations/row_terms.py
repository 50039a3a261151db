"""One row, ready to be shown: its terms, the strongest first, with their cells and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from naively.inspection.explanations.explanation import Explanation

_MOST_WORDS = 6  # of a text that are shown


class RowTerm(NamedTuple):
    """A term of a row: what it adds to the class, to the other class, and to their log-odds."""

    name: str
    cell: str | None
    of: float
    against: float
    log_odds: float
    words: tuple[RowTerm, ...] = ()

    @property
    def label(self) -> str:
        """Name and cell."""
        return self.name if self.cell is None else f"{self.name} = {self.cell}"


@dataclass(frozen=True)
class RowTerms:
    """The terms of a row.

    Attributes
    ----------
    row : int
        Its number.
    predicted, of, against : labels
        The answer, and the two classes that are compared.
    p_of, p_against : float
        Their probabilities.
    terms : tuple of RowTerm
        Columns and interactions, the strongest first; the last may be all others together.
    constants : tuple of RowTerm
        The prior, and the bias where there is one.
    total : RowTerm
        The sum of all.
    """

    row: int
    predicted: Any
    of: Any
    against: Any
    p_of: float
    p_against: float
    terms: tuple[RowTerm, ...]
    constants: tuple[RowTerm, ...]
    total: RowTerm

    @classmethod
    def read(
        cls,
        explanation: Explanation,
        row: int,
        *,
        of: Any = None,
        against: Any = None,
        most: int | None = None,
    ) -> RowTerms:
        """Read the terms of a row, at most so many; the others are one term."""
        one = explanation[row]
        odds, parts = one.log_odds(of, against), one.contributions
        a, b = int(odds.of[0]), int(odds.against[0])
        found = odds.values[0]
        both = parts.values[0, a], parts.values[0, b]
        order = np.argsort(-np.abs(found), kind="stable")
        kept, rest = order[: most or None], order[most or order.size :]
        if rest.size == 1:  # it is as long as what would stand for it
            kept, rest = order, rest[:0]
        cells = one.cells(0)
        texts = set(one.source.model.schema.texts)
        terms = []
        for t in kept.tolist():
            is_text = int(parts.columns[t]) in texts
            words = _words(one, parts.names[t], a, b) if is_text else ()
            of_it = float(both[0][t]), float(both[1][t]), float(found[t])
            terms.append(RowTerm(parts.names[t], cells[t], *of_it, words))
        if rest.size:
            of_them, against_them, odds_of_them = (part[rest].sum() for part in (*both, found))
            sums = float(of_them), float(against_them), float(odds_of_them)
            terms.append(RowTerm(f"{rest.size:,} other terms", None, *sums))
        prior = RowTerm("prior", None, *_pair(parts.log_prior, a, b), float(odds.prior[0]))
        constants = [prior]
        if parts.bias.any():
            constants.append(RowTerm("bias", None, *_pair(parts.bias, a, b), float(odds.bias[0])))
        total = RowTerm("sum", None, *_pair(one.joint[0], a, b), float(odds.total[0]))
        labels, p = one.classes.tolist(), one.probabilities[0]
        return cls(
            row=int(one.rows[0]),
            predicted=one.predicted.tolist()[0],
            of=labels[a],
            against=labels[b],
            p_of=float(p[a]),
            p_against=float(p[b]),
            terms=tuple(terms),
            constants=tuple(constants),
            total=total,
        )

    @property
    def title(self) -> str:
        """What the row is, and how sure that is."""
        odds = f"{self.of!r} ({self.p_of:.4f}) rather than {self.against!r} ({self.p_against:.4f})"
        answer = "" if self.of == self.predicted else f"{self.predicted!r}; here "
        return f"row {self.row}: {answer}{odds}, log-odds {self.total.log_odds:.4f}"


def _words(one: Explanation, column: str, a: int, b: int) -> tuple[RowTerm, ...]:
    """Return the words of a text that speak most, one way or the other."""
    said = one.words(0, column).items()
    each = [RowTerm(w, None, float(v[a]), float(v[b]), float(v[a] - v[b])) for w, v in said]
    return tuple(sorted(each, key=lambda word: -abs(word.log_odds))[:_MOST_WORDS])


def _pair(values: Any, a: int, b: int) -> tuple[float, float]:
    return float(values[a]), float(values[b])
