"""What people look at: pictures, tables of HTML, pages, and the report.

The rooms below hand over values, and reach this one through `naively.tabular` alone.
"""

from __future__ import annotations

from typing import Any


def draw(value: Any, *args: Any, **options: Any) -> Any:
    """Draw a value by the display that `naively.display.plots.DISPLAYS` has for its type."""
    from naively.display.plots import DISPLAYS

    return DISPLAYS[type(value)](value, *args, **options)
