"""
Save and load a model
=====================

A model file holds arrays and text, never code. It is small, whatever the number of rows, because
it holds a summary.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import skops.io

import naively
from naively import TRUSTED_TYPES, GaussianNB, NaivelyError

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
rows, sizes = [100, 1_000, 10_000, 100_000], []
for n in rows:
    X = rng.normal(size=(n, 20))
    model = GaussianNB().fit(X, X[:, 0] > 0)
    model.save(folder / "model.safetensors")
    sizes.append((folder / "model.safetensors").stat().st_size / 1024)
served = naively.load(folder / "model.safetensors")
assert (served.predict(X) == model.predict(X)).all()

# %%
# A damaged file is an error:
(folder / "bad.safetensors").write_bytes(b"no model")
try:
    naively.load(folder / "bad.safetensors")
except NaivelyError as error:
    print(type(error).__name__)

# %%
# skops needs the list of types that it may create:
skops.io.dump(model, folder / "model.skops")
again = skops.io.load(folder / "model.skops", trusted=TRUSTED_TYPES)
assert (again.predict(X) == served.predict(X)).all()

# %%
# The size of the data, and of the model file:
fig, ax = plt.subplots()
ax.loglog(rows, [n * 20 * 8 / 1024 for n in rows], "o-", label="data")
ax.loglog(rows, sizes, "o-", label="model file")
ax.set(xlabel="rows", ylabel="KiB")
_ = ax.legend()
