"""Every engine gives the exact moments of the same rows, whatever it cuts them into."""

from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from naively import summarize
from naively.engines import dask, files, mixed, spark, sql
from tests import databases, oracles, sparks

pytestmark = databases.QUIET

N = 240
NAMES = ["a", "b", "c"]


class Rows(NamedTuple):
    """Cells, labels and perhaps weights."""

    X: Any
    y: Any
    w: Any = None


def plain(rng):
    return Rows(rng.normal(size=(N, 3)), rng.integers(0, 3, N))


def weights(rng):
    w = rng.choice([0.0, 0.1, 1.0, 3.0], N)
    return plain(rng)._replace(w=w)


def missing_cells(rng):
    X, y, _ = plain(rng)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[y == 1, 2] = np.nan  # a class without a cell in a column
    return Rows(X, y)


def far_from_zero(rng):
    return Rows(rng.normal([1e8, -1e8, 1e8], size=(N, 3)), rng.integers(0, 3, N))


def classes_that_come_late(rng):
    X, y, _ = far_from_zero(rng)
    return Rows(X, np.sort(y))


def labels_of_text(rng):
    X, y, _ = plain(rng)
    return Rows(X, np.array(["no", "yes", "perhaps"])[y])


CASES = [plain, weights, missing_cells, far_from_zero, classes_that_come_late, labels_of_text]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def rows(request):
    return request.param(np.random.default_rng(0))


def table_of(rows):
    """Return all of it as one Arrow table, in which missing cells are null."""
    columns = {
        name: pa.array(column, from_pandas=True)
        for name, column in zip(NAMES, rows.X.T, strict=True)
    }
    more = {} if rows.w is None else {"w": rows.w}
    return pa.table({**columns, "y": rows.y, **more})


def of_arrays(rows, tmp_path):
    return summarize(rows.X, rows.y, sample_weight=rows.w)


def of_pandas(rows, tmp_path):
    return summarize(pd.DataFrame(rows.X, columns=NAMES), rows.y, sample_weight=rows.w)


def of_polars(rows, tmp_path):
    frame = pl.from_arrow(table_of(rows))
    return summarize(frame[NAMES], rows.y, sample_weight=rows.w)


def of_pyarrow(rows, tmp_path):
    return summarize(table_of(rows).select(NAMES), rows.y, sample_weight=rows.w)


def of_csv(rows, tmp_path):
    pa.csv.write_csv(table_of(rows), tmp_path / "rows.csv")
    return files.summarize(
        tmp_path / "rows.csv", target="y", weight=None if rows.w is None else "w"
    )


def of_parquet(rows, tmp_path):
    pq.write_table(table_of(rows), tmp_path / "rows.parquet")
    return files.summarize(
        tmp_path / "rows.parquet", target="y", weight=None if rows.w is None else "w"
    )


def of_dask_array(rows, tmp_path):
    w = None if rows.w is None else da.from_array(rows.w, chunks=50)
    X = da.from_array(rows.X, chunks=(50, 2))
    return dask.summarize(X, da.from_array(rows.y, chunks=70), sample_weight=w)


def of_dask_frame(rows, tmp_path):
    frame = dd.from_pandas(table_of(rows).to_pandas(), npartitions=7)
    empty = frame[frame["a"] > np.inf]
    frame = dd.concat([empty, frame, empty])
    w = None if rows.w is None else frame["w"]
    return dask.summarize(frame[NAMES], frame["y"], sample_weight=w)


def spark_frame(table):
    """Return a Spark frame of some partitions, or skip the test."""
    if sparks.absent():
        pytest.skip(sparks.absent())
    with sparks.quiet():
        return sparks.session().createDataFrame(table).repartition(3)


def of_spark(rows, tmp_path):
    df = spark_frame(table_of(rows))
    with sparks.quiet():
        return spark.summarize(df, target="y", weight=None if rows.w is None else "w")


def of_spark_files(rows, tmp_path):
    spark_frame(table_of(rows)).write.parquet(f"{tmp_path}/rows")
    df = sparks.session().read.parquet(f"{tmp_path}/rows")
    with sparks.quiet():
        return spark.summarize(df, target="y", weight=None if rows.w is None else "w")


def of_database(name):
    def of(rows, tmp_path):
        table = databases.opened(name).load(table_of(rows))
        return sql.summarize(table, target="y", weight=None if rows.w is None else "w")

    return of


