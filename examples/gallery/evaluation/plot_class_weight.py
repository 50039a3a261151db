"""
Rare classes
============

One row in fifty is a fraud. With ``class_weight`` the model behaves as if classes had other
frequencies. It changes the class probabilities only, so it can be changed after training.
"""

import matplotlib.pyplot as plt
import numpy as np

from naively import GaussianNB

rng = np.random.default_rng(0)
y = np.where(rng.random(20_000) < 0.02, "fraud", "usual")
X = rng.normal(np.where(y == "fraud", 1.5, 0.0)[:, np.newaxis], size=(20_000, 2))
summary = GaussianNB().fit(X, y).summary_

weights = [1, 2, 5, 10, 20, 50, 100]
found, alarms = [], []
for weight in weights:
    model = GaussianNB.from_summary(summary, class_weight={"fraud": weight})
    answers = model.predict(X)
    found.append(np.mean(answers[y == "fraud"] == "fraud"))
    alarms.append(np.mean(answers[y == "usual"] == "fraud"))
balanced = GaussianNB.from_summary(summary, class_weight="balanced")
print("class probabilities, balanced:", balanced.class_prior_)

fig, ax = plt.subplots()
ax.semilogx(weights, found, "o-", label="frauds that are found")
ax.semilogx(weights, alarms, "o-", label="false alarms among usual rows")
ax.set(xlabel="weight of the class fraud", ylabel="share")
_ = ax.legend()
