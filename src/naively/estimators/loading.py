"""Load what was saved."""

from __future__ import annotations

import os

from naively.estimators._base import SummaryClassifier
from naively.estimators.bernoulli_nb import BernoulliNB
from naively.estimators.categorical_nb import CategoricalNB
from naively.estimators.classifiers import load_classifier
from naively.estimators.complement_nb import ComplementNB
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.multinomial_nb import MultinomialNB
from naively.estimators.naive_bayes import NaiveBayes

__all__ = ["ESTIMATORS", "TRUSTED_TYPES", "load"]

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
