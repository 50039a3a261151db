"""The types of Ibis."""

from __future__ import annotations

from typing import Any

from naively.data.kinds import Held, What


def held_by_type(kind: Any) -> Held:
    """Return what a type of Ibis's says."""
    tests: dict[What, bool] = {
        "nothing": kind.is_null() or 'kind="NULL"' in str(kind),  # of a file that DuckDB reads
        "boolean": kind.is_boolean(),
        "number": kind.is_numeric(),
        "text": kind.is_string(),
        "date": kind.is_date(),
        "datetime": kind.is_timestamp() or "TIMESTAMPTZ_NS" in str(kind),  # of DuckDB
        "time": kind.is_temporal() or kind.is_interval(),
    }
    return Held(next((what for what, holds in tests.items() if holds), "other"), str(kind))
