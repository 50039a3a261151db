"""
A nomogram
==========

A naive Bayes model can be used with pencil and paper. Find the points of each value on the first
line, add them up, and read the probability off the last line. The dots are one flower.
"""

from sklearn.datasets import load_iris

from naively import GaussianNB
from naively.plots import NomogramDisplay

iris = load_iris(as_frame=True)
species = iris.target_names[iris.target]
model = GaussianNB(variance="shared").fit(iris.data, species)
NomogramDisplay.from_estimator(model, iris.data, 126, of="virginica", against="versicolor")
