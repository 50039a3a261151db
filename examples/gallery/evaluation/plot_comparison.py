"""
Side by side with scikit-learn
==============================

`compare` fits both classifiers on the same split: agreement, accuracy, confidence and time.
"""

from sklearn.datasets import load_breast_cancer

from naively import compare
from naively.plots import ConfusionDisplay, accuracy_bars, time_bars

both = compare(*load_breast_cancer(return_X_y=True), test_size=0.3, random_state=42)
print(both)
ConfusionDisplay.from_comparison(both)

# %%
accuracy_bars(both)

# %%
time_bars(both)
