"""
A table with numbers, categories and missing cells
==================================================

`NaiveBayes` describes each column by itself. Nothing has to be encoded or imputed.
"""

import numpy as np
import pandas as pd

from naively import NaiveBayes
from naively.plots import BellCurveDisplay

rng = np.random.default_rng(0)
n = 2_000
sick = rng.choice(["no", "yes"], n, p=[0.7, 0.3])
is_sick = sick == "yes"
people = pd.DataFrame(
    {
        "age": rng.normal(np.where(is_sick, 60, 40), 12).round(),
        "town": np.where(rng.random(n) < 0.3 + 0.3 * is_sick, "Bonn", "Ulm"),
        "visits": rng.poisson(np.where(is_sick, 4, 1)),
        "smokes": rng.random(n) < np.where(is_sick, 0.5, 0.2),
    }
)
people.loc[rng.random(n) < 0.1, "age"] = np.nan

model = NaiveBayes(families={"visits": "poisson"}).fit(people, sick)
BellCurveDisplay.from_estimator(model, people, sick)

# %%
# A row with a missing cell and a town that was never seen:
print(model.predict_proba_one({"age": None, "town": "Jena", "visits": 5, "smokes": True}))
