"""
What would change the answer?
=============================

`counterfactual` finds the smallest change of one cell after which the model answers another class.
"""

from sklearn.datasets import load_iris

from naively import GaussianNB
from naively.plots import DecisionRegionDisplay

iris = load_iris(as_frame=True)
petals = iris.data[["petal length (cm)", "petal width (cm)"]]
species = iris.target_names[iris.target]
model = GaussianNB().fit(petals, species)
flower = petals.iloc[[114]]
found = model.counterfactual(flower)
print(found)

# %%
# The change as an arrow in the picture of decision regions:
display = DecisionRegionDisplay.from_estimator(model, petals, species)
before = flower.iloc[0]
after = before.copy()
(change,) = found.changes
after[change.column] = change.after
arrow = {"arrowstyle": "->", "linewidth": 2, "color": "black"}
_ = display.ax_.annotate("", tuple(after), tuple(before), arrowprops=arrow)
