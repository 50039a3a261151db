"""Edges of histograms: what rows and cells they look at, and what they do not."""

import numpy as np
import pytest

from naively.families.edges import edges

RNG = np.random.default_rng(3)
CELLS = np.column_stack(
    [RNG.normal(size=60), RNG.integers(9, size=60), np.repeat([0.0, 1e-9, 7e5], 20)]
)
CELLS[::7, 1] = np.nan


@pytest.mark.parametrize("bins", [4, 8, 16])
def test_a_row_of_weight_two_is_two_rows(bins):
    weight = RNG.integers(1, 4, size=60)
    found = edges(CELLS, bins, weight.astype(float))
    expected = edges(np.repeat(CELLS, weight, axis=0), bins)
    np.testing.assert_array_equal(found.cuts, expected.cuts)
    np.testing.assert_array_equal(found.knots, expected.knots)


@pytest.mark.parametrize("bins", [4, 8, 16])
def test_the_last_bits_of_equal_cells_do_not_tell_them_apart(bins):
    found = edges(np.nextafter(CELLS, RNG.choice([-np.inf, np.inf], CELLS.shape)), bins)
    np.testing.assert_allclose(found.cuts, edges(CELLS, bins).cuts, rtol=1e-15, atol=1e-300)


def test_cells_that_differ_little_beside_their_size_are_told_apart_where_all_do():
    cells = 1e8 + np.arange(8) * 1.5e-8
    assert len(np.unique(cells)) == 8
    assert np.unique(edges(cells[:, np.newaxis], 4).cuts).size == 3
