"""One table has one schema, whoever reads it: every engine, every format of file."""

from datetime import time
from decimal import Decimal
from functools import partial

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.data.schema import Schema
from naively.engines import files
from naively.statistics import Scatter
from tests import databases
from tests.every_engine import (
    ENGINES,
    FORMATS,
    IN_MEMORY,
    OF_NUMBERS,
    POORLY_TYPED,
    TARGET,
    as_array,
    as_pandas,
    labelled,
    written,
)

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = databases.QUIET

KINDS = {
    "whole": "number",
    "real": "number",
    "gaps": "number",
    "flag": "category",
    "flags": "category",
    "town": "category",
    "group": "category",
    "empty": "undecided",
    "price": "number",
    "code": "category",
}
N = 12
TABLE = pa.table(
    {
        "whole": pa.array(range(N)),
        "real": pa.array([0.5, 1.5, None, 2.25] * 3),
        "gaps": pa.array([1, None, 3] * 4),
        "flag": pa.array([True, False] * 6),
        "flags": pa.array([True, None, False] * 4),
        "town": pa.array(["Ulm", "Bonn", None] * 4),
        "group": pa.array(["a", "b", "b", "a"] * 3).dictionary_encode(),
        "empty": pa.nulls(N),
        "price": pa.array([Decimal("1.50"), None, Decimal("2.25")] * 4, pa.decimal128(6, 2)),
        "code": pa.array(["2024-01", "2024-02", "2024-01"] * 4),
    }
)
Y = ["n", "y", "y", "n"] * 3
LABELLED = TABLE.append_column("label", pa.array(Y))
TIMES = pa.table({"x": pa.array(range(N)), "took": pa.array([time(1)] * N)})


EVERYWHERE = [name for name in ENGINES if name not in OF_NUMBERS | POORLY_TYPED]


def summarized(where, table, folder, **options):
    return ENGINES[where](table, Y, folder, **options)


@pytest.fixture(scope="module")
def expected():
    return summarize(TABLE, Y)


@pytest.mark.parametrize("where", EVERYWHERE)
def test_one_table_has_one_schema_and_one_summary(where, expected, tmp_path):
    summary = summarized(where, TABLE, tmp_path)
    assert summary.schema.kinds == tuple(KINDS.values())
    assert summary.schema.names in (tuple(KINDS), None)
    total = summary + expected  # which unites what they hold
    np.testing.assert_allclose(total.moments.values[:3], (expected + summary).moments.values[:3])
    np.testing.assert_allclose(total.moments.weight, 2 * (expected + 0 * summary).moments.weight)
    assert [c.tolist() for c in summary.categories] == [c.tolist() for c in expected.categories]
    assert summary.tallies == expected.tallies


@pytest.mark.parametrize("where", EVERYWHERE)
def test_times_of_day_are_the_same_error_everywhere(where, tmp_path):
    if where in ("csv", "jsonl"):  # which have no times: they are text there, as for pandas
        assert summarized(where, TIMES, tmp_path).schema.kinds == ("number", "category")
        read = pd.read_csv if where == "csv" else partial(pd.read_json, lines=True)
        frame = read(tmp_path / f"table.{where}").drop(columns=TARGET)
        assert summarize(frame, Y).schema.kinds == ("number", "category")
        return
    if where == "spark":
        pytest.skip("Spark 4 has no type for a time of day")
    with pytest.raises(NaivelyError, match=r"column ('took'|1).* holds times of day or durations"):
        summarized(where, TIMES, tmp_path)


@pytest.mark.parametrize("where", EVERYWHERE)
def test_a_schema_that_was_agreed_upon_is_taken_everywhere(where, expected, tmp_path):
    kinds = tuple("category" if name == "whole" else kind for name, kind in KINDS.items())
    agreed = Schema(len(KINDS), tuple(KINDS), kinds, sample=50)
    summary = summarized(where, TABLE, tmp_path, schema=agreed)
    assert summary.categories[0].tolist() == list(range(N))
    assert len(summary.sample) == N
    assert summary.schema.sample == 50


