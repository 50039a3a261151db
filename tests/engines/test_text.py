"""A column of text is the same words in every engine."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from naively import NaiveBayes, NaivelyError, summarize
from naively.data.schema import Schema
from naively.statistics import Documents, Occurrences, Sample
from tests import databases
from tests.every_engine import ENGINES, OF_NUMBERS, TARGET, labelled, written

pytestmark = databases.QUIET

WORDS = ["tea", "Kaffee", "milk", "会议", "غداء", "ΟΔΟΣ", "naïve", "😀", "it's", "e\u0301te"]
RNG = np.random.default_rng(0)
N = 240
Y = RNG.choice(["a", "b"], N)
TABLE = pa.table(
    {
        "note": [
            None if i % 17 == 3 else " ".join(RNG.choice(WORDS, RNG.integers(3, 9)))
            for i in range(N)
        ],
        "town": RNG.choice(["Ulm", "Bonn"], N),
        "age": RNG.normal(size=N),
        "title": [" ".join(RNG.choice(WORDS[:4], 3)) + f" number {i}" for i in range(N)],
    }
)
OTHERS = {name: engine for name, engine in ENGINES.items() if name not in OF_NUMBERS}
KINDS = ("text", "category", "number", "text")


@pytest.fixture(scope="module")
def known():
    return summarize(TABLE, Y)


@pytest.mark.parametrize("engine", OTHERS)
def test_text_is_told_from_categories_by_one_rule(engine, tmp_path, known):
    found = OTHERS[engine](TABLE, Y, tmp_path)
    assert found.schema.held == KINDS
    assert found.axes.words == known.axes.words
    for kind in (Documents, Occurrences):
        np.testing.assert_array_equal(found[kind].values, known[kind].values)


@pytest.mark.parametrize("engine", OTHERS)
def test_a_sample_holds_the_same_words(engine, tmp_path):
    schema = Schema(4, tuple(TABLE.column_names), KINDS, sample=50)
    found = OTHERS[engine](TABLE, Y, tmp_path, schema=schema)
    known = summarize(TABLE, Y, schema=schema)
    a, b = found[Sample], known[Sample]
    np.testing.assert_array_equal(a.hashes, b.hashes)
    np.testing.assert_array_equal(a.texts.hashes, b.texts.hashes)
    for mine, its in zip(a.texts.columns, b.texts.columns, strict=True):
        np.testing.assert_array_equal(mine.dense(), its.dense())
    assert NaiveBayes.from_summary(found).predict_proba(TABLE).shape == (N, 2)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_a_pass_over_text_goes_on_at_its_checkpoint(form, tmp_path):
    paths = []
    for start in (0, 120):
        folder = tmp_path / str(start)
        folder.mkdir()
        half = labelled(TABLE.slice(start, 120), Y[start : start + 120])
        paths.append(written(half, form, folder))
    asked = {"target": TARGET, "families": {"age": "gaussian"}, "interactions": None}
    whole = NaiveBayes.from_files(paths, **asked)  # no edges or centres of the first rows
    so_far = {**asked, "checkpoint": tmp_path / "so-far"}
    NaiveBayes.from_files(paths[:1], **so_far)
    assert NaiveBayes.from_files(paths, **so_far).summary_ == whole.summary_


def test_a_file_of_numbers_where_text_is_expected_is_an_error(tmp_path):
    model = NaiveBayes().fit(TABLE, Y)
    other = TABLE.set_column(0, "note", pa.array(np.arange(N)))
    path = written(labelled(other, Y), "parquet", tmp_path)
    with pytest.raises(NaivelyError, match=r"column 'note'.* must hold text; got int64"):
        NaiveBayes.from_files(path, target=TARGET, schema=model.summary_.schema)


def in_dask(frame, npartitions=4):
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=npartitions)


def test_dask_tells_text_from_categories_by_its_own_type_of_text():
    frame = TABLE.to_pandas()
    lazy = in_dask(frame)
    assert str(lazy.dtypes["note"]).startswith("str")
    model, whole = (NaiveBayes().fit(X, Y) for X in (lazy, frame))
    assert model.summary_.schema == whole.summary_.schema
    np.testing.assert_allclose(model.predict_proba(frame), whole.predict_proba(frame), atol=1e-12)
    model.partial_fit(lazy, Y)
    assert model.summary_[Documents] == 2 * whole.summary_[Documents]


@pytest.mark.parametrize("n_prose", [2001, 900])
@pytest.mark.parametrize("n_missing", [0, 3000])
def test_dask_looks_at_as_many_cells_as_others_do(n_prose, n_missing):
    prose = [f"tea and milk number {i}" for i in range(n_prose)]
    cells = [None] * n_missing + prose + ["green tea with milk"] * 2500
    frame = pd.DataFrame({"note": cells, "size": 1.0})
    expected = summarize(frame, np.zeros(len(cells), int)).schema
    assert expected.held[0] == ("text" if n_prose > 1000 else "category")
    found = summarize(in_dask(frame, 9), np.zeros(len(cells), int)).schema
    assert found == expected


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "arrow"])
def test_text_is_told_from_categories_by_later_files_where_the_first_hold_few_cells(form, tmp_path):
    nothing = TABLE.slice(0, 20).set_column(0, "note", pa.nulls(20, pa.string()))
    few = TABLE.slice(0, 2).set_column(0, "note", pa.array(["tea", "milk"]))
    parts = [(TABLE.slice(0, 0), Y[:0]), (nothing, Y[:20]), (few, Y[:2]), (TABLE, Y)]
    parts = parts[1:] if form == "jsonl" else parts  # where no rows are an empty file
    paths = []
    for i, (table, y) in enumerate(parts):
        folder = tmp_path / str(i)
        folder.mkdir()
        paths.append(written(labelled(table, pa.array(y, pa.string())), form, folder))
    assert summarize(paths, target=TARGET).schema.held == KINDS
    untyped = nothing.set_column(0, "note", pa.nulls(20))
    written(labelled(untyped, Y[:20]), form, paths[-3].parent)
    assert summarize(paths[-3:], target=TARGET).schema.held == KINDS
