"""Estimators by their names, and loading what was saved.

A class is imported when it is asked for: importing scikit-learn takes ten times as long as
importing NumPy, and the command line only reads, measures and scores files. What it fits and loads
is what the estimators inherit from: the same code, the same numbers, the same files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

import numpy as np

from naively.data.remote import shown
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.statistics import model_file

_MODULES = {
    "BernoulliNB": "counts",
    "CategoricalNB": "categorical",
    "ComplementNB": "counts",
    "GaussianNB": "gaussian_nb",
    "MultinomialNB": "counts",
    "NaiveBayes": "naive_bayes",
}
_WITHOUT_SKLEARN = {
    "GaussianNB": ("gaussian", "GaussianClassifier"),
    "NaiveBayes": ("mixed", "NaiveBayesClassifier"),
}


class _Estimators(Mapping[str, type[SummaryClassifier]]):
    def __getitem__(self, name: str) -> type[SummaryClassifier]:
        return _imported(_MODULES[name], name)

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


def _imported(module: str, name: str) -> type[SummaryClassifier]:
    kind: type[SummaryClassifier] = getattr(import_module(f"naively.estimators.{module}"), name)
    return kind


ESTIMATORS: Mapping[str, type[SummaryClassifier]] = _Estimators()

TRUSTED_TYPES = [f"naively.estimators.{module}.{name}" for name, module in _MODULES.items()]
"""All that a file of skops holds of naively: the estimators, for ``skops.io.load(trusted=...)``."""


def classifier(name: str) -> type[SummaryClassifier]:
    """Return what an estimator does, without scikit-learn if possible; or raise KeyError."""
    return _imported(*_WITHOUT_SKLEARN[name]) if name in _WITHOUT_SKLEARN else ESTIMATORS[name]


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


def load_classifier(
    path: str | os.PathLike[str], kind: Callable[[str], type[SummaryClassifier]] = classifier
) -> SummaryClassifier:
    """Load a model from a file that ``save`` wrote, as the class that ``kind`` returns."""
    content = model_file.read(path)
    try:
        dtype = np.dtype(content.dtype)
        return kind(content.estimator)._from_text(content.summary, content.params, dtype)
    except KeyError:
        problem = f"its estimator is {content.estimator!r}"
    except (TypeError, ValueError) as error:
        problem = str(error).rstrip(".")
    raise NaivelyError(f"{shown(path)!r} is not a valid model file: {problem}.")
