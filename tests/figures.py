"""What the tests of pictures share: small tables, and what is written on a figure."""

import matplotlib as mpl
import numpy as np
import pytest

from naively.plots import (
    DecisionRegionDisplay,
)

mpl.use("Agg")


plt = pytest.importorskip("matplotlib.pyplot")


PEOPLE = np.array(
    [[110, 115, 120, 122, 125, 128, 130, 133, 135, 138, 140, 145, 160, 170, 175, 185],
     [19, 21, 22, 25, 24, 27, 28, 30, 31, 33, 35, 38, 55, 68, 72, 85]], dtype=float
).T  # fmt: skip


AGE = np.array(["child"] * 12 + ["adult"] * 4)


PETALS = ["petal length (cm)", "petal width (cm)"]


def legend_of(place):
    legend = place.get_legend() if hasattr(place, "get_legend") else place.legends[0]
    return [text.get_text() for text in legend.get_texts()]


def said(display):
    """Everything that is written on a display's figure."""
    return "\n".join(text.get_text() for text in display.figure_.findobj(mpl.text.Text))


def in_r(petals, **options):
    model, X, y = petals
    options = {"step": 0.02, "extent": "data", **options}
    return DecisionRegionDisplay.from_estimator(model, X, y, **options)
