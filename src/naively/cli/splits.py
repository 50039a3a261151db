"""What commands that judge a model share: splits that can be made, and errors in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from naively.exceptions import NaivelyError

__all__ = ["check_folds", "check_test_size", "user_errors"]


def check_test_size(share: float) -> float:
    """Return the share of rows to hold out, or raise."""
    if not 0 < share < 1:
        raise NaivelyError(f"--test-size must lie between 0 and 1; got {share:g}.")
    return share


def check_folds(folds: int, y: NDArray[np.generic]) -> int:
    """Return the number of folds, or raise where no class has as many rows."""
    most = int(np.unique(y, return_counts=True)[1].max())
    if folds > most:
        raise NaivelyError(
            f"--folds must be at most {most}, the rows of the largest class; got {folds}. "
            "Use fewer, or --leave-one-out."
        )
    return folds


@contextmanager
def user_errors() -> Iterator[None]:
    """Take scikit-learn's complaints about the data as the user's errors."""
    try:
        yield
    except NaivelyError:
        raise
    except ValueError as error:
        raise NaivelyError(str(error)) from error
