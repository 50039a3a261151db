"""The registry of engines for tests: one body runs on every entry, and a new engine is one more.

An engine here is a function ``(table, y, folder, w=None, **options) -> Summary`` that brings an
Arrow table to where the engine reads it, and calls the public `naively.summarize`.
"""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from pyarrow import feather, parquet

from naively import summarize
from tests import databases, gpus, sparks
from tests.written import as_json_lines

TARGET, WEIGHT = "the_label", "the_weight"


def as_cells(table):
    return [list(row.values()) for row in table.to_pylist()]


def as_array(table):
    """Return numbers as an array, in which what is missing is NaN."""
    cells = [[np.nan if cell is None else cell for cell in row] for row in as_cells(table)]
    return np.array(cells, dtype=float)


def as_pandas(table):
    """Return a frame in which integers and booleans with holes stay what they are."""
    import pandas

    frame = table.to_pandas(types_mapper={pa.bool_(): pandas.BooleanDtype()}.get)
    holes = [
        field.name
        for field in table.schema
        if pa.types.is_integer(field.type) and table[field.name].null_count
    ]
    whole = [
        field.name
        for field in table.schema
        if pa.types.is_boolean(field.type) and not table[field.name].null_count
    ]
    return frame.assign(
        **{name: pandas.array(table[name].to_pylist(), "Int64") for name in holes},
        **{name: table[name].to_pandas() for name in whole},
    )


def as_polars(table):
    import polars

    return polars.from_arrow(table)


IN_MEMORY = {
    "array": as_array,
    "lists": as_cells,
    "array of objects": lambda table: np.array(as_cells(table), dtype=object),
    "pandas": as_pandas,
    "polars": as_polars,
    "pyarrow": lambda table: table,
}
FORMATS = {
    "parquet": parquet.write_table,
    "arrow": feather.write_feather,
    "csv": pyarrow.csv.write_csv,
    "jsonl": lambda table, path: Path(path).write_bytes(as_json_lines(table)),
}


def labelled(table, y, w=None):
    """Return the table with its labels, and with its weights where it has some."""
    whole = table.append_column(TARGET, pa.array(y))
    return whole if w is None else whole.append_column(WEIGHT, pa.array(w))


def by_name(w):
    """Return how labels and weights are named that stand in the table."""
    return {"target": TARGET} | ({} if w is None else {"weight": WEIGHT})


def written(table, form, folder):
    """Write a table as its library does by default; CSV knows no dictionaries."""
    if form == "csv":
        plain = [
            column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            for column in table.columns
        ]
        table = pa.table(plain, names=table.column_names)
    path = Path(folder) / f"table.{form}"
    FORMATS[form](table, str(path))
    return path


def in_memory(name):
    def engine(table, y, folder, w=None, **options):
        return summarize(IN_MEMORY[name](table), y, sample_weight=w, **options)

    return engine


def in_file(form):
    def engine(table, y, folder, w=None, **options):
        return summarize(written(labelled(table, y, w), form, folder), **by_name(w), **options)

    return engine


def on_dask_array(table, y, folder, w=None, **options):
    import dask.array as da

    w = None if w is None else da.from_array(w, chunks=50)
    X = da.from_array(as_array(table), chunks=(50, 2))
    return summarize(X, da.from_array(np.asarray(y), chunks=70), sample_weight=w, **options)


def on_dask_frame(table, y, folder, w=None, **options):
    import dask
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):  # or Dask makes text of objects
        frame = dd.from_pandas(as_pandas(table), npartitions=3)
        frame = dd.concat([frame, frame.partitions[0].loc[[]]])  # the last one has no rows
        return summarize(frame, np.asarray(y), sample_weight=w, **options)


def on_gpu(table, y, folder, w=None, **options):
    """Summarize tensors on a GPU, or in Triton's interpreter where there is none."""
    X, given = gpus.tensor(as_array(table)), np.asarray(y)
    given = gpus.tensor(given) if given.dtype.kind == "i" else given
    return summarize(X, given, sample_weight=None if w is None else gpus.tensor(w), **options)


def spark_frame(table):
    """Return a Spark frame of some partitions, or skip the test."""
    if sparks.absent():
        pytest.skip(sparks.absent())
    types = {"int64": "bigint", "bool": "boolean", "null": "void", "date32[day]": "date"}
    types |= {"double": "double", "float": "float"}
    types |= {"timestamp[us]": "timestamp_ntz", "timestamp[us, tz=UTC]": "timestamp"}
    kinds = [
        f"decimal({kind.precision},{kind.scale})"
        if pa.types.is_decimal(kind)
        else types.get(str(kind), "string")
        for kind in table.schema.types
    ]
    named = zip(table.column_names, kinds, strict=True)
    listed = ", ".join(f"`{name}` {kind}" for name, kind in named)
    with sparks.quiet():
        return sparks.session().createDataFrame(as_cells(table), listed).repartition(3)


def on_spark(table, y, folder, w=None, **options):
    df = spark_frame(labelled(table, y, w))
    # small tables, too, by Spark's own sums
    few = patch("naively.engines.spark.summaries._FIRST_ROWS", 8)
    with sparks.quiet(), few:
        return summarize(df, **by_name(w), **options)


def in_database(name):
    def engine(table, y, folder, w=None, **options):
        loaded = databases.opened(name).load(labelled(table, y, w))
        return summarize(loaded, **by_name(w), **options)

    return engine


ENGINES = {
    **{name: in_memory(name) for name in IN_MEMORY},
    **{form: in_file(form) for form in FORMATS},
    "dask array": on_dask_array,
    "dask frame": on_dask_frame,
    "gpu": on_gpu,
    "spark": on_spark,
    "duckdb": in_database("duckdb"),
    "sqlite": in_database("sqlite"),
    "postgres": in_database("postgres"),
    "spark sql": in_database("spark"),
}
OF_NUMBERS = {"array", "dask array", "gpu"}  # which hold nothing else
IN_DATABASES = {"duckdb", "sqlite", "postgres", "spark sql"}
POORLY_TYPED = {"sqlite", "postgres", "spark sql"}  # not every type of Arrow's
