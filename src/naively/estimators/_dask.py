"""Methods that also answer for a collection of Dask's, which is recognised without importing Dask.

A method takes the learned state once, at its start: a thread that learns meanwhile changes nothing
of the answer. For a collection, the answer is another collection, as lazy as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

__all__ = ["is_dask", "lazy_on_dask"]


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask's."""
    return type(X).__module__.partition(".")[0] == "dask"


def lazy_on_dask(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a method that answers by the present state, and lazily for a Dask collection."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        snapshot = self._snapshot()
        if type(X) is np.ndarray or not is_dask(X):
            return method(snapshot, X)
        from naively.scoring import dask

        return dask.predict(snapshot, method.__name__, X)

    return answer
