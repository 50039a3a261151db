"""
Which columns separate the classes?
===================================

Displays of many columns draw those that separate the classes best. The measure is one minus the
mean overlap of the classes' curves. Unlike importance, it looks at each column alone.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from naively import summarize
from naively.plots import classes_by_separation, columns_by_separation, separation

wine = load_wine(as_frame=True)
summary = summarize(wine.data, wine.target_names[wine.target])
order = columns_by_separation(summary, wine.data.shape[1])[::-1]
print("the two classes that stand apart most:", summary.classes[classes_by_separation(summary, 2)])

fig, ax = plt.subplots(layout="constrained")
ax.barh(wine.data.columns[order], separation(summary)[order])
_ = ax.set(xlabel="separation", xlim=(0, 1))
