"""
How far can probabilities be trusted?
=====================================

Breast Cancer in ten folds. The textbook's model is far too sure; `NaiveBayes` calibrates itself
without a second fit.
"""

from sklearn.datasets import load_breast_cancer

from naively import GaussianNB, NaiveBayes, evaluate
from naively.plots import ReliabilityDisplay

X, y = load_breast_cancer(return_X_y=True)
plain = evaluate(GaussianNB(), X, y, folds=10)
calibrated = evaluate(NaiveBayes(), X, y, folds=10)
print(f"log loss: {plain.loss:.3f} plain, {calibrated.loss:.3f} calibrated")
ReliabilityDisplay.from_evaluation(plain, other=calibrated, names=["GaussianNB", "NaiveBayes"])
