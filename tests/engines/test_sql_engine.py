"""What is special to databases: types, NULL and NaN, failures. `test_engines.py` has the rest."""

import datetime
import subprocess
import sys
import threading
import time
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction

import duckdb
import ibis
import numpy as np
import psycopg
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import naively
from naively import GaussianNB, NaiveBayes, NaivelyError, Summary
from naively.data.kinds import LOOKED_AT
from naively.data.schema import Schema
from naively.engines import sql
from naively.engines import sql as scoring
from naively.engines.sql.moments import sums_query
from naively.engines.sql.summaries import count_queries
from naively.engines.sql.tables import select_rows
from naively.errors import install
from tests import databases, oracles
from tests.exported import CASES, IRIS, LABELS, assert_agrees, twins

pytestmark = databases.QUIET

N = 300
ON_SPARK = {"iris", "holes", "odd labels", "booleans", "far rows"}
ELSEWHERE = ["bigquery", "snowflake", "databricks"]  # what is written for them is read, not run


@pytest.fixture(scope="module", params=databases.NAMES)
def database(request):
    return databases.opened(request.param)


@pytest.fixture(scope="module", params=["duckdb", "postgres", "spark"])
def with_nan(request):
    return databases.opened(request.param)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def assert_exact(summary, X, y, w=None, *, rtol=1e-12):
    """Compare with fractions. Sums of some hundred terms lose less than 1e-13 of themselves."""
    classes, codes = np.unique(y, return_inverse=True)
    assert summary.classes.tolist() == classes.tolist()
    exact = np.array(oracles.moments(X, codes, classes.size, w), dtype=float)
    weight, mean, m2 = np.moveaxis(exact, 2, 0)
    np.testing.assert_allclose(summary.moments.weight, weight, rtol=1e-14)
    np.testing.assert_allclose(summary.moments.mean, mean, rtol=rtol)
    np.testing.assert_allclose(summary.moments.m2, m2, rtol=rtol)


def columns_of(X, **more):
    return databases.table_of({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, **more})


# --- numbers --------------------------------------------------------------------------------------


def test_classes_far_apart_keep_their_variances(database, rng):
    y = rng.integers(0, 3, N)
    X = rng.normal(size=(N, 2)) + np.array([0.0, 1e8, -1e5])[y][:, np.newaxis]
    got = sql.summarize(database.load(columns_of(X, y=y)), target="y")
    assert_exact(got, X, y)


def test_the_textbook_formula_would_lose_the_variance(database, rng):
    """The mean of squares less the square of the mean, as people write it."""
    X, y = rng.normal(1e8, size=(N, 1)), np.zeros(N, int)
    t = database.load(columns_of(X, y=y))
    textbook = t.aggregate(v=(t.x0 * t.x0).mean() - t.x0.mean() * t.x0.mean()).to_pyarrow()
    exact = float(oracles.moments_of_cells(X[:, 0]).m2)
    assert abs(textbook["v"][0].as_py() * N / exact - 1) > 1e-12
    assert_exact(sql.summarize(t, target="y"), X, y)


def test_a_long_column_far_from_zero_is_exact(rng):
    X, y = rng.normal(1e8, size=(100_000, 1)), rng.integers(0, 2, 100_000)
    got = sql.summarize(databases.opened("duckdb").load(columns_of(X, y=y)), target="y")
    assert_exact(got, X, y)


def test_a_constant_column_has_no_variance_at_all(database, rng):
    y = np.sort(rng.integers(0, 2, N))
    constant = np.array([0.1, 1e8 / 3])[y]
    X = np.column_stack([np.full(N, 0.1), np.zeros(N), constant, np.full(N, 1e-200)])
    got = sql.summarize(database.load(columns_of(X, y=y)), target="y")
    assert (got.moments.m2[:, :3] == 0).all()
    np.testing.assert_array_equal(got.moments.mean[:, :3], [[0.1, 0, 0.1], [0.1, 0, 1e8 / 3]])


def test_a_class_of_constants_that_comes_late_has_no_variance(database):
    y = np.arange(10_000) // 5_000
    X = np.where(y == 0, np.arange(10_000) * 1.0, 0.7)[:, np.newaxis]
    got = sql.summarize(database.load(columns_of(X, y=y)), target="y")
    assert got.moments.mean[1, 0] == 0.7
    assert got.moments.m2[1, 0] == 0


