"""What a column holds is decided once: every type of every library, and what becomes of it."""

from datetime import datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, load, summarize
from naively.engines.memory.tables import schema_of

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

NUMBERS = [1, 2, None, 2]
EXACT = np.array([[1.0], [2.0], [np.nan], [2.0]])
TEXTS = ["a", "b", None, "b"]
FLAGS = [True, False, None, False]
Y = ["n", "y", "n", "y"]


def pandas_of(values, dtype):
    return pd.DataFrame({"c": pd.Series(values, dtype=dtype)})


def polars_of(values, dtype):
    return pl.DataFrame({"c": pl.Series(values, dtype=dtype, strict=False)})


def arrow_of(values, kind):
    return pa.table({"c": pa.array(values, kind)})


DECIMALS = [None if value is None else Decimal(value) for value in NUMBERS]
AS_NUMBERS = {
    "pandas float32": pandas_of(NUMBERS, "float32"),
    "pandas long double": pandas_of(np.array(NUMBERS, np.float64), "longdouble"),
    "pandas Int8": pandas_of(NUMBERS, "Int8"),
    "pandas UInt64": pandas_of(NUMBERS, "UInt64"),
    "pandas Float32": pandas_of(NUMBERS, "Float32"),
    "pandas Sparse": pandas_of(NUMBERS, pd.SparseDtype("float64")),
    "pandas Sparse, filled with 2": pandas_of(NUMBERS, pd.SparseDtype("float64", 2.0)),
    "pandas objects": pandas_of(NUMBERS, object),
    "pandas objects, decimal": pandas_of(DECIMALS, object),
    "pandas arrow int": pandas_of(NUMBERS, "int16[pyarrow]"),
    "pandas arrow decimal": pandas_of(DECIMALS, pd.ArrowDtype(pa.decimal128(5, 2))),
    "pandas arrow decimal256": pandas_of(DECIMALS, pd.ArrowDtype(pa.decimal256(5, 2))),
    **{f"polars {kind}": polars_of(NUMBERS, kind) for kind in (pl.Int8, pl.UInt64, pl.Float32)},
    "polars Int128": polars_of(NUMBERS, pl.Int128),
    "polars Decimal": polars_of(DECIMALS, pl.Decimal(5, 2)),
    "polars Object": pl.DataFrame({"c": pl.Series(NUMBERS, dtype=pl.Object)}),
    **{
        f"arrow {kind}": arrow_of(values, kind)
        for values, kind in (
            (NUMBERS, pa.int8()),
            (NUMBERS, pa.uint64()),
            ([None if v is None else np.float16(v) for v in NUMBERS], pa.float16()),
            (DECIMALS, pa.decimal32(5, 2)),
            (DECIMALS, pa.decimal64(5, 2)),
            (DECIMALS, pa.decimal128(5, 2)),
            (DECIMALS, pa.decimal256(5, 2)),
        )
    },
    "arrow runs": pa.table({"c": pa.array(NUMBERS, pa.run_end_encoded(pa.int32(), pa.int64()))}),
    "objects": np.array(NUMBERS, dtype=object)[:, np.newaxis],
    "lists": [[value] for value in NUMBERS],
    "masked": np.ma.array([[1], [2], [7], [2]], mask=[[0], [0], [1], [0]]),
    "masked objects": np.ma.array(
        np.array([[1], [2], [7], [2]], dtype=object), mask=[[0], [0], [1], [0]]
    ),
}


@pytest.mark.parametrize("table", AS_NUMBERS.values(), ids=AS_NUMBERS)
def test_numbers_in_any_dress_are_numbers(table):
    exact = summarize(EXACT, Y)
    summary = summarize(table, Y)
    assert summary.schema.kinds is None
    assert summary.moments == exact.moments
    assert GaussianNB().fit(table, Y).summary_.moments == exact.moments
    model = NaiveBayes(calibration=None)
    expected = model.fit(EXACT, Y).predict_proba(EXACT)
    np.testing.assert_array_equal(model.fit(table, Y).predict_proba(table), expected)
    np.testing.assert_array_equal(
        GaussianNB().fit(table, Y).predict_proba(table),
        GaussianNB().fit(EXACT, Y).predict_proba(EXACT),
    )


