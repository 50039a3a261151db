"""Measure, print, record and render: ``python -m benchmarks [name ...] [--quick]``."""

from __future__ import annotations

import argparse
from importlib import import_module

from benchmarks.render import record, render
from benchmarks.tables import Options, table

NAMES = [
    "speed",
    "families",
    "counts",
    "texts",
    "text_quality",
    "evaluation",
    "explanations",
    "drift",
    "streams",
    "tuning",
    "diagnosis",
    "memory",
    "imports",
    "serving",
    "startup",
    "cliffs",
    "accuracy",
    "scaling",
    "files",
    "text_files",
    "quality",
    "quality_means",
    "quality_bars",
    "quality_ladder",
    "engines",
    "cluster",
    "gpu",
]


def main() -> None:
    """Run the named suites, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    parser.add_argument("--repeat", type=int, default=5, help="rounds of every contest")
    parser.add_argument("--patience", type=float, default=40, help="seconds of every contest")
    parser.add_argument("--only", default="", help="works that hold this text; not recorded")
    parser.add_argument("--quick", action="store_true", help="one round; not recorded")
    parser.add_argument("--render", action="store_true", help="only rewrite the tables")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"there is no suite {min(unknown)!r}, only {', '.join(NAMES)}")
    amount = (1, 0.0) if given.quick else (given.repeat, given.patience)
    options = Options(*amount, only=given.only)
    for name in [] if given.render else given.names or NAMES:
        suite = import_module(f"benchmarks.{name}")
        records = []
        for found in suite.measure(options):
            records.append(found)
            print(" · ".join(cell(found) for cell in suite.COLUMNS.values()), flush=True)
        print(f"\n{table(suite.COLUMNS, records)}\n", flush=True)
        if not (given.quick or given.only):
            record(name, records)
    render()


if __name__ == "__main__":
    main()
