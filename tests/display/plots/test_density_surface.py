"""Density surfaces: hills and contours."""

import numpy as np
from scipy.stats import chi2, multivariate_normal

from naively import GaussianNB
from naively.plots import (
    DensitySurfaceDisplay,
)
from tests.figures import AGE, PEOPLE, legend_of, said


def test_the_surface_is_the_product_of_two_bell_curves():
    model = GaussianNB(ddof=1).fit(PEOPLE, AGE)
    names = ["height", "weight"]
    display = DensitySurfaceDisplay.from_estimator(model, feature_names=names, grid=40)
    points = np.dstack(np.meshgrid(display.x0, display.x1))
    for k in range(2):
        exact = multivariate_normal(model.theta_[k], np.diag(model.var_[k])).pdf(points)
        np.testing.assert_allclose(display.density[k], exact, rtol=1e-9)
    assert display.ax_.name == "3d"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("height", "weight")
    assert legend_of(display.ax_) == ["adult", "child"]
    corners = np.asarray(display.surface_.get_facecolor())
    assert len(corners) == 39 * 39


def test_weighted_densities_win_where_the_class_wins():
    model = GaussianNB(ddof=1).fit(PEOPLE, AGE)
    display = DensitySurfaceDisplay.from_estimator(model, weighted=True, grid=40)
    points = np.dstack(np.meshgrid(display.x0, display.x1)).reshape(-1, 2)
    winner = model.classes_[display.density.argmax(axis=0)].ravel()
    assert (winner == model.predict(points)).all()
    assert "Densities times priors" in said(display)


def test_contours_hold_shares_of_their_class(petals):
    model, *_ = petals
    display = DensitySurfaceDisplay.from_estimator(model, kind="contours")
    for k, lines in enumerate(display.contours_):
        for line, level in zip(lines, (0.95, 0.75, 0.5, 0.25), strict=True):
            distance = (line.get_xydata() - model.theta_[k]) ** 2 / model.var_[k]
            np.testing.assert_allclose(distance.sum(axis=1), chi2.ppf(level, df=2))


def test_surface_and_contours_stand_side_by_side(petals):
    model, *_ = petals
    display = DensitySurfaceDisplay.from_estimator(model, kind="both", grid=30)
    assert [ax.name for ax in display.ax_] == ["3d", "rectilinear"]
    assert display.surface_ is not None
    assert len(display.contours_) == 3