DICTIONARY = pa.dictionary(pa.int8(), pa.string())
AS_CATEGORIES = {
    "pandas objects": (pandas_of(TEXTS, object), TEXTS),
    "pandas string": (pandas_of(TEXTS, "string"), TEXTS),
    "pandas category": (pandas_of(TEXTS, "category"), TEXTS),
    "pandas category of integers": (pandas_of(NUMBERS, pd.CategoricalDtype([1, 2])), NUMBERS),
    "pandas category of booleans": (pandas_of(FLAGS, "category"), FLAGS),
    "pandas arrow": (pandas_of(TEXTS, "string[pyarrow]"), TEXTS),
    "pandas ArrowDtype": (pandas_of(TEXTS, pd.ArrowDtype(pa.string())), TEXTS),
    "pandas ArrowDtype dictionary": (pandas_of(TEXTS, pd.ArrowDtype(DICTIONARY)), TEXTS),
    "pandas boolean": (pandas_of(FLAGS, "boolean"), FLAGS),
    "pandas ArrowDtype bool": (pandas_of(FLAGS, pd.ArrowDtype(pa.bool_())), FLAGS),
    "pandas objects of booleans": (pandas_of(FLAGS, object), FLAGS),
    "polars String": (polars_of(TEXTS, pl.String), TEXTS),
    "polars Categorical": (polars_of(TEXTS, pl.Categorical), TEXTS),
    "polars Enum": (polars_of(TEXTS, pl.Enum(["b", "a"])), TEXTS),
    "polars Boolean": (polars_of(FLAGS, pl.Boolean), FLAGS),
    "polars Object": (pl.DataFrame({"c": pl.Series(TEXTS, dtype=pl.Object)}), TEXTS),
    **{
        f"arrow {kind}": (arrow_of(TEXTS, kind), TEXTS)
        for kind in (pa.string(), pa.large_string(), pa.string_view(), DICTIONARY)
    },
    "arrow dictionary of numbers": (
        pa.table({"c": pa.array(NUMBERS, pa.int64()).dictionary_encode()}),
        NUMBERS,
    ),
    "arrow bool": (arrow_of(FLAGS, pa.bool_()), FLAGS),
    "arrow runs": (arrow_of(TEXTS, pa.run_end_encoded(pa.int32(), pa.string())), TEXTS),
    "objects": (np.array(TEXTS, dtype=object)[:, np.newaxis], TEXTS),
    "objects of booleans": (np.array(FLAGS, dtype=object)[:, np.newaxis], FLAGS),
    "masked text": (np.ma.array([["a"], ["b"], ["z"], ["b"]], mask=[[0], [0], [1], [0]]), TEXTS),
    "masked booleans": (
        np.ma.array([[1], [0], [1], [0]], mask=[[0], [0], [1], [0]], dtype=bool),
        FLAGS,
    ),
}


@pytest.mark.parametrize(("table", "values"), AS_CATEGORIES.values(), ids=AS_CATEGORIES)
def test_text_booleans_and_a_frames_own_categories_are_categories(table, values):
    summary = summarize(table, Y)
    assert summary.schema.kinds == ("category",)
    assert summary.categories[0].tolist() == sorted({v for v in values if v is not None})
    expected = [
        [
            sum(v == c and k == y for v, y in zip(values, Y, strict=True))
            for c in summary.categories[0].tolist()
        ]
        for k in ("n", "y")
    ]
    assert summary.tally(0).tolist() == expected
    assert np.isfinite(NaiveBayes(calibration=None).fit(table, Y).predict_proba(table)).all()


FLAG_TABLES = [
    name
    for name, (_, values) in AS_CATEGORIES.items()
    if values is FLAGS and "category" not in name
]


