"""
Costs of mistakes
=================

With ``costs[true, predicted]`` the model answers the class of the least expected cost. Missing a
tumour costs ten times a false alarm here.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from naively import NaiveBayes
from naively.plots import ConfusionDisplay

table = load_breast_cancer(as_frame=True)
diagnosis = table.target_names[table.target]
train, test, y_train, y_test = train_test_split(table.data, diagnosis, random_state=0)

ConfusionDisplay.from_estimator(NaiveBayes().fit(train, y_train), test, y_test)

# %%
# The classes are in alphabetical order: benign, malignant.
careful = NaiveBayes(costs=[[0, 1], [10, 0]]).fit(train, y_train)
ConfusionDisplay.from_estimator(careful, test, y_test)
