"""
Which columns matter?
=====================

The importance of a column is the increase of the log loss on unseen rows when the column is left
out. The lines are one standard error. Nothing is fitted again.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from naively import NaiveBayes
from naively.plots import ImportanceDisplay

table = load_breast_cancer(as_frame=True)
diagnosis = table.target_names[table.target]
train, test, y_train, y_test = train_test_split(table.data, diagnosis, random_state=0)
model = NaiveBayes().fit(train, y_train)

# %%
# Without data, the sample of training rows is used that the model keeps. Each of its rows is
# scored as if it had not been seen.
print(model.importance_)

# %%
# With test data:
ImportanceDisplay.from_estimator(model, test, y_test, max_columns=12)
