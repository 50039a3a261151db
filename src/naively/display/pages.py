"""Pages: one template and one style sheet for all of them, and the same values in a notebook.

A page is one file that loads nothing: its content security policy names the only style sheet and
the only script that may run, by their hashes. In a notebook a value has the same style sheet, in a
rule for its own element, so that nothing else there changes.

>>> from naively import drift
>>> page(drift([[0.0], [1.0]], [[5.0], [6.0]]), "March & April")[:15]
'<!DOCTYPE html>'
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from naively import __version__
from naively.data.kinds import NUMBER
from naively.tabular import figure

if TYPE_CHECKING:
    from naively.inspection.diagnosis import Diagnosis
    from naively.inspection.drifts import Drift
    from naively.inspection.explanations import Explanation, RowTerm

_MAX_ROWS, _MAX_TERMS = 10, 20  # of an explanation
_MAX_COLUMNS, _MAX_CLASSES = 200, 50  # of a drift
_DISTANCE = (
    "The distance is the root of the Jensen-Shannon divergence, in bits, less what samples of this "
    "size differ by without any drift: 0 is no change, 1 is nothing in common. P-values are "
    "adjusted for the number of columns and classes. A change that may be chance has severity "
    "none; one that is certain but below 0.1 is negligible, below 0.2 moderate, and else severe."
)


def fragment(value: Any) -> str:
    """Return a value as a notebook shows it: its tables, cards and bars, and their style."""
    style = f"<style>.naively {{ {asset('page.css')} }}</style>"
    return f'<div class="naively">{style}{_body(value)}</div>'


def page(value: Any, title: str, more: Iterable[Any] = ()) -> str:
    """Return a page of its own of a value; for an explanation perhaps with a change of each row."""
    return shell(title, _body(value, *more))


def shell(
    title: str, main: str, *, brand: str = "Naive Bayes", lead: str = "", style: str = "",
    script: str = "", data: str = "",
) -> str:  # fmt: skip
    """Return a whole page: what is in it is HTML, but for the title and the brand."""
    style = asset("page.css") + style
    parts = {
        "title": escape(title),
        "brand": escape(brand),
        "version": escape(__version__),
        "date": date.today().isoformat(),
        "style": style,
        "style_hash": _hash(style),
        "script_hash": _hash(script) if script else "'none'",
        "lead": lead,
        "main": main,
        "scripts": f'<script type="application/json" id="data">{data}</script>\n'
        f"<script>{script}</script>"
        if script
        else "",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], asset("page.html"))


@cache
def asset(name: str) -> str:
    """Return a file of the folder of pages, without comments and leading spaces."""
    text = (files("naively.display") / "page" / name).read_text("utf-8")
    style = r"(?s)/\*.*?\*/|(?<=[{};,]) +| +(?=[{}])"
    script = r"(?m)^ *// .*\n|(?<=[;,{}]) // .*$"
    text = re.sub(style if name.endswith(".css") else script, "", text)
    return re.sub(r"(?m)^\s+", "", text)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _body(value: Any, *more: Any) -> str:
    """Return a value as HTML: tables, where there is nothing of its own for its type."""
    write = BODIES.get(type(value).__name__)
    return "".join(_tables(value) if write is None else write(value, *more))


def _tables(value: Any) -> Iterable[str]:
    yield from (table._repr_html_() for table in value.tables())
    yield from (f"<p>{escape(note)}</p>" for note in value.notes)


def _card(title: str, *parts: str) -> str:
    return f'<article class="card"><h3>{escape(title)}</h3>{"".join(parts)}</article>'


def _table(header: Iterable[tuple[str, str]], rows: Iterable[str]) -> str:
    """Return a table that scrolls, of headings with their classes and of rows."""
    head = "".join(f"<th{_class(kind)}>{escape(text)}</th>" for text, kind in header)
    return (
        '<div class="scroll" tabindex="0"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(name: str, cells: Iterable[tuple[str, str]], kind: str = "") -> str:
    """Return a row of a table: its name, and cells of HTML with their classes."""
    each = "".join(f"<td{_class(of)}>{cell}</td>" for cell, of in cells)
    return f'<tr{_class(kind)}><th class="name">{escape(name)}</th>{each}</tr>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _bar(kind: str, start: float, width: float, colour: str = "") -> str:
    """Return a bar, as parts of the width of its cell."""
    across = f'x="{100 * start:.2f}%" width="{100 * width:.2f}%" height="100%" rx="2"'
    return f'<svg class="{kind}" aria-hidden="true"><rect {across}{_class(colour)}/></svg>'


# --- explanations ---------------------------------------------------------------------------------


def _explanation(value: Explanation, *changes: Any) -> Iterable[str]:
    """Return a line for each of many rows; and rows with bars for their terms."""
    if len(value) != 1 or value.classes.size < 2:
        table = "".join(_tables(value))
        yield f'<article class="card"><div class="scroll">{table}</div></article>'
    if value.classes.size > 1:
        for i in range(min(len(value), _MAX_ROWS)):
            yield _explained(value, i)
            yield from (_card("Another answer", *_tables(one)) for one in changes[i : i + 1])


def _explained(value: Explanation, i: int) -> str:
    found = value.row_terms(i, max_terms=_MAX_TERMS)
    every = [*found.terms, *found.constants]
    widest = max((abs(term.log_odds) for term in every), default=0.0) or 1.0
    rows = [row for term in every for row in _term(term, widest)]
    total = (("", ""), (figure(found.total.log_odds), ""), ("", ""))
    header = [("", ""), ("value", ""), ("log-odds", "")]
    header.append((f"for {found.against} | for {found.of}", "middle"))
    return _card(found.title, _table(header, [*rows, _row("sum", total, "total")]))


def _term(term: RowTerm, widest: float, kind: str = "") -> Iterable[str]:
    share = min(1.0, abs(term.log_odds) / widest) / 2
    start, side = (0.5, "") if term.log_odds >= 0 else (0.5 - share, "against")
    bar = _bar("odds", start, share, side)
    cells = [(escape(term.cell or ""), ""), (figure(term.log_odds), ""), (bar, "")]
    yield _row(term.name, cells, kind)
    for word in term.words:
        yield from _term(word, widest, "word")


# --- drift ----------------------------------------------------------------------------------------


def _drift(value: Drift) -> Iterable[str]:
    """Return a line for each column, the classes, and what is to be said beside figures."""
    after = len(value.columns) - _MAX_COLUMNS
    more = f"{after:,} columns that have changed less are not shown." if after > 0 else ""
    yield _card(value.title, _drifting_columns(value), f'<p class="quiet">{more}</p>')
    shares = value.class_shares
    if shares is not None:
        rows = [
            _row(str(value.classes[k]), [(f"{part[k]:.2%}", "") for part in shares[:2]])
            for k in value.class_order[:_MAX_CLASSES].tolist()
        ]
        yield _card(value.class_title, _table([("", ""), ("before", ""), ("after", "")], rows))
    notes = "".join(f"<li>{escape(note)}</li>" for note in [*value.notes, _DISTANCE])
    yield f'<ul class="notes">{notes}</ul>'


def _drifting_columns(value: Drift) -> str:
    from naively.inspection.drifts.value import LEVELS, number_text, p_text, share_text

    worst = value.worst
    widest = max(0.3, float(np.nan_to_num(value.measures.distance).max(initial=0.0)))
    classes = bool(value.classes.size)

    def row(j: int) -> str:
        one = {name: float(values[0, j]) for name, values in value.measures._asdict().items()}
        means = [number_text(one[name]) for name in ("mean_before", "mean_after")]
        gone = [share_text(one[name]) for name in ("missing_before", "missing_after")]
        is_number, level = value.kinds[j] is NUMBER, LEVELS[worst[j]]
        pill = {"severe": "severity high", "moderate": "severity medium"}.get(level, "severity")
        cells = [
            (value.kinds[j], "less"),
            (" → ".join(means) if is_number else "", "less"),
            (number_text(one["shift"], "+.2f"), ""),
            (number_text(one["spread_ratio"], ".2f", "x "), "less"),
            ("-" if np.isnan(one["missing_before"]) else " → ".join(gone), "less"),
            (_bar("far", 0.0, float(np.nan_to_num(one["distance"])) / widest), ""),
            (number_text(one["distance"], ".3f"), ""),
            (escape(p_text(one["p_adjusted"])), "less"),
            *([(escape(value.most_in(j)), "less")] if classes else []),
            (f'<span class="{pill}">{level}</span>', ""),
        ]
        return _row(value.columns[j], cells, level)

    less = ["holds", "mean", "spread", "missing", "p", "most in"]
    names = ["", "holds", "mean", "shift (sd)", "spread", "missing", "distance", "", "p"]
    names += [*(["most in"] if classes else []), "severity"]
    header = [(name, "less" if name in less else "") for name in names]
    return _table(header, map(row, value.order[:_MAX_COLUMNS].tolist()))


# --- diagnosis ------------------------------------------------------------------------------------


def _diagnosis(value: Diagnosis) -> Iterable[str]:
    """Return a line for each finding, and what was not looked at."""
    findings = "".join(
        f'<li><span class="severity {one.severity}">{one.severity}</span><div>'
        f"<strong>{escape(one.kind.capitalize())}</strong><p>{escape(one.seen)}</p>"
        f'<p class="quiet">{escape(one.advice)}</p></div></li>'
        for one in value.findings
    )
    yield _card(value.title, f'<ul class="findings">{findings}</ul>')
    missed = [f"Not looked at: {kinds}: {reason}" for kinds, reason in value.skipped_by_reason]
    notes = "".join(f"<li>{escape(note)}</li>" for note in [*value.notes, *missed])
    yield f'<ul class="notes">{notes}</ul>'


BODIES: dict[str, Callable[..., Iterable[str]]] = {
    "Diagnosis": _diagnosis,
    "Drift": _drift,
    "Explanation": _explanation,
}
