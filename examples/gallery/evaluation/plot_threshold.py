"""
Choose a threshold
==================

From which probability on is a tumour called malignant? The threshold may maximise the F1 score,
minimise a cost, or reach a given recall.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes, evaluate

table = load_breast_cancer(as_frame=True)
diagnosis = table.target_names[table.target]
result = evaluate(NaiveBayes(), table.data.iloc[:, :6], diagnosis, folds=5)

found = result.thresholds("recall", at_least=0.97, pos_label="malignant")
print(found)

# %%
# Every threshold that changes an answer is a candidate:
candidates = found.to_frame()
fig, ax = plt.subplots()
for name in ("precision", "recall", "f1"):
    ax.plot(candidates["threshold"], candidates[name], label=name)
ax.axvline(found.best.threshold, color="grey", linestyle=":")
ax.set(xlabel="threshold", ylim=(0, 1.02))
_ = ax.legend()
