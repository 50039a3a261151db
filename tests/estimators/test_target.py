"""Tables that hold their labels: ``fit(frame, target=...)`` is ``fit(X, y)``."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError
from naively.estimators.loading import ESTIMATORS

RNG = np.random.default_rng(7)
N = 300
FRAME = pd.DataFrame(
    {
        "visits": RNG.poisson(2, N).astype(float),
        "town": RNG.choice(["Ulm", "Bonn"], N),
        "churned": RNG.choice(["no", "yes"], N),
        "times": RNG.choice([0.0, 1.0, 2.5], N),
    }
)
CODES = FRAME.assign(town=RNG.integers(0, 3, N), visits=RNG.integers(0, 4, N))


def as_file(frame, folder):
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "rows.parquet")
    return folder / "rows.parquet"


def as_relation(frame, folder):
    return pytest.importorskip("duckdb").sql(f"SELECT * FROM '{as_file(frame, folder)}'")


def as_dask(frame, folder):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


def as_lazy_frame(frame, folder):
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("polars is too old to compute batch by batch")
    return pl.scan_parquet(as_file(frame, folder))


IN_MEMORY = {
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "pyarrow": lambda frame, folder: pa.Table.from_pandas(frame, preserve_index=False),
}
STREAMED = {
    "a file": as_file,
    "files": lambda frame, folder: [as_file(frame, folder)],
    "a folder": lambda frame, folder: as_file(frame, folder).parent,
    "a reader": lambda frame, folder: pa.Table.from_pandas(frame).to_reader(),
    "duckdb": as_relation,
    "a lazy frame": as_lazy_frame,
}


@pytest.mark.parametrize("table", IN_MEMORY.values(), ids=IN_MEMORY)
@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
def test_a_frame_is_split_into_rows_labels_and_weights(kind, table, tmp_path):
    X, y, weight = CODES[["visits", "town"]], CODES["churned"], CODES["times"]
    data = table(CODES, tmp_path)
    model = kind().fit(data, target="churned", weight="times")
    assert model.summary_ == kind().fit(X, y, weight).summary_
    rest = table(CODES.drop(columns="times"), tmp_path)
    model = kind().fit(rest, sample_weight=weight, target="churned")
    assert model.summary_ == kind().fit(X, y, weight).summary_
    assert model.feature_names_in_.tolist() == ["visits", "town"]


@pytest.mark.parametrize("table", (STREAMED | {"dask": as_dask}).values(), ids=[*STREAMED, "dask"])
def test_what_is_not_in_memory_gives_the_same_model(table, tmp_path):
    X, y, weight = FRAME[["visits", "town"]], FRAME["churned"], FRAME["times"]
    expected = NaiveBayes().fit(X, y, weight)
    model = NaiveBayes().fit(table(FRAME, tmp_path), target="churned", weight="times")
    assert model.summary_.schema == expected.summary_.schema
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-9)


def test_a_lazy_frame_is_never_collected(tmp_path, monkeypatch):
    lazy = as_lazy_frame(FRAME, tmp_path)
    monkeypatch.setattr(pl.LazyFrame, "collect", None)
    numbers = lazy.select(pl.col("visits") + 1, "churned")
    model = GaussianNB().fit(numbers, target="churned")
    expected = GaussianNB().fit(FRAME[["visits"]] + 1, FRAME["churned"])
    np.testing.assert_allclose(model.theta_, expected.theta_, rtol=1e-12)
    again = GaussianNB.from_files(numbers, target="churned")
    assert again.summary_ == model.summary_


def test_an_earlier_model_is_discarded(tmp_path):
    model = GaussianNB().fit([[1.0, 2.0, 3.0]], ["other"])
    model.fit(as_file(FRAME.drop(columns="town"), tmp_path), target="churned")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == ["visits", "times"]


FrameOfSpark = type(
    "DataFrame", (), {"__module__": "pyspark.sql.dataframe", "__arrow_c_stream__": None}
)
WRONG = {
    "spark": (FrameOfSpark(), {"target": "a"}, "got a frame of Spark. Fit by from_summary"),
    "an array": (FRAME.to_numpy(), {"target": "churned"}, "got ndarray, whose columns have no"),
    "a list": ([[1.0, "a"]], {"target": "churned"}, "got list, whose columns have no names"),
    "sparse": (csr_array(np.eye(2)), {"target": "churned"}, "whose columns have no names"),
    "places": (pd.DataFrame(np.eye(2)), {"target": 1}, "got a frame without names"),
    "dicts": ([{"a": 1.0}], {"target": "a"}, "whose columns have no names"),
    "a dict": ({"a": [1.0]}, {"target": "a"}, "got dict. Make it a data frame"),
    "a typing mistake": (FRAME, {"target": "curned"}, "no column 'curned'; did you mean 'churned'"),
    "no target": (FRAME, {"weight": "times"}, "weight='times' names a column beside target="),
    "labels twice": (FRAME, {"y": FRAME["churned"], "target": "churned"}, "y or as target, not"),
    "weights twice": (
        FRAME,
        {"sample_weight": FRAME["times"], "weight": "times", "target": "churned"},
        "sample_weight or as weight=, not as both",
    ),
    "one column for both": (FRAME, {"target": "churned", "weight": "churned"}, "different columns"),
    "no others": (FRAME[["churned"]], {"target": "churned"}, "a column to learn from beside"),
    "weights of a stream": (
        pa.Table.from_pandas(FRAME).to_reader(),
        {"target": "churned", "sample_weight": FRAME["times"]},
        "give weight='name'",
    ),
}


@pytest.mark.parametrize(("data", "how", "message"), WRONG.values(), ids=WRONG)
def test_what_has_no_such_columns_is_refused(data, how, message):
    with pytest.raises(NaivelyError, match=message):
        NaiveBayes().fit(data, **how)


def test_codes_are_not_streamed(tmp_path):
    with pytest.raises(NaivelyError, match="CategoricalNB learns from codes in memory"):
        CategoricalNB().fit(as_file(CODES, tmp_path), target="churned")
