"""
Dask arrays
===========

Each partition is summarized where it is; only summaries travel. Predictions are lazy.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from naively import GaussianNB

rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 90_000)
cells = rng.normal(labels[:, np.newaxis] * [2.0, -1.0], size=(90_000, 2))
X, y = da.from_array(cells, chunks=(10_000, 2)), da.from_array(labels, chunks=10_000)

model = GaussianNB().fit(X, y)
answers = model.predict(X)  # a Dask array: nothing is computed so far
print(answers)

some = slice(0, 3_000)
fig, ax = plt.subplots()
_ = ax.scatter(*cells[some].T, c=answers[some].compute(), s=4, cmap="viridis")
