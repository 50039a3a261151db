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

__all__ = ["render"]

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
    "sections",
    "start",
)
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
    style = re.sub(r"(?m)^ +|^/\* .* \*/\n", "", style)
    parts = {
        "title": escape(data["title"]),
        "version": escape(data["naively"]),
        "date": escape(data["created"]),
        "brand": _BRANDS.get(data["model"]["name"], "Naive Bayes"),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": _json(data),
    }
    template = re.sub(r"(?m)^ +", "", (page / "page.html").read_text("utf-8"))
    return _filled(template, parts)


def _script(path: Any) -> str:
    """Return a script without comments and indents, but of the arithmetic, which people read."""
    text: str = path.read_text("utf-8")
    if path.name == "arithmetic.js":
        return text
    return re.sub(r"(?m)^ +", "", re.sub(r"(?m)^\s*// .*\n", "", text))


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