@pytest.mark.parametrize("name", FLAG_TABLES)
def test_gaussian_nb_reads_booleans_as_0_and_1(name):
    table, _ = AS_CATEGORIES[name]
    exact = np.array([[1.0], [0.0], [np.nan], [0.0]])
    assert GaussianNB().fit(table, Y).summary_.moments == summarize(exact, Y).moments


TEXT_TABLES = [name for name, (_, values) in AS_CATEGORIES.items() if values is not FLAGS]


@pytest.mark.parametrize("name", TEXT_TABLES)
@pytest.mark.parametrize(
    "estimator", [GaussianNB(), CategoricalNB()], ids=["Gaussian", "Categorical"]
)
def test_an_estimator_of_numbers_names_naive_bayes_where_there_is_text(name, estimator):
    with pytest.raises(NaivelyError, match="NaiveBayes"):
        estimator.fit(AS_CATEGORIES[name][0], Y)


DAY = datetime(2024, 2, 29)
NEITHER = {
    "pandas timedelta": pandas_of([timedelta(1)] * 4, None),
    "pandas period": pandas_of(pd.period_range("2024", periods=4, freq="M"), None),
    "pandas complex": pandas_of([1j] * 4, None),
    "pandas objects, lists": pandas_of([[1], [2], [3], [4]], None),
    "pandas category of durations": pandas_of([timedelta(1)] * 4, "category"),
    "pandas ArrowDtype list": pandas_of([[1]] * 4, pd.ArrowDtype(pa.list_(pa.int64()))),
    "polars Duration": polars_of([timedelta(1)] * 4, pl.Duration),
    "polars Time": polars_of([time(1)] * 4, pl.Time),
    "polars List": pl.DataFrame({"c": [[1]] * 4}),
    "polars Array": polars_of([[1]] * 4, pl.Array(pl.Int64, 1)),
    "polars Struct": pl.DataFrame({"c": [{"a": 1}] * 4}),
    "polars Binary": polars_of([b"a"] * 4, pl.Binary),
    **{
        f"arrow {kind}": arrow_of(values, kind)
        for values, kind in (
            ([timedelta(1)] * 4, pa.duration("us")),
            ([time(1)] * 4, pa.time64("us")),
            ([[1]] * 4, pa.list_(pa.int64())),
            ([[1]] * 4, pa.list_(pa.int64(), 1)),
            ([{"a": 1}] * 4, pa.struct({"a": pa.int64()})),
            ([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int64())),
            ([b"a"] * 4, pa.binary()),
            ([b"a"] * 4, pa.binary(1)),
        )
    },
    "arrow extension": pa.table({"c": pa.array([b"0" * 16] * 4, pa.uuid())}),
    "NumPy durations": np.full((4, 1), timedelta(1), dtype="m8[s]"),
    "NumPy complex": np.full((4, 1), 1j),
    "objects of times": np.full((4, 1), time(1), dtype=object),
}


@pytest.mark.parametrize("table", NEITHER.values(), ids=NEITHER)
def test_what_is_neither_a_number_nor_a_category_is_an_error(table):
    for learn in (summarize, NaiveBayes().fit, GaussianNB().fit, CategoricalNB().fit):
        with pytest.raises(
            (ValueError, TypeError), match=r"(?i)'c'|column 0|real numbers|complex|times|float"
        ):
            learn(table, Y)
    with pytest.raises(NaivelyError, match=r"column ('c'|0) "):
        summarize(table, Y)


EMPTY = {
    "pandas": pandas_of([None] * 4, object),
    "pandas NaN among objects": pandas_of([None, np.nan, pd.NA, pd.NaT], object),
    "pandas ArrowDtype null": pandas_of([None] * 4, pd.ArrowDtype(pa.null())),
    "pandas category of nothing": pandas_of([None] * 4, "category"),
    "polars": pl.DataFrame({"c": [None] * 4}),
    "arrow": arrow_of([None] * 4, pa.null()),
    "lists": [[None], [None], [None], [float("nan")]],
    "objects": np.full((4, 1), None),
}


