"""The most ordinary files there are: as each library writes them by default.

One table of numbers, text, categories and booleans, some cells missing, is written by each writer
in each of its formats; every estimator learns from the file what it learns from memory, and labels
it alike. `WRITERS` is the table of what is written how.
"""

import json

import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from naively import GaussianNB, NaiveBayes
from naively.engines import spark, sql
from naively.engines import spark as spark_scoring
from naively.engines import sql as sql_scoring
from naively.engines.files import predict
from tests import databases, sparks
from tests.commands import run_well

pytestmark = databases.QUIET

N, NUMBERS = 1200, ["ratio", "count"]
CATEGORIES = ["town", "size", "flag"]
FEATURES = [*NUMBERS, *CATEGORIES]


def cells():
    """Return a dict of lists: None is a missing cell; ``size`` has few values, ``town`` many."""
    rng = np.random.default_rng(0)
    town = [f"town {i}" for i in rng.integers(0, 40, N)]
    columns = {
        "ratio": (rng.integers(-99, 99, N) / 8).tolist(),
        "count": rng.integers(0, 99, N).tolist(),
        "town": [None if i % 50 == 7 else name for i, name in enumerate(town)],
        "size": rng.choice(["S", "M", "L, or more"], N).tolist(),
        "flag": (rng.random(N) < 0.4).tolist(),
        "label": rng.choice(["sick", "well"], N).tolist(),
    }
    columns["ratio"][3] = columns["ratio"][600] = None
    return columns


def in_pandas():
    frame = pd.DataFrame(cells())
    return frame.astype({"size": "category"})


def in_polars():
    return pl.DataFrame(cells()).with_columns(pl.col("size").cast(pl.Categorical))


def in_arrow():
    table = pa.table(cells())
    return table.set_column(3, "size", table["size"].dictionary_encode())


def in_duckdb(statement):
    with duckdb.connect() as connection:
        connection.register("given", pa.table(cells()))
        connection.execute("CREATE TYPE size AS ENUM ('S', 'M', 'L, or more')")
        connection.execute("CREATE TABLE rows AS SELECT * REPLACE (size::size AS size) FROM given")
        connection.execute(statement)


def by_spark(path, kind):
    with sparks.quiet():
        frame = sparks.session().createDataFrame(pa.table(cells())).repartition(3)
        getattr(frame.write, kind)(str(path), **({"header": True} if kind == "csv" else {}))


def in_batches(path, new):
    table = in_arrow().unify_dictionaries()
    with new(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)


