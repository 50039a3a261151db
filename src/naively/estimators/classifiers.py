"""Classifiers by the name of their estimator, without scikit-learn where it is not needed.

Importing scikit-learn takes ten times as long as importing NumPy, and the command line only reads,
measures and scores files. What it fits and loads is what the estimators inherit from: the same
code, the same numbers, the same files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module

from naively import model_file
from naively.estimators._base import SummaryClassifier
from naively.exceptions import NaivelyError
from naively.remote import shown

__all__ = ["classifier", "load_classifier"]

_PLAIN = {"GaussianNB": "_gaussian.GaussianClassifier"}
_PLAIN |= {"NaiveBayes": "_naive_bayes.NaiveBayesClassifier"}


def classifier(name: str) -> type[SummaryClassifier]:
    """Return what an estimator does as a class; raise KeyError where there is no such estimator."""
    if name in _PLAIN:
        module, _, kind = _PLAIN[name].partition(".")
        found: type[SummaryClassifier] = getattr(
            import_module(f"naively.estimators.{module}"), kind
        )
        return found
    from naively.estimators.loading import ESTIMATORS

    return ESTIMATORS[name]


def load_classifier(
    path: str | os.PathLike[str], kind: Callable[[str], type[SummaryClassifier]] = classifier
) -> SummaryClassifier:
    """Load a model from a file that ``save`` wrote, as the class that ``kind`` returns."""
    content = model_file.read(path)
    try:
        loaded = kind(content.estimator)._from_text(content.summary, content.params)
        return loaded._with(content.dtype)
    except KeyError:
        problem = f"its estimator is {content.estimator!r}"
    except (TypeError, ValueError) as error:
        problem = str(error).rstrip(".")
    raise NaivelyError(f"{shown(path)!r} is not a valid model file: {problem}.")
