"""
Merge models, and remove rows
=============================

What a model has seen is a `Summary`. Summaries add and subtract.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from naively import GaussianNB, summarize

X, y = load_wine(return_X_y=True)
sites = [summarize(X[at::3], y[at::3]) for at in range(3)]  # three sites, each with its rows
merged = GaussianNB.from_summary(sum(sites[1:], start=sites[0]))
whole = GaussianNB().fit(X, y)

# %%
# Removing rows gives the model that never saw them:
merged.forget(X[:50], y[:50])
without = GaussianNB().fit(X[50:], y[50:])

fig, ax = plt.subplots()
ax.loglog(without.var_.ravel(), merged.var_.ravel(), "o", label="merged, then 50 rows removed")
ax.loglog(without.var_.ravel(), without.var_.ravel(), "-", label="equal")
ax.set(xlabel="variances without the rows", ylabel="variances after removal")
ax.legend()
print("largest relative difference:", np.abs(merged.var_ / without.var_ - 1).max())
