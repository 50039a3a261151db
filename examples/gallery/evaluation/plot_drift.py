"""
Has the data changed?
=====================

New rows are compared with the summary that the model keeps; the old rows are not needed. A bar is
grey if chance explains the change.
"""

import numpy as np
from sklearn.datasets import load_wine

from naively import NaiveBayes, drift
from naively.plots import DriftDisplay

wine = load_wine(as_frame=True)
order = np.random.default_rng(0).permutation(len(wine.data))
old, new = wine.data.iloc[order[:100]], wine.data.iloc[order[100:]].copy()
new["alcohol"] += 1.0  # another scale
new.loc[new.index[::3], "hue"] = None  # a broken sensor
model = NaiveBayes().fit(old, wine.target.iloc[order[:100]])

found = drift(model, new)
print(found)
DriftDisplay.from_drift(found)
