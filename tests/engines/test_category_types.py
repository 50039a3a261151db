"""Categories and labels are of a type: what another type does to them, and numbers kept apart."""

from copy import deepcopy
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from naively import GaussianNB, NaiveBayes, NaivelyError, load, summarize
from naively.data.labels import encode, union

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

Y = ["a", "b", "a", "b"]
NUMBERS = {
    "pandas int": pd.DataFrame({"c": [1, 2, 1, 3]}),
    "pandas float": pd.DataFrame({"c": [1.0, 2.0, 1.0, 3.0]}),
    "pandas objects": pd.DataFrame({"c": pd.Series([1, 2, 1, 3], dtype=object)}),
    "pandas category": pd.DataFrame({"c": pd.Categorical([1, 2, 1, 3])}),
    "polars": pl.DataFrame({"c": [1, 2, 1, 3]}),
    "arrow": pa.table({"c": [1, 2, 1, 3]}),
    "array": np.array([[1], [2], [1], [3]]),
    "rows": [[1], [2], [1], [3]],
}
TEXTS = {
    "pandas": pd.DataFrame({"c": ["1", "2", "1", "3"]}),
    "pandas category": pd.DataFrame({"c": pd.Categorical(["1", "2", "1", "3"])}),
    "polars": pl.DataFrame({"c": ["1", "2", "1", "3"]}),
    "arrow": pa.table({"c": ["1", "2", "1", "3"]}),
    "array": np.array([["1"], ["2"], ["1"], ["3"]]),
    "rows": [["1"], ["2"], ["1"], ["3"]],
}


@pytest.mark.parametrize("table", NUMBERS.values(), ids=NUMBERS.keys())
def test_numbers_given_for_categories_of_text_are_an_error_and_never_just_unseen(table):
    model = NaiveBayes().fit(TEXTS["pandas"], Y)
    with pytest.raises(NaivelyError, match="column 'c' must hold text, as it did when"):
        model.predict_proba(table)
    with pytest.raises(NaivelyError, match="column 'c' must hold text, as it did when"):
        model.predict_one([1])


@pytest.mark.parametrize("table", TEXTS.values(), ids=TEXTS.keys())
def test_text_given_for_categories_of_numbers_is_an_error_and_never_just_unseen(table):
    model = NaiveBayes(families={"c": "categorical"}).fit(NUMBERS["pandas int"], Y)
    with pytest.raises(NaivelyError, match=r"column 'c' must hold numbers, as it did.* got '1'"):
        model.predict_proba(table)
    with pytest.raises(NaivelyError, match=r"column 'c' must hold numbers, as it did.* got '1'"):
        model.predict_one({"c": "1"})


def test_a_column_of_missing_cells_is_missing_whatever_type_it_has():
    model = NaiveBayes().fit(TEXTS["pandas"], Y)
    missing = model.predict_proba_one([None])
    for cells in ([np.nan], pd.array([None], "Int64"), pd.Categorical([None], categories=[1, 2])):
        found = model.predict_proba(pd.DataFrame({"c": cells}))[0]
        np.testing.assert_array_equal(found, missing)


SPELLINGS = {
    "text": ["true", "False", "1", "0"],
    "numbers": [1, 0, 1, 0],
    "floats": [1.0, 0.0, 1.0, 0.0],
}


