"""
ROC, precision-recall and gain curves
=====================================

Three curves of one class against the rest, over all thresholds, for two models on the same folds.
"""

from sklearn.datasets import load_breast_cancer

from naively import GaussianNB, NaiveBayes, evaluate
from naively.plots import GainDisplay, PrecisionRecallDisplay, RocCurveDisplay

table = load_breast_cancer(as_frame=True)
X, diagnosis = table.data.iloc[:, :6], table.target_names[table.target]
models = [evaluate(model, X, diagnosis, folds=5) for model in (GaussianNB(), NaiveBayes())]
options = {"pos_label": "malignant", "names": ["GaussianNB", "NaiveBayes"]}
RocCurveDisplay.from_evaluation(*models, **options)

# %%
# Precision and recall say more where the class is rare:
PrecisionRecallDisplay.from_evaluation(*models, **options)

# %%
# How many tumours are found if only the most suspicious rows are examined:
GainDisplay.from_evaluation(*models, **options)