def test_nan_is_missing(with_nan, rng):
    X, y = rng.normal(1e8, size=(N, 3)), rng.integers(0, 2, N)
    X[rng.random((N, 3)) < 0.3] = np.nan
    X[y == 1, 2] = np.nan
    assert_exact(sql.summarize(with_nan.load(columns_of(X, y=y)), target="y"), X, y)


def test_nan_that_comes_late_is_missing(with_nan, rng):
    X, y = rng.normal(size=(6_000, 2)), rng.integers(0, 2, 6_000)
    X[-1] = np.nan
    assert_exact(sql.summarize(with_nan.load(columns_of(X, y=y)), target="y"), X, y)


def test_weights_count_and_nan_has_none(with_nan, rng):
    X, y, w = rng.normal(size=(N, 2)), rng.integers(0, 2, N), rng.choice([0.1, 1.0, 3.0], N)
    X[:5] = np.nan
    t = with_nan.load(columns_of(X, y=y, w=w))
    got = sql.summarize(t, target="y", weight="w")
    assert_exact(got, X, y, w)
    assert got.schema.names == ("x0", "x1")
    np.testing.assert_allclose(got.class_weight, np.bincount(y, w), rtol=1e-14)


def test_tiny_and_great_numbers_are_added_up(database):
    X = np.array([[0.0, 1e-200], [0.0, 1e-180], [1e-170, 5e-324], [1.0, 0.0]]) * [1, 1]
    X = np.column_stack([X, [1e140, -1e140, 0, 1], [1e-120, 2e-120, 3e-120, 5e-120]])
    y = np.zeros(4, int)
    got = sql.summarize(database.load(columns_of(X, y=y)), target="y")
    exact = np.array(oracles.moments(X, y, 1), dtype=float)[0, :, 2]
    np.testing.assert_allclose(got.moments.m2[0], exact, rtol=1e-12, atol=1e-290)


SIZES = [
    1e-320,
    1e-300,
    1e-200,
    1e-170,
    1e-160,
    1e-150,
    1e-145,
    1e-140,
    1e-120,
    1e-100,
    1e100,
    1e149,
]


def test_deviations_of_any_size_are_those_in_memory(database, rng):
    deviations, y = rng.normal(size=40), np.arange(40) % 2
    one = np.arange(40) == 3
    columns = [column for size in SIZES for column in (
        deviations * size, np.where(one, size, 0.0), np.where(y == 0, deviations, deviations * size)
    )]  # fmt: skip
    X = np.column_stack(columns)
    got = sql.summarize(database.load(columns_of(X, y=y)), target="y").moments
    here = naively.summarize(X, y).moments
    np.testing.assert_array_equal(got.weight, here.weight)
    np.testing.assert_allclose(got.mean, here.mean, rtol=1e-12, atol=1e-323)
    np.testing.assert_allclose(got.m2, here.m2, rtol=1e-11, atol=1e-310)


@pytest.mark.parametrize("name", ["duckdb", "postgres"])
def test_few_values_in_many_rows_are_added_up_without_drift(name):
    """A plain sum of so many numbers that round alike is off by 5e-13."""
    database, n = databases.opened(name), 400_000
    database.run("DROP TABLE IF EXISTS few")
    database.run(
        "CREATE TABLE few AS SELECT CASE WHEN i % 10 < 3 THEN 0.1e0 ELSE 0e0 END AS x, 0 AS y "
        f"FROM generate_series(1, {n}) AS g(i)"
    )
    got = sql.summarize(database.connection.table("few"), target="y").moments
    mean = Fraction(0.1) * 3 / 10
    m2 = n * (Fraction(0.1) ** 2 * 3 / 10 - mean**2)
    assert abs(got.mean[0, 0] / float(mean) - 1) < 1e-14
    assert abs(got.m2[0, 0] / float(m2) - 1) < 1e-13


def test_infinity_is_an_error_that_names_the_column(database, rng):
    X, y = rng.normal(size=(N, 3)), rng.integers(0, 2, N)
    X[7, 1], X[9, 1] = np.inf, -np.inf
    t = database.load(columns_of(X, y=y))
    with pytest.raises(NaivelyError, match=r"column 'x1' holds infinity.*\(in 2 rows\)"):
        sql.summarize(t, target="y")


def test_infinity_that_comes_late_is_an_error(database, rng):
    X, y = rng.normal(size=(6_000, 2)), rng.integers(0, 2, 6_000)
    X[-1, 1], X[-2, 1] = np.inf, -np.inf
    t = database.load(columns_of(X, y=y))
    with pytest.raises(NaivelyError, match=r"column 'x1' holds infinity"):
        sql.summarize(t, target="y")