ENGINES = {
    "arrays": of_arrays,
    "pandas": of_pandas,
    "polars": of_polars,
    "pyarrow": of_pyarrow,
    "csv": of_csv,
    "parquet": of_parquet,
    "dask array": of_dask_array,
    "dask frame": of_dask_frame,
    "spark": of_spark,
    "spark files": of_spark_files,
    "duckdb": of_database("duckdb"),
    "sqlite": of_database("sqlite"),
    "postgres": of_database("postgres"),
    "spark sql": of_database("spark"),
}


@pytest.fixture(params=ENGINES)
def engine(request):
    """Return a function that gives the summary of rows."""
    return ENGINES[request.param]


def test_every_engine_gives_the_exact_moments(engine, rows, tmp_path):
    got = engine(rows, tmp_path)
    seen = np.ones(N, bool) if rows.w is None else rows.w > 0
    classes, codes = np.unique(rows.y[seen], return_inverse=True)
    assert got.classes.tolist() == classes.tolist()
    w = None if rows.w is None else rows.w[seen]
    exact = np.array(oracles.moments(rows.X[seen], codes, classes.size, w), dtype=float)
    weight, mean, m2 = np.moveaxis(exact, 2, 0)
    # Sums of some hundred terms: a hundred ulp, relative to the cells for means, and for m2 to
    # itself, since deviations are taken before squares.
    largest = np.nanmax(np.abs(rows.X))
    np.testing.assert_allclose(got.class_weight, np.bincount(codes, w), rtol=1e-14)
    np.testing.assert_allclose(got.moments.weight, weight, rtol=1e-14)
    np.testing.assert_allclose(got.moments.mean, mean, rtol=0, atol=1e-15 * largest)
    np.testing.assert_allclose(got.moments.m2, m2, rtol=1e-13)


# --- columns of categories ---------------------------------------------------------------------


def mixed_of_database(name):
    def of(table, y, w):
        whole = table.append_column("y", pa.array(y)).append_column("w", pa.array(w))
        return sql.summarize(databases.opened(name).load(whole), target="y", weight="w")

    return of


def mixed_of_spark(table, y, w):
    whole = table.append_column("y", pa.array(y)).append_column("w", pa.array(w))
    df = spark_frame(whole)
    with sparks.quiet():
        return spark.summarize(df, target="y", weight="w")


MIXED = {
    "pandas": lambda table, y, w: mixed.summarize(table.to_pandas(), y, sample_weight=w),
    "polars": lambda table, y, w: mixed.summarize(pl.from_arrow(table), y, sample_weight=w),
    "pyarrow": lambda table, y, w: mixed.summarize(table, y, sample_weight=w),
    "dask frame": lambda table, y, w: dask.summarize(
        dd.from_pandas(table.to_pandas(), npartitions=7), y, sample_weight=w
    ),
    "spark": mixed_of_spark,
    "duckdb": mixed_of_database("duckdb"),
    "sqlite": mixed_of_database("sqlite"),
    "postgres": mixed_of_database("postgres"),
    "spark sql": mixed_of_database("spark"),
}


@pytest.fixture(params=MIXED)
def mixed_engine(request):
    """Return a function that gives the summary of a table, its labels and weights."""
    return MIXED[request.param]


def test_every_engine_counts_the_categories(mixed_engine):
    rng = np.random.default_rng(0)
    towns = rng.choice(["Ulm", "Bonn", "Köln", None], N)
    towns[-1] = "Au"  # which comes late
    flags, y = rng.random(N) < 0.4, rng.choice(["no", "yes"], N)
    w = rng.choice([0.0, 0.5, 1.0, 3.0], N)  # sums without rounding
    table = pa.table({"size": rng.normal(size=N), "town": pa.array(towns), "flag": flags})
    got = mixed_engine(table, y, w)
    assert got.schema.kinds == ("number", "category", "category")
    for j, cells in enumerate((towns, flags)):
        categories = sorted(
            {c for c, weight in zip(cells, w, strict=True) if c is not None and weight}
        )
        assert got.categories[j].tolist() == categories
        expected = [[w[(y == k) & (cells == c)].sum() for c in categories] for k in ("no", "yes")]
        np.testing.assert_array_equal(got.tally(j), expected)
