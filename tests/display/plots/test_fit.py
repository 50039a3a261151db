"""Histograms of the probability integral transform."""

import numpy as np
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError, diagnose
from naively.plots import FitDisplay
from tests.figures import plt
from tests.inspection.diagnosis.tables import clean, gaussian, with_column


@pytest.fixture
def found():
    return diagnose(gaussian(*with_column("income", lambda X, y, rng: rng.lognormal(2, 1, len(X)))))


def test_the_worst_fits_are_drawn_first(found):
    display = found.plot()
    assert sorted(fit.column for fit in display.fits) == [*"abcd", "income"]
    assert display.fits[0].column == "income"
    assert display.fits[0].distance == max(fit.distance for fit in found.fits)
    for bars, fit in zip(display.bars_, display.fits, strict=True):
        np.testing.assert_allclose([bar.get_height() for bar in bars], fit.histogram)
        assert fit.histogram.sum() == pytest.approx(1.0)
    distances = [fit.distance for fit in display.fits]
    assert distances == sorted(distances, reverse=True)


def test_a_column_is_drawn_class_by_class(found):
    display = found.plot(column="a")
    assert [(fit.column, fit.label) for fit in display.fits] == [("a", "no"), ("a", "yes")]


def test_it_is_drawn_in_the_place_of_an_axes(found):
    _, axes = plt.subplots(1, 2)
    display = FitDisplay.from_diagnosis(found, max_panels=1, ax=axes[0])
    assert len(display.bars_) == 1
    assert display.figure_.figure is axes[1].figure


def test_bars_of_a_family_that_fits_are_level():
    model = NaiveBayes(families=dict.fromkeys("abcd", "gaussian")).fit(*clean(n=4000))
    for fit in FitDisplay.from_estimator(model).fits:
        deviation = np.sqrt(0.05 * 0.95 / fit.n_rows)
        assert np.abs(fit.histogram - 0.05).max() < 4 * deviation


def test_counts_are_spread_over_their_own_probability():
    X, y = with_column("n", lambda X, y, rng: rng.poisson(2, len(X)), n=4000)
    display = diagnose(NaiveBayes(families={"n": "poisson"}).fit(X, y)).plot(column="n")
    for fit in display.fits:
        assert np.abs(fit.histogram - 0.05).max() < 4 * np.sqrt(0.05 * 0.95 / fit.n_rows)


def test_bad_requests_are_clear_errors(found):
    with pytest.raises(NaivelyError, match=r"none of column 'z', but of 'a', 'b'"):
        found.plot(column="z")
    with pytest.raises(NaivelyError, match="max_panels must be at least 1; got 0"):
        found.plot(max_panels=0)
    with pytest.raises(NaivelyError, match="the diagnosis has none of any column"):
        FitDisplay.from_estimator(GaussianNB().fit(np.eye(4), [0, 0, 1, 1]))
