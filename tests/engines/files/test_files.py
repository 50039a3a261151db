"""Files of every format give the summary of their rows in memory."""

import gzip
import io
from decimal import Decimal
from functools import reduce
from operator import add

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import naively
from naively import GaussianNB, NaivelyError, summarize
from naively.data.schema import Schema
from naively.engines.files import arrow
from naively.engines.files.piece_summary import BatchSum
from naively.statistics import Moments
from tests.written import (
    ENDINGS,
    FEATURES,
    STREAMS,
    N,
    as_csv,
    in_form,
    rows,
    scan_numbers,
    small_pieces,
    standard_input,
    summarize_numbers,
    write,
)

__all__ = ["small_pieces", "standard_input"]  # fixtures

MORE_STREAMS = {
    "lazy frame": lambda table: pl.from_arrow(table).lazy(),
    "scanner": lambda table: pa.dataset.dataset(table).scanner(),
    "relation": duckdb.from_arrow,
}


@pytest.fixture(params=[*ENDINGS, ".csv.zst", ".csv.bz2", ".jsonl.gz", *STREAMS, *MORE_STREAMS])
def source(request, tmp_path, small_pieces):
    """The rows, in a file of some format or as a stream."""
    more = MORE_STREAMS.get(request.param)
    return in_form(request.param, rows(), tmp_path) if more is None else more(rows())


def in_memory(table, features=FEATURES, weight=None):
    numbers = table.select(features).cast(pa.schema([(name, pa.float64()) for name in features]))
    w = None if weight is None else table[weight].to_numpy()
    return naively.summarize(numbers, table["label"].to_numpy(), sample_weight=w)


def assert_close(a, b):
    """Equal but for the rounding of sums of N terms."""
    assert a.schema == b.schema
    assert np.array_equal(a.classes, b.classes)
    assert np.array_equal(a.moments.weight, b.moments.weight)
    error = 4 * N * np.finfo(float).eps
    np.testing.assert_allclose(a.class_weight, b.class_weight, rtol=error)
    np.testing.assert_allclose(a.moments.mean, b.moments.mean, rtol=error, atol=10 * error)
    np.testing.assert_allclose(a.moments.m2, b.moments.m2, rtol=error)


def test_a_file_gives_the_summary_of_its_rows_in_memory(source):
    assert_close(summarize_numbers(source, target="label"), in_memory(rows()))


def test_what_was_left_out_is_told_with_the_reason(source):
    found = scan_numbers(source, target="label", exclude=["flag"])
    assert [(column.name, column.reason) for column in found.left_out] == [("name", "text")]
    assert found.rows == N
    assert found.summary.schema.names == ("ratio", "count", "short")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet", ".feather", ".arrow"])
def test_threads_do_not_change_a_bit(tmp_path, small_pieces, ending):
    path = write(rows(), tmp_path / f"rows{ending}")
    one, *others = (summarize_numbers(path, target="label", n_jobs=n) for n in (1, 2, 7))
    assert all(other == one for other in others)


def test_pieces_are_added_in_order_bit_for_bit(tmp_path, small_pieces):
    table = rows()
    path = write(table, tmp_path / "rows.parquet")
    groups = [table.slice(start, 700) for start in range(0, N, 700)]
    expected = reduce(add, map(in_memory, groups))
    assert summarize_numbers(path, target="label") == expected


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_pieces_far_from_zero_keep_the_digits_of_the_whole(tmp_path, small_pieces, ending):
    numbers = np.random.default_rng(1).normal(1e8, size=(N, 4))
    table = pa.table({**dict(zip("abcd", numbers.T, strict=True)), "label": np.arange(N) % 3})
    found = summarize_numbers(write(table, tmp_path / f"far{ending}"), target="label")
    whole = in_memory(table, list("abcd")).moments.m2
    np.testing.assert_allclose(found.moments.m2, whole, rtol=1e-12)
    groups = [table.slice(start, 700) for start in range(0, N, 700)]
    parts = [in_memory(group, list("abcd")).moments for group in groups]
    rounded = reduce(add, (Moments.of(part.weight, part.mean, part.m2) for part in parts))
    assert np.abs(rounded.m2 / whole - 1).max() > 1e-10  # which would not do


