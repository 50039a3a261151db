"""CSV as nobody should write it: it is read right, or what is wrong with it is told."""

import bz2
import csv as python_csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naively import NaiveBayes, NaivelyError
from naively.engines import files
from naively.engines.files import csv
from naively.engines.files.text import last_record_end, record_ends
from tests.commands import folder, iris, run
from tests.written import read, standard_input

__all__ = ["folder", "iris", "standard_input"]  # fixtures

PACK = {"": lambda data: data, ".gz": gzip.compress, ".bz2": bz2.compress}
OPEN = {  # an open quote in line 4 swallows what follows, whatever it is
    "in the last column": 'x,t,y\n1,"a\nb",u\n3,a,"v\n' + "1,a,u\n2,b,v\n" * 50,
    "in the first column": 'x,t,y\n1,"a\nb",u\n"3,a,v\n' + "1,a,u\n2,b,v\n" * 50,
    "after CRLF": 'x,t,y\r\n1,"a\r\nb",u\r\n3,a,"v\r\n' + "1,a,u\r\n" * 50,
    "after CR": 'x,t,y\r1,"a\rb",u\r3,a,"v\r' + "1,a,u\r" * 50,
    "after an empty line": 'x,t,y\n1,b,u\n\n3,a,"v\n' + "1,a,u\n2,b,v\n" * 50,
}


@pytest.mark.parametrize("block", [16, 1 << 21], ids=["small blocks", "one block"])
@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("kind", OPEN)
def test_a_quote_that_is_never_closed_is_told_with_its_line(
    tmp_path, monkeypatch, kind, packed, block
):
    path = tmp_path / f"a.csv{packed}"
    path.write_bytes(PACK[packed](OPEN[kind].encode()))
    monkeypatch.setattr(csv, "BLOCK", block)
    monkeypatch.setattr(csv, "SAMPLE", block)
    message = r"a\.csv.*': the record that begins in line 4 has a quote that is never closed"
    with pytest.raises(NaivelyError, match=message):
        files.scan(path, target="y", columns=["x"])
    with pytest.raises(NaivelyError, match=message):
        read(path, target="y", columns=["x"])


def test_an_open_quote_is_told_by_every_command(folder):
    (folder / "good.csv").write_text("x,t,y\n" + "1,a,u\n2,b,v\n" * 9)
    (folder / "bad.csv").write_text(OPEN["in the last column"])
    assert run("fit", "good.csv", "-t", "y", "--columns", "x", "-o", "m").exit_code == 0
    asked = [["fit", "bad.csv", "-t", "y"], ["predict", "m", "bad.csv"], ["update", "m", "bad.csv"]]
    asked += [[command, "bad.csv", "-t", "y"] for command in ("evaluate", "report", "compare")]
    for command in asked:
        result = run(*command)
        assert result.exit_code == 2, command
        assert "'bad.csv': the record that begins in line 4 has a quote" in result.stderr, command


def test_an_open_quote_on_standard_input_is_told_with_its_line(standard_input):
    standard_input(OPEN["in the last column"].encode())
    with pytest.raises(NaivelyError, match="'-': the record that begins in line 4 has a quote"):
        files.scan("-", target="y", columns=["x"])


