"""Questions to a database, and its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import labels
from naively.exceptions import NaivelyError

__all__ = ["ask", "floats", "places"]


def ask(question: Any) -> Any:
    """Return the answer to an Ibis expression as a pandas frame.

    What the database raises becomes a `NaivelyError` with its cause, a lost connection for one.
    Ibis can give Arrow tables, too, but PostgreSQL would then work with one core: by a cursor.
    """
    try:
        return question.execute()
    except Exception as error:  # every database has its own
        said = str(error).strip().partition("\n")[0].rstrip(".")
        raise NaivelyError(
            f"the database must answer; got {type(error).__name__}: {said}. If the connection was "
            "lost, connect again and repeat the call: nothing was changed."
        ) from error


def floats(answer: Any, name: str) -> NDArray[np.float64]:
    """Return a column of an answer; NaN for NULL."""
    numbers: NDArray[np.float64] = answer[name].to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def places(answer: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the place of each row's label among sorted classes.

    A label that is not there came in after the classes were read.
    """
    if not len(answer):
        return np.empty(0, np.intp)
    found, codes = labels.encode(answer["y"].tolist())
    if not labels.contained(found, classes).all():
        raise NaivelyError(
            "a table must not change while it is read; got labels that were not there before. "
            "Repeat the call, or read a copy."
        )
    return labels.positions(found, classes)[codes]
