"""
A family for each kind of number
================================

Shares, durations, amounts, hours and counts have families of their own. Each panel shows the
cells of two classes and the fitted densities.
"""

import numpy as np
import pandas as pd

from naively import NaiveBayes
from naively.families import (
    Beta,
    Exponential,
    Gamma,
    KernelDensity,
    LogNormal,
    NegativeBinomial,
    Poisson,
    VonMises,
)
from naively.plots import BellCurveDisplay

rng = np.random.default_rng(0)
n = 3_000
late = rng.random(n) < 0.5
frame = pd.DataFrame(
    {
        "share": rng.beta(2 + 3 * late, 5),
        "waiting time": rng.exponential(1 + 2 * late),
        "duration": rng.gamma(3, 1 + late),
        "income": rng.lognormal(1, 0.5 + 0.3 * late),
        "hour": rng.normal(np.where(late, 22, 17), 3) % 24,
        "visits": rng.poisson(2 + 2 * late),
        "items": rng.negative_binomial(2, np.where(late, 0.2, 0.4)),
        "two peaks": rng.choice([-2.0, 2.0], n) * late + rng.normal(0, 0.5, n),
    }
)
families = {
    "share": Beta(),
    "waiting time": Exponential(),
    "duration": Gamma(),
    "income": LogNormal(),
    "hour": VonMises(period=24),  # 23:00 is near 1:00
    "visits": Poisson(),
    "items": NegativeBinomial(),  # counts that vary more than a Poisson's
    "two peaks": KernelDensity(),
}
answer = np.where(late, "late", "early")
model = NaiveBayes(families=families, interactions=None).fit(frame, answer)
BellCurveDisplay.from_estimator(model, frame, answer)