def test_infinity_of_no_weight_is_left_out(database):
    X, y, w = np.array([[1.0], [np.inf], [3.0]]), np.zeros(3, int), np.array([1.0, 0.0, 1.0])
    got = sql.summarize(database.load(columns_of(X, y=y, w=w)), target="y", weight="w")
    assert got.moments.mean[0, 0] == 2.0


def test_numbers_whose_squares_overflow_are_an_error(database):
    t = database.load(columns_of(np.array([[1e200], [0.0]]), y=np.zeros(2, int)))
    with pytest.raises(NaivelyError, match=r"beyond 1e\+150|out of range"):
        sql.summarize(t, target="y")


def test_integers_decimals_and_short_floats_are_numbers(database):
    columns = {
        "i": pa.array([1, None, 5, 2**40], pa.int64()),
        "s": pa.array([1, 2, 3, None], pa.int16()),
        "d": pa.array([Decimal("1.5"), Decimal("-2.25"), None, Decimal("7")], pa.decimal128(18, 4)),
        "f": pa.array([0.1, 0.2, 0.3, 0.4], pa.float32()),
        "y": pa.array(["a", "a", "b", "b"]),
    }
    t = database.load(pa.table(columns))
    X = np.array([[1, np.nan, 5, 2**40], [1, 2, 3, np.nan], [1.5, -2.25, np.nan, 7]])
    X = np.vstack([X, np.float32([0.1, 0.2, 0.3, 0.4])]).T
    got = sql.summarize(t, target="y")
    assert got.schema == Schema(4, ("i", "s", "d", "f"))
    assert_exact(got, X, columns["y"].to_numpy(zero_copy_only=False))


@pytest.mark.parametrize("scale", [0, 10, 37])
def test_decimals_are_rounded_once(scale):
    digits = ["75377628783237257", "9007199254740993", "-18446744073709553665", "1" * 38, "3"]
    cells = [Decimal(whole).scaleb(-scale, Context(prec=38)) for whole in digits]
    columns = {f"x{j}": pa.array([cell], pa.decimal128(38, scale)) for j, cell in enumerate(cells)}
    table = pa.table({**columns, "y": [0]})
    got = sql.summarize(databases.opened("duckdb").load(table), target="y")
    assert got.moments.mean[0].tolist() == [float(cell) for cell in cells]


def test_booleans_are_numbers_where_the_schema_says_so(database):
    t = database.load(pa.table({"b": [True, None, False, True], "y": [0, 0, 1, 0]}))
    got = sql.summarize(t, target="y", schema=Schema(1, ("b",)))
    assert_exact(got, np.array([[1.0], [np.nan], [0], [1]]), [0, 0, 1, 0])


# --- labels and weights ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [["b", "a", "ü", "日本"], [3, -1, 2**40, 0], [True, False, True, False], [1.0, -2.0, 3.0, 0.0]],
    ids=["text", "integers", "booleans", "floats"],
)
def test_labels_are_of_any_type(database, labels):
    got = sql.summarize(database.load(pa.table({"x": [1.0, 2, 3, 4], "y": labels})), target="y")
    assert got.classes.tolist() == sorted(set(labels))
    assert type(got.classes[0].item()) is type(labels[0])


def test_missing_labels_are_an_error_with_their_number(database):
    t = database.load(pa.table({"x": [1.0, 2, 3], "y": ["a", None, None]}))
    with pytest.raises(NaivelyError, match=r"labels must not be missing; got 2 rows .* column 'y'"):
        sql.summarize(t, target="y")
    assert sql.summarize(t.filter(t["y"].notnull()), target="y").weight == 1


@pytest.mark.parametrize("weight", [-1.0, np.inf, None], ids=["negative", "infinite", "missing"])
def test_bad_weights_are_an_error(database, weight):
    w = pa.array([1.0, weight, 1.0], pa.float64())
    t = database.load(pa.table({"x": [1.0, 2, 3], "y": [0, 0, 1], "w": w}))
    with pytest.raises(NaivelyError, match=r"weights must be finite and >= 0; got 1 rows .* 'w'"):
        sql.summarize(t, target="y", weight="w")


