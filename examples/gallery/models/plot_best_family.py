"""
The best family of each column
==============================

``families="best"`` compares all families that a column allows by the log density of unseen rows,
without reading the data again.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from naively import NaiveBayes

rng = np.random.default_rng(0)
y = rng.choice(["a", "b"], 2_000)
second = y == "b"
frame = pd.DataFrame(
    {
        "amount": rng.lognormal(3 + second, 0.6),
        "height": rng.normal(170 + 8 * second, 7),
        "visits": rng.poisson(2 + 2 * second),
    }
)
model = NaiveBayes(families="best").fit(frame, y)

fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for ax, (column, scores) in zip(axes, model.family_scores_.items(), strict=True):
    names = list(scores)[:5][::-1]
    ax.plot([scores[name] for name in names], names, "o")
    ax.set(title=column, xlabel="mean log density")
