"""
Side by side with scikit-learn
==============================

`compare` fits a classifier and scikit-learn's GaussianNB on the same split: agreement, accuracy,
confidence and time.
"""

from sklearn.datasets import load_breast_cancer

from naively import GaussianNB, compare
from naively.plots import ConfusionDisplay, accuracy_bars, time_bars

both = compare(GaussianNB(), *load_breast_cancer(return_X_y=True), test_size=0.3)
print(both)
ConfusionDisplay.from_comparison(both)

# %%
accuracy_bars(both)

# %%
time_bars(both)
