"""
Counts of words with MultinomialNB
==================================

The usual pipeline of scikit-learn, with another import.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from naively import MultinomialNB

mail = [
    "cheap pills buy now",
    "buy a prize now",
    "win a cheap prize",
    "lunch at noon",
    "notes of the meeting",
    "lunch after the meeting",
]
kind = ["spam", "spam", "spam", "ham", "ham", "ham"]
words = CountVectorizer()
counts = words.fit_transform(mail)  # a sparse matrix
model = MultinomialNB().fit(counts, kind)
print(model.predict(words.transform(["a cheap lunch"])))

# %%
# Which words are more frequent in spam (right) or in other mail (left):
log_odds = model.feature_log_prob_[1] - model.feature_log_prob_[0]
order = np.argsort(log_odds)
fig, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.barh(words.get_feature_names_out()[order], log_odds[order])
_ = ax.set_xlabel("log-odds of spam per occurrence")