@pytest.mark.parametrize("table", EMPTY.values(), ids=EMPTY)
def test_a_column_without_a_cell_is_undecided(table):
    summary = summarize(table, Y)
    assert summary.schema.kinds == ("undecided",)
    model = NaiveBayes().fit(table, Y)
    assert model.predict_proba(table).tolist() == [[0.5, 0.5]] * 4
    assert GaussianNB().fit(table, Y).predict_proba(table).tolist() == [[0.5, 0.5]] * 4


def test_a_float_column_of_nan_holds_numbers():
    assert schema_of(pd.DataFrame({"c": [np.nan, np.nan]})).held == ("number",)


def test_dummies_that_are_sparse_learn_what_dense_ones_do():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 6, 400)
    y = (town + (rng.random(400) < 0.1)) % 2
    texts = pd.Series([f"town {t}" for t in town], name="town")
    sparse, dense = (
        pd.get_dummies(texts, sparse=s).astype(t)
        for s, t in ((True, pd.SparseDtype(float, 0.0)), (False, float))
    )
    plain = pd.get_dummies(texts, sparse=True)
    for estimator in (NaiveBayes(), GaussianNB()):
        expected = estimator.fit(dense, y).predict_proba(dense)
        found = estimator.fit(sparse, y).predict_proba(sparse)
        np.testing.assert_allclose(found, expected, rtol=1e-12)  # zeros are added at once
        flags = estimator.fit(pd.get_dummies(texts), y).predict_proba(pd.get_dummies(texts))
        found = estimator.fit(plain, y).predict_proba(plain)
        np.testing.assert_allclose(found, flags, rtol=1e-12)
    assert NaiveBayes().fit(plain, y).accuracy(plain, y) > 0.85


@pytest.mark.parametrize("estimator", [NaiveBayes(), GaussianNB(), CategoricalNB()])
def test_a_masked_cell_is_missing(estimator):
    cells = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
    mask = np.zeros_like(cells, dtype=bool)
    mask[::3, 1] = True
    masked, holes = np.ma.array(cells, mask=mask), np.where(mask, np.nan, cells)
    y = [0, 1, 1, 0] * 5
    expected = estimator.fit(holes, y).predict_proba(holes)
    np.testing.assert_array_equal(estimator.fit(masked, y).predict_proba(masked), expected)


@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.coo_array])
def test_codes_in_a_sparse_matrix_are_an_error_that_says_how_to_make_it_dense(form):
    X = form(np.eye(4, dtype=int))
    with pytest.raises(NaivelyError, match=r"sparse .*X\.toarray\(\)"):
        CategoricalNB().fit(X, Y)
    with pytest.raises(NaivelyError, match=r"X\.toarray\(\)"):
        CategoricalNB().fit(np.eye(4, dtype=int), Y).predict(X)


def test_text_in_lists_names_naive_bayes():
    for estimator in (GaussianNB(), CategoricalNB()):
        with pytest.raises(NaivelyError, match="Use NaiveBayes"):
            estimator.fit([["a"], ["b"]], [0, 1])


AGES = pd.DataFrame({"age": [30.0, 40.0, 50.0, 60.0]})
NO_NUMBERS = {
    "text": pd.DataFrame({"age": ["thirty", "forty", "fifty", "sixty"]}),
    "categories": pd.DataFrame({"age": pd.Categorical([30, 40, 50, 60])}),
    "dates": pd.DataFrame({"age": pd.date_range("2024-02-29", periods=4)}),
}


