"""Functions of cells have the same moments in every engine, and their values are those of NumPy."""

import numpy as np
import pyarrow as pa
import pytest

from naively import NaivelyError
from naively.data.functions import FUNCTIONS, ColumnFunction, function_values
from naively.data.schema import Schema
from naively.statistics import FunctionMoments
from tests import databases
from tests.every_engine import ENGINES, OF_NUMBERS

pytestmark = databases.QUIET

N = 60
RNG = np.random.default_rng(3)
X = np.column_stack([RNG.normal(size=N), RNG.random(N), RNG.poisson(2.0, N), 1e-3 * np.arange(N)])
X[::7, 0] = np.nan
X[:3, 1] = [1.0, 0.0, 2.0]
TABLE = pa.table({name: pa.array(x, mask=np.isnan(x)) for name, x in zip("abcd", X.T, strict=True)})
Y = ["n", "y", "y"] * (N // 3)
SCHEMA = Schema(
    4,
    (*"abcd",),
    functions=tuple(ColumnFunction(j, name, 0.7) for j in range(4) for name in FUNCTIONS),
)


def expected(w):
    """Weight, mean and m2 by plain sums."""
    found = np.zeros((3, 2, len(SCHEMA.functions)))
    for f, (j, name, period) in enumerate(SCHEMA.functions):
        values = function_values(name, X[:, j], period)
        for k, label in enumerate("ny"):
            own = (np.array(Y) == label) & ~np.isnan(values) & (w > 0)
            if own.any():
                mean = np.average(values[own], weights=w[own])
                squares = w[own] @ (values[own] - mean) ** 2
                found[:, k, f] = w[own].sum(), mean, squares
    return found


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("where", ENGINES)
def test_moments_of_functions_are_the_same_everywhere(where, weighted, tmp_path):
    schema = Schema(4, functions=SCHEMA.functions) if where in OF_NUMBERS else SCHEMA
    w = np.linspace(0, 2, N) if weighted else None
    found = ENGINES[where](TABLE, Y, tmp_path, schema=schema, w=w)[FunctionMoments]
    # Counts and sines around 0 are summed from logarithms as small as -7: to a few ulp of those.
    theirs = expected(np.ones(N) if w is None else w)
    np.testing.assert_allclose(found.values[:3], theirs, rtol=1e-11, atol=1e-12)


def test_a_function_has_no_value_where_it_has_none():
    cells = np.array([-1.0, 0.0, 0.25, 1.0, 1.5, 2.0, np.nan])
    known = {name: ~np.isnan(function_values(name, cells)) for name in FUNCTIONS}
    assert known["log"].tolist() == known["positive"].tolist() == [False, False, *[True] * 4, False]
    assert known["log_share"].tolist() == known["log_rest"].tolist()
    assert np.flatnonzero(known["log_rest"]).tolist() == [2]
    assert np.flatnonzero(known["count"]).tolist() == [1, 3, 5]
    assert np.flatnonzero(known["not_negative"]).tolist() == [1, 2, 3, 4, 5]
    assert known["cos"].tolist() == known["sin"].tolist() == [*[True] * 6, False]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_finite_cell_has_a_finite_value_or_none(name):
    cells = np.array([1.7e308, -1.7e308, 1e300, 5e-324, -5e-324, 1 - 2**-53, 0.0, -0.0, 1e9])
    assert not np.isinf(function_values(name, cells, period=2 * np.pi)).any()


def test_summaries_of_other_functions_do_not_add():
    a, b = (
        ENGINES["array"](TABLE, Y, None, schema=Schema(4, functions=functions))
        for functions in (SCHEMA.functions[:1], SCHEMA.functions[1:2])
    )
    with pytest.raises(NaivelyError, match="must measure the same functions"):
        a + b


def test_columns_that_are_chosen_keep_their_functions():
    whole = ENGINES["array"](TABLE, Y, None, schema=Schema(4, functions=SCHEMA.functions))
    some = whole.with_columns([2, 0])
    assert [f.column for f in some.schema.functions] == [0] * len(FUNCTIONS) + [1] * len(FUNCTIONS)
    alone = ENGINES["array"](
        TABLE.select(["c", "a"]), Y, None, schema=Schema(2, functions=some.schema.functions)
    )
    assert some[FunctionMoments] == alone[FunctionMoments]
