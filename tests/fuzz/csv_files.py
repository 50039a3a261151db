"""CSV files, cut into small blocks, against Python's csv module and float().

Cells are quoted or not, and hold separators, quotes and ends of lines; then some bytes of the file
are exchanged. It is read as the csv module reads it, or it is a `NaivelyError`; the latter never
where nothing was exchanged.
"""

import csv
import io
import re
import tempfile
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.csv as pacsv
from hypothesis import strategies as st

from naively import NaivelyError
from naively.data.schema import Schema
from naively.engines import files
from naively.engines.files import csv as reader
from tests import oracles

MISSING = frozenset(pacsv.ConvertOptions().null_values)
NUMBER = re.compile(r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*")
OPEN = "a quote that opens a cell, and none that closes it"
SCHEMA = Schema(2, ("x", "t"), ("number", "category"))

numbers = (
    st.integers(-999, 999).map(str)
    | st.floats(-1e6, 1e6).map(repr)
    | st.decimals(-1000, 1000, places=3).map(str)
)
cells = numbers | st.sampled_from(["", "NA", "nan", " 1", "2 ", "-0", "1e3", "007", "5.", ".5"])
texts = st.text("ab\",;\n\r'\\ ü日", max_size=6) | st.sampled_from(["", "NA", "1", "01", "true"])
labels = st.sampled_from(["yes", "no", "ü", 'a"b', "a,b", "x\ny"])
rows = st.tuples(cells, texts, labels, st.tuples(st.booleans(), st.booleans(), st.booleans()))
exchanges = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from('",\n\r;a1')), max_size=2
)
CASES = st.fixed_dictionaries(
    {
        "rows": st.lists(rows, min_size=1, max_size=12),
        "newline": st.sampled_from(["\n", "\r\n"]),
        "separator": st.sampled_from([",", ";", "\t"]),
        "ends": st.booleans(),
        "block": st.sampled_from([16, 64, 1 << 21]),
        "exchanges": st.just([]) | exchanges,
    }
)


def check(case):
    text = written(case)
    expected = truth(text, case["separator"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        path.write_bytes(text.encode())
        try:
            found = read(path, case)
        except NaivelyError:
            if not case["exchanges"] and is_sound(expected):
                raise
            return
    assert expected != OPEN, f"{text!r} ends in quotes and is read as {found}"
    if expected is not None:
        compare(found, expected)


def read(path, case):
    options = {"separator": case["separator"], "label_type": "str", "types": {"t": "str"}}
    with mock.patch.object(reader, "BLOCK", case["block"]):
        return files.summarize(path, target="y", schema=SCHEMA, **options)


def written(case):
    lines = [case["separator"].join("xty")]
    for x, t, y, quotes in case["rows"]:
        given = zip((x, t, y), quotes, strict=True)
        lines.append(case["separator"].join(cell(*pair, case["separator"]) for pair in given))
    text = case["newline"].join(lines) + case["newline"] * case["ends"]
    start = len(lines[0] + case["newline"])
    for place, character in case["exchanges"]:  # behind the header
        at = start + int(place * (len(text) - start))
        text = text[:at] + character + text[at + 1 :]
    return text


def cell(text, quoted, separator):
    if quoted or re.search(f'["\n\r{separator}]', text):
        return '"' + text.replace('"', '""') + '"'
    return text


def truth(text, separator):
    """Return the rows that the csv module reads, None where it finds no table, or `OPEN`."""
    given = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        _, *found = [row for row in given if row]
    except csv.Error as error:
        return OPEN if "end of data" in str(error) else None
    return found if found and all(len(row) == 3 for row in found) else None


def is_sound(found):
    return all((x in MISSING or NUMBER.fullmatch(x)) and y not in MISSING for x, _, y in found)


def compare(found, rows):
    assert is_sound(rows), f"{rows} are read as {found}"
    classes = sorted({y for *_, y in rows})
    assert found.classes.tolist() == classes, (found.classes, classes)
    tallies = Counter((y, t) for _, t, y in rows if t not in MISSING)
    towns = sorted({t for _, t in tallies})
    assert found.categories[0].tolist() == towns, (found.categories, towns)
    for k, label in enumerate(classes):
        of_class = [row for row in rows if row[2] == label]
        assert found.class_weight[k] == len(of_class)
        assert found.tally(0)[k].tolist() == [tallies[label, town] for town in towns]
        x = [np.nan if x in MISSING else float(x) for x, *_ in of_class]
        exact = oracles.moments_of_cells(x)
        assert found.moments.weight[k, 0] == exact.weight
        size = np.nanmax(np.abs([0.0, *x]))
        assert abs(found.moments.mean[k, 0] - float(exact.mean)) <= 1e-15 * size
        assert abs(found.moments.m2[k, 0] - float(exact.m2)) <= 1e-13 * float(exact.m2)
