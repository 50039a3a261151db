"""
Weather and tennis with CategoricalNB
=====================================

The classical table of discrete naive Bayes. Shares are counted and smoothed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import OrdinalEncoder

from naively import CategoricalNB

table = np.array(
    [
        row.split()
        for row in (
            "sunny hot no",
            "sunny hot no",
            "overcast hot yes",
            "rain mild yes",
            "rain cool yes",
            "rain cool no",
            "overcast cool yes",
            "sunny mild no",
            "sunny cool yes",
            "rain mild yes",
            "sunny mild yes",
            "overcast mild yes",
            "overcast hot yes",
            "rain mild no",
        )
    ]
)
codes = OrdinalEncoder(dtype=int)
X, play = codes.fit_transform(table[:, :2]), table[:, 2]
model = CategoricalNB(alpha=1).fit(X, play)
print(model.predict_proba(codes.transform([["overcast", "cool"]])))

fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, name, logs, names in zip(
    axes, ["outlook", "temperature"], model.feature_log_prob_, codes.categories_, strict=True
):
    for k, label in enumerate(model.classes_):
        ax.bar(np.arange(len(names)) + 0.4 * k, np.exp(logs[k]), 0.4, label=label)
    ax.set(title=name, xticks=np.arange(len(names)) + 0.2, xticklabels=names)
_ = axes[0].legend(title="play")
