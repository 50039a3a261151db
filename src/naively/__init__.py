"""Naive Bayes for any table: exact, mergeable, and as fast as memory.

>>> from naively import GaussianNB
>>> GaussianNB().fit([[0], [2], [8], [9]], ["a", "a", "b", "b"]).predict([[7.5]])
array(['b'], dtype='<U1')

Names are loaded when they are first used: importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_homes = {
    "Comparison": "naively.evaluation",
    "Diagnosis": "naively.inspection.diagnosis",
    "Drift": "naively.inspection.drifts",
    "Evaluation": "naively.evaluation",
    "Explanation": "naively.inspection.explanations",
    "Exponential": "naively.families",
    "Gamma": "naively.families",
    "Gaussian": "naively.families",
    "GaussianNB": "naively.estimators.gaussian_nb",
    "Bernoulli": "naively.families",
    "Beta": "naively.families",
    "Categorical": "naively.families",
    "BernoulliNB": "naively.estimators.counts",
    "CategoricalNB": "naively.estimators.categorical",
    "ComplementNB": "naively.estimators.counts",
    "Histogram": "naively.families",
    "KernelDensity": "naively.families",
    "LogNormal": "naively.families",
    "Moments": "naively.statistics",
    "MultinomialNB": "naively.estimators.counts",
    "NaiveBayes": "naively.estimators.naive_bayes",
    "NegativeBinomial": "naively.families",
    "Poisson": "naively.families",
    "StudentT": "naively.families",
    "Text": "naively.families",
    "VonMises": "naively.families",
    "NaivelyError": "naively.errors",
    "Importance": "naively.inspection.importance",
    "Report": "naively.display.report",
    "Schema": "naively.statistics.summary",
    "Summary": "naively.statistics.summary",
    "TRUSTED_TYPES": "naively.estimators.loading",
    "Tuning": "naively.evaluation",
    "compare": "naively.evaluation",
    "diagnose": "naively.inspection.diagnosis",
    "drift": "naively.inspection.drifts",
    "evaluate": "naively.evaluation",
    "gaussian_density": "naively.families.gaussian",
    "gaussian_log_density": "naively.families.gaussian",
    "load": "naively.estimators.loading",
    "plots": "naively.plots",
    "report": "naively.display.report",
    "summarize": "naively.engines",
    "tune": "naively.evaluation",
}
_names_there = {"gaussian_density": "density", "gaussian_log_density": "log_density"}
_modules = {"plots"}

__all__ = ["BernoulliNB", "Beta", "ComplementNB", "Gamma", "MultinomialNB", "VonMises"]
__all__ += ["KernelDensity", "NegativeBinomial"]
__all__ += ["Bernoulli", "Categorical", "CategoricalNB", "Comparison", "Evaluation", "Gaussian"]
__all__ += [
    "Explanation",
    "Exponential",
    "GaussianNB",
    "Histogram",
    "Importance",
    "LogNormal",
    "Moments",
    "NaiveBayes",
    "NaivelyError",
    "Poisson",
    "Report",
    "Schema",
    "StudentT",
    "Text",
    "Tuning",
]
__all__ += ["TRUSTED_TYPES", "Summary", "__version__", "compare", "evaluate", "gaussian_density"]
__all__ += ["gaussian_log_density", "load", "plots", "report", "summarize", "tune"]
__all__ += ["Diagnosis", "Drift", "diagnose", "drift"]

if TYPE_CHECKING:
    from naively import plots
    from naively.data.schema import Schema
    from naively.display.report import Report, report
    from naively.engines import summarize
    from naively.errors import NaivelyError
    from naively.estimators.categorical import CategoricalNB
    from naively.estimators.counts import BernoulliNB, ComplementNB, MultinomialNB
    from naively.estimators.gaussian_nb import GaussianNB
    from naively.estimators.loading import TRUSTED_TYPES, load
    from naively.estimators.naive_bayes import NaiveBayes
    from naively.evaluation import Comparison, Evaluation, Tuning
    from naively.evaluation.compare import compare
    from naively.evaluation.evaluate import evaluate
    from naively.evaluation.tune import tune
    from naively.families import (
        Bernoulli,
        Beta,
        Categorical,
        Exponential,
        Gamma,
        Gaussian,
        Histogram,
        KernelDensity,
        LogNormal,
        NegativeBinomial,
        Poisson,
        StudentT,
        Text,
        VonMises,
    )
    from naively.families.gaussian import density as gaussian_density
    from naively.families.gaussian import log_density as gaussian_log_density
    from naively.inspection.diagnosis import Diagnosis, diagnose
    from naively.inspection.drifts import Drift, drift
    from naively.inspection.explanations import Explanation
    from naively.inspection.importance import Importance
    from naively.statistics import Moments
    from naively.statistics.summary import Summary


def __getattr__(name: str) -> Any:
    if name not in _homes:
        raise AttributeError(f"module 'naively' has no attribute {name!r}")
    home = import_module(_homes[name])
    value = home if name in _modules else getattr(home, _names_there.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