def test_weights_of_text_and_tables_of_labels_alone_are_errors(database):
    t = database.load(pa.table({"y": ["a", "b"], "x": [1.0, 2.0], "w": ["1", "b"]}))
    with pytest.raises(NaivelyError, match=r"weights must be numbers >= 0; got string in .* 'w'"):
        sql.summarize(t, target="y", weight="w")
    with pytest.raises(
        NaivelyError, match="a column to learn from beside the target 'y'; got none"
    ):
        sql.summarize(t.select("y"), target="y")


def test_classes_and_categories_of_no_weight_are_left_out(database):
    columns = {"x": [1.0, 2, 3], "c": ["p", "q", "p"], "y": ["a", "b", "a"], "w": [1.0, 0, 2]}
    got = sql.summarize(database.load(pa.table(columns)), target="y", weight="w")
    assert got.classes.tolist() == ["a"]
    assert [c.tolist() for c in got.categories] == [["p"]]
    assert got.tallies.values.tolist() == [[3.0]]


def test_no_rows_are_a_summary_of_nothing(database):
    t = database.load(pa.table({"x": [1.0], "c": ["p"], "y": ["a"]}))
    got = sql.summarize(t.filter(t["x"] > 5), target="y")
    assert got == Summary.zero(got.schema)


# --- categories and bins --------------------------------------------------------------------------


def counted(column, y, w):
    """Weights by label and category, in a loop."""
    weights = Counter()
    for cell, label, weight in zip(column, y, w, strict=True):
        if cell is not None:
            weights[label, cell] += weight
    return weights


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_categories_are_counted(database, rng, weighted):
    y = rng.choice(["no", "yes"], N).tolist()
    columns = {
        "town": rng.choice(["Ulm", "Bonn", "Köln", None], N).tolist(),
        "size": rng.normal(size=N).tolist(),
        "smokes": rng.choice([True, False, None], N).tolist(),
        "floor": rng.choice([3, 1, 2, None], N).tolist(),
    }
    w = rng.choice([0.5, 2.0], N).tolist()
    kinds = ("category", "number", "category", "category")
    t = database.load(pa.table({**columns, "y": y, "w": w}))
    got = sql.summarize(
        t,
        target="y",
        weight="w" if weighted else None,
        schema=Schema(4, tuple(columns), kinds),
    )
    for place, name in enumerate(["town", "smokes", "floor"]):
        expected = counted(columns[name], y, w if weighted else [1] * N)
        categories = got.categories[place].tolist()
        assert categories == sorted({cell for _, cell in expected})
        tally = [[expected[label, cell] for cell in categories] for label in ["no", "yes"]]
        np.testing.assert_array_equal(got.tally(place), tally)


@pytest.mark.parametrize("sample", [0, 50], ids=["counts", "sample"])
def test_integers_beyond_2_to_the_53_are_categories_of_their_own_beside_null(database, sample):
    cells = pa.array([2**53, 2**53 + 1, None, -(2**63), 2**63 - 1, 3] * 2, pa.int64())
    table, y = pa.table({"code": cells, "other": cells}), [0, 1, 0, 1, 1, 0] * 2
    schema = Schema(2, ("code", "other"), ("category", "category"), sample=sample)
    got = sql.summarize(database.load(table.append_column("y", [y])), target="y", schema=schema)
    assert got == naively.summarize(table, y, schema=schema)


def test_unsigned_integers_are_categories_of_their_own():
    table, y = (
        pa.table({"code": pa.array([3, 2**63 + 5, None, 2**64 - 1], pa.uint64())}),
        [0, 1] * 2,
    )
    schema = Schema(1, ("code",), ("category",))
    t = databases.opened("duckdb").load(table.append_column("y", [y]))
    assert sql.summarize(t, target="y", schema=schema) == naively.summarize(table, y, schema=schema)


def test_types_say_what_a_column_holds(database):
    t = database.load(pa.table({"x": [1.0], "t": ["a"], "b": [True], "i": [1], "y": ["a"]}))
    got = sql.summarize(t, target="y").schema
    assert got.kinds == ("number", "category", "category", "number")


def test_cells_are_counted_between_edges(database, rng):
    X, y = rng.normal(size=(N, 2)), rng.integers(0, 2, N)
    edges = ((-np.inf, -0.5, 0.0, 0.0, 0.0, 1.0, np.inf), (-1.0, X[0, 1], 0.5, 1, 2, 3, 4))
    X[1:9, 0] = 0.0
    X[5:20, 1] = np.nan
    schema = Schema(2, ("x0", "x1"), edges=edges, knots=((0.0,) * 8,) * 2)
    cells = pa.table(
        {
            **{f"x{j}": pa.array(X[:, j], from_pandas=database.name != "duckdb") for j in (0, 1)},
            "y": y,
        }
    )
    got = sql.summarize(database.load(cells), target="y", schema=schema)
    expected = np.zeros((2, 2, 8))
    for row, label in zip(X, y, strict=True):
        for j in range(2):
            if not np.isnan(row[j]):
                expected[label, j, np.searchsorted(edges[j], row[j])] += 1
    np.testing.assert_array_equal(got.bins.values, expected)