@pytest.mark.parametrize("numbers", [[9e307] * 4, [-9e307, -9e307, 9e307, 9e307], [1e170] * 4])
def test_numbers_near_the_largest_are_summed_up(tmp_path, monkeypatch, numbers):
    monkeypatch.setattr(arrow, "CELLS", 1)
    table = pa.table({"ratio": numbers, "label": ["a", "a", "b", "b"]})
    pq.write_table(table, tmp_path / "huge.parquet", row_group_size=1)
    found = summarize_numbers(tmp_path / "huge.parquet", target="label")
    assert found == in_memory(table, ["ratio"])


def test_a_column_may_weigh_the_rows(source):
    found = summarize_numbers(source, target="label", columns=["ratio", "short"], weight="flag")
    table = rows()
    kept = table.filter(table["flag"])
    assert_close(found, in_memory(kept, ["ratio", "short"]))


def test_columns_are_learned_from_in_the_order_they_are_named(source):
    found = summarize_numbers(source, target="label", columns=["short", "ratio"])
    assert_close(found, in_memory(rows(), ["short", "ratio"]))


def test_the_columns_of_later_files_may_stand_in_another_order(tmp_path):
    table = rows()
    for ending in (".csv", ".jsonl", ".parquet", ".arrow"):
        folder = tmp_path / ending
        folder.mkdir()
        write(table.slice(0, 1000), folder / f"a{ending}")
        other = table.slice(1000).select(table.column_names[::-1])
        write(other, folder / f"b{ending}")
        assert_close(summarize_numbers(folder, target="label"), in_memory(table))


def test_globs_lists_and_folders_name_the_same_files(tmp_path):
    table = rows()
    (tmp_path / "data" / "more").mkdir(parents=True)
    (tmp_path / "data" / "_SUCCESS").write_text("")
    first = write(table.slice(0, 1000), tmp_path / "data" / "a.parquet")
    second = write(table.slice(1000), tmp_path / "data" / "more" / "b.csv")
    sources = [tmp_path / "data", str(tmp_path / "data" / "**" / "?.*"), [first, str(second)]]
    one, *others = (summarize_numbers(source, target="label") for source in sources)
    assert_close(one, in_memory(table))
    assert all(other == one for other in others)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_a_partition_may_be_the_target_or_a_number(tmp_path, ending):
    table = rows().drop_columns(["name"])
    for label in ("a", "b", "ü"):
        for flag in (False, True):
            chosen = table.filter(
                (pa.compute.field("label") == label) & (pa.compute.field("flag") == flag)
            )
            folder = tmp_path / f"label={label.replace('ü', '%C3%BC')}" / f"flag={int(flag)}"
            folder.mkdir(parents=True)
            write(chosen.drop_columns(["label", "flag"]), folder / f"part{ending}")
    found = summarize_numbers(tmp_path, target="label")
    assert_close(found, in_memory(table))


NUMBERS = [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float16(), pa.float32()]
NUMBERS += [pa.decimal128(9, 2), pa.decimal256(40, 3)]


def test_numbers_of_every_type_are_read(tmp_path):
    values, labels = [1, 2, None, 4, 5, 6], [True, False] * 3
    columns = {str(kind): _of_type(values, kind) for kind in NUMBERS}
    table = pa.table({**columns, "label": labels})
    X = np.array([[np.nan if v is None else v] for v in values], float)
    expected = naively.summarize(X, labels).moments.values[:, :, 0]
    for ending in (".parquet", ".arrow"):
        found = summarize_numbers(write(table, tmp_path / f"rows{ending}"), target="label")
        assert found.classes.tolist() == [False, True]
        assert found.schema.names == tuple(columns)
        assert all(
            np.array_equal(values, expected) for values in found.moments.values.T.swapaxes(1, 2)
        )


def _of_type(values, kind):
    if pa.types.is_decimal(kind):
        values = [None if value is None else Decimal(value) for value in values]
    elif pa.types.is_float16(kind):
        values = [None if value is None else np.float16(value) for value in values]
    return pa.array(values, kind)


