"""Numbers in files of text are the float64 nearest to them; the judge is Python's `float`."""

import random
import struct
from decimal import Context, Decimal

import numpy as np
import pytest

from naively import summarize

pytest.importorskip("pyarrow")

EXACT = Context(prec=800)
EDGES = ["5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "0e999"]
EDGES += ["2.2250738585072011e-308", "9007199254740993", "9007199254740993.0", "0.000"]


def halfway(rng):
    """Return what stands halfway between two float64, with all of its digits."""
    (x,) = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(63)))
    if not 1e-140 < x < 1e140:
        return halfway(rng)
    twice = EXACT.add(Decimal(x), Decimal(np.nextafter(x, np.inf)))
    return format(EXACT.divide(twice, Decimal(2)), rng.choice("ef"))


def written_numbers(n=60):
    rng = random.Random(0)
    yield from EDGES
    for _ in range(n):
        yield halfway(rng)
        yield f"{rng.randrange(10 ** rng.randint(1, 40))}.{rng.randrange(10**20):020}"
        yield f"-{rng.randrange(10 ** rng.randint(1, 25))}e{rng.randint(-120, 100)}"
        yield str(rng.randrange(2 ** rng.randint(50, 130)))


NUMBERS = list(written_numbers())
LINES = {
    "plain CSV": ("x;y", "{};{}"),
    "quoted CSV": ("x;y", '"{}";{}'),
    "spaces in CSV": ("x;y", " {} ;{}"),
    "JSON lines": ("", '{{"x": {}, "y": {}}}'),
    "JSON lines, read slowly": ("", '{{"x": {}, "y": {}, "z": "\\ud800"}}'),
    "decimal commas": ("x;y", "{};{}"),
}


@pytest.mark.parametrize("form", LINES)
def test_numbers_in_text_are_the_nearest_floats(form, tmp_path):
    header, line = LINES[form]
    how = {} if "JSON" in form else {"separator": ";"}
    how |= {"decimal": ","} if "commas" in form else {}
    cells = [text.replace(".", how.get("decimal", ".")) for text in NUMBERS]
    path = tmp_path / ("rows.jsonl" if "JSON" in form else "rows.csv")
    path.write_text("\n".join([header, *(line.format(x, i) for i, x in enumerate(cells))]).lstrip())
    found = summarize(path, target="y", **how)
    assert found.classes.tolist() == list(range(len(cells)))
    assert found.moments.mean[:, 0].tolist() == [float(text) for text in NUMBERS]