def test_a_file_with_an_open_quote_can_be_skipped(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,u\n2,v\n")
    (tmp_path / "b.csv").write_text('x,y\n1,u\n2,"v\n')
    found = files.scan(tmp_path, target="y", skip_bad_files=True)
    assert found.rows == 2
    ((name, reason),) = found.bad_files
    assert name.endswith("b.csv")
    assert "line 3" in reason


SAME = {  # one table of which x = 1, 2, 4 and y = a, b, a
    "no newline at the end": "x,y\n1,a\n2,b\n4,a",
    "CRLF": "x,y\r\n1,a\r\n2,b\r\n4,a\r\n",
    "CR alone": "x,y\r1,a\r2,b\r4,a\r",
    "a mark before UTF-8": "\ufeffx,y\n1,a\n2,b\n4,a\n",
    "quotes": '"x","y"\n"1","a"\n"2","b"\n"4","a"\n',
    "blank lines": "\n\nx,y\n\n1,a\n\n2,b\n4,a\n\n\n",
    "spaces around names and numbers": " x , y \n 1,a\n2 ,b\n\t4,a\n",
    "another order": "y,x\na,1\nb,2\na,4\n",
    "a newline within quotes": 'x,note,y\n1,"one\n,""two""",a\n2,"\n\n",b\n4,,a\n',
    "a quote amid a word": 'x,note,y\n1,5" pipe,a\n2,"a\nb",b\n4,"6"" pipe",a\n',
    "a column without a name": ",x,y\n0,1,a\n1,2,b\n2,4,a\n",
    "a column of dates": "day,x,y\n2024-01-01,1,a\n2024-01-02,2,b\n2024-01-03,4,a\n",
    "an empty column": "e,x,y\n,1,a\n,2,b\n,4,a\n",
    "bare CR before LF": "x,y\r1,a\r2,b\n4,a\n",
    "CRLF within quotes": '"x","note\r\n",y\r\n1,"q\r\nr",a\r\n2,"\r\n",b\r\n4,,a\r\n',
    "CR within quotes": 'x,note,y\n1,"q\rr",a\n2,"\r",b\n4,,a\n',
    "a mark and quotes": '\ufeff"x","y"\n1,a\n2,b\n4,a\n',
    "quotes in names": '"x","a ""b"" c","d,e","f\ng",y\n1,0,0,0,a\n2,0,0,0,b\n4,0,0,0,a\n',
    "text behind quotes": 'x,note,y\n1,"q"r,a\n2,"q""r"s,b\n4,"",a\n',
    "doubled quotes": 'x,note,y\n1,"""",a\n2,"""q""",b\n4,"""\n""",a\n',
    "a separator at the end": "x,y,\n1,a,\n2,b,\n4,a,\n",
    "empty lines": "x,y\n\n\n1,a\n\r\n2,b\n\r4,a\n\n",
    "a long name": f"x,{'n' * 200_000},y\n1,0,a\n2,0,b\n4,0,a\n",
    "a long cell": f"x,note,y\n1,{'n' * 200_000},a\n2,q,b\n4,,a\n",
    "a NUL in a note": "x,note,y\n1,q\0r,a\n2,\0,b\n4,,a\n",
}


OTHER_NUMBERS = ("quotes in names", "a long name")  # which have columns of numbers beside x


@pytest.mark.parametrize("block", [8, 30, 1 << 21])
@pytest.mark.parametrize("kind", SAME)
def test_csv_may_be_written_in_many_ways(tmp_path, monkeypatch, kind, block):
    (tmp_path / "a.csv").write_bytes(SAME[kind].encode())
    numbers = {"schema": files.SchemaFromFirstRows(), "skip_columns": True}
    monkeypatch.setattr(csv, "BLOCK", block)
    alone = kind not in OTHER_NUMBERS
    for sample, how in ((csv.SAMPLE, numbers), (block, {"columns": ["x"]})):
        monkeypatch.setattr(csv, "SAMPLE", sample)
        found = files.scan(tmp_path / "a.csv", target="y", **(how if alone else {"columns": ["x"]}))
        assert found.rows == 3
        assert found.summary.schema.names == ("x",)
        assert found.summary.classes.tolist() == ["a", "b"]
        assert found.summary.moments.weight.tolist() == [[2], [1]]
        assert found.summary.moments.mean.tolist() == [[2.5], [2]]
        assert found.summary.moments.m2.tolist() == [[4.5], [0]]


WRONG = {
    "UTF-16 without a mark": ("x,y\n1,a\n".encode("utf-16-le"), "it is not CSV in UTF-8"),
    "only newlines": (b"\n\r\n\n", "it is empty; it must begin with column names"),
    "only a mark": (b"\xef\xbb\xbf", "it is empty; it must begin with column names"),
    "a row too long": (b"x,y\n1,a,2\n", "Expected 2 columns, got 3"),
    "latin-1 below": ("x,y\n1,ä\n".encode("latin-1"), "byte 0xe4 in line 2 is not in UTF-8"),
    "an open header": (b'x,"y\n1,a\n', "the record that begins in line 1 has a quote"),
    "a NUL in a number": (b"x,y\n1,a\n2\0,b\n", "must hold numbers"),
    "a quote closed rows later": (b'x,y\n"1"",a\n2,"b"\n', "Expected 2 columns, got 1"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_cannot_be_read_is_told(tmp_path, kind):
    content, message = WRONG[kind]
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(NaivelyError, match=rf"(?s){message}.*a.csv'|a.csv'.*{message}"):
        files.scan(
            tmp_path / "a.csv", target="y", columns=["x"], schema=files.SchemaFromFirstRows()
        )


def test_a_record_may_be_longer_than_the_first_rows(tmp_path):
    """Types are guessed by 8 MB; a record of 9 MB is read whole nevertheless."""
    long = '"' + "q,\n" * 3_000_000 + '"'
    (tmp_path / "a.csv").write_text(f"x,note,y\n1,{long},a\n2,q,b\n4,,a\n")
    found = files.summarize(tmp_path / "a.csv", target="y", columns=["x"])
    assert found.moments.mean.tolist() == [[2.5], [2]]


def test_a_record_without_end_is_told_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "BLOCK", 64)
    monkeypatch.setattr(csv, "SAMPLE", 64)
    monkeypatch.setattr(csv, "_MAX_RECORD_BYTES", 1 << 20)
    (tmp_path / "a.csv").write_text('x,y\n1,a\n2,"b\n' + "1,a\n" * 400_000)
    message = "the record that begins in line 3 does not end within 1 MB"
    with pytest.raises(NaivelyError, match=message):
        files.scan(tmp_path / "a.csv", target="y")


@pytest.mark.parametrize("separator", ['"', "\n", "\r", "\0", ",,", "é", ""])
def test_a_separator_that_cannot_be_one_is_told(tmp_path, separator):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    if separator:
        with pytest.raises(NaivelyError, match="separator must be one ASCII character"):
            files.scan(tmp_path / "a.csv", target="y", separator=separator)


def test_several_packed_parts_are_one_file(tmp_path):
    for name, pack in {"a.csv.gz": gzip.compress, "a.csv.bz2": bz2.compress}.items():
        (tmp_path / name).write_bytes(pack(b"x,y\n1,a\n2,b\n") + pack(b"4,a\n"))
        found = files.summarize(tmp_path / name, target="y")
        assert found.moments.mean.tolist() == [[2.5], [2]]


@pytest.mark.parametrize("packed", [".gz", ".bz2"])
def test_a_packed_file_that_was_cut_is_told(tmp_path, packed):
    text = "x,y\n" + "".join(f"{i * 17 % 1009},{'ab'[i % 2]}\n" for i in range(50_000))
    data = PACK[packed](text.encode())
    for size in (len(data) - 1, len(data) // 2, 30):
        (tmp_path / f"a.csv{packed}").write_bytes(data[:size])
        with pytest.raises(NaivelyError, match=r"cannot read '.*a\.csv"):
            files.scan(tmp_path / f"a.csv{packed}", target="y")


def test_text_of_quoted_cells_is_learned_as_python_reads_it(tmp_path):
    notes = ['say "so"', "one\ntwo", "a,b", " spaced ", "plain"]
    text = "note,y\n" + "".join(
        '"{}",{}\n'.format(n.replace('"', '""'), y) for n in notes for y in "uv"
    )
    (tmp_path / "a.csv").write_text(text)
    model = NaiveBayes.from_files(tmp_path / "a.csv", target="y")
    assert sorted(model.summary_.categories[0].tolist()) == sorted(notes)


def slow_ends(text, separator):
    """Find where records end, letter by letter."""
    ends, quoted, begins, i = [], False, True, 0
    while i < len(text):
        c = text[i]
        if quoted:
            if text[i : i + 2] == '""':
                i += 1
            elif c == '"':
                quoted = False
        elif begins and c == '"':
            quoted, begins = True, False
        elif c in "\r\n":
            i += text[i : i + 2] == "\r\n"
            ends.append(i + 1)
            begins = True
        else:
            begins = c == separator
        i += 1
    return (ends[0], ends[-1], quoted) if ends else (0, 0, quoted)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet='a"\n\r,;', max_size=40), st.sampled_from(",;"))
@example('"a""', ",")
@example('"a"\r', ",")
def test_ends_of_records_are_those_found_letter_by_letter(text, separator):
    assert record_ends(text.encode(), separator) == slow_ends(text, separator)


def test_values_do_not_depend_on_blocks(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [
        f'{rng.integers(9)},"{rng.choice(["p", "q,", "r" + chr(10)])}",{"ab"[i % 2]}'
        for i in range(400)
    ]
    (tmp_path / "a.csv").write_text("x,t,y\n" + "\n".join(lines))
    model = NaiveBayes.from_files(tmp_path / "a.csv", target="y")
    monkeypatch.setattr(csv, "BLOCK", 50)
    again = NaiveBayes.from_files(tmp_path / "a.csv", target="y")
    assert np.array_equal(model.summary_.tallies.values, again.summary_.tallies.values)


# --- cut at the ends of records, wherever quotes and newlines are ---------------------------------


cells = st.text(alphabet='a1," \n;', max_size=6)
tables = st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=12)
quotings = st.sampled_from([python_csv.QUOTE_ALL, python_csv.QUOTE_MINIMAL])
newlines = st.sampled_from(["\n", "\r\n"])


def records(text):
    """Read records; a blank line, such as half of a newline leaves, is none."""
    return [record for record in python_csv.reader(io.StringIO(text, newline="")) if record]


def cut_pieces(data, size):
    """Cut as the reader does: at the last end within a block, or within a larger one."""
    while data:
        block, end = size, 0
        while not end and block < 2 * len(data):
            end = last_record_end(data[:block], ",").last
            block *= 2
        end = end or len(data)
        yield data[:end].decode()
        data = data[end:]


@settings(deadline=None, max_examples=300)
@given(tables, quotings, newlines, st.integers(1, 60))
@example([['"', "\n"], ["\n", '"']], python_csv.QUOTE_ALL, "\n", 3)
def test_the_records_of_the_pieces_are_those_of_the_whole(table, quoting, newline, size):
    sink = io.StringIO()
    python_csv.writer(sink, quoting=quoting, lineterminator=newline).writerows(table)
    text = sink.getvalue()
    found = [record for piece in cut_pieces(text.encode(), size) for record in records(piece)]
    assert found == records(text) == table


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(['5" pipe', '"a,\nb"', 'x"', '""', '"6"" pipe"', "1"]), max_size=9))
def test_a_quote_amid_a_word_opens_nothing(words):
    text = "".join(f"{word},0\n" for word in words)
    ends = {len("".join(f"{word},0\n" for word in words[:i])) for i in range(1, len(words) + 1)}
    data = text.encode()
    for stop in range(len(data) + 1):
        expected = max((end for end in ends if end <= stop), default=0)
        assert last_record_end(data[:stop], ",").last == expected
    assert record_ends(data, ",").first == min(ends, default=0)
