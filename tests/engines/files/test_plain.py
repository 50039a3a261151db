"""What the kernel reads of CSV is what pyarrow reads, to the last bit, and the same errors."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naively import NaivelyError, _kernel
from naively.engines.files import csv as plain
from tests.written import scan_numbers

digits = st.text("0123456789", min_size=1, max_size=22)
decimals = st.builds("{}{}.{}".format, st.sampled_from(["", "-"]), digits, digits)
floats = st.floats(allow_nan=False, allow_infinity=False)
numbers = decimals | floats.map(repr) | st.integers(-(2**70), 2**70).map(str)
ODD = ["", "NA", "nan", "null", " 1 ", "\t2", "+3", "1e", "1e400", "-", ".", ".5", "5.", "-.5"]
ODD += ["0x10", "inf", "-inf", "1 2", "1,", "ü", "1e-400", "-0", "00012", "1_000", "1\r", '"1"']
odd = st.sampled_from(ODD)
labels = st.sampled_from(["a", "b", "ü", " a", "1", "", "NA", "a" * 40])
newlines = st.sampled_from(["\n", "\r\n", "\n\n"])


def outcome(path):
    try:
        found = scan_numbers(path, target="y", columns=["x", "z"])
    except NaivelyError as error:
        return str(error)
    return found.rows, found.summary.classes.tolist(), found.summary.moments.values.tobytes()


def of_both(path, monkeypatch):
    by_kernel = outcome(path)
    with monkeypatch.context() as patched:
        patched.setattr(plain.Cells, "of", lambda *_: None)
        by_pyarrow = outcome(path)
    return by_kernel, by_pyarrow


@settings(deadline=None, max_examples=400)
@given(st.lists(st.tuples(numbers | odd, labels, numbers, newlines), min_size=1, max_size=8))
@example([("1", "a", "9007199254740993", "\n"), ("0.5", "b", "9007199254740993.5", "\n")])
@example([("1", "a", "2.4703282292062327e-324", "\n")])
def test_the_kernel_and_pyarrow_read_the_same(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    text = "".join(f"{x},{y},text,{z}{newline}" for x, y, z, newline in rows)
    path.write_bytes(f"x,y,skipped,z\n0,a,,0\n{text}".encode())
    with pytest.MonkeyPatch.context() as monkeypatch:
        by_kernel, by_pyarrow = of_both(path, monkeypatch)
    assert by_kernel == by_pyarrow


def parsed(text, types, names=("x", "y")):
    cells = plain.Cells.of(names, types, ",", ["", "NA"])
    return plain.parse(memoryview(text.encode()), cells)


@settings(deadline=None, max_examples=1000)
@given(numbers)
def test_numbers_are_rounded_as_python_rounds_them(text):
    value = float(text)
    rows = parsed(f"{text}\n", {"x": plain.pa.float64()}, ("x",))
    if rows is None:  # beyond a double, or below the least: left to pyarrow
        assert abs(value) in (0.0, np.inf) or abs(value) < 2.3e-308
    else:
        assert rows.column("x")[0].tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize(
    "text", ['1,"a"\n', "1,a,2\n", "1\n", "1,a\r2,b\n", "x,a\n", "inf,a\n", "1,NA\n", "1,a\n2"]
)
def test_what_is_not_plain_is_left_to_pyarrow(text):
    types = {"x": plain.pa.float64(), "y": plain.pa.dictionary("int32", "string")}
    assert parsed(text, types) is None


def test_many_labels_keep_their_rows():
    types = {"y": plain.pa.dictionary("int32", "string")}
    names = [f"label {i % 5000}" for i in range(20_000)]
    rows = parsed("".join(f"1,{name}\n" for name in names), types)
    assert rows.column("y").to_pylist() == names


def test_the_kernel_checks_that_there_is_room():
    text, cells = np.frombuffer(b"1,2\n3,4\n", np.uint8), np.array([1, 1], np.uint8)
    for shape in ((1, 2), (2, 1)):
        with pytest.raises(ValueError, match="a place for every number"):
            _kernel.parse_csv(text, ",", cells, [], np.empty(shape), np.empty(0, np.int32))
    with pytest.raises(ValueError, match="a place for every code"):
        _kernel.parse_csv(
            text, ",", np.array([1, 2], np.uint8), [], np.empty((1, 2)), np.empty(1, np.int32)
        )
    with pytest.raises(ValueError, match="skipped, a number or a label"):
        _kernel.parse_csv(
            text, ",", np.array([1, 3], np.uint8), [], np.empty((1, 2)), np.empty(2, np.int32)
        )
