"""Every dtype, to every estimator and engine: the right answer, or the error of the table."""

import re

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, summarize
from tests import databases, sparks
from tests.dtypes import DTYPES, ENGINES, ESTIMATORS, PAGE, N, Y, expected, plain, rendered
from tests.written import as_json_lines

pytestmark = databases.QUIET

EXPECTED = expected()
IDS = {key: " ".join(key) for key in DTYPES}
FIT = {
    "GaussianNB": GaussianNB(),
    "CategoricalNB": CategoricalNB(),
    "NaiveBayes": NaiveBayes(calibration=None),
}
ERRORS = {"dates": "dates or times", "times": "times of day or durations"}
ERRORS |= {"use NaiveBayes": "NaiveBayes", "type": "must hold|must be"}
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def test_the_table_has_every_dtype():
    assert list(EXPECTED) == list(DTYPES)


def test_the_page_shows_the_table():
    assert PAGE.read_text() == rendered() + "\n", "run python -m tests.dtypes"


# --- in memory ----------------------------------------------------------------------------------


@pytest.mark.parametrize("key", DTYPES, ids=IDS.get)
def test_a_dtype_is_what_the_table_says(key):
    dtype, row = DTYPES[key], EXPECTED[key]
    found = {name: outcome(lambda name=name: fitted(name, dtype)) for name in ESTIMATORS}
    assert found == {name: row[name] for name in ESTIMATORS}


def outcome(find):
    """Return what a column was taken for, or which error it is; one that names the column."""
    try:
        return find()
    except NaivelyError as error:
        named = re.search("column 'c'|column 0|^X |in X", str(error))
        for name, pattern in ERRORS.items():
            if named and re.search(pattern, str(error)):
                return f"error: {name}"
        raise


def fitted(name, dtype):
    """Fit, ask, and compare both with the plain frame; return what the column was taken for."""
    if name == "summarize":
        return checked(summarize(dtype.frame(), Y), dtype)
    rows = dtype.frame()
    model = clone(FIT[name]).fit(rows, Y)
    kind = codes(model, dtype) if name == "CategoricalNB" else checked(model.summary_, dtype)
    found = model.predict_proba(rows)
    rtol = 1e-12 if found.dtype == np.float64 else 1e-6  # answers are float32 where cells are
    np.testing.assert_allclose(found, judged(name, kind, dtype), rtol=rtol)
    return kind


def judged(name, kind, dtype):
    """Return the probabilities that the plain frame gives: the priors, where it holds nothing."""
    if kind == "undecided":
        return np.tile(np.unique(Y, return_counts=True)[1] / N, (N, 1))
    twin = parts_of(dtype) if kind == "dates" else plain(dtype)
    judge = clone(FIT[name])
    if kind == "dates":
        judge.set_params(families=dict.fromkeys(twin.columns[1:], "categorical"))
    elif kind != "categories":
        twin = twin.astype(float)
    elif dtype.values == "codes":
        judge.set_params(families={"c": "categorical"})
    return judge.fit(twin, Y).predict_proba(twin)


def codes(model, dtype):
    present = [cell for cell in dtype.cells() if cell is not None]
    counts = [[0.0] * (int(max(present)) + 1) for _ in model.classes_] if present else [[], []]
    for cell, label in zip(dtype.cells(), Y, strict=True):
        if cell is not None:
            counts[model.classes_.tolist().index(label)][int(cell)] += 1.0
    assert model.category_count_[0].tolist() == counts
    return "codes" if present else "undecided"


def parts_of(dtype):
    """Return the parts of dates, as Python's datetime has them."""
    cells = dtype.cells()
    found = {
        "c.year": [cell and cell.year for cell in cells],
        "c.month": [cell and cell.month for cell in cells],
        "c.weekday": [cell and WEEKDAYS[cell.weekday()] for cell in cells],
    }
    if dtype.values == "moments":
        found["c.hour"] = [cell and cell.hour for cell in cells]
    return pd.DataFrame(found)


def checked_dates(summary, dtype, at):
    """Compare what was measured of the parts of dates with Python's, by a plain loop."""
    years, *others = parts_of(dtype).items()
    place = list(summary.schema.numbers).index(at)
    truth = [years[1][(k == Y) & years[1].notna()] for k in ("no", "yes")]
    assert summary.moments.weight[:, place].tolist() == [*map(len, truth)]
    np.testing.assert_allclose(summary.moments.mean[:, place], [*map(np.mean, truth)], rtol=1e-14)
    for i, (_, column) in enumerate(others, 1):
        place = list(summary.schema.categories).index(at + i)
        present = column.dropna()
        assert summary.categories[place].tolist() == sorted(set(present))
        tally = pd.crosstab(Y[present.index], present).to_numpy()
        assert summary.tally(place).tolist() == tally.tolist()
    return "dates"


