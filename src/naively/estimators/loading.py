"""Load what was saved.

Classifiers by the name of their estimator, without scikit-learn where it is not needed.

Importing scikit-learn takes ten times as long as importing NumPy, and the command line only reads,
measures and scores files. What it fits and loads is what the estimators inherit from: the same
code, the same numbers, the same files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module

from naively.data.remote import shown
from naively.errors import NaivelyError
from naively.estimators.bernoulli_nb import BernoulliNB
from naively.estimators.categorical_nb import CategoricalNB
from naively.estimators.complement_nb import ComplementNB
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.multinomial_nb import MultinomialNB
from naively.estimators.naive_bayes import NaiveBayes
from naively.statistics import file as model_file

ESTIMATORS: dict[str, type[SummaryClassifier]] = {
    "BernoulliNB": BernoulliNB,
    "CategoricalNB": CategoricalNB,
    "ComplementNB": ComplementNB,
    "GaussianNB": GaussianNB,
    "MultinomialNB": MultinomialNB,
    "NaiveBayes": NaiveBayes,
}

TRUSTED_TYPES = [f"{kind.__module__}.{kind.__name__}" for kind in ESTIMATORS.values()]
"""All that a file of skops holds of naively: the estimators, for ``skops.io.load(trusted=...)``."""


def load(path: str | os.PathLike[str]) -> SummaryClassifier:
    """Load a model from a file that ``save`` wrote.

    Loading runs no code, whatever the file holds. The model predicts the same bits as the saved
    one and can go on learning.

    Parameters
    ----------
    path : path-like
        The file, or the address of a remote one: "s3://bucket/model.safetensors".

    Returns
    -------
    GaussianNB, NaiveBayes, CategoricalNB, MultinomialNB, ComplementNB or BernoulliNB
        What was saved.

    Examples
    --------
    >>> import tempfile, pathlib, naively
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> naively.GaussianNB(ddof=1).fit([[0.0], [2.0]], ["a", "a"]).save(path)
    >>> naively.load(path)
    GaussianNB(ddof=1)
    """
    return load_classifier(path, ESTIMATORS.__getitem__)


# --- Classifiers by the name of their estimator, without scikit-learn where it is not needed ----


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
    # IMPORT-REMOVED

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
