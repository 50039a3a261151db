"""
Columns that say something only together
========================================

Each of these two columns alone tells nothing about the class. Plain naive Bayes is no better than
a coin here. `NaiveBayes` finds the interaction.
"""

import numpy as np
import pandas as pd

from naively import NaiveBayes
from naively.plots import DecisionRegionDisplay

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(1_000, 2)), columns=["a", "b"])
label = np.where((frame["a"] > 0) == (frame["b"] > 0), "alike", "apart")

naive = NaiveBayes(interactions=None).fit(frame, label)
model = NaiveBayes().fit(frame, label)
print(f"accuracy without interactions: {naive.accuracy(frame, label):.2f}")
print(f"accuracy with interactions: {model.accuracy(frame, label):.2f}")
DecisionRegionDisplay.from_estimator(model, frame, label, curve=None)
