"""Engines that scale past one machine, beside what people use there, on one machine.

A work is a fit on rows that an engine holds. Its contestants run in turns in one process, and each
returns its model, whose means and variances must agree, or the number of rows it touched.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_allclose

from benchmarks.tables import Columns, Options, mark, seconds
from benchmarks.timing import Times, race
from benchmarks.workloads import clouds
from naively import GaussianNB

__all__ = ["COLUMNS", "WORKS", "Learned", "Work", "measure"]

_SHAPE = 4_000_000, 50, 10  # rows, columns, classes
_ROWS_OF_SPARK = 2_000_000, 20, 10
_GROUP = 100_000  # rows of a row group


class Learned(NamedTuple):
    """Means and variances, by class and column."""

    mean: Any
    variance: Any


Contestants = dict[str, Callable[[], Learned | int]]


class Work(NamedTuple):
    """A fit; ``bars`` says how many times the time of its peers together it may take, or None."""

    name: str
    contestants: Callable[[], AbstractContextManager[Contestants]]
    bars: dict[tuple[str, ...], float | None]
    needs: tuple[str, ...] = ()
    shape: tuple[int, int, int] = _SHAPE


@contextmanager
def _dask() -> Iterator[Contestants]:
    import dask.array as da

    X, y = clouds(*_SHAPE)
    chunks = da.from_array(X, chunks=("auto", -1))  # of 128 MiB
    labels = da.from_array(y, chunks=chunks.chunks[:1])
    yield {
        "naively": partial(_fit_dask, chunks, labels),
        "dask-ml": partial(_fit_dask_ml, chunks, labels),
        "naively in memory": partial(_fit, X, y),
        "touching the chunks": partial(_touch, chunks, labels),
    }


def _fit_dask(X: Any, y: Any) -> Learned:
    model = GaussianNB().fit(X, y)
    return Learned(model.theta_, model.var_)


def _fit_dask_ml(X: Any, y: Any) -> Learned:
    import dask
    from dask_ml.naive_bayes import GaussianNB as DaskGaussianNB

    model = DaskGaussianNB().fit(X, y)
    return Learned(*dask.compute(model.theta_, model.sigma_))


def _fit(X: Any, y: Any) -> Learned:
    model = GaussianNB().fit(X, y)
    return Learned(model.theta_, model.var_)


def _touch(X: Any, y: Any) -> int:
    """Let the scheduler hand every chunk to a task that does nothing with it."""
    lengths = X.map_blocks(_length, y[:, np.newaxis], chunks=(1, 1), dtype=int)
    return int(lengths.sum().compute())


def _length(X: Any, y: Any) -> Any:
    return np.full((1, 1), len(X))


@contextmanager
def _duckdb() -> Iterator[Contestants]:
    import ibis

    with TemporaryDirectory(prefix="naively-") as folder:
        path = _written(Path(folder) / "rows.parquet")
        connection = ibis.duckdb.connect()
        yield {
            "naively": partial(_fit_sql, connection.read_parquet(path)),
            "the GROUP BY by hand": partial(_group_by, connection.con, path),
        }
        connection.disconnect()


def _written(path: Path, shape: tuple[int, int, int] = _SHAPE) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = clouds(*shape)
    names = [*(f"x{j}" for j in range(X.shape[1])), "y"]
    kinds = [pa.float64()] * X.shape[1] + [pa.int64()]
    schema = pa.schema(list(zip(names, kinds, strict=True)))
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, y.size, _GROUP):
            rows = slice(start, start + _GROUP)
            writer.write_table(pa.table([*X[rows].T.copy(), y[rows]], schema=schema), _GROUP)
    return path


def _fit_sql(table: Any) -> Learned:
    from naively.engines import sql

    model = GaussianNB.from_summary(sql.summarize(table, target="y"))
    return Learned(model.theta_, model.var_)


def _group_by(connection: Any, path: Path) -> Learned:
    columns = ", ".join(f"avg(x{j}), var_pop(x{j})" for j in range(_SHAPE[1]))
    query = f"SELECT y, count(*), {columns} FROM '{path}' GROUP BY y ORDER BY y"
    rows = np.array(connection.execute(query).fetchall(), dtype=float)
    return Learned(rows[:, 2::2], rows[:, 3::2])


@contextmanager
def _spark_rows() -> Iterator[Contestants]:
    with _spark_session() as session, TemporaryDirectory(prefix="naively-") as folder:
        df = session.read.parquet(str(_written(Path(folder) / "rows.parquet", _ROWS_OF_SPARK)))
        df = df.repartition(4).cache()
        df.count()
        yield {"naively": partial(_fit_spark, df), "Spark MLlib": partial(_fit_mllib, df)}


@contextmanager
def _spark_session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # or executors take the path's Python
    settings = {"spark.driver.memory": "4g", "spark.ui.enabled": "false"}
    settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    settings |= {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas 3
        session = builder.getOrCreate()
        yield session
        session.stop()


def _fit_spark(df: Any) -> Learned:
    from naively.engines import spark

    model = GaussianNB.from_summary(spark.summarize(df, target="y"))
    return Learned(model.theta_, model.var_)


def _fit_mllib(df: Any) -> Learned:
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    names = [name for name in df.columns if name != "y"]
    vectors = VectorAssembler(inputCols=names, outputCol="features").transform(df)
    model = NaiveBayes(modelType="gaussian", labelCol="y").fit(vectors)
    return Learned(model.theta.toArray(), model.sigma.toArray())


WORKS = [
    Work(
        "Dask array 4,000,000 x 50, 10 classes, fit",
        _dask,
        {("dask-ml",): 1 / 10, ("naively in memory", "touching the chunks"): 1.3},
        ("dask", "dask_ml"),
    ),
    Work(
        "DuckDB, Parquet 4,000,000 x 50, 10 classes, fit in the database",
        _duckdb,
        {("the GROUP BY by hand",): 1.5},
        ("ibis", "duckdb"),
    ),
    Work(
        "Spark local[2], cached rows 2,000,000 x 20, 10 classes, fit",
        _spark_rows,
        {("Spark MLlib",): 1 / 2},
        ("pyspark",),
        _ROWS_OF_SPARK,
    ),
]


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the time of each work beside that of its peers, once they agree."""
    for work in WORKS:
        absent = [name for name in work.needs if find_spec(name) is None]
        if absent:
            print(f"{work.name}: left out, since {', '.join(absent)} is not installed")
        elif options.only in work.name:
            yield from _measured(work, options)
            gc.collect()


