"""Texts that are numbers, or nearly: the kernel reads what Python's float() reads, to the bit.

Where the kernel declines, the cells are left to a reader that knows all of CSV: then the text
must be beyond plain numbers, or its value beyond the normal range of a double.
"""

import re

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from naively.engines.files import csv as plain

digits = st.text("0123456789", max_size=25) | st.text("09", max_size=25)
signs = st.sampled_from(["", "-", "+"])
exponents = st.just("") | st.builds(
    "{}{}{}".format,
    st.sampled_from("eE"),
    signs,
    st.integers(0, 420).map(str) | st.text("0123456789", max_size=4),
)
written = st.builds(
    "{}{}{}{}{}".format, signs, digits, st.sampled_from(["", "."]), digits, exponents
)
halves = st.builds(  # between two doubles: decided by the last digit
    lambda m, e, more: f"{(2 * m + 1) * 2**e}.{more}",
    st.integers(2**52, 2**53),
    st.integers(0, 9),
    digits,
)
doubles = st.floats(allow_nan=False, allow_infinity=False).map(repr)
broken = st.text("0123456789+-.eE \tnaif_x\0ü٣", max_size=12)
CASES = st.one_of(written, halves, doubles, broken)

PLAIN = re.compile(rb"[ \t]*-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
CELLS = plain.Cells.of(("x",), {"x": pa.float64()}, ",", ["", "NA"])


def check(text):
    cell = text.encode()
    rows = plain.parse(memoryview(cell + b"\n"), CELLS)
    if PLAIN.fullmatch(cell) is None:
        assert rows is None or cell in (b"", b"NA"), f"{text!r} is read as {rows.column('x')}"
        return
    value = float(text)
    if rows is None:
        assert np.isinf(value) or abs(value) < 2.3e-308, f"{text!r} is not read"
    else:
        (read,) = rows.column("x")
        assert np.float64(value).tobytes() == read.tobytes(), f"{text!r} is read as {read!r}"
