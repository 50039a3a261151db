"""Rows, written in every format that the engine of files reads."""

import io
import json
import sys
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from naively.engines import files
from naively.engines.files import (
    SchemaFromFirstRows,
    arrow,
    csv,
    json_lines,
    labelled_rows,
)
from naively.engines.files.plan import ColumnPlan, Request
from naively.engines.files.readers import FirstRows

N = 3000
FEATURES = ["ratio", "count", "short", "flag"]
ENDINGS = [".csv", ".csv.gz", ".jsonl", ".tsv", ".parquet", ".feather", ".arrow", ".arrows"]
STREAMS = {
    "table": lambda table: table,
    "reader": lambda table: table.to_reader(max_chunksize=70),
    "polars": pl.from_arrow,
    "dataset": pa.dataset.dataset,
}


def rows(n=N, seed=0):
    """Numbers that text holds exactly, some of them missing, and labels."""
    rng = np.random.default_rng(seed)
    ratio = rng.normal(1e3, 2, n)
    return pa.table(
        {
            "ratio": pa.array(ratio, mask=rng.random(n) < 0.1),
            "name": pa.array([f"row, {i}" for i in range(n)]),
            "count": pa.array(rng.integers(-9, 9, n)),
            "short": pa.array((rng.integers(-99, 99, n) / 8).astype(np.float32)),
            "flag": pa.array(rng.random(n) < 0.5),
            "label": pa.array(rng.choice(["ü", "b", "a"], n)),
        }
    )


def people(n=N, seed=0):
    """Numbers that text holds exactly, text with quotes and commas, booleans, missing cells."""
    rng = np.random.default_rng(seed)
    towns = np.array(["Ulm", "Köln", 'a, "b"', "Bonn"], dtype=object)[rng.integers(0, 4, n)]
    return pa.table(
        {
            "age": pa.array(rng.integers(-99, 99, n) / 8, mask=rng.random(n) < 0.1),
            "town": pa.array(towns, mask=rng.random(n) < 0.1),
            "flag": pa.array(rng.random(n) < 0.3),
            "size": pa.array(rng.integers(0, 50, n)),
            "label": pa.array(rng.choice(["yes", "no", "maybe"], n)),
        }
    )


def scan_numbers(source, **options):
    """Read the columns of numbers, and leave out others, as the command line does."""
    options.setdefault("schema", SchemaFromFirstRows())
    return files.scan(source, skip_columns=True, **options)


def read(source, *, target, columns=None, kinds=None, progress=None):
    """Read files into memory."""
    first = FirstRows(source, csv.CsvDialect())
    first.check_sound()
    chosen = None if columns is None else tuple(columns)
    plan = ColumnPlan.of(first, Request(target, chosen, kinds=kinds))
    return labelled_rows.read(first, plan, progress)


def summarize_numbers(source, **options):
    """Summarize the columns of numbers."""
    return scan_numbers(source, **options).summary


def as_csv(table, separator=","):
    sink = io.BytesIO()
    pa.csv.write_csv(table, sink, pa.csv.WriteOptions(delimiter=separator))
    return sink.getvalue()


def as_json_lines(table):
    """Return one object a line, as Python writes it; dates are text, as JSON has none."""
    lines = [json.dumps(row, default=_in_json) + "\n" for row in table.to_pylist()]
    return "".join(lines).encode()


def _in_json(value):
    return float(value) if isinstance(value, Decimal) else str(value)


def in_form(form, table, folder):
    """Return a table as a stream, or in a file with this ending."""
    return STREAMS[form](table) if form in STREAMS else write(table, folder / f"rows{form}")


def three_files(folder, ending, made):
    """Write three files of one format, of rows that are made of a number and a seed."""
    (folder / "data").mkdir()
    for name, n in (("a", 3000), ("b", 900), ("c", 1500)):
        write(made(n, seed=n), folder / "data" / f"{name}{ending}")
    return folder / "data"


def write(table, path):
    """Write a table in the format that the path's ending asks for, in several parts."""
    kind = "".join(path.suffixes)
    if kind in (".csv.gz", ".csv.zst", ".csv.bz2", ".jsonl.gz"):
        with pa.output_stream(path, compression="detect") as file:
            file.write(as_json_lines(table) if ".jsonl" in kind else as_csv(table))
    elif kind == ".jsonl":
        path.write_bytes(as_json_lines(table))
    elif kind in (".csv", ".tsv"):
        path.write_bytes(as_csv(table, "\t" if kind == ".tsv" else ","))
    elif kind == ".parquet":
        pq.write_table(table, path, row_group_size=700)
    elif kind == ".feather":
        pa.feather.write_feather(table, path, chunksize=700, compression="lz4")
    else:
        new = pa.ipc.new_file if kind == ".arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    return path


@pytest.fixture
def small_pieces(monkeypatch):
    """Files that are small are cut, too."""
    monkeypatch.setattr(csv, "BLOCK", 10_000)
    monkeypatch.setattr(json_lines, "BLOCK", 10_000)
    monkeypatch.setattr(arrow, "CELLS", 1500)


@pytest.fixture
def standard_input(monkeypatch):
    """A function that gives bytes to this process as its standard input."""

    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return give