@pytest.mark.parametrize("cells", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_booleans_in_any_spelling_are_learned_as_they_are_predicted(cells):
    flags = pd.DataFrame({"c": [True, False, True, False]})
    model = NaiveBayes().fit(flags, Y)
    twice, spelled = deepcopy(model).partial_fit(flags, Y), deepcopy(model)
    for rows in (slice(0, 3), slice(3, 4)):
        spelled.partial_fit(pd.DataFrame({"c": cells[rows]}), Y[rows])
    assert spelled.summary_.categories[0].dtype == bool
    np.testing.assert_array_equal(spelled.predict_proba(flags), twice.predict_proba(flags))
    spelled.forget(pd.DataFrame({"c": cells}), Y)
    np.testing.assert_allclose(spelled.predict_proba(flags), model.predict_proba(flags), rtol=1e-9)


def test_what_is_no_boolean_is_not_learned_as_one():
    model = NaiveBayes().fit(pd.DataFrame({"c": [True, False, True, False]}), Y)
    with pytest.raises(NaivelyError, match="column 'c' must hold true or false"):
        model.partial_fit(pd.DataFrame({"c": [2, 0]}), ["a", "b"])
    flags, numbers = np.array([[True], [False]]), pd.DataFrame({0: pd.Categorical([0, 2])})
    with pytest.raises(NaivelyError, match="all of one type"):
        summarize(flags, ["a", "b"]) + summarize(numbers, ["a", "b"])


@pytest.mark.parametrize("cells", [[True, 1, 0, False], [1, True, False, 0], [0, None, True, 1]])
def test_numbers_beside_booleans_are_an_error_in_every_order(cells):
    column = np.empty((4, 1), dtype=object)
    column[:, 0] = cells
    frames = [column, pd.DataFrame({"c": pd.Series(cells, dtype=object)})]
    for table in [*frames, pl.DataFrame({"c": pl.Series(cells, dtype=pl.Object)})]:
        with pytest.raises(NaivelyError, match="all of one type; got boolean and number"):
            NaiveBayes().fit(table, Y)


MOMENT = datetime(2020, 1, 1)
DATES = {
    "array of nanoseconds": np.array([["2020"], ["2021"]] * 2, "M8[ns]"),
    "array of days": np.array([["2020"], ["2021"]] * 2, "M8[D]"),
    "pandas": pd.DataFrame({0: [MOMENT] * 4}),
    "pandas category": pd.DataFrame({0: pd.Categorical([pd.Timestamp(MOMENT)] * 4)}),
    "polars nanoseconds": pl.DataFrame({"0": [MOMENT] * 4}).cast(pl.Datetime("ns")),
    "polars durations": pl.DataFrame({"0": [timedelta(1)] * 4}).cast(pl.Duration("ns")),
    "arrow": pa.table({"0": pa.array([1] * 4, pa.timestamp("ns"))}),
}


@pytest.mark.parametrize("table", DATES.values(), ids=DATES.keys())
def test_dates_are_no_categories_even_if_a_family_is_given(table):
    key = "0" if isinstance(table, pl.DataFrame | pa.Table) else 0
    with pytest.raises(NaivelyError, match=r"column '?0'? holds (dates or times|times of day)"):
        NaiveBayes(families={key: "categorical"}).fit(table, Y)


DRESSES = {
    "decimals": pd.DataFrame({"c": [Decimal(1), Decimal(2), Decimal(1), Decimal(3)]}),
    "fractions": pd.DataFrame({"c": [Fraction(1), Fraction(2), Fraction(1), Fraction(3)]}),
    "polars decimals": pl.DataFrame({"c": [Decimal(1), Decimal(2), Decimal(1), Decimal(3)]}),
    "polars Int128": pl.DataFrame({"c": pl.Series([1, 2, 1, 3], dtype=pl.Int128)}),
    "arrow decimals": pa.table({"c": [Decimal(1), Decimal(2), Decimal(1), Decimal(3)]}),
    "sparse": pd.DataFrame({"c": pd.arrays.SparseArray([1, 2, 1, 3])}),
}


@pytest.mark.parametrize("table", DRESSES.values(), ids=DRESSES.keys())
def test_numbers_in_any_dress_are_the_same_categories(table, tmp_path):
    plain = NaiveBayes(families={"c": "categorical"}).fit(NUMBERS["pandas int"], Y)
    expected = plain.predict_proba(NUMBERS["pandas int"])
    np.testing.assert_array_equal(plain.predict_proba(table), expected)
    model = NaiveBayes(families={"c": "categorical"}).fit(table, Y)
    np.testing.assert_array_equal(model.predict_proba(NUMBERS["pandas int"]), expected)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(table), expected)


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_large_integers_stay_apart_as_categories(batch):
    cells = pd.DataFrame({"c": np.array([2**63, 2**63 + 1, 1, 2**53 + 1], dtype=np.uint64)})
    model = NaiveBayes(families={"c": "categorical"}, calibration=None, open_classes=True)
    for start in range(0, 4, batch):
        rows = slice(start, start + batch)
        model.partial_fit(cells[rows], Y[rows])
    assert model.summary_.categories[0].tolist() == [1, 2**53 + 1, 2**63, 2**63 + 1]
    np.testing.assert_array_equal(model.summary_.tally(0), [[1, 0, 1, 0], [0, 1, 0, 1]])


