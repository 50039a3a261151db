"""Naive Bayes for any table: exact, mergeable, and as fast as memory.

>>> from naively import GaussianNB
>>> GaussianNB().fit([[0], [2], [8], [9]], ["a", "a", "b", "b"]).predict([[7.5]])
array(['b'], dtype='<U1')

Families of distributions are in `naively.families`, pictures in `naively.plots`, and what functions
return in `naively.results`. Names are loaded when they are first used: importing the package costs
next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "NaivelyError",
    "Summary",
    "compare",
    "diagnose",
    "drift",
    "evaluate",
    "load",
    "report",
    "summarize",
    "tune",
]

if TYPE_CHECKING:
    from naively.display.report import report
    from naively.engines import summarize
    from naively.errors import NaivelyError
    from naively.estimators.categorical import CategoricalNB
    from naively.estimators.counts import BernoulliNB, ComplementNB, MultinomialNB
    from naively.estimators.gaussian_nb import GaussianNB
    from naively.estimators.loading import load
    from naively.estimators.naive_bayes import NaiveBayes
    from naively.evaluation.compare import compare
    from naively.evaluation.evaluate import evaluate
    from naively.evaluation.tune import tune
    from naively.inspection.diagnosis import diagnose
    from naively.inspection.drifts import drift
    from naively.statistics.summary import Summary

_homes = {
    "BernoulliNB": "estimators.counts",
    "CategoricalNB": "estimators.categorical",
    "ComplementNB": "estimators.counts",
    "GaussianNB": "estimators.gaussian_nb",
    "MultinomialNB": "estimators.counts",
    "NaiveBayes": "estimators.naive_bayes",
    "NaivelyError": "errors",
    "Summary": "statistics.summary",
    "TRUSTED_TYPES": "estimators.loading",  # for skops
    "compare": "evaluation",
    "diagnose": "inspection.diagnosis",
    "drift": "inspection.drifts",
    "evaluate": "evaluation",
    "load": "estimators.loading",
    "report": "display.report",
    "summarize": "engines",
    "tune": "evaluation",
}
_modules = "families", "plots", "results"


def __getattr__(name: str) -> Any:
    if name in _modules:
        return import_module(f"naively.{name}")
    if name not in _homes:
        others = [import_module(f"naively.{module}") for module in _modules if name[:1].isupper()]
        home = next((other.__name__ for other in others if hasattr(other, name)), None)
        hint = "" if home is None else f"; it is in {home}: from {home} import {name}"
        raise AttributeError(f"module 'naively' has no attribute {name!r}{hint}")
    value = globals()[name] = getattr(import_module(f"naively.{_homes[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_modules])
