"""Every function that takes data takes it wherever it lies, with the same answers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from naively import (
    GaussianNB,
    NaiveBayes,
    NaivelyError,
    compare,
    diagnose,
    drift,
    evaluate,
    report,
    summarize,
    tune,
)
from naively.engines import FILES, MEMORY, engine_of

RNG = np.random.default_rng(5)
N = 120
FRAME = pd.DataFrame({"size": RNG.normal(size=N), "town": RNG.choice(["Ulm", "Bonn"], N)})
FRAME["bought"] = np.where(FRAME["size"] + RNG.normal(size=N) > 0, "yes", "no")
TABLE = pa.Table.from_pandas(FRAME, preserve_index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("halves")
    pq.write_table(TABLE.slice(0, N // 2), folder / "1.parquet")
    pq.write_table(TABLE.slice(N // 2), folder / "2.parquet")
    return folder


def as_lazy_frame(folder):
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("polars is too old to compute batch by batch")
    return pl.scan_parquet(folder / "*.parquet")


def as_relation(folder):
    return pytest.importorskip("duckdb").sql(f"SELECT * FROM '{folder}/*.parquet'")


def as_ibis(folder):
    pytest.importorskip("duckdb")
    return pytest.importorskip("ibis").memtable(FRAME)


SOURCES = {
    "a folder": lambda folder: folder,
    "a tuple of paths": lambda folder: (str(folder / "1.parquet"), folder / "2.parquet"),
    "a list with a glob": lambda folder: [str(folder / "*.parquet")],
    "a dataset": lambda folder: ds.dataset(folder),
    "a scanner": lambda folder: ds.dataset(folder).scanner(),
    "a reader": lambda folder: TABLE.to_reader(),
    "a lazy frame": as_lazy_frame,
    "a relation": as_relation,
    "a table of Ibis": as_ibis,
}
MODEL = NaiveBayes(interactions=None).fit(FRAME, target="bought")


def plain():
    return NaiveBayes(calibration=None)


TARGET = {"target": "bought"}


def first_rows(data):
    """Return rows without labels, which files have beside them."""
    return data.drop(columns="bought") if isinstance(data, pd.DataFrame) else data


FUNCTIONS = {
    "summarize": lambda data: summarize(data, **TARGET).class_weight,
    "fit": lambda data: plain().fit(data, **TARGET).predict_proba(FRAME[["size", "town"]]),
    "evaluate": lambda data: evaluate(MODEL, data, **TARGET).loss,
    "compare": lambda data: compare((plain(), plain()), data, **TARGET, repeats=1).names,
    "tune": lambda data: tune(plain(), data, **TARGET, grid={"priors": [None]}, folds=2).scores,
    "report": lambda data: report(plain(), data, **TARGET, compare=False, folds=2).data["title"],
    "drift": lambda data: drift(MODEL, data, **TARGET).measures.mean_after,
    "drift without labels": lambda data: drift(MODEL, first_rows(data)).measures.mean_after,
    "drift of old data": lambda data: drift(data, MODEL, **TARGET).measures.mean_before,
    "diagnose": lambda data: diagnose(data, **TARGET).title,
    "importance": lambda data: MODEL.importance(data, **TARGET).increase,
    "explain": lambda data: MODEL.explain(first_rows(data)).values,
}

REFUSED = {
    ("drift without labels", "a table of Ibis"): "need target=",
    ("report", "a reader"): "read only once must become a file or a table",
}


@pytest.fixture(scope="module")
def answers(folder):
    """What each function answers for the frame; folds of what streams are drawn by content."""
    by_content = {"tune": folder, "report": folder}
    return {name: function(by_content.get(name, FRAME)) for name, function in FUNCTIONS.items()}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_data_wherever_it_lies(name, source, folder, answers):
    if (said := REFUSED.get((name, source))) is not None:
        with pytest.raises(NaivelyError, match=said):
            FUNCTIONS[name](SOURCES[source](folder))
        return
    found, expected = FUNCTIONS[name](SOURCES[source](folder)), answers[name]
    if isinstance(expected, str | list | tuple):
        assert found == expected
    else:  # blocks of rows add up in another order
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["fit", "evaluate", "drift", "diagnose", "importance"])
def test_a_record_batch_is_divided_as_a_frame_is(name, answers):
    (batch,) = TABLE.combine_chunks().to_batches()
    if isinstance(answers[name], str):
        assert FUNCTIONS[name](batch) == answers[name]
    else:
        np.testing.assert_allclose(FUNCTIONS[name](batch), answers[name], rtol=1e-9)


@pytest.mark.parametrize("source", ["a dataset", "a scanner", "a reader", "a relation"])
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_what_streams_is_no_table_to_predict_and_the_error_says_what_to_do(method, source, folder):
    with pytest.raises(NaivelyError, match=r"Give (pyarrow\.table\(X\)|X\.to_table\(\)), or write"):
        getattr(MODEL, method)(SOURCES[source](folder))


def test_a_database_adds_up_its_own_rows_for_a_model_of_numbers(folder, monkeypatch):
    numbers = FRAME.drop(columns="town").assign(large=FRAME["size"] > 1)
    table = as_ibis(folder).drop("town").mutate(large=lambda t: t["size"] > 1)
    monkeypatch.setattr(type(table), "__arrow_c_stream__", None)
    expected = GaussianNB().fit(numbers, **TARGET)
    for model in (GaussianNB().fit(table, **TARGET), GaussianNB.from_files(table, **TARGET)):
        np.testing.assert_allclose(model.theta_, expected.theta_, rtol=1e-12)
        assert model.summary_.schema == expected.summary_.schema
    weighed = GaussianNB().fit(table, **TARGET, weight="large")
    np.testing.assert_allclose(weighed.class_count_.sum(), numbers["large"].sum())


def test_texts_in_a_list_are_files_only_where_they_are_there(folder):
    there = str(folder / "1.parquet")
    assert engine_of([there]) is engine_of((there,)) is FILES
    for texts in (["fine tea", "cold soup"], [there, "Is it there?"], ["[", "\0"], []):
        assert engine_of(texts) is MEMORY
