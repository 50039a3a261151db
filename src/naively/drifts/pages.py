"""Drift as HTML: in a notebook, and as a page that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from naively.data.kinds import NUMBER
from naively.drifts.tables import most_in, notes_of, number_text, p_text, share_text, title_of
from naively.drifts.value import LEVELS

if TYPE_CHECKING:
    from naively.drifts.value import Drift

_MOST_COLUMNS, _MOST_CLASSES = 200, 50

_STYLE = """
.naively-drift { font: 14px/1.45 system-ui, sans-serif; max-width: 72rem; }
.naively-drift h3 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
.naively-drift .shares { max-width: 24rem; }
.naively-drift .wide { overflow-x: auto; }
.naively-drift table { border-collapse: collapse; width: 100%; }
.naively-drift th, .naively-drift td { padding: .2rem .55rem; text-align: right; border: 0;
  font-variant-numeric: tabular-nums; background: none; white-space: nowrap; }
.naively-drift th:first-child { text-align: left; font-weight: normal; white-space: normal;
  overflow-wrap: anywhere; min-width: 6rem; }
.naively-drift thead th { opacity: .75; border-bottom: 1px solid #8886; font-weight: 600;
  vertical-align: bottom; }
.naively-drift tbody tr:nth-child(even) { background: #8881; }
.naively-drift .bar { width: 22%; min-width: 6rem; text-align: left; }
.naively-drift .bar div { height: .85rem; border-radius: 2px; background: #888a; min-width: 1px; }
.naively-drift .moderate .bar div { background: #E69F00; }
.naively-drift .severe .bar div { background: #D55E00; }
.naively-drift .moderate .level, .naively-drift .severe .level { font-weight: 600; }
.naively-drift .note { opacity: .75; max-width: 46rem; }
@media (max-width: 640px) { .naively-drift .less { display: none; }
  .naively-drift th, .naively-drift td { padding: .2rem .3rem; }
  .naively-drift .bar { min-width: 3.5rem; } }
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 2rem auto; padding: 0 1rem; max-width: 72rem; font-family: system-ui, sans-serif; }}
h1 {{ overflow-wrap: anywhere; font-size: 1.5rem; }}
{style}</style></head>
<body><h1>{title}</h1>{body}</body></html>
"""

_EXPLAINED = (
    "The distance is the root of the Jensen-Shannon divergence, in bits, less what samples of this "
    "size differ by without any drift: 0 is no change, 1 is nothing in common. P-values are "
    "adjusted for the number of columns and classes. A change that may be chance has severity "
    "none; one that is certain but below 0.1 is negligible, below 0.2 moderate, and else severe."
)


def fragment(drift: Drift) -> str:
    """Return tables with bars for distances, and their own style."""
    return f"<style>{_STYLE}</style>{_body(drift)}"


def page(drift: Drift, title: str) -> str:
    """Return a whole page."""
    return _PAGE.format(title=escape(title), style=_STYLE, body=_body(drift))


def _body(drift: Drift) -> str:
    parts = [f"<h3>{escape(title_of(drift))}</h3>", _columns(drift)]
    if drift.class_shares is not None:
        parts.append(_classes(drift))
    notes = "".join(f"<li>{escape(note)}</li>" for note in notes_of(drift))
    parts += [f"<h3>Notes</h3><ul>{notes}</ul>"] if notes else []
    parts.append(f'<p class="note">{_EXPLAINED}</p>')
    return f'<div class="naively-drift">{"".join(parts)}</div>'


def _columns(drift: Drift) -> str:
    order, lines = drift.order[:_MOST_COLUMNS].tolist(), []
    worst = drift.levels.max(axis=0, initial=0).tolist()
    widest = max(0.3, float(np.nan_to_num(drift.measures.distance).max(initial=0.0)))
    for j in order:
        one = {name: float(values[0, j]) for name, values in drift.measures._asdict().items()}
        width = 100 * float(np.nan_to_num(one["distance"])) / widest
        cells = [
            _cell(drift.kinds[j], "less"),
            _cell(f"{number_text(one['mean_before'])} → {number_text(one['mean_after'])}", "less")
            if drift.kinds[j] is NUMBER
            else _cell("", "less"),
            _cell(number_text(one["shift"], "+.2f")),
            _cell(number_text(one["spread_ratio"], ".2f", "x "), "less"),
            _cell(_missing(one["missing_before"], one["missing_after"]), "less"),
            f'<td class="bar"><div style="width:{width:.1f}%"></div></td>',
            _cell(number_text(one["distance"], ".3f")),
            _cell(p_text(one["p_adjusted"]), "less"),
            *([_cell(most_in(drift, j), "less")] if drift.classes.size else []),
            _cell(LEVELS[worst[j]], "level"),
        ]
        name = escape(drift.columns[j])
        lines.append(f'<tr class="{LEVELS[worst[j]]}"><th>{name}</th>{"".join(cells)}</tr>')
    more = len(drift.columns) - len(order)
    after = f'<p class="note">{more:,} columns that have changed less are not shown.</p>'
    return _table(_header(drift), lines) + after * bool(more)


def _missing(before: float, after: float) -> str:
    return "-" if np.isnan(before) else f"{share_text(before)} → {share_text(after)}"


def _header(drift: Drift) -> list[tuple[str, str]]:
    return [
        ("", ""),
        ("holds", "less"),
        ("mean", "less"),
        ("shift (sd)", ""),
        ("spread", "less"),
        ("missing", "less"),
        ("distance", "bar"),
        ("", ""),
        ("p", "less"),
        *([("most in", "less")] if drift.classes.size else []),
        ("severity", ""),
    ]


def _classes(drift: Drift) -> str:
    found = drift.class_shares
    assert found is not None
    order = np.argsort(-np.abs(found.after - found.before), kind="stable")[:_MOST_CLASSES]
    lines = [
        f"<tr><th>{escape(str(drift.classes[k]))}</th>{_cell(f'{found.before[k]:.2%}')}"
        f"{_cell(f'{found.after[k]:.2%}')}</tr>"
        for k in order.tolist()
    ]
    title = (
        f"Shares of classes: distance {found.distance:.3f}, p {p_text(found.p_adjusted)}, "
        f"{drift.class_severity}"
    )
    table = _table([("", ""), ("before", ""), ("after", "")], lines)
    return f'<h3>{escape(title)}</h3><div class="shares">{table}</div>'


def _table(header: list[tuple[str, str]], lines: list[str]) -> str:
    head = "".join(f'<th class="{kind}">{escape(text)}</th>' for text, kind in header)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(text: str, kind: str = "") -> str:
    return f'<td class="{kind}">{escape(text)}</td>'
