"""Models of any columns answer in a database as they do at home."""

from itertools import count

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot
from sqlglot import exp

from naively import NaiveBayes, NaivelyError
from naively.engines import sql as scoring
from naively.engines.dialects import DIALECTS
from naively.export import to_sql
from naively.families import Categorical, Poisson
from tests import databases
from tests.exported import assert_agrees
from tests.exported_tables import TABLES, mixed, twins

pytestmark = databases.QUIET

ELSEWHERE = sorted({*DIALECTS} - {"duckdb", "sqlite", "postgres"})


NAMES = (f"rows_{n}" for n in count())  # PostgreSQL remembers how it read a table of that name


@pytest.fixture(scope="module", params=["duckdb", "sqlite", "postgres"])
def database(request):
    return databases.opened(request.param)


def arrow(frame):
    """Return a table with the row's number as id, in which NaN is NaN and None is null."""
    columns = {"id": np.arange(len(frame))}
    for name, column in frame.items():
        cells = [None if pd.isna(cell) else cell for cell in column]
        columns[name] = column.to_numpy() if column.dtype == float else cells
    return databases.table_of(columns)


def answers(model, database, rows, *, dialect=None, **options):
    """Return labels and probabilities as the database finds them, in the order of the rows."""
    name = next(NAMES)
    database.load(arrow(rows), name)
    query = to_sql(model, name, keep=["id"], dialect=dialect or database.name, **options)
    if dialect is not None:  # what sqlglot reads in one dialect, it writes in another
        (query,) = sqlglot.transpile(query, read=dialect, write=database.name)
    ordered = f"SELECT * FROM ({query}) AS scored ORDER BY id"
    rows = database.connection.con.execute(ordered).fetchall()
    _, labels, *probabilities = zip(*rows, strict=True)
    return labels, np.array(probabilities, dtype=float).T


@pytest.mark.parametrize("case", TABLES.values(), ids=TABLES)
def test_the_query_is_the_model_to_1e_9(database, case):
    model, rows = case()
    assert_agrees(model, rows, *answers(model, database, rows), atol=1e-9)


@pytest.mark.parametrize("name", ["naively_total", "naively_cells", "naively_lookup_c_0"])
def test_a_table_may_be_named_like_a_step_of_the_query(database, name):
    model, rows = mixed(columns=["age", "town"], families={})
    database.load(arrow(rows), name)
    query = to_sql(model, name, keep=["id"], dialect=database.name)
    found = database.connection.con.execute(f"SELECT * FROM ({query}) AS scored ORDER BY id")
    _, labels, *probabilities = zip(*found.fetchall(), strict=True)
    assert_agrees(model, rows, labels, np.array(probabilities, dtype=float).T, atol=1e-9)


