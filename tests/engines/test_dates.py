"""Dates are read by their parts: the same columns and the same numbers in every engine."""

import json
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError, load, summarize
from naively.data.schema import Schema
from naively.engines.files import predict as predict_files
from tests import databases, sparks
from tests.every_engine import ENGINES, FORMATS, OF_NUMBERS, as_pandas, labelled, written

pytestmark = databases.QUIET

N = 60
RNG = np.random.default_rng(0)
HOURS = RNG.integers(0, 24 * 365 * 60, N)
TIMES = [datetime(1950, 1, 1, 0, 59, 59, 999_999) + timedelta(hours=int(h)) for h in HOURS]
TIMES[3] = TIMES[17] = None
TIMES[4], TIMES[5] = datetime(1969, 12, 31, 23, 59, 59), datetime(2000, 2, 29)
DAYS = [None if time is None else time.date() for time in TIMES[::-1]]
DAYS[0], DAYS[1] = date(1, 1, 1), date(9999, 12, 31)
Y = np.array(["n" if time is None or time.weekday() < 5 else "y" for time in TIMES])
Y[::9] = "y"
TABLE = pa.table(
    {
        "x": RNG.normal(size=N),
        "when": pa.array(TIMES, pa.timestamp("us")),
        "day": pa.array(DAYS, pa.date32()),
        "town": RNG.choice(["Ulm", "Bonn"], N),
    }
)
PARTS = ["x", "when.year", "when.month", "when.weekday", "when.hour"]
PARTS += ["day.year", "day.month", "day.weekday", "town"]
KINDS = ["number", "number", *["category"] * 3, "number", *["category"] * 3]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def parts(table=TABLE):
    """Return the table as Python's datetime takes its dates apart."""
    found = {}
    for name in table.column_names:
        cells = table[name].to_pylist()
        if name in ("x", "town"):
            found[name] = cells
            continue
        found[f"{name}.year"] = [cell and float(cell.year) for cell in cells]
        found[f"{name}.month"] = [cell and str(cell.month) for cell in cells]
        found[f"{name}.weekday"] = [cell and WEEKDAYS[cell.weekday()] for cell in cells]
        if name == "when":
            found[f"{name}.hour"] = [cell and str(cell.hour) for cell in cells]
    return pa.table(found)


def check(summary, table=TABLE, labels=Y):
    """Compare a summary with one of columns that Python made, whose categories are texts."""
    truth = summarize(parts(table), labels)
    assert summary.schema.kinds == truth.schema.kinds
    np.testing.assert_allclose(summary.moments.mean, truth.moments.mean, rtol=1e-13)
    np.testing.assert_allclose(summary.moments.m2, truth.moments.m2, rtol=1e-12)
    assert (summary.moments.weight == truth.moments.weight).all()
    for i, known in enumerate(truth.categories):
        named = [str(category) for category in summary.categories[i].tolist()]
        assert sorted(named) == known.tolist()
        assert summary.tally(i)[:, np.argsort(named)].tolist() == truth.tally(i).tolist()


EVERYWHERE = [name for name in ENGINES if name not in OF_NUMBERS]


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_dates_become_the_same_columns_in_every_engine(engine, tmp_path):
    summary = ENGINES[engine](TABLE, Y, tmp_path)
    check(summary)
    dates = ("1", "2") if engine in ("lists", "array of objects") else ("when", "day")
    assert summary.schema.dates == dates
    if dates[0] == "when":
        assert summary.schema.names == tuple(PARTS)
        assert summary.schema.inputs == tuple(TABLE.column_names)


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_texts_of_dates_are_dates_in_every_engine(engine, tmp_path):
    texts = [None if time is None else str(time) for time in TIMES]
    days = [None if day is None else day.isoformat() for day in DAYS]
    table = TABLE.set_column(1, "when", pa.array(texts)).set_column(2, "day", pa.array(days))
    check(ENGINES[engine](table, Y, tmp_path))


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_an_agreed_schema_reads_its_own_dates_in_every_engine(engine, tmp_path):
    names = (*PARTS[1:5], "x")
    kinds = ("number", "number", "number", "category", "number")
    schema = Schema(5, names, kinds, sample=20, dates=("when",))
    if engine in ("lists", "array of objects"):  # which are read by place
        found = ENGINES[engine](TABLE.select(["when", "x"]), Y, tmp_path, schema=schema)
    else:
        found = ENGINES[engine](TABLE, Y, tmp_path, schema=schema)
    assert found.schema == schema
    cells = [(time, y) for time, y in zip(TIMES, Y, strict=True) if time is not None]
    weekdays = [np.mean([t.weekday() for t, y in cells if y == k]) for k in ("n", "y")]
    np.testing.assert_allclose(found.moments.mean[:, 2], weekdays, rtol=1e-13)
    assert len(found.sample) == 20


