"""
Missing cells
=============

A missing cell is skipped when a model learns, and its term is left out when it predicts. That is
exact; nothing is imputed. Here more and more cells of Breast Cancer are erased.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes, evaluate

X, y = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
shares = [0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
accuracies = []
for share in shares:
    holes = np.where(rng.random(X.shape) < share, np.nan, X)
    accuracies.append(evaluate(NaiveBayes(), holes, y, folds=5).accuracy)

fig, ax = plt.subplots()
ax.plot(shares, accuracies, "o-")
ax.set(xlabel="share of missing cells", ylabel="accuracy in five folds", ylim=(0.5, 1))
ax.axhline(np.mean(y == 1), color="grey", linestyle=":")
_ = ax.annotate("always the frequent class", (0.0, np.mean(y == 1) + 0.01), color="grey")
