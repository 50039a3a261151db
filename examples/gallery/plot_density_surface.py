"""
The density of children and adults
==================================

The lecture's example: the product of two bell curves is a surface over height and weight.
"""

import numpy as np

from naively import GaussianNB
from naively.plots import DensitySurfaceDisplay

height = [110, 115, 120, 122, 125, 128, 130, 133, 135, 138, 140, 145, 160, 170, 175, 185]
weight = [19, 21, 22, 25, 24, 27, 28, 30, 31, 33, 35, 38, 55, 68, 72, 85]
people = np.array([height, weight], dtype=float).T
age = ["child"] * 12 + ["adult"] * 4

model = GaussianNB(ddof=1).fit(people, age)
DensitySurfaceDisplay.from_estimator(model, feature_names=["height", "weight"])
