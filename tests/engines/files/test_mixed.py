"""Files of numbers and categories give the summary of their rows in memory, histograms and all."""

import io
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError
from naively.data.schema import Schema
from naively.engines import files
from naively.engines import files as scoring
from naively.engines.files import SchemaFromFirstRows, summary_pass
from naively.statistics.summary import Summary
from tests.written import (
    ENDINGS,
    STREAMS,
    N,
    as_csv,
    in_form,
    people,
    read,
    small_pieces,
    standard_input,
    write,
)

__all__ = ["small_pieces", "standard_input"]  # fixtures

FEATURES = ["age", "town", "flag", "size"]
ZIP = {"zip": "categorical"}


def in_memory(table, model=None, **options):
    X = table.select(FEATURES)
    return (model or NaiveBayes()).fit(X, table["label"].to_numpy(), **options).summary_


def undecided(**params):
    return NaiveBayes(**params).files_schema()


def summarize(source, model=None, **options):
    options.setdefault("schema", (model or NaiveBayes()).files_schema())
    return files.summarize(source, target="label", **options)


def assert_close(a, b):
    """Equal but for the rounding of sums of N terms in the moments."""
    assert a.schema == b.schema
    assert np.array_equal(a.classes, b.classes)
    assert all(map(np.array_equal, a.categories, b.categories))
    assert a.tallies == b.tallies
    assert a.bins == b.bins
    assert a.sample == b.sample
    np.testing.assert_allclose(a.moments.values, b.moments.values, rtol=N * 1e-15, atol=1e-12)


@pytest.fixture(params=[*ENDINGS, *STREAMS])
def source(request, tmp_path, small_pieces):
    """The rows, in a file of some format or as a stream."""
    return in_form(request.param, people(), tmp_path)


# --- the summary ------------------------------------------------------------------------------


def test_a_file_gives_the_summary_of_its_rows_in_memory(source):
    found = files.scan(source, target="label", schema=undecided())
    assert_close(found.summary, in_memory(people()))
    assert found.left_out == ()
    assert found.rows == N


def test_a_model_from_files_is_the_model_of_the_rows(source):
    model = NaiveBayes.from_files(source, target="label")
    table = people()
    expected = NaiveBayes().fit(table.select(FEATURES), table["label"].to_numpy())
    p, q = (m.predict_proba(table.select(FEATURES)) for m in (model, expected))
    np.testing.assert_allclose(p, q, atol=1e-9)  # weights are fitted to that


@pytest.mark.parametrize("calibration", ["temperature", None])
def test_less_is_measured_where_less_is_needed(tmp_path, calibration):
    path = write(people(), tmp_path / "a.parquet")
    model = NaiveBayes(calibration=calibration)
    found = summarize(path, model)
    assert found.schema == in_memory(people(), model).schema
    assert found.schema.edges is None
    assert (found.sample is None) == (calibration is None)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".parquet", ".feather", ".arrow"])
def test_threads_do_not_change_a_bit(tmp_path, small_pieces, ending):
    path = write(people(), tmp_path / f"rows{ending}")
    one, *others = (summarize(path, n_jobs=n) for n in (1, 2, 7))
    assert all(other == one for other in others)


def test_rows_may_be_weighted(tmp_path, small_pieces):
    table = people()
    weights = np.where(np.array(table["town"].to_pylist()) == "Ulm", 0, table["size"].to_numpy())
    for ending in (".csv", ".jsonl", ".parquet"):
        path = write(table.append_column("w", pa.array(weights)), tmp_path / f"a{ending}")
        found = summarize(path, weight="w")
        assert_close(found, in_memory(table, sample_weight=weights))
        assert "Ulm" not in found.categories[0]


def test_what_is_missing_in_text_is_missing_in_categories(tmp_path):
    (tmp_path / "a.csv").write_text("town,label\nUlm,a\n,a\nNA,b\n?,b\nnan,b\n")
    found = files.summarize(
        tmp_path / "a.csv", target="label", missing=["?"], schema=undecided(calibration=None)
    )
    assert found.categories[0].tolist() == ["Ulm"]
    assert found.tallies.values.tolist() == [[1.0], [0.0]]


