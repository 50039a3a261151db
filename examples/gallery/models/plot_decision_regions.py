"""
Decision regions of Iris
========================

Which class wins where, over the two petal columns. The ellipses hold 95 % of each class. They lie
along the axes, because naive Bayes takes columns as independent within a class.
"""

from sklearn.datasets import load_iris

from naively import GaussianNB
from naively.plots import DecisionRegionDisplay

iris = load_iris(as_frame=True)
petals = iris.data[["petal length (cm)", "petal width (cm)"]]
species = iris.target_names[iris.target]
model = GaussianNB().fit(petals, species)
DecisionRegionDisplay.from_estimator(model, petals, species)

# %%
# With probabilities as shades:
DecisionRegionDisplay.from_estimator(model, petals, species, shade="probabilities")
