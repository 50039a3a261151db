"""The page, made of the collected dict: a template, a style sheet and a few scripts, in one file.

The dict travels as JSON inside the page, with ``<`` written as an escape, so that no label can
end the element it stands in; the scripts put it into the page as text, never as markup. A
content security policy lets nothing but these very scripts and styles run, and nothing load.

>>> page = _filled("{{a}} {{b}}", {"a": "{{b}}", "b": "text"})  # values are not filled in again
>>> page
'{{b}} text'
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from typing import Any

from naively.reports.compact import compact_script, compact_style

_SCRIPTS = (
    "forms",
    "arithmetic",
    "elements",
    "words",
    "interactions",
    "explorer",
    "controls",
    "curves",
    "nomogram",
    "map",
    "figures",
    "theme",
    "address",
    "sections",
    "glance",
    "diagnosis",
    "start",
)
_SHOWN = ("average", "spread", "share", "importance")
_COMPARED = ("method", "n_rows", "classes", "confusion", "loss", "brier", "calibration_error")
_BRANDS = {"GaussianNB": "Gaussian naive Bayes"}


def render(data: dict[str, Any]) -> str:
    """Return the page of a collected dict."""
    page = files(__package__) / "page"
    names = _SCRIPTS if data["interactions"] else map(_plainer, _SCRIPTS)
    has_text = any("words" in column for column in data["columns"])
    needed = [name for name in names if has_text or name != "words"]
    scripts = [_script(page / f"{name}.js") for name in needed]
    script = "\n".join(['"use strict";', "(() => {", *scripts, "})();"])
    styles = ("page", "words") if has_text else ("page",)
    style = "".join((page / f"{name}.css").read_text("utf-8") for name in styles)
    style = compact_style(style)
    parts = {
        "title": escape(data["title"]),
        "version": escape(data["naively"]),
        "date": escape(data["created"]),
        "brand": _BRANDS.get(data["model"]["name"], "Naive Bayes"),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": _json(_needed(data)),
    }
    template = re.sub(r"(?m)^ +", "", (page / "page.html").read_text("utf-8"))
    return _filled(template, parts)


def _script(path: Any) -> str:
    """Return a script, made small but for the arithmetic, which people read."""
    text: str = path.read_text("utf-8")
    return text if path.name == "arithmetic.js" else compact_script(text)


def _needed(data: dict[str, Any]) -> dict[str, Any]:
    """Return the dict with as many figures and digits as the page shows."""
    found = {**data, "columns": [_rounded(column) for column in data["columns"]]}
    if data["sample"] is not None:
        pairs = zip(data["sample"]["values"], data["columns"], strict=False)
        found["sample"] = {**data["sample"], "values": [_places(*pair) for pair in pairs]}
    if data["comparison"] and "evaluations" in data["comparison"]:
        judged = data["comparison"]["evaluations"]
        short = [{key: one[key] for key in _COMPARED} for one in judged]
        found["comparison"] = {**data["comparison"], "evaluations": short}
    return found


def _rounded(column: dict[str, Any]) -> dict[str, Any]:
    short = {key: column[key] for key in _SHOWN if column.get(key) is not None}
    return column | {key: float(f"{value:.6g}") for key, value in short.items()}


def _places(values: list[float | None] | None, column: dict[str, Any]) -> list[int | None] | None:
    """Return where the points of the map are, in thousandths of the slider's range."""
    if values is None:
        return None
    low, high = column["slider"]["low"], column["slider"]["high"]
    across = high / 1000 - low / 1000
    return [None if v is None else round((v / 1000 - low / 1000) / across * 1000) for v in values]


def _plainer(name: str) -> str:
    """Return the script of a model without interactions, which is a few lines."""
    return "no_interactions" if name == "interactions" else name


def _filled(template: str, parts: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _json(data: dict[str, Any]) -> str:
    """Write JSON that no HTML parser can take for markup; ASCII, so that any text survives."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
