"""
Children and adults
===================

The example of the lecture: is a person a child or an adult, given height and weight? First the
densities of the two columns within the two classes.
"""

import numpy as np

from naively import GaussianNB
from naively.plots import BellCurveDisplay, DecisionRegionDisplay, density_surface

height = [110, 115, 120, 122, 125, 128, 130, 133, 135, 138, 140, 145, 160, 170, 175, 185]
weight = [19, 21, 22, 25, 24, 27, 28, 30, 31, 33, 35, 38, 55, 68, 72, 85]
people = np.array([height, weight], dtype=float).T
age = ["child"] * 12 + ["adult"] * 4
names = ["height", "weight"]

model = GaussianNB(ddof=1).fit(people, age)
BellCurveDisplay.from_estimator(model, people, age, feature_names=names)

# %%
# Naive Bayes multiplies the densities of the columns. The product is a surface over both columns:
density_surface(model, feature_names=names)

# %%
# The predicted class, with the curves that contain 95 % of each class under the naive assumption.
# Their axes are parallel to the columns, because the model has no correlation:
DecisionRegionDisplay.from_estimator(model, people, age, feature_names=names)

# %%
# The Gaussians with correlation, as the data has it:
DecisionRegionDisplay.from_estimator(model, people, age, feature_names=names, curve="data")

# %%
# With one variance per column for both classes, the boundary is a straight line:
linear = GaussianNB(variance="shared", ddof=1).fit(people, age)
DecisionRegionDisplay.from_estimator(linear, people, age, feature_names=names)
