"""
Bell curves of each column
==========================

`GaussianNB` describes each column within each class by a bell curve. The histogram of the data
stands behind it.
"""

from sklearn.datasets import load_iris

from naively import GaussianNB
from naively.plots import BellCurveDisplay

iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
model = GaussianNB().fit(iris.data, species)
BellCurveDisplay.from_estimator(model, iris.data, species)
