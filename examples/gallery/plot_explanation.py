"""
Why this answer?
================

What each column contributes to the odds of one tumour. The contributions add up exactly.
"""

from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes

table = load_breast_cancer(as_frame=True)
diagnosis = table.target_names[table.target]
model = NaiveBayes().fit(table.data, diagnosis)
explanation = model.explain(table.data)
explanation.plot(13, max_terms=10)

# %%
# The smallest change of one cell that changes the answer:
print(model.counterfactual(table.data.iloc[[13]]))