def test_integers_that_no_type_keeps_apart_are_an_error():
    for cells in ([2**63, -1], [2**53 + 1, 0.5], [2**70, 1]):
        table = pd.DataFrame({"c": pd.Series(cells, dtype=object)})
        with pytest.raises(NaivelyError, match="column 'c': integers must be from"):
            NaiveBayes(families={"c": "categorical"}).fit(table, ["a", "b"])


def test_large_labels_stay_apart_in_lists_and_when_they_are_united():
    labels, codes = encode([2**63, 2**63 + 1, 1])
    assert labels.tolist() == [1, 2**63, 2**63 + 1]
    assert codes.tolist() == [1, 2, 0]
    both = union(np.array([1, 2**53 + 1]), np.array([2**63], dtype=np.uint64))
    assert both.tolist() == [1, 2**53 + 1, 2**63]
    with pytest.raises(NaivelyError, match="integers must be from"):
        union(np.array([2**53 + 1]), np.array([0.5]))
    model = GaussianNB(open_classes=True).partial_fit([[0.0], [1.0]], [2**53, 2**53 + 1])
    model.partial_fit([[5.0], [9.0]], np.array([2**63, 2**63 + 1], dtype=np.uint64))
    assert model.classes_.tolist() == [2**53, 2**53 + 1, 2**63, 2**63 + 1]
    assert model.class_count_.tolist() == [1, 1, 1, 1]


def test_booleans_beside_numbers_are_booleans_in_rows_as_in_frames():
    rows = [[1.5, True], [2.5, False], [3.5, True], [0.5, False]]
    frame = pd.DataFrame(rows)
    assert summarize(rows, Y) == summarize(frame, Y)
    model = NaiveBayes().fit(rows, Y)
    assert model.summary_.schema.kinds == ("number", "category")
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(frame))


def test_integers_above_2_53_stay_apart_beside_fractions_in_rows():
    rows = [[5, 0.5], [2**53, 0.5], [2**53 + 1, 1.5], [2**53 + 1, 2.5]]
    frame = pd.DataFrame(rows, columns=["c", "x"])
    model = NaiveBayes(families={0: "categorical"}, calibration=None).fit(rows, Y)
    assert model.summary_.categories[0].tolist() == [5, 2**53, 2**53 + 1]
    named = NaiveBayes(families={"c": "categorical"}, calibration=None).fit(frame, Y)
    np.testing.assert_array_equal(model.predict_proba(rows), named.predict_proba(frame))
    stream = NaiveBayes(families={0: "categorical"}, calibration=None, open_classes=True)
    for row, label in zip(rows, Y, strict=True):
        stream.partial_fit([row], [label])
    assert stream.summary_.categories[0].tolist() == [5, 2**53, 2**53 + 1]


@pytest.mark.parametrize(
    "form",
    [
        lambda cells: [[np.int64(cell), 0.5] for cell in cells],
        lambda cells: [np.array([cell, 1]) for cell in cells[:-1]] + [np.array([cells[-1], 0.5])],
        lambda cells: np.ma.array(
            [[cell, 1] for cell in cells], mask=[[0, i > 1] for i in range(4)]
        ),
        lambda cells: csr_array([[cell, 1] for cell in cells]),
        lambda cells: csc_array([[cell, 1] for cell in cells]),
    ],
    ids=["NumPy's integers in lists", "arrays in a list", "masked", "csr", "csc"],
)
def test_integers_above_2_53_stay_apart_however_rows_are_given(form):
    cells = [2**53 + 1, 2**53 + 2, 2**53 + 3, 5]
    model = NaiveBayes(families={0: "categorical"}, calibration=None).fit(form(cells), Y)
    assert model.summary_.categories[0].tolist() == sorted(cells)
    expected = NaiveBayes(families={0: "categorical"}, calibration=None)
    expected.fit([[cell] for cell in cells], Y)
    assert model.summary_.tallies == expected.summary_.tallies