def checked(summary, dtype, name=None):
    """Compare what was measured with a plain loop; return what the column was taken for."""
    names = list(summary.schema.names or [name])
    name = (summary.schema.inputs or [name])[0] if name is None else name
    if name in summary.schema.dates:
        return checked_dates(summary, dtype, names.index(f"{name}.year"))
    at = names.index(name)
    kind = summary.schema.kinds[at] if summary.schema.kinds else "number"
    cells = list(zip(dtype.cells(), Y, strict=True))
    assert summary.class_weight.tolist() == np.unique(Y, return_counts=True)[1].tolist()
    if kind == "number":
        place = list(summary.schema.numbers).index(at)
        if not any(cell is not None for cell, _ in cells):
            assert not summary.moments.weight[:, place].any()
            return "undecided"
        truth = [[float(c) for c, y in cells if y == k and c is not None] for k in ("no", "yes")]
        assert summary.moments.weight[:, place].tolist() == [*map(len, truth)]
        means, squares = zip(*((np.mean(t), np.var(t) * len(t)) for t in truth if t), strict=True)
        np.testing.assert_allclose(summary.moments.mean[:, place], means, rtol=1e-14)
        np.testing.assert_allclose(summary.moments.m2[:, place], squares, rtol=1e-12)
        return "numbers"
    if kind == "category":
        place = list(summary.schema.categories).index(at)
        categories = sorted({c for c, _ in cells if c is not None})
        if dtype.values != "times":  # CSV writes them, in the same order
            assert summary.categories[place].tolist() == categories
        tally = [[cells.count((c, k)) for c in categories] for k in ("no", "yes")]
        assert summary.tally(place).tolist() == tally
        return "categories"
    return kind


# --- engines ------------------------------------------------------------------------------------


def of_dask(dtypes, folder):
    frame = pd.DataFrame({name: dtype.column() for name, dtype in dtypes.items()})
    return summarize(dd.from_pandas(frame, npartitions=3), Y)


def of_parquet(dtypes, folder):
    pq.write_table(table_of(dtypes), folder / "rows.parquet")
    return summarize(folder / "rows.parquet", target="y")


def of_arrow(dtypes, folder):
    pa.feather.write_feather(table_of(dtypes), folder / "rows.arrow")
    return summarize(folder / "rows.arrow", target="y")


def of_csv(dtypes, folder):
    pa.csv.write_csv(table_of(dtypes), folder / "rows.csv")
    return summarize(folder / "rows.csv", target="y")


def of_json_lines(dtypes, folder):
    (folder / "rows.jsonl").write_bytes(as_json_lines(table_of(dtypes)))
    return summarize(folder / "rows.jsonl", target="y")


def of_spark(dtypes, folder):
    if sparks.absent():
        pytest.skip(sparks.absent())
    with sparks.quiet():
        frame = sparks.session().createDataFrame(table_of(dtypes)).coalesce(2)
        return summarize(frame, target="y")


def of_duckdb(dtypes, folder):
    table = databases.opened("duckdb").load(table_of(dtypes), "dtypes")
    return summarize(table, target="y")


def table_of(dtypes):
    return pa.table({**{name: dtype.column() for name, dtype in dtypes.items()}, "y": Y})


FOUND = {"Dask": of_dask, "Parquet": of_parquet, "Arrow": of_arrow}
FOUND |= {"CSV": of_csv, "JSON lines": of_json_lines, "Spark": of_spark, "DuckDB": of_duckdb}


def cells_of(engine, *, errors):
    return [key for key, row in EXPECTED.items() if row[engine] and is_error(row[engine]) == errors]


def is_error(cell):
    return cell.startswith("error")


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_takes_a_dtype_for_what_the_table_says(engine, tmp_path):
    """One table of all columns: one job on a cluster."""
    keys = cells_of(engine, errors=False)
    dtypes = {" ".join(key): DTYPES[key] for key in keys}
    summary = FOUND[engine](dtypes, tmp_path)
    assert summary.schema.inputs == tuple(dtypes)
    found = {key: checked(summary, DTYPES[key], " ".join(key)) for key in keys}
    assert found == {key: EXPECTED[key][engine] for key in keys}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_names_a_column_that_it_cannot_take(engine, tmp_path):
    keys = cells_of(engine, errors=True)
    found = {k: outcome(lambda k=k: FOUND[engine]({"c": DTYPES[k]}, tmp_path)) for k in keys}
    assert found == {key: EXPECTED[key][engine] for key in keys}
