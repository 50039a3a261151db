"""
A stream with new classes
=========================

`partial_fit` learns batch after batch. With ``open_classes=True`` a class may appear at any time;
batches give the same model as all rows at once.
"""

import matplotlib.pyplot as plt
import numpy as np

from naively import GaussianNB

rng = np.random.default_rng(0)
centres = {"a": (0, 0), "b": (3, 0), "c": (0, 3)}
model = GaussianNB(open_classes=True)
sizes = []
for batch in range(30):
    classes = ["a", "b"] if batch < 15 else ["a", "b", "c"]  # the third comes later
    y = rng.choice(classes, 20)
    X = np.array([centres[k] for k in y]) + rng.normal(size=(20, 2))
    model.partial_fit(X, y)
    sizes.append(dict(zip(model.classes_, model.class_count_, strict=True)))

fig, ax = plt.subplots()
for name in "abc":
    ax.plot([seen.get(name, 0) for seen in sizes], label=name)
ax.set(xlabel="batch", ylabel="rows seen")
_ = ax.legend(title="class")
