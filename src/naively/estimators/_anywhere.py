"""Methods that answer for rows: each by one state, and where the rows are.

A method takes what was learned once, at its start: a thread that learns meanwhile changes nothing
of the answer. A collection of Dask's is recognised without importing Dask. It is summarized where
its partitions lie, and what is asked of it is answered by a collection that is as lazy as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

__all__ = ["anywhere", "is_dask"]


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask's."""
    return type(X).__module__.partition(".")[0] == "dask"


def anywhere(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a method answer by what was learned until now, for a collection of Dask's too."""

    @wraps(method)
    def answered(self: Any, X: Any) -> Any:
        snapshot = self._snapshot()
        if type(X) is np.ndarray or not is_dask(X):
            return method(snapshot, X)
        from naively.engines import dask

        return dask.predict(snapshot, method.__name__, X)

    return answered
