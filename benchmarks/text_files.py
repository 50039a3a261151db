"""Files of text larger than memory: time beside a bare scan, and peak memory.

5 GB of Parquet and 500 MB of CSV; how they are measured is said in `benchmarks.files`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import files
from benchmarks.files import COLUMNS, SCAN, Work
from benchmarks.tables import Options

__all__ = ["COLUMNS", "WORKS", "measure"]

WORKS = [
    Work("fit, 5 GB of text in Parquet, hashed", "fit text", "text.parquet", {SCAN: 2.0}, 1e9),
    Work("fit, 500 MB of text in CSV, hashed", "fit text", "text.csv", {SCAN: None}, 1e9),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the times and peaks of each work beside those of each peer."""
    return files.measure(options, WORKS)
