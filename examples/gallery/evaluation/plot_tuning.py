"""
Choose parameters
=================

Each of 76 candidates is evaluated by cross-validation, yet the rows are read once: a candidate is
read off the summaries of the folds. Lower is better.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from naively import GaussianNB, tune
from naively.plots import TuningDisplay

X, y = load_breast_cancer(return_X_y=True)
grid = {
    "var_smoothing": np.logspace(-9, 0, 19),
    "smoothing": ["global", "column"],
    "variance": ["class", "shared"],
}
found = tune(GaussianNB(), X, y, grid=grid, folds=5)
print(found.best_params, f"log loss {found.best_score:.3f}")
TuningDisplay.from_tuning(found, parameter="var_smoothing")

# %%
# Sets of columns are candidates, too: here, the columns that differ most between the classes.
order = np.argsort(-np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)) / X.std(axis=0))
sets = [order[:n].tolist() for n in range(1, 31)]
tune(GaussianNB(smoothing="column"), X, y, grid={"columns": sets}).plot()
