"""What commands that judge a model share: splits that can be made, and errors in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from naively.errors import NaivelyError


def check_test_size(share: float) -> float:
    """Return the share of rows to hold out, or raise."""
    if not 0 < share < 1:
        raise NaivelyError(f"--test-size must lie between 0 and 1; got {share:g}.")
    return share


@contextmanager
def user_errors() -> Iterator[None]:
    """Take scikit-learn's complaints about the data as the user's errors."""
    try:
        yield
    except NaivelyError:
        raise
    except ValueError as error:
        raise NaivelyError(str(error)) from error
