"""
A linear classifier by shared variances
=======================================

If all classes share the variance of a column, the boundary between two classes is a straight
line.
"""

from sklearn.datasets import load_iris

from naively import GaussianNB
from naively.plots import DecisionRegionDisplay

iris = load_iris(as_frame=True)
petals = iris.data[["petal length (cm)", "petal width (cm)"]]
species = iris.target_names[iris.target]

linear = GaussianNB(variance="shared").fit(petals, species)
DecisionRegionDisplay.from_estimator(linear, petals, species)

# %%
# Its weights and constants, as for any linear classifier of scikit-learn:
print(linear.coef_)
print(linear.intercept_)
