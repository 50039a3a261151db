"""Interactions: what columns say together, read off the sample of rows that a summary holds.

Naive Bayes adds up what each column says by itself. Three further terms add what several say
together, and calibration weighs them with the others:

- `canonical`: directions in which the classes differ, as columns that are computed;
- `quadratic`: one Student t in all numbers together, with a scatter for each class;
- `pairs`: tables of two columns, where the model does not explain what they say together.

All are read off the sample, so nothing more is measured: they merge, subtract and decay with it.
"""

from naively.interactions.interaction import Interactions
from naively.interactions.read import KINDS, read_interactions

__all__ = ["KINDS", "Interactions", "read_interactions"]