# What is written, by whom, how: "writer, format": function of a path.
WRITERS = {
    "pandas, csv": lambda path: in_pandas().to_csv(path),
    "pandas, csv without index": lambda path: in_pandas().to_csv(path, index=False),
    "pandas, csv.gz": lambda path: in_pandas().to_csv(path),
    "pandas, parquet": lambda path: in_pandas().to_parquet(path),
    "pandas, parquet in row groups": lambda path: in_pandas().to_parquet(path, row_group_size=500),
    "pandas, parquet of shuffled rows": lambda path: (
        in_pandas().sample(frac=1, random_state=0).to_parquet(path)
    ),
    "pandas, feather": lambda path: in_pandas().to_feather(path),
    "pandas, jsonl": lambda path: in_pandas().to_json(path, orient="records", lines=True),
    "pandas, jsonl.gz": lambda path: in_pandas().to_json(path, orient="records", lines=True),
    "polars, csv": lambda path: in_polars().write_csv(path),
    "polars, parquet": lambda path: in_polars().write_parquet(path),
    "polars, parquet in row groups": lambda path: in_polars().write_parquet(
        path, row_group_size=500
    ),
    "polars, arrow": lambda path: in_polars().write_ipc(path),
    "polars, arrows": lambda path: in_polars().write_ipc_stream(path),
    "polars, ndjson": lambda path: in_polars().write_ndjson(path),
    "pyarrow, csv": lambda path: pa.csv.write_csv(pa.table(cells()), path),
    "pyarrow, parquet": lambda path: pq.write_table(in_arrow(), path),
    "pyarrow, parquet in row groups": lambda path: pq.write_table(
        in_arrow(), path, row_group_size=500
    ),
    "pyarrow, feather": lambda path: pa.feather.write_feather(in_arrow(), path),
    "pyarrow, arrow": lambda path: in_batches(path, pa.ipc.new_file),
    "pyarrow, arrows": lambda path: in_batches(path, pa.ipc.new_stream),
    "duckdb, csv": lambda path: in_duckdb(f"COPY rows TO '{path}'"),
    "duckdb, json": lambda path: in_duckdb(f"COPY rows TO '{path}' (FORMAT json)"),
    "duckdb, parquet": lambda path: in_duckdb(f"COPY rows TO '{path}'"),
    "duckdb, parquet in row groups": lambda path: in_duckdb(
        f"COPY rows TO '{path}' (ROW_GROUP_SIZE 500)"
    ),
    "spark, csv": lambda path: by_spark(path, "csv"),
    "spark, json": lambda path: by_spark(path, "json"),
    "spark, parquet": lambda path: by_spark(path, "parquet"),
}
ESTIMATORS = {"GaussianNB": GaussianNB(), "NaiveBayes": NaiveBayes(calibration=None)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@pytest.fixture(params=WRITERS)
def path(request, folder):
    """A file, or Spark's folder of files, written once for all tests."""
    writer, _, format_ = request.param.partition(", ")
    if writer == "spark" and (why := sparks.absent()):
        pytest.skip(why)
    name = request.param.replace(", ", "_").replace(" ", "_")
    path = folder / f"{name}.{format_.partition(' ')[0]}"
    if not path.exists():
        WRITERS[request.param](path)
    return path


def chosen(name):
    return NUMBERS if name == "GaussianNB" else FEATURES


def whole(name):
    """Return the rows in memory, and the model that learned from them."""
    table = pa.table(cells()).select(chosen(name))
    return table, ESTIMATORS[name].fit(table, np.array(cells()["label"]))


def check_same(found, expected):
    """Compare what was seen, up to the order of the sum: the numbers are small eighths."""
    assert found.schema.names == expected.schema.names
    assert found.schema.kinds == expected.schema.kinds
    assert found.classes.tolist() == expected.classes.tolist()
    assert [column.tolist() for column in found.categories] == [
        column.tolist() for column in expected.categories
    ]
    assert np.array_equal(found.class_weight, expected.class_weight)
    assert np.array_equal(found.moments.weight, expected.moments.weight)
    np.testing.assert_allclose(found.moments.mean, expected.moments.mean, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.moments.m2, expected.moments.m2, rtol=1e-13)
    assert np.array_equal(found.tallies.values, expected.tallies.values)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_file_is_learned_from_as_its_rows_in_memory(path, name):
    _, expected = whole(name)
    columns = None if name == "NaiveBayes" else NUMBERS
    model = type(expected).from_files(
        path,
        target="label",
        **({} if columns is None else {"columns": columns}),
        **({"calibration": None} if name == "NaiveBayes" else {}),
    )
    check_same(model.summary_, expected.summary_)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_file_is_labelled_as_its_rows_in_memory(path, name, tmp_path):
    X, model = whole(name)
    keys = ["count", "town"]
    n_rows = predict(model, path, tmp_path / "out.parquet", proba=True, id=keys, n_jobs=2)
    found = pq.read_table(tmp_path / "out.parquet")
    assert n_rows == N
    proba = [round(p, 12) for p in model.predict_proba(X)[:, 1].tolist()]
    town = ["" if name is None else name for name in cells()["town"]]
    expected = sorted(zip(cells()["count"], town, model.predict(X).tolist(), proba, strict=True))
    count = [int(value) for value in found["count"].to_pylist()]
    places = ["" if value is None else value for value in found["town"].cast("string").to_pylist()]
    answers = found["prediction"].to_pylist()
    rounded = [round(p, 12) for p in found["p_well"].to_pylist()]
    assert sorted(zip(count, places, answers, rounded, strict=True)) == expected


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["sick", "well"])], ids=str)
def test_labels_of_polars_are_read_as_any_text(kind, tmp_path):
    in_polars().with_columns(pl.col("label").cast(kind)).write_ipc(tmp_path / "rows.arrow")
    model = NaiveBayes.from_files(tmp_path / "rows.arrow", target="label", calibration=None)
    check_same(model.summary_, whole("NaiveBayes")[1].summary_)


