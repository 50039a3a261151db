"""
Why this answer?
================

Each bar is what a column adds to the log-odds of one tumour. The bars add up exactly to the
answer.
"""

from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes
from naively.plots import WaterfallDisplay

table = load_breast_cancer(as_frame=True)
diagnosis = table.target_names[table.target]
model = NaiveBayes().fit(table.data, diagnosis)
explanation = model.explain(table.data)
WaterfallDisplay.from_explanation(explanation, 13, max_terms=10)

# %%
# The smallest change of one cell that changes the answer:
print(model.counterfactual(table.data.iloc[[13]]))
