"""Explanations as HTML: for notebooks, and as a page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from naively.evaluation.tables import Tabular, figure
from naively.explanations.row_terms import RowTerm, RowTerms

if TYPE_CHECKING:
    from naively.explanations.explanation import Explanation

_MOST_TERMS, _MOST_ROWS = 20, 10  # that are shown with all their terms

_STYLE = """
.naively-why { font: 14px/1.45 system-ui, sans-serif; max-width: 60rem; overflow-x: auto; }
.naively-why h3 { font-size: 1.05rem; margin: 1.2rem 0 .4rem; }
.naively-why table { border-collapse: collapse; width: 100%; table-layout: auto; }
.naively-why th, .naively-why td { padding: .15rem .6rem; text-align: right;
  font-variant-numeric: tabular-nums; background: none; border: 0; }
.naively-why caption { text-align: left; padding: .6rem; font-weight: bold; }
.naively-why th:first-child { text-align: left; font-weight: normal; overflow-wrap: anywhere;
  min-width: 5.5rem; }
.naively-why thead th { opacity: .7; border-bottom: 1px solid #8886; }
.naively-why tr.word th { padding-left: 2rem; opacity: .8; }
.naively-why tr.sum > * { border-top: 1px solid #8886; font-weight: bold; }
.naively-why .bar { width: 40%; min-width: 7rem; padding: .15rem 0; }
.naively-why th.bar { text-align: center; }
.naively-why .bar div { height: .9rem; border-radius: 2px; }
.naively-why .for { background: #0072B2; } .naively-why .against { background: #D55E00; }
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem auto; padding: 0 1rem; max-width: 60rem; font-family: system-ui, sans-serif; }}
{style}</style></head>
<body><h1>{title}</h1>{body}</body></html>
"""


def fragment(explanation: Explanation) -> str:
    """Return rows with bars for their terms, or a line for each of many; with its own style."""
    return f"<style>{_STYLE}</style>{_body(explanation)}"


def page(explanation: Explanation, title: str, changes: Sequence[Tabular] = ()) -> str:
    """Return a whole page; under each row perhaps what would change its answer."""
    return _PAGE.format(title=escape(title), style=_STYLE, body=_body(explanation, changes))


def _body(explanation: Explanation, changes: Sequence[Tabular] = ()) -> str:
    parts = []
    if len(explanation) != 1 or explanation.classes.size < 2:
        parts.append("".join(t._repr_html_() for t in explanation.tables()))
    if explanation.classes.size > 1:
        for i in range(min(len(explanation), _MOST_ROWS)):
            parts += [_row(explanation, i), *(one._repr_html_() for one in changes[i : i + 1])]
    return f'<div class="naively-why">{"".join(parts)}</div>'


def _row(explanation: Explanation, i: int) -> str:
    found = RowTerms.read(explanation, i, most=_MOST_TERMS)
    every = [*found.terms, *found.constants]
    widest = max((abs(term.log_odds) for term in every), default=0.0) or 1.0
    lines = [line for term in every for line in _lines(term, widest)]
    head = "".join(f"<th>{escape(text)}</th>" for text in ("", "value", "log-odds"))
    return (
        f"<h3>{escape(found.title)}</h3><table><thead><tr>{head}"
        f'<th class="bar">for {escape(str(found.against))} | for {escape(str(found.of))}</th>'
        f"</tr></thead><tbody>{''.join(lines)}"
        f'<tr class="sum"><th>sum</th><td></td><td>{figure(found.total.log_odds)}</td><td></td>'
        "</tr></tbody></table>"
    )


def _lines(term: RowTerm, widest: float) -> list[str]:
    own = _line(term, widest)
    return [own, *(_line(word, widest, "word") for word in term.words)]


def _line(term: RowTerm, widest: float, kind: str = "") -> str:
    share = min(1.0, abs(term.log_odds) / widest) * 50
    start, side = (50.0, "for") if term.log_odds >= 0 else (50 - share, "against")
    bar = f'<div class="{side}" style="margin-left:{start:.2f}%;width:{share:.2f}%"></div>'
    return (
        f'<tr class="{kind}"><th>{escape(term.name)}</th><td>{escape(term.cell or "")}</td>'
        f'<td>{figure(term.log_odds)}</td><td class="bar">{bar}</td></tr>'
    )
