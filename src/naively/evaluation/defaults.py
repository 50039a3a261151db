"""The model that is judged where none is given: by what the columns of the table hold.

>>> default_model([[1.0, 2.0], [3.0, 4.0]])
GaussianNB()
>>> default_model([[1.0, "Ulm"], [3.0, "Bonn"]])
NaiveBayes()
"""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.data.kinds import CATEGORY, NUMBER, TEXT, Kind
from naively.engines.memory.native import is_frame
from naively.engines.memory.tables import schema_of, text_column
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.naive_bayes import NaiveBayes


def default_model(X: Any) -> GaussianNB | NaiveBayes:
    """Return `GaussianNB` where all columns hold numbers, else `NaiveBayes`."""
    return NaiveBayes() if has_categories(X) else GaussianNB()


def has_categories(X: Any) -> bool:
    """Whether a table holds text, booleans or categories; one that cannot be read does not."""
    return bool(kinds_among(X) & {CATEGORY, TEXT})


def kinds_among(X: Any) -> set[Kind]:
    """Return what the columns of a table hold; of one that cannot be read, nothing."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiu":
        return {NUMBER}
    if text_column(X, None) is not None:
        return {TEXT}
    try:
        return set(schema_of(X).held)
    except ValueError:
        if is_frame(X):  # a column of lists, say
            raise
        return set()  # the model says what is wrong with it
