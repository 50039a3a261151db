"""
Let old data fade
=================

With ``decay`` each batch multiplies what was seen before, so the model follows a stream that
changes. A `Summary` can be multiplied by a number, and it can be looked into.
"""

import matplotlib.pyplot as plt
import numpy as np

from naively import GaussianNB, Summary, summarize
from naively.data.schema import Schema
from naively.statistics import Moments

rng = np.random.default_rng(0)
schema = Schema(1, ("temperature",))
batches = [rng.normal(10 + 0.1 * day, 1, size=(50, 1)) for day in range(100)]
labels = ["winter"] * 50

fig, ax = plt.subplots()
for decay in (1.0, 0.95, 0.8):
    seen: Summary | None = None
    means = []
    for batch in batches:
        new = summarize(batch, labels, schema=schema)
        seen = new if seen is None else decay * seen + new
        means.append(seen[Moments].mean[0, 0])
    ax.plot(means, label=f"decay {decay}")
ax.plot([10 + 0.1 * day for day in range(100)], color="grey", linestyle=":", label="truth")
ax.set(xlabel="batch", ylabel="mean")
ax.legend()

# %%
# `GaussianNB(decay=0.8)` does the same in `partial_fit`:
model = GaussianNB(decay=0.8)
for batch in batches:
    model.partial_fit(batch, labels, classes=["winter"])
assert np.isclose(model.theta_[0, 0], means[-1])
