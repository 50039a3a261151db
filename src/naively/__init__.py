"""Gaussian naive Bayes: exact, mergeable, and as fast as memory.

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
    "GaussianNB": "naively.estimators.gaussian_nb",
    "Moments": "naively.stats",
    "NaivelyError": "naively.exceptions",
    "Schema": "naively.summary",
    "Summary": "naively.summary",
    "gaussian_density": "naively.families.gaussian",
    "gaussian_log_density": "naively.families.gaussian",
    "load": "naively.estimators.loading",
    "summarize": "naively.engines",
}
_names_there = {"gaussian_density": "density", "gaussian_log_density": "log_density"}

__all__ = ["GaussianNB", "Moments", "NaivelyError", "Schema", "Summary", "__version__"]
__all__ += ["gaussian_density", "gaussian_log_density", "load", "summarize"]

if TYPE_CHECKING:
    from naively.engines import summarize
    from naively.estimators.gaussian_nb import GaussianNB
    from naively.estimators.loading import load
    from naively.exceptions import NaivelyError
    from naively.families.gaussian import density as gaussian_density
    from naively.families.gaussian import log_density as gaussian_log_density
    from naively.stats import Moments
    from naively.summary import Schema, Summary


def __getattr__(name: str) -> Any:
    if name not in _homes:
        raise AttributeError(f"module 'naively' has no attribute {name!r}")
    value = getattr(import_module(_homes[name]), _names_there.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
