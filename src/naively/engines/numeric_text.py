"""Columns of text that are probably meant as numbers.

>>> import pyarrow
>>> column = pyarrow.chunked_array([["30", "40", "?"]])
>>> looks_numeric(column), first_text(column)
(True, ('?', 4))
"""

from __future__ import annotations

from typing import Any

from naively._optional import need

__all__ = ["first_text", "looks_numeric"]

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_ALMOST = r"^\s*[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?\s*%?\s*$"  # also 5,1 and 1,000 and 7 %


def looks_numeric(column: Any) -> bool:
    """Whether most cells are numbers, or numbers as some people write them.

    Only in CSV can they be meant as numbers, which is read as text of one type.
    """
    if not need("pyarrow", "reading columns", extra="files").types.is_string(column.type):
        return False
    compute = need("pyarrow.compute", "reading columns", extra="files")
    present = compute.sum(compute.not_equal(column, "")).as_py() or 0
    almost = compute.sum(compute.match_substring_regex(column, _ALMOST)).as_py() or 0
    return 2 * almost > present


def first_text(column: Any) -> tuple[str, int]:
    """Return the first cell that is no number, and its line in the file."""
    pyarrow = need("pyarrow", "reading columns", extra="files")
    compute = need("pyarrow.compute", "reading columns", extra="files")
    nulls = need("pyarrow.csv", "reading columns", extra="files").ConvertOptions().null_values
    absent = compute.is_in(column, value_set=pyarrow.array(nulls))
    for pattern in (_ALMOST, _NUMBER):  # what is nothing like a number is the better example
        fine = compute.or_(absent, compute.match_substring_regex(column, pattern))
        at = compute.index(fine, False).as_py()
        if at >= 0:
            return column[at].as_py(), at + 2
    return column[0].as_py(), 2