@pytest.mark.parametrize("where", EVERYWHERE)
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_products_of_columns_are_the_same_everywhere(where, weighted, tmp_path):
    numbers = TABLE.select(["whole", "real", "gaps", "price"])
    w = np.linspace(0, 2, N) if weighted else None
    schema = Schema(4, tuple(numbers.column_names), centres=(3.0, 1e3, -1.0, 2.0))
    found = summarized(where, numbers, tmp_path, schema=schema, w=w)[Scatter]
    d = as_array(numbers) - schema.centres
    d[np.isnan(d)] = 0.0
    for k, label in enumerate("ny"):
        own = np.array(Y) == label
        v = np.ones(own.sum()) if w is None else w[own]
        mean = np.average(d[own], axis=0, weights=v)
        around = d[own] - mean
        np.testing.assert_allclose(found.weight[k], v.sum())
        np.testing.assert_allclose(found.mean[k], mean, rtol=1e-9)
        products = (v * around.T) @ around
        np.testing.assert_allclose(found.within(range(4))[k], products, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("where", EVERYWHERE)
def test_classes_of_one_row_each_have_the_mean_of_its_cell(where, tmp_path):
    x, z = [i * 1e37 for i in range(1, N)] + [3.0], [i * 1e8 for i in range(1, N)] + [0.1]
    found = ENGINES[where](pa.table({"x": x, "z": z}), list(range(N)), tmp_path)
    np.testing.assert_allclose(found.moments.mean, np.transpose([x, z]), rtol=1e-12)


@pytest.mark.parametrize("where", EVERYWHERE)
def test_booleans_are_0_and_1_for_gaussian_nb_everywhere(where, tmp_path):
    table = TABLE.select(["real", "flag", "flags"])
    model = GaussianNB().fit(as_array(table), Y)
    if where in FORMATS:
        source = written(labelled(table, Y), where, tmp_path)
        found = GaussianNB.from_files(source, target=TARGET).summary_
    elif where == "dask frame":
        dd = pytest.importorskip("dask.dataframe")
        found = GaussianNB().fit(dd.from_pandas(as_pandas(table), npartitions=2), Y).summary_
    elif where in IN_MEMORY:
        found = GaussianNB().fit(IN_MEMORY[where](table), Y).summary_
    else:
        found = summarized(where, table, tmp_path, schema=Schema(3, tuple(table.column_names)))
    np.testing.assert_allclose(found.moments.weight, model.summary_.moments.weight)
    np.testing.assert_allclose(found.moments.mean, model.summary_.moments.mean, rtol=1e-14)
    np.testing.assert_allclose(found.moments.m2, model.summary_.moments.m2, rtol=1e-12)


TARGETED = [name for name in ENGINES if name not in {*IN_MEMORY, *OF_NUMBERS, "dask frame"}]
NO_TARGETS = {
    "labels as weights": ({"weight": TARGET}, "labels and weights must be in different columns"),
    "labels to learn from": ({"columns": ["whole", TARGET]}, "must not be among the columns"),
    "weights to learn from": (
        {"columns": ["real", "whole"], "weight": "whole"},
        "must not be among the columns",
    ),
    "no name": ({"weight": 3}, "a column must be given by its name, a text; got 3"),
}


@pytest.mark.parametrize(("options", "message"), NO_TARGETS.values(), ids=NO_TARGETS)
@pytest.mark.parametrize("where", TARGETED)
def test_labels_weights_and_columns_are_apart_everywhere(where, options, message, tmp_path):
    with pytest.raises(NaivelyError, match=message):
        ENGINES[where](TABLE.select(["real", "whole"]), [0, 1] * 6, tmp_path, **options)


@pytest.mark.parametrize("form", FORMATS)
def test_gaussian_nb_names_naive_bayes_where_a_file_holds_text(form, tmp_path):
    source = written(LABELLED.select(["real", "town", "label"]), form, tmp_path)
    with pytest.raises(NaivelyError, match=r"column 'town' .*NaiveBayes.*exclude=\['town'\]"):
        GaussianNB.from_files(source, target="label")
    model = GaussianNB.from_files(source, target="label", exclude=["town"])
    assert model.feature_names_in_.tolist() == ["real"]
    assert NaiveBayes.from_files(source, target="label").n_features_in_ == 2


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("later", [[1.5, None, 2.5], ["a", None, "b"]], ids=["numbers", "text"])
def test_a_column_that_is_empty_in_the_first_file_is_decided_by_a_later_one(form, later, tmp_path):
    y = pa.array(["n", "y", "n"])
    first = pa.table({"x": [1.0, 2.0, 3.0], "late": pa.nulls(3), "label": y})
    second = pa.table({"x": [1.0, 2.0, 3.0], "late": later, "label": y})
    for name, table in (("a", first), ("b", second)):
        (tmp_path / name).mkdir()
        written(table, form, tmp_path / name)
    source = [tmp_path / name / f"table.{form}" for name in "ab"]
    summary = summarize(source, target="label")
    whole = summarize(
        pa.concat_tables([first, second], promote_options="default").drop(["label"]),
        ["n", "y", "n"] * 2,
    )
    assert summary.schema == whole.schema
    assert summary.tallies == whole.tallies
    np.testing.assert_allclose(summary.moments.values, whole.moments.values, rtol=1e-14)
    assert NaiveBayes.from_files(source, target="label").summary_.weight == 6


def test_a_column_that_is_empty_in_two_files_is_decided_by_the_third_and_read_alike_in_all(
    tmp_path,
):
    """Text that looks like numbers in a later file stays text, as in one table."""
    for name, cells in (("a", ",,"), ("b", ",,"), ("c", "p,q,p"), ("d", "1,2,")):
        rows = zip(cells.split(","), "nyn", strict=True)
        text = "".join(f"{j},{cell},{label}\n" for j, (cell, label) in enumerate(rows))
        (tmp_path / f"{name}.csv").write_text(f"x,late,label\n{text}")
    model = NaiveBayes.from_files(tmp_path, target="label")
    assert model.summary_.categories[0].tolist() == ["1", "2", "p", "q"]
    whole = pd.concat(pd.read_csv(path, dtype={"late": str}) for path in sorted(tmp_path.iterdir()))
    assert model.summary_.tallies == summarize(whole[["x", "late"]], whole["label"]).tallies


def test_a_column_that_is_empty_in_the_first_file_may_hold_dates_in_the_second(tmp_path):
    for name, cells in (("a", pa.nulls(2)), ("b", pa.array([0, 1], pa.date32()))):
        table = pa.table({"x": [1.0, 2.0], "born": cells, "label": ["n", "y"]})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    summary = NaiveBayes.from_files(tmp_path, target="label").summary_
    assert summary.schema.names == ("x", "born.year", "born.month", "born.weekday")
    assert [c.tolist() for c in summary.categories] == [[1], ["Friday", "Thursday"]]


@pytest.mark.parametrize("later", [["p", "q"], [1.5, 2.5]], ids=["text", "numbers"])
def test_a_pass_goes_on_when_a_new_file_decides_a_column(tmp_path, later):
    folder, checkpoint = tmp_path / "files", tmp_path / "so-far"
    folder.mkdir()
    for name, cells in (("a", pa.nulls(2)), ("b", pa.array(later))):
        table = pa.table({"x": [1.0, 2.0], "late": cells, "label": ["n", "y"]})
        parquet.write_table(table, folder / f"{name}.parquet")
        schema = NaiveBayes().files_schema()
        found = files.scan(folder, target="label", schema=schema, checkpoint=checkpoint)
    assert found.summary.weight == 4
    assert found.summary.schema.held == ("number", "category" if later[0] == "p" else "number")


def late_cells(path, cells, empty=2000):
    lines = [f"{i % 7},{cell},{'ab'[i % 2]}\n" for i, cell in enumerate([""] * empty + cells)]
    path.write_text("x,late,y\n" + "".join(lines))
    return path


def test_cells_that_come_late_in_a_csv_file_are_learned_from(tmp_path, monkeypatch):
    from naively.engines.files import csv as reading

    monkeypatch.setattr(reading, "SAMPLE", 1 << 10)
    monkeypatch.setattr(reading, "BLOCK", 1 << 12)
    numbers = late_cells(tmp_path / "numbers.csv", ["1.5", "2.5"])
    assert summarize(numbers, target="y").moments.weight.tolist() == [[1001, 1], [1001, 1]]
    text = late_cells(tmp_path / "text.csv", ["u", "v"])
    with pytest.raises(NaivelyError, match=r"'late' must hold numbers; got 'u'") as raised:
        NaiveBayes.from_files(text, target="y")
    advice = {"late": "categorical"}
    assert f"families={advice}" in str(raised.value)
    model = NaiveBayes.from_files(text, target="y", families=advice)  # as it says
    assert model.summary_.categories[0].tolist() == ["u", "v"]
