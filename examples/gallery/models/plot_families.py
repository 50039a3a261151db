"""
Another family for a column
===========================

The Gaussian is a poor description of a column with two peaks. A histogram follows the data.
"""

import numpy as np

from naively import NaiveBayes
from naively.families import Gaussian, Histogram, StudentT
from naively.plots import BellCurveDisplay

rng = np.random.default_rng(0)
y = np.repeat(["a", "b"], 1_000)
two_peaks = np.concatenate(
    [rng.choice([-2.0, 2.0], 1_000) + rng.normal(0, 0.5, 1_000), rng.normal(0, 0.5, 1_000)]
)
X = two_peaks[:, np.newaxis]

for family in (Gaussian(), StudentT(), Histogram()):
    model = NaiveBayes(families={0: family}, calibration=None, interactions=None).fit(X, y)
    print(f"{family}: log loss {model.loss(X, y):.3f}")
    BellCurveDisplay.from_estimator(model, X, y, feature_names=[str(family).split("(")[0]])