NAMED = [e for e in EVERYWHERE if e in FORMATS or "spark" in e or e in databases.NAMES]


@pytest.mark.parametrize("engine", NAMED)
def test_parts_of_dates_can_be_chosen_by_name(engine, tmp_path):
    found = ENGINES[engine](TABLE, Y, tmp_path, columns=["when.hour", "x", "day", "when.month"])
    names = ("when.hour", "x", "day.year", "day.month", "day.weekday", "when.month")
    assert found.schema.names == names
    assert found.schema.dates == ("when", "day")


# --- time zones: instants are read in UTC ---------------------------------------------------------

INSTANTS = TABLE.set_column(1, "when", TABLE["when"].cast(pa.timestamp("us", "UTC")))


@pytest.mark.parametrize("engine", EVERYWHERE)
def test_instants_are_read_in_utc_in_every_engine(engine, tmp_path):
    check(ENGINES[engine](INSTANTS, Y, tmp_path))


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Europe/Berlin"])
def test_the_zone_of_a_column_does_not_matter(zone, tmp_path):
    there = pa.timestamp("us", zone)
    table = TABLE.set_column(1, "when", INSTANTS["when"].cast(there))
    frame = as_pandas(table)
    for same in (table, frame, pl.from_arrow(table), frame.astype({"when": object})):
        check(summarize(same, Y))
    for form in FORMATS:
        if form != "csv":  # pyarrow writes CSV without the zone
            check(summarize(written(labelled(table, Y), form, tmp_path), target="the_label"))
    frame.assign(y=Y).to_csv(tmp_path / "pandas.csv", index=False)
    check(summarize(tmp_path / "pandas.csv", target="y"))


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("name", ["duckdb", "postgres", "spark"])
@pytest.mark.parametrize("table", [TABLE, INSTANTS], ids=["times", "instants"])
def test_the_zone_of_a_session_does_not_matter(name, zone, table):
    database = databases.opened(name)
    setting = {"duckdb": "SET TimeZone = 'UTC'", "postgres": "SET TimeZone TO 'UTC'"}
    setting = setting.get(name, "SET spark.sql.session.timeZone=UTC")
    database.run(setting)
    loaded = database.load(labelled(table, Y), "zones")
    try:
        database.run(setting.replace("UTC", zone))
        check(summarize(loaded, target="the_label"))
        if name == "spark" and not sparks.absent():
            check(summarize(sparks.session().table("zones"), target="the_label"))
    finally:
        database.run(setting)


# --- models -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame():
    return as_pandas(TABLE)


@pytest.fixture(scope="module")
def model(frame):
    return NaiveBayes().fit(frame, Y)


def test_a_model_of_dates_is_a_model_of_their_parts(model, frame):
    plain = parts().to_pandas()
    families = dict.fromkeys(
        ["when.month", "when.weekday", "when.hour", "day.month", "day.weekday"], "categorical"
    )
    twin = NaiveBayes(families=families, calibration=None).fit(plain, Y)
    found = NaiveBayes(calibration=None).fit(frame, Y)
    np.testing.assert_allclose(found.predict_proba(frame), twin.predict_proba(plain), rtol=1e-9)
    assert found.column_names_.tolist() == PARTS
    assert found.feature_names_in_.tolist() == [*frame.columns]
    assert found.n_features_in_ == len(frame.columns)


def test_files_and_rows_are_predicted_like_frames(model, frame, tmp_path):
    expected = model.predict_proba(frame)
    for form in FORMATS:
        path = written(TABLE, form, tmp_path)
        predict_files(model, path, tmp_path / "out.parquet", proba=True, id=["when"])
        out = pq.read_table(tmp_path / "out.parquet")
        np.testing.assert_allclose(out["p_n"].to_numpy(), expected[:, 0], rtol=1e-9)
        assert out.column_names[0] == "when"
        (tmp_path / "out.parquet").unlink()
    for i, row in enumerate(TABLE.to_pylist()):
        texts = {k: v.isoformat() if hasattr(v, "isoformat") else v for k, v in row.items()}
        for given in (row, texts, list(row.values()), pa.Table.from_pylist([row], TABLE.schema)):
            ask = model.predict_proba if isinstance(given, pa.Table) else model.predict_proba_one
            np.testing.assert_allclose(np.ravel(ask(given)), expected[i], rtol=1e-12)


def test_a_column_of_the_name_of_a_part_is_taken_for_it(model, frame):
    expected = model.predict_proba(frame)
    apart = pd.DataFrame(parts().to_pandas()).astype({"when.month": float, "when.hour": float})
    apart = apart.astype({"day.month": float})
    np.testing.assert_allclose(model.predict_proba(apart), expected, rtol=1e-12)
    changed = frame.assign(**{"when.weekday": "Sunday"})
    assert (model.predict_proba(changed) != expected).any()


