"""
Files larger than memory
========================

Files are read piece by piece, on all cores. Each day adds a summary, and the model of all days is
read off their sum.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from naively import GaussianNB, summarize

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for day in range(10):
    kind = rng.choice(["a", "b"], 5_000)
    size = rng.normal(np.where(kind == "a", 1.0 + 0.1 * day, 3.0))  # class a drifts
    pq.write_table(pa.table({"size": size, "kind": kind}), folder / f"{day}.parquet")

model = GaussianNB.from_files(folder / "*.parquet", target="kind")
days = [summarize(folder / f"{day}.parquet", target="kind") for day in range(10)]

fig, ax = plt.subplots()
for k, name in enumerate(model.classes_):
    ax.plot([GaussianNB.from_summary(day).theta_[k, 0] for day in days], "o-", label=name)
    ax.axhline(model.theta_[k, 0], color=f"C{k}", linestyle=":")
ax.set(xlabel="day", ylabel="mean of the column")
_ = ax.legend(title="class")
