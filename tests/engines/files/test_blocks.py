"""CSV is cut at the ends of records, wherever its quotes and newlines are."""

import csv
import io

from hypothesis import example, given, settings
from hypothesis import strategies as st

from naively.engines.files.text import last_record_end, record_ends

cells = st.text(alphabet='a1," \n;', max_size=6)
tables = st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=12)
quotings = st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
newlines = st.sampled_from(["\n", "\r\n"])


def records(text):
    """Read records; a blank line, such as half of a newline leaves, is none."""
    return [record for record in csv.reader(io.StringIO(text, newline="")) if record]


def pieces(data, size):
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
@example([['"', "\n"], ["\n", '"']], csv.QUOTE_ALL, "\n", 3)
def test_the_records_of_the_pieces_are_those_of_the_whole(table, quoting, newline, size):
    sink = io.StringIO()
    csv.writer(sink, quoting=quoting, lineterminator=newline).writerows(table)
    text = sink.getvalue()
    found = [record for piece in pieces(text.encode(), size) for record in records(piece)]
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
