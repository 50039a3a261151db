"""
Zeros and ones with BernoulliNB
===============================

Digits as black and white pixels. An absent pixel counts as much as a present one. The pictures
show the probability of each pixel in each class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from naively import BernoulliNB

X, y = load_digits(return_X_y=True)
model = BernoulliNB(binarize=7).fit(X, y)
print(f"accuracy {model.score(X, y):.3f}")

fig, axes = plt.subplots(2, 5, figsize=(8, 3.6), layout="constrained")
for ax, shares, digit in zip(
    axes.flat, np.exp(model.feature_log_prob_), model.classes_, strict=True
):
    ax.imshow(shares.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
    ax.set(title=digit, xticks=[], yticks=[])