# One of each format: commands read files by the calls that are tested above.
OF_EACH_FORMAT = [
    "pandas, csv",
    "pandas, jsonl.gz",
    "polars, arrows",
    "duckdb, parquet",
    "spark, csv",
]


@pytest.mark.parametrize("path", OF_EACH_FORMAT, indirect=True)
def test_the_command_line_takes_any_file(path, tmp_path):
    options = "--target", "label", "--calibration", "none"
    found = run_well("fit", path, *options, "-o", tmp_path / "model")
    assert found.stdout.endswith(f": NaiveBayes of {N:,} rows, 5 columns, 2 classes\n")
    assert json.loads(run_well("evaluate", path, *options, "--json").stdout)["n_rows"] == N


# --- the same files, read by others -----------------------------------------------------------


def pattern(path):
    """Return a path or, of a folder, what matches the files in it."""
    return str(path / f"*{path.suffix}") if path.is_dir() else str(path)


def by_dask(path):
    kind = dd.read_parquet if path.suffix == ".parquet" else dd.read_csv
    frame = kind(pattern(path))
    X = frame[FEATURES]
    model = NaiveBayes(calibration=None).fit(X, frame["label"])
    return model.summary_, model.predict(X).compute()


def by_duckdb(path):
    """Read a relation of DuckDB as a stream."""
    with duckdb.connect() as connection:
        kind = connection.read_parquet if path.suffix == ".parquet" else connection.read_csv
        options = {"exclude": ["column0"]} if path.stem == "pandas_csv" else {}  # its index
        model = NaiveBayes.from_files(
            kind(pattern(path)), target="label", calibration=None, **options
        )
        output = path.parent / "out.parquet"
        predict(model, kind(pattern(path)), output)
    return model.summary_, pq.read_table(output)["prediction"].to_numpy()


def by_ibis(path):
    connection = ibis.duckdb.connect()
    kind = connection.read_parquet if path.suffix == ".parquet" else connection.read_csv
    table = kind(pattern(path))
    columns = FEATURES if path.stem == "pandas_csv" else None
    found = sql.summarize(table, target="label", columns=columns)
    model = NaiveBayes.from_summary(found, calibration=None)
    answers = sql_scoring.predict(model, table.select(FEATURES), label="answer").to_pyarrow()
    connection.disconnect()
    return found, answers["answer"].to_numpy()


def by_reading_in_spark(path):
    reader = sparks.session().read
    with sparks.quiet():
        parquet = path.suffix == ".parquet"
        frame = reader.parquet(str(path)) if parquet else reader.csv(
            str(path), header=True, inferSchema=True
        )  # fmt: skip
        columns = FEATURES if path.stem == "pandas_csv" else None
        found = spark.summarize(frame, target="label", columns=columns)
        model = NaiveBayes.from_summary(found, calibration=None)
        return found, spark_scoring.predict(model, frame).toPandas()["prediction"].to_numpy()


PYARROW = int(pa.__version__.partition(".")[0])
READERS = {"Dask": by_dask, "DuckDB": by_duckdb, "Ibis": by_ibis, "Spark": by_reading_in_spark}
READ_BY = [name for name in WRITERS if name.endswith(("csv", "parquet", "shuffled rows", "groups"))]


@pytest.mark.parametrize("path", READ_BY, indirect=True)
@pytest.mark.parametrize("engine", READERS)
def test_every_engine_learns_from_a_file_what_the_files_engine_does(path, engine):
    if engine == "Spark" and (why := sparks.absent()):
        pytest.skip(why)
    if engine == "Dask" and path.stem.startswith("polars_parquet") and PYARROW < 23:
        pytest.skip("pandas takes polars' codes of categories from pyarrow 23 on")
    X, expected = whole("NaiveBayes")
    found, answers = READERS[engine](path)
    check_same(found, expected.summary_)
    assert sorted(answers.tolist()) == sorted(expected.predict(X).tolist())
