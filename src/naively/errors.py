"""The one root of everything that naively raises on purpose.

A message says what must hold, what came instead, and what to do::

    priors must have one entry per class (3: 'a', 'b', 'c'); got 2.

Packages that only some features need, imported where they are used.

>>> need("json", "reading JSON", extra="files").loads("[1]")
[1]
>>> need("no_such_package", "drawing plots", extra="plots")
Traceback (most recent call last):
    ...
naively.errors.NaivelyError: drawing plots needs the package no_such_package: \
pip install '.[plots]' in a copy of naively's repository.
"""

from __future__ import annotations

import os
import sys
import warnings
from functools import partial
from importlib import import_module
from types import FrameType
from typing import Any

_PACKAGE = os.path.dirname(__file__) + os.sep  # noqa: PTH120 - pathlib is slow to import


class NaivelyError(ValueError):
    """What was asked cannot be done with what was given.

    Examples
    --------
    >>> from naively import GaussianNB, NaivelyError
    >>> try:
    ...     GaussianNB(priors=[0.5, 0.6]).fit([[1.0], [2.0]], ["a", "b"])
    ... except NaivelyError as error:
    ...     print(error)
    The sum of the priors should be 1; got 1.1.
    """


def warn(message: str) -> None:
    """Warn of a line of the user's: the last one that is outside of this package."""
    frame: FrameType | None = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


# --- Packages that only some features need, imported where they are used ------------------------


def need(module: str, purpose: str, *, extra: str | None = None) -> Any:
    """Import a module, or say what wants it and how to get it.

    The purpose begins a sentence. The extra of naively brings the package; without one, the package
    is the user's choice, such as a library of data frames.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise  # the package is there, and lacks one of its own
        how = install(extra) if extra else f"pip install {package}"
        raise NaivelyError(f"{purpose} needs the package {package}: {how}.") from None


def install(extra: str) -> str:
    """Return the command that installs an extra. There is no release: it needs a repository.

    >>> install("plots")
    "pip install '.[plots]' in a copy of naively's repository"
    """
    return f"pip install '.[{extra}]' in a copy of naively's repository"


class later:  # noqa: N801 - it reads like `need`
    """A module that is imported when something of it is first used, as `need` would.

    >>> later("json", "reading JSON", extra="files").loads("[1]")
    [1]
    """

    def __init__(self, module: str, purpose: str, *, extra: str | None = None) -> None:
        self._import = partial(need, module, purpose, extra=extra)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._import(), name)
        setattr(self, name, value)  # from now on it is found without this method
        return value