def test_an_impossible_class_costs_the_others_no_digits(database):
    frame = pd.DataFrame({"c": [*"aabbbcc", *"abc"]})
    model = NaiveBayes(families={"c": Categorical(alpha=0.0)}, calibration=None)
    model.fit(frame, [0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    assert_agrees(model, frame, *answers(model, database, frame), atol=1e-15)


def test_labels_alone_are_the_same(database):
    model, rows = TABLES["weights"]()
    labels, probabilities = answers(model, database, rows, proba=False)
    assert probabilities.size == 0
    assert list(labels) == model.predict(rows).tolist()


def test_ties_go_to_the_first_class(database):
    model, rows = twins()
    assert set(model.predict(rows)) == {"a", "c"}
    assert set(answers(model, database, rows)[0]) == {"a", "c"}


@pytest.mark.parametrize("least", [-60, -120, -290], ids="1e{}".format)
def test_histograms_over_many_powers_of_ten_agree(database, least):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    middle = least / 2
    exponent = np.where(y, rng.uniform(least, middle, 400), rng.uniform(middle - 10, -2, 400))
    rows = pd.DataFrame({"p": 10.0**exponent})
    model = NaiveBayes().fit(rows, y)
    assert_agrees(model, rows, *answers(model, database, rows), atol=1e-9)


def test_columns_in_the_smallest_units_agree(database):
    rows = pd.DataFrame({"x": np.arange(1, 41) * 1e-149})
    model = NaiveBayes().fit(rows, np.repeat([0, 1], 20))
    assert_agrees(model, rows, *answers(model, database, rows), atol=1e-9)


def test_many_columns_of_categories_and_many_classes_agree(database):
    rng = np.random.default_rng(0)
    y = np.arange(600) % 40
    cells = (rng.integers(0, 3, (600, 40)) + y[:, np.newaxis]) % 5
    frame = pd.DataFrame(np.array(list("abcde"))[cells]).rename(columns="c{}".format)
    model = NaiveBayes(calibration=None).fit(frame, y)
    rows = frame.iloc[:50]
    assert_agrees(model, rows, *answers(model, database, rows), atol=1e-9)


def test_an_empty_text_is_a_category_and_null_is_missing(database):
    frame = pd.DataFrame({"c": ["", "", "b", "b", "b", "d"]})
    families = {"c": Categorical(alpha=0.1)}
    model = NaiveBayes(families=families, calibration=None).fit(frame, [0, 0, 0, 1, 1, 1])
    rows = pd.DataFrame({"c": ["", None, "unseen", "b"]}, dtype=object)
    _, probabilities = answers(model, database, rows)
    assert probabilities[0, 0] > 0.7
    assert probabilities[1, 0] == 0.5
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("values", [[1, 2, 3], [0.5, 2.0, 1e10]], ids=["integers", "floats"])
def test_numbers_are_categories_whatever_type_their_column_has(database, values):
    c, y = np.array(values)[[0, 0, 1, 1, 2, 2, 2]], [0, 0, 0, 1, 1, 1, 1]
    model = NaiveBayes(families={"c": "categorical"}).fit(pd.DataFrame({"c": c}), y)
    rows = pd.DataFrame({"c": [*values, 77.0, np.nan]})
    assert_agrees(model, rows, *answers(model, database, rows), atol=1e-9)


@pytest.mark.parametrize("dialect", ELSEWHERE)
@pytest.mark.parametrize("case", ["weights", "every family, temperature", "ties"])
def test_every_dialect_means_the_same(dialect, case):
    model, rows = TABLES[case]()
    found = answers(model, databases.opened("duckdb"), rows, dialect=dialect)
    assert_agrees(model, rows, *found, atol=1e-9)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_well_formed(dialect):
    model, _ = mixed(columns=["age", "town"], families={})
    (tree,) = sqlglot.parse(to_sql(model, "lab.data", dialect=dialect), dialect=dialect)
    assert isinstance(tree, exp.Select)
    assert not list(tree.find_all(exp.Anonymous)), "a function that sqlglot does not know"
    texts = {text.this for text in tree.find_all(exp.Literal) if text.is_string}
    assert texts - {"NaN"} == {*model.summary_.categories[0].tolist(), *model.classes_.tolist()}


@pytest.mark.parametrize("name", databases.NAMES)
def test_predictions_are_a_table_of_the_database(name):
    database = databases.opened(name)
    model, rows = TABLES["two classes"]()
    table = database.load(arrow(rows), next(NAMES))
    scored = scoring.predict(model, table, keep=["id"], proba=True).order_by("id").to_pyarrow()
    probabilities = np.array(scored.columns[2:], dtype=float).T
    assert_agrees(model, rows, scored["prediction"].to_pylist(), probabilities, atol=1e-9)


def test_the_method_is_the_function():
    model, _ = mixed()
    assert model.to_sql("data", dialect="postgres") == to_sql(model, "data", dialect="postgres")


def test_no_category_is_written_twice():
    model, _ = mixed(np.arange(30), 30, interactions=None)
    tree = sqlglot.parse_one(to_sql(model, "data", dialect="sqlite"), dialect="sqlite")
    texts = [text.this for text in tree.find_all(exp.Literal) if text.is_string]
    assert all(texts.count(category) == 1 for category in model.summary_.categories[0])


def test_a_quadratic_term_that_is_too_long_is_an_error_that_says_what_to_do():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 80))).rename(columns="c{}".format)
    model = NaiveBayes(interactions="auto").fit(frame, np.arange(300) % 2)
    with pytest.raises(NaivelyError, match=r"6,480 products.*\(\"canonical\", \"pairs\"\)"):
        to_sql(model, "data")


# --- errors ---------------------------------------------------------------------------------------


class Own(Poisson):
    """A family whose formula only its class knows."""

    name = "own"

    def log_density(self, x, parameters):
        return 2 * super().log_density(x, parameters)


def test_a_family_of_ones_own_is_named_with_its_column():
    model, _ = mixed(families={"code": "categorical", "visits": Own()})
    with pytest.raises(NaivelyError, match="the family 'own' of column 'visits' cannot be export"):
        to_sql(model, "data")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": [[0, 1, 1], [1, 0, 1], [9, 9, 0]]}, r"costs cannot be exported; got \[\[0, 1"),
        ({"reject": (0.8, "unknown")}, r"reject cannot be exported; got \(0.8, 'unknown'\)"),
    ],
    ids=["costs", "reject"],
)
def test_decisions_are_not_exported(options, message):
    model, _ = mixed(**options)
    with pytest.raises(NaivelyError, match=message):
        to_sql(model, "data")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a\0b", "c"], "categories of column 'c' must not hold a zero byte"),
        (["\ud800", "c"], "categories of column 'c' must be Unicode text"),
        ([2**53 + 1, 2], r"categories of column 'c' must be integers up to 2\^53"),
    ],
    ids=["zero", "half", "large"],
)
def test_categories_that_cannot_be_written_are_refused(cells, message):
    frame = pd.DataFrame({"c": cells}, dtype=object)
    model = NaiveBayes(families={"c": "categorical"}, calibration=None).fit(frame, [0, 1])
    with pytest.raises(NaivelyError, match=message):
        to_sql(model, "data")


def test_the_columns_of_categories_are_named_in_the_models_order():
    model, rows = mixed()
    names = [f"column {j}" for j in range(rows.shape[1])]
    renamed = arrow(rows.set_axis(names, axis=1))  # noqa: F841 - DuckDB finds it by name
    found = duckdb.sql(to_sql(model, "renamed", columns=names, keep=["id"]) + " ORDER BY id")
    assert [row[1] for row in found.fetchall()] == model.predict(rows).tolist()
