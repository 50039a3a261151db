"""Packages that only some features need, imported where they are used.

>>> need("json", "reading JSON", extra="files").loads("[1]")
[1]
>>> need("no_such_package", "drawing plots", extra="plots")
Traceback (most recent call last):
    ...
naively.exceptions.NaivelyError: drawing plots needs the package no_such_package: \
pip install '.[plots]' in a copy of naively's repository.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from naively.exceptions import NaivelyError

__all__ = ["install", "later", "need"]


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

    def __init__(self, module: str, purpose: str, *, extra: str) -> None:
        self._import = partial(need, module, purpose, extra=extra)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._import(), name)
        setattr(self, name, value)  # from now on it is found without this method
        return value