@pytest.mark.parametrize("held", NO_NUMBERS)
@pytest.mark.parametrize("call", ["fit", "partial_fit", "predict", "predict_one"])
def test_a_column_that_must_hold_numbers_names_what_nobody_has_done_yet(call, held):
    table = NO_NUMBERS[held]
    if call == "fit":
        model = NaiveBayes(families={"age": "gaussian"})
        got = (table, Y)
    else:
        model = NaiveBayes(calibration=None).fit(AGES, Y)
        got = (table, Y) if call == "partial_fit" else (table,)
    if call == "predict_one":
        if held == "categories":
            return  # a cell alone is a number
        got = (table.iloc[0].to_dict(),)
    match = rf"age' (must hold numbers; got|holds).*fit NaiveBayes on the {held}.* without a family"
    with pytest.raises(NaivelyError, match=match):
        getattr(model, call)(*got)


# --- columns that are decided later ---------------------------------------------------------------

ROWS = {"number": [1.5, 2.5, None, 4.0], "category": ["x", "y", None, "x"]}


def later(kind):
    return [[7.0, None], [8.0, None]], [[5.0, v] for v in ROWS[kind]]


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("calibration", ["weights", None])
def test_a_column_that_is_empty_in_the_first_batch_is_decided_by_its_first_cell(
    kind, calibration, tmp_path
):
    first, second = later(kind)
    model = NaiveBayes(calibration=calibration, open_classes=True).partial_fit(first, ["a", "b"])
    assert model.summary_.schema.kinds == ("number", "undecided")
    before = model.predict_proba([[7.0, "anything"], [7.0, 3.0], [7.0, None]])
    assert (before == before[2]).all()
    model.save(tmp_path / "model")
    model = load(tmp_path / "model").partial_fit(second, ["a", "b", "a", "b"])
    assert model.summary_.schema.kinds == (None if kind == "number" else ("number", "category"))
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").summary_ == model.summary_
    whole = NaiveBayes(calibration=calibration).fit([*first, *second], ["a", "b"] * 3)
    assert (model.summary_.moments.weight == whole.summary_.moments.weight).all()
    assert model.summary_.tallies == whole.summary_.tallies
    assert np.isfinite(model.predict_proba(second)).all()
    if calibration is None:
        np.testing.assert_array_equal(model.predict_proba(second), whole.predict_proba(second))


@pytest.mark.parametrize("kind", ROWS)
def test_undecided_summaries_add_in_every_order(kind):
    first, second = later(kind)
    a, b, c = (
        summarize(first, ["a", "b"]),
        summarize(second, ["a", "b", "a", "b"]),
        summarize(np.array([[1.0, None]], dtype=object), ["c"]),
    )
    whole = summarize([*first, *second, [1.0, None]], ["a", "b"] * 3 + ["c"])
    assert a + c == c + a
    for total in (a + b + c, a + (b + c), (c + b) + a, (a + c) + b, b + (c + a)):
        assert total.schema == whole.schema
        np.testing.assert_allclose(total.moments.values, whole.moments.values, 1e-14, 1e-15)
        assert total.tallies == whole.tallies
    assert ((a + b) - b).schema == whole.schema
    assert (((a + b) - b).moments.weight == (a + 0 * b).moments.weight).all()


def test_a_later_batch_of_the_other_kind_is_an_error():
    model = NaiveBayes(open_classes=True).partial_fit([[1.0, None]], ["a"])
    model.partial_fit([[1.0, 2.0]], ["b"])
    with pytest.raises(NaivelyError, match="column 1 must hold numbers; got text"):
        model.partial_fit([[1.0, "x"]], ["b"])


@pytest.mark.parametrize("kind", ROWS)
def test_rows_can_be_forgotten_that_were_seen_before_a_column_was_decided(kind):
    first, second = later(kind)
    model = NaiveBayes(open_classes=True).partial_fit(first, ["a", "b"])
    model.partial_fit(second, ["a", "b", "a", "b"]).forget(first, ["a", "b"])
    alone = NaiveBayes(open_classes=True).partial_fit(second, ["a", "b", "a", "b"])
    assert model.summary_.tallies == alone.summary_.tallies
    assert len(model.summary_.sample) == len(alone.summary_.sample) == 4
    assert (model.summary_.moments.weight == alone.summary_.moments.weight).all()