def test_a_column_that_identifies_rows_is_refused(monkeypatch):
    monkeypatch.setattr("naively.engines.sql.summaries._MAX_COUNTS", 50)
    t = databases.opened("duckdb").load(
        pa.table({"id": [f"{i}" for i in range(60)], "y": [0] * 60})
    )
    with pytest.raises(NaivelyError, match="categories must be few; got more than 50"):
        sql.summarize(t, target="y")


# --- samples --------------------------------------------------------------------------------------


def towns(rng, n):
    """Numbers and categories with holes, labels and weights."""
    size = pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1)
    cells = {"size": size, "town": rng.choice(["Ulm", "Bonn", None], n).tolist()}
    cells |= {"flag": rng.choice([True, False], n), "floor": rng.integers(0, 3, n)}
    return pa.table({**cells, "y": rng.choice(["no", "yes"], n, p=[0.8, 0.2])})


KINDS = ("number", "category", "category", "number")


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("size", [49, 5], ids=["of all rows", "of few"])
def test_a_table_has_the_sample_that_it_has_in_memory(database, rng, weighted, size):
    table, w = towns(rng, 40), rng.choice([0.0, 0.5, 2.0], 40)
    table = pa.concat_tables([table, table[:9]])  # equal rows are one of more weight
    w = np.append(w, w[:9])
    schema = Schema(4, ("size", "town", "flag", "floor"), KINDS, sample=size)
    t = database.load(table.append_column("w", pa.array(w)))
    got = sql.summarize(t, target="y", weight="w" if weighted else None, schema=schema)
    y = table["y"].to_numpy()
    same = naively.summarize(
        table.drop(["y"]), y, schema=schema, sample_weight=w if weighted else None
    )
    assert got.sample == same.sample


def test_a_naive_bayes_is_read_off_a_table_of_a_database(database, rng):
    table = towns(rng, 300)
    frame, y = table.drop(["y"]), table["y"].to_numpy()
    here = NaiveBayes().fit(frame, y)
    got = sql.summarize(database.load(table), target="y", schema=here.summary_.schema)
    there = NaiveBayes.from_summary(got)
    np.testing.assert_allclose(there.predict_proba(frame), here.predict_proba(frame), atol=1e-9)


# --- tables ---------------------------------------------------------------------------------------


def test_hundreds_of_columns_are_read_some_at_a_time(database, rng):
    if database.name == "spark":
        pytest.skip("Spark takes minutes to plan queries as wide as this")
    X, y = rng.normal(1e6, size=(20, 320)), rng.integers(0, 2, 20)
    got = sql.summarize(database.load(columns_of(X, y=y)), target="y")
    assert_exact(got, X, y)


def test_seventy_columns_of_categories_are_read_some_at_a_time(database, rng):
    cells = {f"c{j}": rng.choice(["a", "b"], 20).tolist() for j in range(70)}
    y = rng.integers(0, 2, 20).tolist()
    got = sql.summarize(database.load(pa.table({**cells, "y": y})), target="y")
    for j in range(70):
        expected = counted(cells[f"c{j}"], y, [1] * 20)
        tally = [[expected[k, cell] for cell in got.categories[j].tolist()] for k in (0, 1)]
        assert got.tally(j).tolist() == tally


def test_names_of_any_text_are_found(database, rng):
    names = ['say "x"', "select", "it's 100%", "y", "w", "x0", "日本"]
    if database.name == "spark":
        names[0] = "say `x`"
    X, y = rng.normal(size=(9, 7)), rng.integers(0, 2, 9)
    columns = dict(zip(names, X.T, strict=True)) | {"the label": y}
    got = sql.summarize(database.load(databases.table_of(columns)), target="the label")
    assert got.schema.names == tuple(names)
    assert_exact(got, X, y)


def test_any_expression_is_a_table(database, rng):
    X, y = rng.normal(size=(N, 2)), rng.integers(0, 2, N)
    t = database.load(columns_of(X, y=y))
    t = t.filter(t.x0 > 0).mutate(double=t.x1 * 2).drop("x1")
    kept = X[:, 0] > 0
    assert_exact(sql.summarize(t, target="y"), (X * [1, 2])[kept], y[kept])