def test_the_first_rows_may_stand_in_several_files(tmp_path):
    table = people()
    for i in range(30):
        write(table.slice(100 * i, 100), tmp_path / f"{i:02}.parquet")
    assert_close(summarize(tmp_path), in_memory(table))


def test_edges_are_those_of_the_first_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(summary_pass, "FIRST", 500)
    table = people()
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=500)
    first = in_memory(table.slice(0, 500)).schema
    assert summarize(path).schema == first


def test_labels_of_text_are_what_all_of_them_look_like(tmp_path, small_pieces):
    rng = np.random.default_rng(0)
    table = people().drop_columns("label")
    numbers = rng.integers(8, 12, N)  # which text sorts in another way
    texts = pa.array([f"{k:03}" if i % 2 else f" {k}" for i, k in enumerate(numbers)])
    path = write(table.append_column("label", texts), tmp_path / "a.csv")
    model = NaiveBayes.from_files(path, target="label")
    expected = NaiveBayes().fit(table.select(FEATURES), numbers)
    assert_close(model.summary_, expected.summary_)
    model.forget(table.select(FEATURES).slice(0, 50), numbers[:50])
    assert model.summary_.weight == N - 50


def test_a_single_label_of_text_makes_all_of_them_text(tmp_path):
    table = people().drop_columns("label")
    labels = pa.array(["1"] * (N - 1) + ["x"])
    path = write(table.append_column("label", labels), tmp_path / "a.csv")
    expected = NaiveBayes().fit(table.select(FEATURES), labels.to_numpy(zero_copy_only=False))
    assert_close(summarize(path), expected.summary_)


def test_infinity_is_named_with_its_row(tmp_path, small_pieces):
    table = people()
    ages = table["age"].to_numpy().copy()
    ages[2345] = np.inf
    path = write(table.set_column(0, "age", pa.array(ages)), tmp_path / "a.parquet")
    with pytest.raises(NaivelyError, match="column 'age' holds infinity in row 2346 of"):
        summarize(path)


# --- what columns are -------------------------------------------------------------------------

