"""
Text beside other columns
=========================

A table may hold text, categories and numbers. `Text` reads the words of a column; its options say
how. The picture shows what each column contributes to one answer.
"""

import numpy as np
import pandas as pd

from naively import NaiveBayes
from naively.families import Bernoulli, Categorical, Text

rng = np.random.default_rng(0)
words = {
    "yes": ["cheap", "prize", "winner", "offer", "click", "now", "free"],
    "no": ["meeting", "lunch", "report", "notes", "project", "monday", "thanks"],
}
both = ["please", "see", "the", "attached", "message", "from", "us"]
spam = rng.choice(["no", "yes"], 400, p=[0.7, 0.3])
mail = pd.DataFrame(
    {
        "text": [" ".join(rng.choice(words[kind] + both, 8)) for kind in spam],
        "sender": np.where(rng.random(400) < 0.2 + 0.6 * (spam == "yes"), "unknown", "known"),
        "has link": (rng.random(400) < 0.2 + 0.5 * (spam == "yes")).astype(int),
    }
)
families = {"text": Text(), "sender": Categorical(), "has link": Bernoulli()}
model = NaiveBayes(families=families, interactions=None).fit(mail, spam)

new = {"text": "a free lunch", "sender": "unknown", "has link": 1}
print(model.predict_proba_one(new))
model.explain(pd.DataFrame([new])).plot(0)
