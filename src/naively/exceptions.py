"""The one root of everything that naively raises on purpose.

A message says what must hold, what came instead, and what to do::

    priors must have one entry per class (3: 'a', 'b', 'c'); got 2.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

__all__ = ["NaivelyError", "warn"]

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
