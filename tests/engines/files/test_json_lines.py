"""JSON lines: types that change, lines that are wrong, and any file against `json.loads`."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

from naively import NaiveBayes, NaivelyError, summarize
from naively.engines import files
from naively.engines.files import json_lines, predict
from tests.commands import run_well


def write(path, *lines):
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def weights(summary):
    return dict(zip(summary.classes.tolist(), summary.class_weight.tolist(), strict=True))


GOOD = ['{"x": 1, "t": "a", "y": "n"}', '{"x": 2, "t": "b", "y": "y"}']
BAD = {
    "damaged": (['{"x": 1,, "y": "n"}', *GOOD], "line 3 is not JSON: "),
    "two in a line": (['{"x": 1, "y": "n"}{"x": 1, "y": "n"}'], "line 3 is not JSON: Extra data"),
    "over two lines": (['{"x": 1,', '"y": "n"}'], "line 3 is not JSON: "),
    "key twice": (['{"x": 1, "x": 2, "y": "n"}'], "line 3 is not JSON: the key 'x' is there twice"),
    "null": (["null"], "line 3 is no object. Write one object a line"),
    "array": (["[1, 2]"], "line 3 is no object. Write one object a line"),
    "text as number": (['{"x": "1", "y": "n"}'], "in line 3, column 'x' must hold numbers"),
    "boolean as number": (['{"x": true, "y": "n"}'], "in line 3, column 'x' must hold numbers"),
    "number as text": (['{"t": 1, "y": "n"}'], "in line 3, column 't' must hold text"),
    "object as text": (['{"t": {"a": 1}, "y": "n"}'], "in line 3, column 't' must hold text"),
    "not in UTF-8": (["\udcff"], "line 3 is not in UTF-8"),
}


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_beyond_the_first_rows_is_named(name, ending, tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "SAMPLE", 40)
    monkeypatch.setattr(json_lines, "BLOCK", 40)
    lines, message = BAD[name]
    content = "\n".join([*GOOD, *lines, *GOOD]).encode(errors="surrogateescape")
    path = tmp_path / f"a{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    with pytest.raises(NaivelyError) as error:
        summarize(path, target="y")
    assert f"cannot read {str(path)!r}: {message}" in str(error.value)
    good = write(tmp_path / "b.jsonl", *GOOD)
    found = files.scan([path, good], target="y", skip_bad_files=True)
    assert found.summary == summarize(good, target="y")
    assert [bad for bad, _ in found.bad_files] == [str(path)]


WHOLE = {
    "array": ('[{"x": 1, "y": "n"}]', "it is one JSON array. Write one object a line"),
    "array of lines": ('[\n{"x": 1, "y": "n"}\n]', "it is one JSON array. Write one object"),
    "empty": ("", "it is empty"),
    "blank": ("\n\r\n", "it holds no objects"),
    "cut": ('{"x": 1, "y": "n"}\n{"x": 2, "y"', "line 2 .* the file may have been cut"),
    "deep": ('{"x": ' + "[" * 100_000 + "]" * 100_000 + ', "y": 1}', "line 1 is nested too deeply"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_is_not_json_lines_says_what_is_wrong(name, tmp_path):
    content, message = WHOLE[name]
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(NaivelyError, match=f"cannot read '.*a.json': {message}"):
        summarize(tmp_path / "a.json", target="y")


def test_types_may_change_and_keys_may_be_missing_or_in_any_order(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "BLOCK", 30)
    lines = ['{"x": 1, "t": null, "y": "n"}', "", '{"y": "y", "t": "2024-02-29", "x": 2.5}\r']
    lines += ['{"y": "n"}', ' {"y": "y", "t": "12:30:00", "x": NaN, "unknown": [{"a": 1}]}']
    found = summarize(write(tmp_path / "a.jsonl", *lines), target="y", exclude=["unknown"])
    assert found.schema.kinds == ("number", "category")
    assert found.categories[0].tolist() == ["12:30:00", "2024-02-29"]
    assert found.moments.weight.tolist() == [[1.0], [1.0]]
    assert found.moments.mean.tolist() == [[1.0], [2.5]]
    assert weights(found) == {"n": 2.0, "y": 2.0}


def test_all_columns_of_text_are_looked_at_in_one_pass(tmp_path, monkeypatch):
    lines = [json.dumps({f"k{i}": "n", "y": "ab"[i % 2]}) for i in range(200)]
    parse, n_columns = json_lines._parse, []
    monkeypatch.setattr(
        json_lines, "_parse", lambda data, kinds: n_columns.append(len(kinds)) or parse(data, kinds)
    )
    path = write(tmp_path / "a.jsonl", *lines)
    assert summarize(path, target="y").schema.kinds == ("category",) * 200
    assert n_columns == [201, 201]  # the first rows, and the file


def test_a_file_without_a_key_has_missing_cells_and_a_new_key_is_an_error(tmp_path):
    write(tmp_path / "a.jsonl", *GOOD)
    write(tmp_path / "b.jsonl", '{"x": 5, "y": "n"}')
    found = summarize(tmp_path, target="y")
    assert found.moments.mean[0].tolist() == [3.0]
    assert found.tallies.values.sum() == 2
    model = NaiveBayes.from_files(tmp_path, target="y")
    assert predict(model, tmp_path, tmp_path.parent / "out.csv", id=["x"]) == 3
    with pytest.raises(NaivelyError, match=r"no column 'y' in '.*c.jsonl'"):
        summarize(write(tmp_path / "c.jsonl", '{"x": 1}'), target="y")
    write(tmp_path / "c.jsonl", '{"x": 5, "more": 1, "y": "n"}')
    with pytest.raises(NaivelyError, match=r"c.jsonl' has 'more', which the first file lacks"):
        summarize(tmp_path, target="y")


def test_nested_and_mixed_columns_are_errors_that_can_be_excluded(tmp_path):
    cells = {"list": [1], "object": {"a": 1}, "mixed": 1}
    lines = [json.dumps({"x": 1.0, **cells, "y": 0}), json.dumps({"x": 2, "mixed": "a", "y": 1})]
    path = write(tmp_path / "a.jsonl", *lines)
    for name in cells:
        others = [other for other in cells if other != name]
        with pytest.raises(NaivelyError, match=f"column '{name}' .* must hold numbers, text, "):
            summarize(path, target="y", exclude=others)
    assert summarize(path, target="y", exclude=list(cells)).moments.mean.tolist() == [[1.0], [2.0]]
    assert files.scan(path, target="y", skip_columns=True).summary.schema.names == ("x",)


@pytest.mark.parametrize("n_lines", [1000, 60])
@pytest.mark.parametrize("odd", [[":", ", ", "\u00e4\u2603"], ['a"b', "a\\b"]])
@pytest.mark.parametrize("separators", [(",", ":"), (" , ", " : ")])
def test_many_columns_may_each_be_in_one_line_alone(
    separators, odd, n_lines, tmp_path, monkeypatch
):
    names = [*odd, *(f"column {i}" for i in range(150))]
    monkeypatch.setattr(json_lines, "CELLS", n_lines * len(names))
    rows = [{"y": ":", name: i + 0.5} for i, name in enumerate(names)]
    lines = [json.dumps(row, ensure_ascii=False, separators=separators) for row in rows]
    found = summarize(write(tmp_path / "a.jsonl", *lines), target="y")
    assert found.schema.names == tuple(names)
    assert found.moments.weight.tolist() == [[1.0] * len(names)]
    assert found.moments.mean.tolist() == [[i + 0.5 for i in range(len(names))]]


@pytest.mark.parametrize("labels", [[True, False], [2**53, 2**53 + 1], [2**64 - 1, 2**64 - 2]])
def test_labels_are_what_json_says_to_the_last_digit(labels, tmp_path):
    lines = [json.dumps({"x": 1, "y": label}) for label in labels]
    found = summarize(write(tmp_path / "a.jsonl", *lines), target="y").classes
    assert found.tolist() == sorted(labels)


def test_labels_that_no_integer_holds_are_an_error(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"x": 1, "y": 18446744073709551616}', '{"x": 1, "y": 2}')
    with pytest.raises(NaivelyError, match=r"column 'y' holds labels .* Write them as text"):
        summarize(path, target="y")


def test_standard_input_is_known_by_its_first_character(tmp_path, monkeypatch):
    path = write(tmp_path / "a.jsonl", *GOOD)
    content = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    monkeypatch.setattr(sys, "stdin", content)
    assert summarize("-", target="y") == summarize(path, target="y")


def test_every_command_takes_json_lines(tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"x": float(rng.normal(i % 2)), "t": "ab"[i % 3 == 0], "y": i % 2} for i in range(60)]
    path, model = write(tmp_path / "a.ndjson", *map(json.dumps, rows)), tmp_path / "m"
    run_well("fit", path, "--target", "y", "-o", model)
    run_well("update", model, path, "--target", "y")
    run_well("forget", model, path, "--target", "y")
    run_well("predict", model, path, "--id", "t", "-o", tmp_path / "p.csv")
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 61
    for command in ("evaluate", "compare"):
        run_well(command, path, "--target", "y", "--json")
    run_well("report", path, "--target", "y", "-o", tmp_path / "r.html")


# --- any file, against json.loads -----------------------------------------------------------------

TEXTS = [
    "",
    "a",
    "2024-02-29",
    "12:00",
    "1",
    "true",
    "null",
    "Zoë",
    "😀",
    '"',
    "\\",
    "a\nb",
    "\t{[,",
]
TEXTS += ["\u2028", "\0", "\ud800", "x\udfff"]


def any_line(rng):
    """Return a line as some program writes it: keys in any order, escapes or none, spaces."""
    row = {
        "number": rng.choice([None, 0, -3, 2**53 + 1, 0.1, 1e-7, 12.5, float("nan")]),
        "flag": rng.choice([None, True, False]),
        "text": rng.choice(np.array([None, *TEXTS], object)),
        "nested": [{"a": [1, {}]}],
    }
    keys = [key for key in rng.permutation(list(row)).tolist() if rng.random() < 0.9]
    row = {key: row[key] for key in keys} | {"y": int(rng.integers(3))}
    is_sound = all(not 0xD800 <= ord(c) < 0xE000 for c in row.get("text") or "")
    separators = [(",", ":"), (", ", ": "), (" ,\t", " : ")][rng.integers(3)]
    line = json.dumps(row, ensure_ascii=not is_sound or rng.random() < 0.5, separators=separators)
    return rng.choice(["", " "]) + line + rng.choice(["", " ", "\r", "\n", "\n\r"])


def repaired(text):
    return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)


@pytest.mark.parametrize("seed", range(20))
def test_any_file_is_what_json_loads_makes_of_it(seed, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(json_lines, "BLOCK", int(rng.integers(1, 500)))
    text = "\n".join(any_line(rng) for _ in range(rng.integers(30, 90)))
    (tmp_path / "a.jsonl").write_bytes(text.encode())
    rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    columns = ["number", "flag", "text"]
    found = summarize(tmp_path / "a.jsonl", target="y", columns=columns)
    cells = [[row.get(name) for name in columns] for row in rows]
    cells = [[n, f, None if t is None else repaired(t)] for n, f, t in cells]
    expected = summarize(np.array(cells, object), [row["y"] for row in rows])
    assert found.schema.kinds == expected.schema.kinds
    assert [c.tolist() for c in found.categories] == [c.tolist() for c in expected.categories]
    assert np.array_equal(found.tallies.values, expected.tallies.values)
    assert np.array_equal(found.moments.weight, expected.moments.weight)
    np.testing.assert_allclose(found.moments.mean, expected.moments.mean, rtol=1e-14)
    np.testing.assert_allclose(found.moments.m2, expected.moments.m2, rtol=1e-12)
