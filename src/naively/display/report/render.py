"""The page, made of the collected dict: a few scripts that draw it, in the one file of all pages.

The dict travels as JSON inside the page, with ``<`` written as an escape, so that no label can
end the element it stands in; the scripts put it into the page as text, never as markup.
"""

from __future__ import annotations

import json
from typing import Any

from naively.display.pages import asset, shell

_SCRIPTS = (
    "forms",
    "arithmetic",
    "elements",
    "words",
    "interactions",
    "no_interactions",
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
    unused = set() if any("words" in column for column in data["columns"]) else {"words"}
    unused.add("no_interactions" if data["interactions"] else "interactions")
    scripts = [asset(f"{name}.js") for name in _SCRIPTS if name not in unused]
    lead, main = asset("report.html").split("<!-- main -->")
    return shell(
        data["title"],
        main,
        brand=_BRANDS.get(data["model"]["name"], "Naive Bayes"),
        lead=lead,
        style=asset("report.css"),
        script="\n".join(['"use strict";', "(() => {", *scripts, "})();"]),
        data=_json(_needed(data)),
    )


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


def _json(data: dict[str, Any]) -> str:
    """Write JSON that no HTML parser can take for markup; ASCII, so that any text survives."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
