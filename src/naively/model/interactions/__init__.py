"""Interactions: what columns say together, read off the rows and products that a summary holds.

Naive Bayes adds up what each column says by itself. Three further terms add what several say
together, and calibration weighs them with the others:

- `canonical`: directions in which the classes differ, as columns that are computed;
- `quadratic`: one Student t in all numbers together, with a scatter for each class;
- `pairs`: tables of two columns, where the model does not explain what they say together.

They are read off the sample of rows, and the first two off the products of all numbers where a
summary holds those: they merge, subtract and decay with it.
"""

from naively.model.interactions.features import MOST as MOST_FEATURES
from naively.model.interactions.terms import (
    INTERACTIONS,
    MOST_CLASSES,
    Interactions,
    UnseenInteractions,
    read_interactions,
    sample_for_interactions,
)

__all__ = ["INTERACTIONS", "MOST_CLASSES", "MOST_FEATURES", "Interactions", "UnseenInteractions"]
__all__ += ["read_interactions", "sample_for_interactions"]