def _measured(work: Work, options: Options) -> Iterator[dict[str, Any]]:
    with work.contestants() as contestants:
        times = race(contestants, _agree, rounds=options.rounds, patience=options.patience)
    ours = times["naively"]
    for peers, bar in work.bars.items():
        theirs = _together([times[peer] for peer in peers])
        ratio = ours.median / theirs.median
        yield {
            "work": work.name,
            "bytes": 8 * work.shape[0] * work.shape[1],
            "peer": " + ".join(peers),
            "ours": ours._asdict(),
            "theirs": theirs._asdict(),
            "ratio": ratio,
            "ratio_of_best": ours.best / theirs.best,
            "bar": bar,
            "met": None if bar is None else ratio <= bar,
        }


def _agree(answers: dict[str, Any]) -> None:
    """Compare the models, and the numbers of rows of those who only count."""
    ours = answers["naively"]
    for name, answer in answers.items():
        if isinstance(answer, int):
            assert answer == _SHAPE[0], f"{name}: {answer} rows"
        else:
            assert_allclose(ours.mean, answer.mean, rtol=1e-9, atol=1e-9, err_msg=name)
            assert_allclose(ours.variance, answer.variance, rtol=1e-6, err_msg=name)


def _together(times: list[Times]) -> Times:
    return Times(
        sum(one.best for one in times),
        sum(one.median for one in times),
        min(one.samples for one in times),
        all(one.quiet for one in times),
    )


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "naively": lambda r: seconds(r["ours"]["median"]),
    "GB/s": lambda r: f"{r['bytes'] / r['ours']['median'] / 1e9:.2f}",
    "compared with": lambda r: r["peer"],
    "its time": lambda r: seconds(r["theirs"]["median"]),
    "ratio of times": lambda r: f"{r['ratio']:.3g}",
    "by best runs": lambda r: f"{r['ratio_of_best']:.3g}",
    "goal": lambda r: "" if r["bar"] is None else f"{r['bar']:.2g}",
    "met": lambda r: mark(r["met"]),
}