def test_a_model_of_dates_is_saved_and_learns_on(model, frame, tmp_path):
    model.save(tmp_path / "model")
    found = load(tmp_path / "model")
    assert found.summary_ == model.summary_
    assert found.summary_.schema.dates == ("when", "day")
    assert (found.predict_proba(frame) == model.predict_proba(frame)).all()
    twice = NaiveBayes().partial_fit(frame[:30], Y[:30], classes=["n", "y"])
    twice.partial_fit(frame[30:], Y[30:])
    check(twice.summary_)
    check(summarize(frame[:20], Y[:20]) + summarize(TABLE[20:], Y[20:]))


def test_explanations_name_the_parts(model, frame):
    names = {name for name in model.explain(frame[:3]).names if name in PARTS}
    assert {"when.weekday", "day.year"} <= names
    found = model.counterfactual(frame.iloc[[7]], columns=["when.weekday"])
    assert "when.weekday" in repr(found)
    row = TABLE.to_pylist()[7]
    for given in (row, list(row.values())):
        answer = model.counterfactual(given)
        assert model.predict_one(answer.row) != model.predict_one(row)


def test_families_are_given_for_parts(frame):
    families = {"when.hour": "von_mises", "when.month": "gaussian", "day.year": "categorical"}
    found = NaiveBayes(families=families, calibration=None).fit(frame, Y).summary_.schema
    kinds = dict(zip(found.names, found.held, strict=True))
    assert [kinds[name] for name in families] == ["number", "number", "category"]
    with pytest.raises(NaivelyError, match="column 'when' holds dates or times"):
        NaiveBayes(families={"when": "categorical"}).fit(frame, Y)


def test_text_stays_text_where_a_family_or_a_cell_says_so():
    texts = [None if day is None else day.isoformat() for day in DAYS]
    frame = pd.DataFrame({"day": texts})
    kept = NaiveBayes(families={"day": "categorical"}, calibration=None).fit(frame, Y)
    assert kept.summary_.schema.names == ("day",)
    assert summarize(frame.astype("category"), Y).schema.names == ("day",)
    mixed = frame.assign(day=[*texts[:-1], "later"])
    assert summarize(mixed, Y).schema.kinds == ("category",)


def test_dates_that_come_after_a_batch_of_nothing_are_told_what_to_do(frame):
    nothing = pd.DataFrame({"x": [1.0, 2.0], "when": [None, None]})
    model = NaiveBayes().partial_fit(nothing, ["n", "y"], classes=["n", "y"])
    with pytest.raises(NaivelyError, match=r"column 'when' holds dates .* and held nothing before"):
        model.partial_fit(frame[["x", "when"]], Y)
    empty = nothing.astype({"when": "datetime64[us]"})
    model = NaiveBayes().partial_fit(empty, ["n", "y"], classes=["n", "y"])
    assert model.partial_fit(frame[["x", "when"]], Y).summary_.schema.dates == ("when",)


def test_estimators_of_numbers_refuse_dates(frame):
    with pytest.raises(NaivelyError, match=r"column 'when' holds dates or times .* NaiveBayes"):
        GaussianNB().fit(frame[["x", "when"]], Y)
    with pytest.raises(NaivelyError, match="X holds dates or times"):
        GaussianNB().fit(np.array(TIMES, "M8[s]")[:, np.newaxis], Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="when"), "the table has no column 'when'"),
        (lambda f: f.assign(when="soon"), "column 'when' must hold dates; got 'soon'"),
        (lambda f: f.assign(when=3.5), "column 'when' must hold dates; got 3.5"),
    ],
    ids=["no column", "text", "numbers"],
)
def test_what_is_no_date_is_told_at_prediction(model, frame, change, message):
    with pytest.raises(NaivelyError, match=message):
        model.predict(change(frame))


def test_a_column_of_the_name_of_a_part_beside_dates_is_an_error(frame, tmp_path):
    double = frame.assign(**{"when.year": 1.0})
    with pytest.raises(NaivelyError, match=r"'when.year' twice, of which one is read from dates"):
        NaiveBayes().fit(double, Y)
    double.assign(y=Y).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(NaivelyError, match=r"'when.year' twice, of which one is read from dates"):
        summarize(tmp_path / "rows.parquet", target="y")


def test_a_cell_of_a_file_that_is_no_date_is_told(tmp_path):
    days = "".join(f"{date(2024, 1, 1) + timedelta(i)},{'ab'[i % 2]}\n" for i in range(3000))
    (tmp_path / "rows.csv").write_text(f"day,y\n{days}soon,a\n")
    with pytest.raises(NaivelyError, match=r"rows.csv.*column 'day' must hold dates; got 'soon'"):
        summarize(tmp_path / "rows.csv", target="y")