def test_categories_of_sparse_matrices_have_the_types_of_dense_ones():
    rng = np.random.default_rng(0)
    for dtype in (bool, np.int64, np.uint8, np.float64):
        X, y = rng.integers(0, 3, (40, 3)).astype(dtype), rng.integers(0, 2, 40)
        dense, sparse = (
            NaiveBayes(families=dict.fromkeys(range(3), "categorical")).fit(rows, y)
            for rows in (X, csr_array(X))
        )
        assert [c.dtype.kind for c in sparse.summary_.categories] == [
            c.dtype.kind for c in dense.summary_.categories
        ]
        np.testing.assert_array_equal(sparse.predict_proba(csr_array(X)), dense.predict_proba(X))


def test_small_integers_that_stand_twice_in_a_sparse_row_are_added_up():
    twice = csr_array((np.array([200, 100], np.uint8), [0, 0], [0, 2, 2]), shape=(2, 1))
    model = NaiveBayes(families={0: "categorical"}, calibration=None).fit(twice, ["a", "b"])
    assert model.summary_.categories[0].tolist() == [0, 300]


# --- intervals ------------------------------------------------------------------------------------


def test_intervals_are_called_by_their_text_in_tables_files_and_single_rows(tmp_path):
    size = np.random.default_rng(1).normal(5, 2, 80).clip(1, 9).round(1)
    y = np.where(size > 5, "large", "small")
    cut = pd.cut(pd.Series(size, name="size"), [0, 4, 6, 20]).to_frame()
    cut.assign(y=y).to_csv(tmp_path / "cut.csv", index=False)
    model = NaiveBayes(calibration=None)
    expected = model.fit(cut, y).predict_proba(cut)
    assert model.summary_.categories[0].tolist() == ["(0, 4]", "(4, 6]", "(6, 20]"]
    assert model.predict_proba(cut.astype(str)).tolist() == expected.tolist()
    rows = cut.to_dict("records")
    assert [model.predict_proba_one(row).tolist() for row in rows[:9]] == expected[:9].tolist()
    assert "(0, 4]" in str(model.counterfactual({"size": pd.Interval(6, 20)}))
    read = NaiveBayes.from_files(tmp_path / "cut.csv", target="y", calibration=None)
    assert read.predict_proba(cut).tolist() == expected.tolist()
    stream = NaiveBayes(calibration=None)
    for row, label in zip(rows, y, strict=True):
        stream.learn_one(row, label)
    np.testing.assert_allclose(stream.predict_proba(cut), expected, rtol=1e-12)


def test_periods_and_spans_are_errors_that_say_what_to_do():
    frame = pd.DataFrame({"when": pd.period_range("2024-01", periods=3, freq="M")})
    for column in (frame.when, frame.when.astype(object), frame.when.astype("category")):
        with pytest.raises(
            NaivelyError, match=r"'when' must hold .*[Pp]eriod.* Convert it, such as"
        ):
            NaiveBayes().fit(column.to_frame(), ["a", "a", "b"])


def test_levels_that_a_type_declares_and_no_row_has_are_not_counted():
    towns, y = ["Ulm", "Bonn", "Ulm"], ["a", "a", "b"]
    declared = pd.Categorical(towns, categories=["Bonn", "Kiel", "Ulm"])
    plain, typed = (pd.DataFrame({"town": cells}) for cells in (towns, declared))
    model = NaiveBayes(calibration=None).fit(typed, y)
    assert model.summary_.categories[0].tolist() == ["Bonn", "Ulm"]
    expected = NaiveBayes(calibration=None).fit(plain, y).predict_proba(plain)
    assert (model.predict_proba(typed) == expected).all()


@pytest.mark.parametrize("values", [["x", "y", "x"], ["x", None, "x"], [True, False, True]])
def test_a_value_that_a_dictionary_lists_twice_is_one_category(tmp_path, values):
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int8()), pa.array(values))
    coded = pa.table({"c": coded})
    plain = pa.table({"c": pa.array([*values, values[0]])})
    model = NaiveBayes(calibration=None).fit(coded, Y)
    expected = NaiveBayes(calibration=None).fit(plain, Y)
    assert model.summary_ == expected.summary_
    assert model.predict_proba(coded).tolist() == expected.predict_proba(plain).tolist()
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").summary_ == expected.summary_
