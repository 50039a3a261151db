"""Cells that are Python's objects: numbers in any dress, missing ones, and what is neither."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

Y = ["a", "b", "a", "b"]
DAYS = [np.datetime64("2020-01-01"), np.datetime64("2021-01-01"), np.datetime64("2021-01-02")]
DATES = {
    "datetime64, the last missing": [*DAYS, np.datetime64("NaT")],
    "timedelta64, the last missing": [np.timedelta64(1, "D")] * 3 + [np.timedelta64("NaT")],
    "pandas', the last missing": [pd.Timestamp("2020-01-01")] * 3 + [pd.NaT],
    "a single date": [None, date(2020, 1, 1), None, None],
}
CODES = {
    "NA": [pd.NA, 1, 0, 1],
    "NaT": [pd.NaT, 1, 0, 1],
    "None": [None, 1, 0, 1],
    "decimals": [Decimal("NaN"), Decimal(1), Decimal(0), Decimal(1)],
    "signalling NaN": [Decimal("sNaN"), Decimal(1), Decimal(0), Decimal(1)],
    "fractions": [None, Fraction(1), Fraction(0), Fraction(1)],
    "booleans": [None, True, False, True],
}


def column_of(cells):
    column = np.empty((len(cells), 1), dtype=object)
    column[:, 0] = cells
    return column


CONTAINERS = {
    "array": column_of,
    "rows": lambda cells: [[cell] for cell in cells],
    "pandas": lambda cells: pd.DataFrame({"c": pd.Series(cells, dtype=object)}),
    "polars": lambda cells: pl.DataFrame({"c": pl.Series(cells, dtype=pl.Object)}),
}


@pytest.fixture(params=CONTAINERS.values(), ids=CONTAINERS.keys())
def table_of(request):
    return request.param


@pytest.fixture(params=[GaussianNB, CategoricalNB, NaiveBayes])
def estimator(request):
    return request.param()


@pytest.mark.parametrize("name", DATES)
def test_dates_are_told_whichever_of_them_are_missing(estimator, table_of, name):
    table = table_of(DATES[name])
    if isinstance(estimator, NaiveBayes) and "timedelta" not in name:
        (source,) = estimator.fit(table, Y).summary_.schema.dates
        assert estimator.summary_.schema.names[0] == f"{source}.year"
        return
    with pytest.raises(NaivelyError, match=r"dates or times|times of day or durations"):
        estimator.fit(table, Y)


@pytest.mark.parametrize("cells", CODES.values(), ids=CODES.keys())
def test_missing_cells_among_numbers_are_missing_whatever_object_they_are(table_of, cells):
    plain = np.array([[np.nan], [1.0], [0.0], [1.0]])
    for estimator in (GaussianNB(), CategoricalNB()):
        expected = estimator.fit(plain, Y).predict_proba(plain)
        found = estimator.fit(table_of(cells), Y).predict_proba(table_of(cells))
        np.testing.assert_array_equal(found, expected)
        ones = [estimator.predict_proba_one([cell]) for cell in cells]
        np.testing.assert_allclose(ones, expected, atol=1e-15)


def test_an_integer_beyond_every_float64_is_told(estimator, table_of):
    with pytest.raises(NaivelyError, match=r"must hold numbers below 1\.8e308"):
        estimator.fit(table_of([10**400, 1, 2, 3]), Y)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("1", "text"),
        (b"1", "b'1'"),
        (date(2020, 1, 1), "dates or times"),
        (np.datetime64("2020-01-01"), "dates or times"),
        (1j, "numbers"),
        (10**400, "numbers below 1.8e308"),
        ([1], "row must have 2|such as"),
    ],
)
def test_one_row_is_read_by_the_rule_of_many(estimator, cell, told):
    estimator.fit([[0, 0], [1, 1], [0, 1], [1, 0]], Y)
    with pytest.raises(NaivelyError, match=told):
        estimator.predict_one([0, cell])
    with pytest.raises(NaivelyError, match=told):
        estimator.predict_proba_one([0, cell])


@pytest.mark.parametrize("row", [5, None, "12", np.array(3.0)])
def test_what_is_no_row_is_told(estimator, row):
    estimator.fit([[0, 0], [1, 1], [0, 1], [1, 0]], Y)
    with pytest.raises(NaivelyError, match=r"a row must|must hold numbers"):
        estimator.predict_one(row)


def test_the_mask_of_one_row_is_read(estimator):
    estimator.fit([[0, 0], [1, 1], [0, 1], [1, 0]], Y)
    row = np.ma.array([1, 1], mask=[False, True])
    np.testing.assert_array_equal(
        estimator.predict_proba_one(row), estimator.predict_proba_one([1, None])
    )
