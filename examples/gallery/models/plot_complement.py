"""
Classes of very unequal size with ComplementNB
==============================================

`MultinomialNB` prefers the class that has most of the words. `ComplementNB` learns each class from
the words of all other classes, which are many for every class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score

from naively import ComplementNB, MultinomialNB

rng = np.random.default_rng(0)
words, classes = 3_000, 8
frequency = 1 / np.arange(1, words + 1)  # Zipf's law, as in natural language
topics = rng.dirichlet(2 * words * frequency / frequency.sum(), size=classes)


def texts(sizes):
    y = np.repeat(np.arange(classes), sizes)
    return np.array([rng.multinomial(100, topics[k]) for k in y]), y


X_test, y_test = texts([100] * classes)
ratios = [1, 2, 5, 10, 20]
scores = {"MultinomialNB": [], "ComplementNB": []}
for ratio in ratios:
    X, y = texts([20 * ratio] + [20] * (classes - 1))
    for model in (MultinomialNB(), ComplementNB()):
        answers = model.fit(X, y).predict(X_test)
        scores[type(model).__name__].append(balanced_accuracy_score(y_test, answers))

fig, ax = plt.subplots()
for name, several in scores.items():
    ax.semilogx(ratios, several, "o-", label=name)
ax.set(xlabel="size of the first class / size of each other class", ylabel="balanced accuracy")
_ = ax.legend()
