"""Recorded results become tables in the README and the documentation.

What stands between ``<!-- benchmarks:NAME -->`` and ``<!-- /benchmarks -->`` is rewritten from
``results/NAME.json``; the rest of the page is left alone. ``benchmarks:NAME brief`` holds the works
of `_BRIEF` beside scikit-learn. Goals, and whether they are met, are shown on the page of all
benchmarks alone. Tables are never typed, and figures are drawn from the records.
"""

from __future__ import annotations

import json
import re
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import machine, quality_figures
from benchmarks.tables import table

__all__ = ["record", "render"]

_ROOT = Path(__file__).parent.parent
_RESULTS = Path(__file__).parent / "results"
_REGION = re.compile(r"(<!-- benchmarks:(\w+)( brief)? -->\n).*?(<!-- /benchmarks -->)", re.DOTALL)
_GOALS = {"goal", "met"}
_BRIEF = {
    "fit, 1,000,000 x 50 float64, 10 classes",
    "predict, same",
    "predict_proba, same",
    "fit, same, pandas frame",
    "predict_one, a row of Iris",
}


def record(name: str, records: list[dict[str, Any]]) -> None:
    """Keep what was measured, and on what."""
    _RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"machine": machine.describe(), "records": _rounded(records)}, indent=1)
    (_RESULTS / f"{name}.json").write_text(text + "\n")


def render() -> None:
    """Rewrite every table of README.md and docs/*.md that has been recorded."""
    for page in (_ROOT / "README.md", *sorted((_ROOT / "docs").glob("*.md"))):
        before = page.read_text()
        after = _REGION.sub(partial(_region, goals=page.name == "benchmarks.md"), before)
        if after != before:
            page.write_text(after)
            print(f"rendered {page.relative_to(_ROOT)}")
    quality_figures.draw()


def _region(found: re.Match[str], *, goals: bool) -> str:
    start, name, brief, end = found.groups()
    path = _RESULTS / f"{name}.json"
    if not path.exists():
        return found[0]
    result = json.loads(path.read_text())
    module, records = import_module(f"benchmarks.{name}"), result["records"]
    columns = module.BRIEF if brief else module.COLUMNS
    columns = {name: cell for name, cell in columns.items() if goals or name not in _GOALS}
    if brief:
        records = [r for r in records if r["peer"] == "scikit-learn" and r["work"] in _BRIEF]
    return f"{start}\n{table(columns, records)}\n\n{_measured_on(result)}\n\n{end}"


def _measured_on(result: dict[str, Any]) -> str:
    it = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in it["versions"].items())
    quiet = all(record.get("ours", {}).get("quiet", True) for record in result["records"])
    noise = "" if quiet else " Other processes disturbed some of it."
    gpu = f"one {it['gpu']} and " if it.get("gpu") else ""
    return f"Measured {it['date']} on {gpu}{it['cores']} cores of {it['cpu']}: {versions}.{noise}"


def _rounded(value: Any) -> Any:
    """Keep six digits of every number: more would be noise."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list) else value