def test_columns_are_taken_in_the_order_asked_for(database, rng):
    X, y = rng.normal(size=(9, 3)), rng.integers(0, 2, 9)
    t = database.load(columns_of(X, y=y))
    assert_exact(sql.summarize(t, target="y", columns=["x2", "x0"]), X[:, [2, 0]], y)


def answers_of(monkeypatch):
    """Return a list that grows by the number of rows of each answer."""
    sizes, ask = [], ibis.Table.execute

    def counting(self, **options):
        answer = ask(self, **options)
        sizes.append(len(answer))
        return answer

    monkeypatch.setattr(ibis.Table, "execute", counting)
    return sizes


def test_sums_and_the_first_cells_of_text_leave_the_database(database, rng, monkeypatch):
    X, y = rng.normal(size=(5_000, 2)), rng.integers(0, 3, 5_000)
    t = database.load(columns_of(X, y=y, c=rng.choice(["p", "q"], 5_000)))
    sizes = answers_of(monkeypatch)
    sql.summarize(t, target="y")
    # first cells of text; first means, a row for each class, one for each and a category
    assert sizes == [LOOKED_AT, 1, 3, 6]


def test_a_table_that_changes_meanwhile_is_an_error(rng, monkeypatch):
    database = databases.connect("duckdb")
    t = database.load(columns_of(rng.normal(size=(20, 2)), y=np.zeros(20, int)))
    monkeypatch.setattr("naively.engines.sql.moments._MAX_COLUMNS", 1)
    ask = ibis.Table.execute

    def growing(self, **options):
        database.run("INSERT INTO data SELECT * FROM data LIMIT 1")
        return ask(self, **options)

    monkeypatch.setattr(ibis.Table, "execute", growing)
    with pytest.raises(
        NaivelyError, match="must not change while it is read; got 23 rows, then 24"
    ):
        sql.summarize(t, target="y")


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "no column 'z'; its columns are"),
        ({"target": "when", "columns": ["x"]}, "labels must be strings, integers or booleans"),
        ({"columns": ["took"]}, "column 'took' holds times of day or durations .*hours"),
        ({"columns": ["x", "y"]}, "labels and weights must not be among the columns; got 'y'"),
        (
            {"weight": "t", "columns": ["x"]},
            "weights must be numbers >= 0; got string in column 't'",
        ),
        ({"schema": Schema(1, ("t",))}, "column 't' must hold numbers; got text .string"),
        ({"schema": Schema(2), "columns": ["x"]}, "there must be 2 columns, as in the schema"),
        ({"schema": Schema(1, ("when",), ("category",))}, "column 'when' holds dates or times"),
    ],
    ids=["target", "label", "times", "label as column", "weight", "text", "few", "kind"],
)
def test_what_cannot_be_summarized_is_refused(options, message):
    day, hour = datetime.date(2026, 1, 1), datetime.time(1)
    table = pa.table({"x": [1.0], "t": ["a"], "when": [day], "took": [hour], "y": [0]})
    t = databases.opened("duckdb").load(table)
    with pytest.raises(NaivelyError, match=message):
        sql.summarize(t, **{"target": "y", **options})


@pytest.mark.parametrize("call", [sql.summarize, lambda t, target: scoring.predict(None, t)])
def test_a_table_must_be_one_of_ibis(call):
    with pytest.raises(NaivelyError, match=r"must be one of Ibis; got Table. Connect with ibis"):
        call(pa.table({"x": [1.0], "y": [0]}), target="y")


def test_a_missing_package_is_named():
    code = "import sys; sys.modules['ibis'] = None\nfrom naively.engines.sql import summarize\n"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"tables inside a database needs the package ibis: {install('sql')}" in (run.stderr)


# --- failures -------------------------------------------------------------------------------------


def test_a_database_that_refuses_is_an_error_and_asked_again_answers(database):
    t = database.load(pa.table({"x": [1.0, 2.0], "y": [0, 1]}), name="gone")
    database.run("DROP VIEW gone" if database.name == "spark" else "DROP TABLE gone")
    with pytest.raises(NaivelyError, match=r"the database must answer; got .*gone"):
        sql.summarize(t, target="y")
    t = database.load(pa.table({"x": [1.0, 2.0], "y": [0, 1]}), name="gone")
    assert sql.summarize(t, target="y").weight == 2


