"""Every engine gives the exact moments of the same rows, whatever it cuts them into."""

from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from naively import summarize
from naively.data.schema import Schema
from naively.statistics import Documents, MissingCells, Occurrences
from tests import databases, oracles
from tests.every_engine import ENGINES, OF_NUMBERS, as_array

pytestmark = databases.QUIET

N = 240
NAMES = ["a", "b", "c"]


class Rows(NamedTuple):
    """Cells, labels and perhaps weights."""

    X: Any
    y: Any
    w: Any = None


def plain(rng):
    return Rows(rng.normal(size=(N, 3)), rng.integers(0, 3, N))


def weights(rng):
    w = rng.choice([0.0, 0.1, 1.0, 3.0], N)
    return plain(rng)._replace(w=w)


def missing_cells(rng):
    X, y, _ = plain(rng)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[y == 1, 2] = np.nan  # a class without a cell in a column
    return Rows(X, y)


def far_from_zero(rng):
    return Rows(rng.normal([1e8, -1e8, 1e8], size=(N, 3)), rng.integers(0, 3, N))


def classes_that_come_late(rng):
    X, y, _ = far_from_zero(rng)
    return Rows(X, np.sort(y))


def labels_of_text(rng):
    X, y, _ = plain(rng)
    return Rows(X, np.array(["no", "yes", "perhaps"])[y])


CASES = [plain, weights, missing_cells, far_from_zero, classes_that_come_late, labels_of_text]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def rows(request):
    return request.param(np.random.default_rng(0))


def table_of(rows):
    """Return the cells as an Arrow table, in which missing ones are null."""
    cells = zip(NAMES, rows.X.T, strict=True)
    return pa.table({name: pa.array(column, from_pandas=True) for name, column in cells})


def by_place(table, y, folder, w=None, **options):
    """Summarize as nobody does: one row at a time. It is an engine by standing in the registry."""
    rows = zip(as_array(table), np.asarray(y), np.ones(len(y)) if w is None else w, strict=True)
    parts = [summarize([x], [label], sample_weight=[weight]) for x, label, weight in rows]
    return reduce(add, parts)


@pytest.fixture(params=[*ENGINES, "one row at a time"])
def engine(request):
    """Return a function that gives the summary of a table, its labels and weights."""
    return ENGINES.get(request.param, by_place)


def test_every_engine_gives_the_exact_moments(engine, rows, tmp_path):
    got = engine(table_of(rows), rows.y, tmp_path, rows.w)
    seen = np.ones(N, bool) if rows.w is None else rows.w > 0
    classes, codes = np.unique(rows.y[seen], return_inverse=True)
    assert got.classes.tolist() == classes.tolist()
    w = None if rows.w is None else rows.w[seen]
    exact = np.array(oracles.moments(rows.X[seen], codes, classes.size, w), dtype=float)
    weight, mean, m2 = np.moveaxis(exact, 2, 0)
    # Sums of some hundred terms: a hundred ulp, relative to the cells for means, and for m2 to
    # itself, since deviations are taken before squares.
    largest = np.nanmax(np.abs(rows.X))
    np.testing.assert_allclose(got.class_weight, np.bincount(codes, w), rtol=1e-14)
    np.testing.assert_allclose(got.moments.weight, weight, rtol=1e-14)
    np.testing.assert_allclose(got.moments.mean, mean, rtol=0, atol=1e-15 * largest)
    np.testing.assert_allclose(got.moments.m2, m2, rtol=1e-13)


# --- columns of categories ---------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in ENGINES if name not in OF_NUMBERS])
def test_every_engine_counts_the_categories(name, tmp_path):
    rng = np.random.default_rng(0)
    towns = rng.choice(["Ulm", "Bonn", "Köln", None], N)
    towns[-1] = "Au"  # which comes late
    flags, y = rng.random(N) < 0.4, rng.choice(["no", "yes"], N)
    w = rng.choice([0.0, 0.5, 1.0, 3.0], N)  # sums without rounding
    table = pa.table({"size": rng.normal(size=N), "town": pa.array(towns), "flag": flags})
    got = ENGINES[name](table, y, tmp_path, w)
    assert got.schema.kinds == ("number", "category", "category")
    for j, cells in enumerate((towns, flags)):
        categories = sorted(
            {c for c, weight in zip(cells, w, strict=True) if c is not None and weight}
        )
        assert got.categories[j].tolist() == categories
        expected = [[w[(y == k) & (cells == c)].sum() for c in categories] for k in ("no", "yes")]
        np.testing.assert_array_equal(got.tally(j), expected)


# --- counts ------------------------------------------------------------------------------------

COUNTED = {
    "occurrences": Schema(3, tuple(NAMES), counted="occurrences"),
    "documents": Schema(3, tuple(NAMES), counted="documents", threshold=1.0),
}


@pytest.mark.parametrize("schema", COUNTED.values(), ids=COUNTED)
@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_counts_what_the_schema_says(name, schema, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, size=(N, 3)).astype(float), rng.choice(["no", "yes"], N)
    X[rng.random(X.shape) < 0.2] = np.nan
    w = rng.choice([0.0, 0.5, 1.0, 3.0], N)  # sums without rounding
    got = ENGINES[name](table_of(Rows(X, y)), y, tmp_path, w, schema=schema)
    counts = {Occurrences: np.nan_to_num(X)}
    if schema.counted == "documents":
        counts = {Documents: X > 1.0, MissingCells: np.isnan(X)}
    for statistic, cells in counts.items():
        expected = [(w[:, np.newaxis] * cells)[y == k].sum(axis=0) for k in ("no", "yes")]
        np.testing.assert_array_equal(got[statistic].values, expected)