def test_a_later_file_may_write_dates_otherwise(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    pq.write_table(labelled(TABLE, Y), folder / "a.parquet")
    texts = [None if time is None else time.isoformat() for time in TIMES]
    other = TABLE.set_column(1, "when", pa.array(texts))
    pq.write_table(labelled(other, Y), folder / "b.parquet")
    found = summarize(folder, target="the_label")
    check(found, pa.concat_tables([TABLE, TABLE]), np.append(Y, Y))
    wrong = TABLE.set_column(1, "when", pa.array(range(N)))
    pq.write_table(labelled(wrong, Y), folder / "c.parquet")
    with pytest.raises(NaivelyError, match="column 'when' must hold dates as before; got int64"):
        summarize(folder, target="the_label")


@pytest.mark.parametrize("kind", FORMATS)
def test_dates_in_the_paths_of_files_are_dates(kind, tmp_path):
    cells = [cell and str(cell) for cell in DAYS]
    table = labelled(TABLE.set_column(2, "day", pa.array(cells)), Y)
    for cell in dict.fromkeys(cells):
        folder = tmp_path / "rows" / f"day={cell or '__HIVE_DEFAULT_PARTITION__'}"
        folder.mkdir(parents=True)
        rows = table.filter(pa.array([other == cell for other in cells]))
        FORMATS[kind](rows.drop_columns("day"), folder / f"a.{kind}")
    found = summarize(tmp_path / "rows", target="the_label", columns=TABLE.column_names)
    check(found)
    model = NaiveBayes().fit(TABLE, Y)
    out = tmp_path / "answers.csv"
    predict_files(model, tmp_path / "rows", out, proba=True, id=["day"])
    answers, order = pd.read_csv(out), sorted(range(N), key=lambda i: cells[i] or "__H")
    assert [str(day) for day in answers["day"].fillna("None")] == [str(cells[i]) for i in order]
    expected = model.predict_proba(TABLE)[order]
    np.testing.assert_allclose(answers[["p_n", "p_y"]], expected, rtol=1e-12)
    (tmp_path / "rows" / "day=soon").mkdir()
    FORMATS[kind](table.drop_columns("day"), tmp_path / "rows" / "day=soon" / f"a.{kind}")
    with pytest.raises(
        NaivelyError, match=r"in its path, column 'day' must hold dates; got 'soon'"
    ):
        predict_files(model, tmp_path / "rows", out)


@pytest.mark.parametrize("name", databases.NAMES)
def test_a_database_predicts_from_dates(model, frame, name):
    from naively.engines.sql.predictions import predict

    loaded = databases.opened(name).load(TABLE.append_column("id", pa.array(range(N))), "dated")
    found = predict(model, loaded, keep=["id"], proba=True).execute().sort_values("id")
    shares = found[["p_n", "p_y"]].to_numpy(float)
    np.testing.assert_allclose(shares, model.predict_proba(frame), rtol=1e-9)


@pytest.mark.parametrize("name", ["duckdb", "postgres", "sqlite"])
def test_an_exported_query_reads_dates(model, frame, name):
    from naively.export import to_sql

    database = databases.opened(name)
    database.load(TABLE.append_column("id", pa.array(range(N))), "dated")
    query = to_sql(model, "dated", dialect=name, keep=["id"])
    rows = sorted(database.connection.raw_sql(query).fetchall())
    shares = np.array([row[2:] for row in rows], dtype=float)
    np.testing.assert_allclose(shares, model.predict_proba(frame), rtol=1e-9)
    with pytest.raises(NaivelyError, match="Make a view with a column for each part"):
        to_sql(model, "dated", dialect="snowflake")


def test_a_graph_takes_the_parts_as_inputs(model, frame):
    import onnx

    from naively.export import to_onnx

    held = {
        p.key: json.loads(p.value) for p in onnx.load_from_string(to_onnx(model)).metadata_props
    }
    assert held["numbers"] == ["x", "when.year", "day.year"]
    assert "when.weekday" in held["categories"]


@pytest.mark.parametrize("sql", [False, True])
def test_spark_predicts_from_dates(model, frame, sql):
    from naively.engines.spark.predictions import predict
    from tests.every_engine import spark_frame

    rows = spark_frame(INSTANTS.append_column("id", pa.array(range(N))))
    with sparks.quiet():
        found = predict(model, rows, probability="p", sql=sql).toPandas().sort_values("id")
    np.testing.assert_allclose(np.vstack(found["p"]), model.predict_proba(frame), rtol=1e-9)


def test_aware_times_of_python_are_instants():
    rows = [[TIMES[0].replace(tzinfo=UTC)], [TIMES[1].replace(tzinfo=UTC)]]
    plain = [[TIMES[0]], [TIMES[1]]]
    assert summarize(rows, ["n", "y"]) == summarize(plain, ["n", "y"])