LABELS = {
    "int32": pa.array([3, 1, 3, 2], pa.int32()),
    "uint64": pa.array([3, 1, 3, 2**63], pa.uint64()),
    "bool": pa.array([True, False, True, True]),
    "string": pa.array(["b", "a", "b", "c"]),
    "large string": pa.array(["b", "a", "b", "c"], pa.large_string()),
    "dictionary": pa.array(["b", "a", "b", "c"]).dictionary_encode(),
    "whole float": pa.array([3.0, 1.0, 3.0, 2.0]),
    "whole decimal": pa.array([3, 1, 3, 2]).cast(pa.decimal128(19, 0)),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv", ".jsonl"])
def test_labels_of_every_type_are_classes(tmp_path, kind, ending):
    values = [1.0, 2.0, 4.0, 8.0]
    labels = LABELS[kind]
    table = pa.table({"x": values, "label": labels})
    if ending == ".csv":
        table = pa.table({"x": values, "label": [str(v).lower() for v in labels.to_pylist()]})
    found = summarize_numbers(write(table, tmp_path / f"rows{ending}"), target="label")
    expected = sorted(set(labels.to_pylist()))
    assert found.classes.tolist() == expected
    assert sorted(found.class_weight) == [1, 1, 2] or kind == "bool"


def test_classes_that_a_dictionary_lists_and_no_row_has_are_no_classes(tmp_path):
    labels = pa.DictionaryArray.from_arrays([0, 2, 0], ["a", "b", "c"])
    path = write(pa.table({"x": [1.0, 2.0, 3.0], "label": labels}), tmp_path / "rows.arrow")
    assert summarize_numbers(path, target="label").classes.tolist() == ["a", "c"]


def test_a_stream_of_files_trains_a_model(source):
    model = GaussianNB.from_summary(summarize_numbers(source, target="label"))
    table = rows()
    fitted = GaussianNB().fit(table.select(FEATURES).to_pandas(), table["label"].to_numpy())
    np.testing.assert_allclose(model.theta_, fitted.theta_, rtol=1e-9)


@pytest.mark.parametrize("form", ["csv", "gzip", "arrow"])
def test_standard_input_is_read(form, standard_input):
    table, sink = rows(), io.BytesIO()
    if form == "arrow":
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    elif form == "gzip":
        sink.write(gzip.compress(as_csv(table)))
    standard_input(as_csv(table) if form == "csv" else sink.getvalue())
    assert_close(summarize_numbers("-", target="label"), in_memory(rows()))


def test_a_format_that_nobody_knows_is_an_error(tmp_path):
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(NaivelyError, match=r"cannot tell what kind of file .*notes.md"):
        scan_numbers(tmp_path, target="y")
    with pytest.raises(NaivelyError, match=r"no-such.csv.*No such file"):
        scan_numbers(tmp_path / "no-such.csv", target="y")
    with pytest.raises(NaivelyError, match=r"a file that matches .*\*\.csv"):
        scan_numbers(str(tmp_path / "*.csv"), target="y")
    with pytest.raises(NaivelyError, match="data must be a path"):
        scan_numbers(3, target="y")


def test_a_lazy_frame_is_read_as_often_as_needed_and_never_collected(monkeypatch):
    frame = pl.from_arrow(rows()).select(*FEATURES, "label")
    expected = naively.summarize(frame, target="label")

    def collect(*_args, **_options):
        raise AssertionError("it was collected")

    monkeypatch.setattr(pl.LazyFrame, "collect", collect)
    assert naively.summarize(frame.lazy(), target="label") == expected
    assert naively.evaluate(GaussianNB(), frame.lazy(), "label", folds=3).n_rows == N


# --- the sum of batches is that of ``+``, whatever waits ------------------------------------------


@pytest.mark.parametrize("size", [0, 5, 1000], ids=lambda n: f"a sample of {n}")
def test_batches_add_up_as_by_plus(size):
    rng = np.random.default_rng(0)
    schema = Schema(2, sample=size)
    X, y = rng.integers(9, size=(400, 2)).astype(float), rng.integers(3, size=400)
    y[:50] = 0  # then there are more classes
    total, expected = BatchSum(schema), summarize(X[:0], y[:0], schema=schema)
    for start in range(0, 400, 20):
        part = summarize(X[start : start + 20], y[start : start + 20], schema=schema)
        total.add(part)
        expected = expected + part
    assert total.total() == expected
    assert expected.sample is None or total.bound == expected.sample.bound


def test_a_sum_of_no_batches_is_zero():
    assert BatchSum(Schema(2)).total() == summarize(np.empty((0, 2)), np.empty(0, int))