def terminate(address, ready):
    """End the server's side of a connection as soon as it is at work."""
    with psycopg.connect(address, autocommit=True) as other:
        ready.set()
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        ended += "WHERE wait_event = 'PgSleep'"
        for _ in range(600):
            if other.execute(ended).fetchall():
                return
            time.sleep(0.05)


def test_a_lost_connection_is_an_error_and_a_new_one_works():
    database = databases.connect("postgres")
    database.load(pa.table({"x": [1.0, 2.0], "y": [0, 1]}), name="slow_rows")
    database.run("CREATE VIEW slow AS SELECT r.* FROM slow_rows r, LATERAL (SELECT pg_sleep(60)) s")
    slow, ready = database.connection.table("slow"), threading.Event()
    thread = threading.Thread(target=terminate, args=(databases.address(), ready))
    thread.start()
    ready.wait()
    with pytest.raises(NaivelyError, match=r"the database must answer; .*connect again and repeat"):
        sql.summarize(slow, target="y")
    thread.join()
    database.connection.reconnect()
    again = database.connection.table("slow_rows")
    assert sql.summarize(again, target="y").class_weight.tolist() == [1, 1]
    database.connection.disconnect()


# --- predictions ----------------------------------------------------------------------------------


def sorted_answers(scored):
    answers = scored.order_by("id").to_pyarrow()
    labels, *shares = answers.columns[answers.column_names.index("prediction") :]
    return labels.to_pylist(), np.array([share.to_pylist() for share in shares]).T


@pytest.mark.parametrize("case", CASES)
def test_predictions_are_the_models_to_1e_9(database, case):
    if database.name == "spark" and case not in ON_SPARK:
        pytest.skip("Spark takes seconds to plan a query, and minutes for wide ones")
    if case == "wide" and database.name in ("sqlite", "postgres"):
        pytest.skip("Ibis takes seconds to parse a wide query; tests of to_sql run those of others")
    model, X = CASES[case]()
    t = database.load(columns_of(X, id=np.arange(len(X))))
    names = [f"x{j}" for j in range(X.shape[1])]
    scored = scoring.predict(model, t, columns=names, keep=["id"], proba=True)
    assert_agrees(model, X, *sorted_answers(scored), atol=1e-9)


def test_predictions_have_the_columns_of_the_table_and_a_label(database):
    model = GaussianNB().fit(IRIS, LABELS)
    t = database.load(columns_of(IRIS, id=np.arange(150)))
    scored = scoring.predict(model, t, columns=t.columns[:4], label="species")
    assert scored.columns == (*t.columns, "species")
    assert scored["species"].type().is_string()
    assert scored.order_by("id").to_pyarrow()["species"].to_pylist() == model.predict(IRIS).tolist()


def test_predictions_are_part_of_larger_queries(database):
    model, near = GaussianNB().fit(IRIS, LABELS), IRIS[:, 0] < 6.0
    t = database.load(columns_of(IRIS, truth=LABELS.astype(object)))
    scored = scoring.predict(model, t.filter(t.x0 < 6.0), columns=t.columns[:4])
    right = scored.filter(scored.prediction == scored.truth)
    hits = right.group_by("prediction").aggregate(n=right.count())
    hits = (
        hits.join(scored.select("prediction").distinct(), "prediction")
        .order_by("prediction")
        .to_pyarrow()
    )
    found = LABELS[near][model.predict(IRIS[near]) == LABELS[near]]
    labels, n = np.unique(found, return_counts=True)
    assert hits.to_pydict() == {"prediction": labels.tolist(), "n": n.tolist()}


def test_two_models_are_asked_in_one_query(database):
    if database.name == "spark":
        pytest.skip("Spark has one name space for all steps of a query")
    one, other = GaussianNB().fit(IRIS, LABELS), GaussianNB().fit(IRIS[:, :2], LABELS)
    t = database.load(columns_of(IRIS, id=np.arange(150)))
    first = scoring.predict(one, t, columns=t.columns[:4], keep=["id"], label="first")
    second = scoring.predict(other, t, columns=t.columns[:2], keep=["id"], label="second")
    both = first.join(second, "id").order_by("id").to_pyarrow()
    assert both["first"].to_pylist() == one.predict(IRIS).tolist()
    assert both["second"].to_pylist() == other.predict(IRIS[:, :2]).tolist()