KINDS = {
    "dictionary": (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b"]),
    "large text": (pa.array(["a", "b", None], pa.large_string()), ["a", "b"]),
    "text in views": (pa.array(["a", "b", None], pa.string_view()), ["a", "b"]),
    "booleans": (pa.array([True, None, False]), [False, True]),
    "codes of numbers": (pa.array([7, 8, None]).dictionary_encode(), [7, 8]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_many_types_are_categories(kind):
    column, categories = KINDS[kind]
    table = pa.table({"c": column, "label": ["x", "y", "x"]})
    found = summarize(table, NaiveBayes(calibration=None))
    assert found.schema.kinds == ("category",)
    assert found.categories[0].tolist() == categories
    assert found == naively.summarize(table.select(["c"]), ["x", "y", "x"])


GIVEN = {
    "integers": (pa.array([7, 8, None]), [7, 8]),
    "floats": (pa.array([7.5, float("nan"), 8.0]), [7.5, 8.0]),
    "decimals": (pa.array([Decimal("7.5"), Decimal("8.0"), None]), [7.5, 8.0]),
    "short floats": (pa.array(np.array([7.5, 8], np.float16)).cast(pa.float16()), [7.5, 8.0]),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_numbers_are_categories_where_that_is_wanted(kind):
    column, categories = GIVEN[kind]
    table = pa.table({"zip": column, "label": (["x", "y", "x"])[: len(column)]})
    found = summarize(table, NaiveBayes(calibration=None, families=ZIP))
    assert found.categories[0].tolist() == categories


def test_whole_numbers_of_text_are_integers(tmp_path, small_pieces):
    table = people().rename_columns(["age", "town", "flag", "zip", "label"])
    path = write(table, tmp_path / "a.csv")
    found = summarize(path, NaiveBayes(families=ZIP))
    X = table.select(["age", "town", "flag", "zip"])
    expected = NaiveBayes(families=ZIP).fit(X, table["label"].to_numpy())
    assert_close(found, expected.summary_)
    assert found.categories[2].dtype.kind == "i"


def test_types_may_be_said(tmp_path):
    (tmp_path / "a.csv").write_text("zip,label\n07,a\n7,b\n")
    found = files.summarize(
        tmp_path / "a.csv",
        target="label",
        schema=undecided(calibration=None, families=ZIP),
        types={"zip": "str"},
    )
    assert found.categories[0].tolist() == ["07", "7"]


def test_a_date_in_text_is_a_category_where_that_is_wanted(tmp_path):
    (tmp_path / "a.csv").write_text("day,label\n2024-01-01,a\n2024-01-02,b\n")
    model = NaiveBayes(calibration=None, families={"day": "categorical"})
    assert summarize(tmp_path / "a.csv", model).categories[0].tolist() == [
        "2024-01-01",
        "2024-01-02",
    ]


def test_a_date_that_is_wanted_is_an_error_where_it_is_a_date():
    model = NaiveBayes(families={"day": "categorical"})
    days = pa.array([date(2024, 2, 29)] * N)
    with pytest.raises(NaivelyError, match=r"column 'day' .*holds dates or times"):
        summarize(people().append_column("day", days), model)


def test_a_path_may_hold_a_column_of_categories(tmp_path, small_pieces):
    table = people()
    for town in ("Ulm", "Bonn"):
        folder = tmp_path / "data" / f"place={town}"
        folder.mkdir(parents=True)
        write(table.slice(0, 100), folder / "a.parquet")
    found = summarize(tmp_path / "data")
    assert found.schema.names[-1] == "place"
    assert found.schema.kinds[-1] == "category"
    assert found.tally(2).sum(axis=0).tolist() == [100.0, 100.0]


def test_numbers_that_become_text_are_an_error_with_the_cell(tmp_path):
    text = "x,label\n" + "1,a\n2,b\n" * 10
    (tmp_path / "a.csv").write_text(text)
    (tmp_path / "b.csv").write_text("x,label\n1,a\noops,b\n")
    with pytest.raises(NaivelyError, match="column 'x' must hold numbers; got 'oops'"):
        summarize(tmp_path)


def test_there_must_be_something_to_learn_from():
    table = people().select(["label"])
    with pytest.raises(NaivelyError, match=r"there must be a column to learn from .*; got none"):
        summarize(table)


def test_families_must_name_columns_that_are_there(tmp_path):
    path = write(people(), tmp_path / "a.parquet")
    with pytest.raises(NaivelyError, match="column 'tow', and there is none; did you mean 'town'"):
        summarize(path, NaiveBayes(families={"tow": "categorical"}))


def test_no_rows_leave_nothing_to_read_a_model_off(tmp_path):
    path = write(people().slice(0, 0), tmp_path / "a.parquet")
    assert summarize(path).weight == 0
    with pytest.raises(NaivelyError, match="at least one row"):
        NaiveBayes.from_files(path, target="label")


def test_very_many_categories_are_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr("naively.estimators.mixed._MAX_QUIET_CATEGORIES", 100)
    table = pa.table({"id": [f"r{i}" for i in range(200)], "label": ["a", "b"] * 100})
    with pytest.warns(UserWarning, match="column 'id' has 200 categories"):
        NaiveBayes.from_files(table, target="label", calibration=None)


def test_tables_are_read_into_memory_with_their_categories(tmp_path, small_pieces):
    table = people()
    for ending in (".csv", ".jsonl", ".parquet"):
        found = read(write(table, tmp_path / f"a{ending}"), target="label", kinds={})
        assert found.X.column_names == FEATURES
        assert found.X["town"].to_pylist() == table["town"].to_pylist()
        assert found.X["flag"].to_pylist() == table["flag"].to_pylist()
        assert_close(NaiveBayes().fit(found.X, found.y).summary_, in_memory(table))


# --- a schema that is given -------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_sites_that_share_a_schema_add_up(tmp_path, small_pieces, ending):
    table = people()
    north = write(table.slice(0, 2000), tmp_path / f"north{ending}")
    other = table.slice(2000).select(table.column_names[::-1])  # its columns in another order
    south = write(other, tmp_path / f"south{ending}")
    first = NaiveBayes.from_files(north, target="label")
    second = NaiveBayes.from_files(south, target="label", schema=first.summary_.schema)
    first.update(second.summary_)
    whole = naively.summarize(table, table["label"].to_numpy(), schema=first.summary_.schema)
    assert_close(first.summary_, whole)


def test_columns_are_chosen_by_the_schema_or_by_name():
    schema = in_memory(people()).schema
    with pytest.raises(NaivelyError, match="by the schema, or by columns and exclude; got both"):
        summarize(people(), schema=schema, exclude=["age"])


def test_a_schema_without_names_takes_columns_by_place():
    table = people()
    model = NaiveBayes(calibration=None).fit([[1.0, "Ulm"], [2.0, "Bonn"]], ["yes", "no"])
    found = summarize(table, schema=model.summary_.schema, columns=["size", "town"])
    assert found.schema == model.summary_.schema
    assert found.moments.weight.sum() == N
    with pytest.raises(NaivelyError, match=r"takes 2 columns; got 4\. Choose the columns"):
        summarize(table, schema=model.summary_.schema)


def test_numbers_alone_may_have_a_sample():
    def complete(first):
        assert first == Summary.zero(first.schema)
        return replace(first.schema, sample=100)

    table = people()
    how = {"schema": SchemaFromFirstRows(None, complete), "exclude": ["town"]}
    found = files.summarize(table, target="label", **how)
    names = ["age", "flag", "size"]
    expected = naively.summarize(
        table.select(names).set_column(1, "flag", table["flag"].cast(pa.uint8())),
        table["label"].to_numpy(),
        schema=Schema(3, tuple(names), sample=100),
    )
    assert found.sample == expected.sample
    assert GaussianNB.from_summary(found, calibration=None).classes_.size == 3


def test_standard_input_is_read_once(standard_input):
    standard_input(as_csv(people()))
    assert_close(NaiveBayes.from_files("-", target="label").summary_, in_memory(people()))


# --- predictions ------------------------------------------------------------------------------


def predicted(model, source, folder, **options):
    path = Path(folder) / "p.parquet"
    scoring.predict(model, source, path, **options)
    return pq.read_table(path)


def test_predictions_are_those_of_the_rows_in_memory(source, tmp_path):
    table = people(seed=1)
    model = NaiveBayes().fit(table.select(FEATURES), table["label"].to_numpy())
    found = predicted(model, source, tmp_path, proba=True)
    X = people().select(FEATURES)
    assert found["prediction"].to_pylist() == model.predict(X).tolist()
    p = np.column_stack([found[f"p_{label}"].to_numpy() for label in model.classes_])
    np.testing.assert_array_equal(p, model.predict_proba(X))


def test_categories_that_were_never_seen_are_legal(tmp_path):
    table = people()
    model = NaiveBayes().fit(table.select(FEATURES), table["label"].to_numpy())
    text = "age,town,flag,size\n1.5,Atlantis,true,3\n,,,\n"
    (tmp_path / "new.csv").write_text(text)
    found = predicted(model, tmp_path / "new.csv", tmp_path, proba=True)
    rows = pd.DataFrame(
        {
            "age": [1.5, None],
            "town": ["Atlantis", None],
            "flag": pd.array([True, None], dtype="boolean"),
            "size": [3, None],
        }
    )
    expected = model.predict_proba(rows)
    np.testing.assert_array_equal(found["p_yes"].to_numpy(), expected[:, 2])


def test_rows_that_are_rejected_get_their_label(tmp_path):
    table = people()
    model = NaiveBayes(reject=(0.5, "don't know")).fit(
        table.select(FEATURES), table["label"].to_numpy()
    )
    found = predicted(model, table, tmp_path)["prediction"].to_pylist()
    assert found == model.predict(table.select(FEATURES)).tolist()
    assert "don't know" in found


def test_rows_of_numbers_may_be_rejected_too(tmp_path):
    table = people()
    X = table.select(["age", "size"])
    model = NaiveBayes(reject=(0.5, "?"), costs=1 - np.eye(3)).fit(X, table["label"].to_numpy())
    found = predicted(model, table, tmp_path)["prediction"].to_pylist()
    assert found == model.predict(X).tolist()


def test_other_models_of_categories_say_what_to_do(tmp_path):
    table = pa.table({"code": [0, 1, 2]})
    model = CategoricalNB().fit([[0], [1], [2]], ["a", "b", "a"])
    with pytest.raises(NaivelyError, match="Read the rows into memory"):
        predicted(model, table, tmp_path)


def test_a_column_that_is_missing_is_named(tmp_path):
    model = NaiveBayes.from_files(people(), target="label")
    with pytest.raises(NaivelyError, match="no column 'town' in"):
        predicted(model, people().drop_columns("town"), tmp_path)


def test_a_column_of_the_wrong_type_is_named(tmp_path):
    table = people()
    model = NaiveBayes.from_files(table, target="label")
    wrong = table.set_column(1, "town", table["size"])
    with pytest.raises(NaivelyError, match=r"column 'town' must hold text as the model's does \("):
        predicted(model, wrong, tmp_path)
    wrong = table.set_column(0, "age", table["town"])
    with pytest.raises(NaivelyError, match="column 'age' must hold numbers; got string"):
        predicted(model, wrong, tmp_path)


def test_infinity_at_predict_is_named_with_its_row(tmp_path):
    model = NaiveBayes.from_files(people(), target="label")
    (tmp_path / "a.csv").write_text("age,town,flag,size\n1,Ulm,true,1\ninf,Ulm,true,1\n")
    with pytest.raises(NaivelyError, match="column 'age' holds infinity in row 2 of"):
        predicted(model, tmp_path / "a.csv", tmp_path)


def test_integers_as_categories_are_found_again_in_text(tmp_path, small_pieces):
    table = people()
    families = {"size": "categorical"}
    model = NaiveBayes(families=families).fit(table.select(FEATURES), table["label"].to_numpy())
    found = predicted(model, io_source(table, tmp_path), tmp_path)
    assert found["prediction"].to_pylist() == model.predict(table.select(FEATURES)).tolist()


def io_source(table, folder):
    path = folder / "rows.csv"
    path.write_bytes(io.BytesIO(as_csv(table)).getvalue())
    return path


@pytest.mark.parametrize("estimator", [GaussianNB, NaiveBayes])
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_weights_that_are_text_are_an_error_with_advice_for_weights(tmp_path, estimator, ending):
    path = write(
        pa.table({"x": [1.0, 2.0], "w": ["a", "b"], "y": ["a", "b"]}), tmp_path / f"a{ending}"
    )
    with pytest.raises(NaivelyError, match="the weights must be numbers >= 0; got string") as found:
        estimator.from_files(path, target="y", weight="w")
    assert "NaiveBayes" not in str(found.value)


@pytest.mark.parametrize("first", [2**53, -(2**53) - 3, 2**63], ids=["int64", "negative", "uint64"])
def test_integers_that_no_float64_holds_are_categories_of_their_own_in_csv(tmp_path, first):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    ids = np.array([first, first + 1, first + 2])[(codes + y) % 3]
    frame, families = pd.DataFrame({"id": ids, "x": rng.normal(y)}), {"id": "categorical"}
    model = NaiveBayes(families=families).fit(frame, y)
    frame.assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    scoring.predict(model, tmp_path / "a.csv", tmp_path / "p.parquet", proba=True)
    found = pq.read_table(tmp_path / "p.parquet").select(["p_0", "p_1"]).to_pandas()
    np.testing.assert_array_equal(found, model.predict_proba(frame))
    if first < 2**63:  # beyond, a CSV file does not show that they are integers
        read = NaiveBayes.from_files(tmp_path / "a.csv", target="y", families=families)
        assert read.summary_.categories[0].tolist() == model.summary_.categories[0].tolist()
        np.testing.assert_allclose(read.predict_proba(frame), model.predict_proba(frame))


def test_codes_that_are_written_with_a_point_are_the_same_codes(tmp_path):
    (tmp_path / "a.csv").write_text("id,y\n1,a\n2,b\n")
    (tmp_path / "b.csv").write_text("id,y\n1.0,a\n3.0,b\n,b\n")
    model = NaiveBayes.from_files(tmp_path, target="y", families={"id": "categorical"})
    assert model.summary_.categories[0].tolist() == [1, 2, 3]
    (tmp_path / "c.csv").write_text("id,y\noops,a\n")
    with pytest.raises(NaivelyError, match="column 'id' must hold numbers; got 'oops'"):
        NaiveBayes.from_files(tmp_path, target="y", families={"id": "categorical"})