def test_predictions_are_lazy(database, monkeypatch):
    model = GaussianNB().fit(IRIS, LABELS)
    t = database.load(columns_of(IRIS))
    monkeypatch.setattr(ibis.Table, "execute", None)
    monkeypatch.setattr(database.connection, "raw_sql", None)
    assert scoring.predict(model, t, columns=t.columns, proba=True).columns[-1] == "p_virginica"


def test_of_equal_classes_the_first_is_predicted(database):
    t = database.load(columns_of(IRIS, id=np.arange(150)))
    labels, _ = sorted_answers(scoring.predict(twins(), t, columns=t.columns[:4], keep=["id"]))
    assert set(labels) == {"a", "c"}


def test_a_model_is_fitted_and_asked_in_the_database(database):
    t = database.load(columns_of(IRIS, y=LABELS.astype(object), id=np.arange(150)))
    names = ["x0", "x1", "x2", "x3"]
    model = GaussianNB.from_summary(sql.summarize(t, target="y", columns=names))
    scored = scoring.predict(model, t, keep="id", proba=True)
    assert_agrees(GaussianNB().fit(IRIS, LABELS), IRIS, *sorted_answers(scored), atol=1e-9)


def test_a_column_that_the_table_lacks_is_named():
    t = databases.opened("duckdb").load(columns_of(IRIS[:, :3]))
    model = GaussianNB().fit(IRIS, LABELS)
    with pytest.raises(NaivelyError, match="no column 'x3'; its columns are"):
        scoring.predict(model, t, columns=["x0", "x1", "x2", "x3"])
    with pytest.raises(NaivelyError, match="no column 'id'; its columns are"):
        scoring.predict(model, t, columns=["x0", "x1", "x2", "x2"], keep=["id"])


# --- databases that are not here ------------------------------------------------------------------


TYPES = {"a": "float64", "b": "int64", "c": "string", "w": "float64", "y": "string"}


def rows_elsewhere():
    schema = Schema(3, names=("a", "b", "c"), kinds=("number", "number", "category"))
    return select_rows(ibis.table(TYPES, name="data"), "y", None, "w", schema)


def run_here(query, dialect, table):
    """Translate a query to DuckDB's dialect, and return its answer as rows."""
    here = duckdb.connect()
    here.register("data", table)
    (translated,) = sqlglot.transpile(str(query), read=dialect, write="duckdb")
    return sorted(map(str, here.execute(translated).fetchall()))


@pytest.fixture
def data(rng):
    cells = {"a": rng.normal(1e8, size=50), "b": rng.integers(0, 9, 50)}
    cells |= {"c": rng.choice(["p", "q"], 50), "w": rng.choice([1.0, 2.0], 50)}
    return databases.table_of({**cells, "y": rng.choice(["s", "t"], 50)})


@pytest.mark.parametrize("dialect", ELSEWHERE)
@pytest.mark.parametrize("centres", [[1e8, 4.0], None], ids=["quickly", "with care"])
def test_sums_mean_the_same_elsewhere(dialect, centres, data):
    asked = sums_query(rows_elsewhere(), np.arange(2), centres)
    there = run_here(ibis.to_sql(asked, dialect=dialect), dialect, data)
    assert len(there) == 2
    assert there == run_here(ibis.to_sql(asked, dialect="duckdb"), "duckdb", data)


@pytest.mark.parametrize("dialect", ELSEWHERE)
def test_counts_mean_the_same_elsewhere(dialect, data):
    table = ibis.table(TYPES, name="data")
    (asked,) = count_queries(table, ["b", "c"], dialect)
    query = str(ibis.to_sql(asked, dialect=dialect))
    assert "GROUPING SETS" in query
    there = run_here(query, dialect, data)
    (asked,) = count_queries(table, ["b", "c"], "duckdb")
    assert there == run_here(ibis.to_sql(asked, dialect="duckdb"), "duckdb", data)


@pytest.mark.parametrize("dialect", ELSEWHERE)
def test_predictions_mean_the_same_elsewhere(dialect):
    model = GaussianNB().fit(IRIS, LABELS)
    table = ibis.table(dict.fromkeys(["x0", "x1", "x2", "x3"], "float64"), name="data")
    scored = scoring.predict(model, table, columns=table.columns, proba=True, dialect=dialect)
    query = ibis.to_sql(scored.filter(scored.prediction == "setosa"), dialect=dialect)
    assert isinstance(sqlglot.parse_one(str(query), dialect=dialect), exp.Select)
    assert len(run_here(query, dialect, columns_of(IRIS))) == 50
