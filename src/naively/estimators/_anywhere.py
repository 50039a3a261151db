"""Rows that are not in memory: an estimator's methods go where they are.

A collection of Dask's is recognised without importing Dask. It is summarized where its partitions
lie, and what is asked of it is answered by a collection that is as lazy as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = ["anywhere", "is_dask"]


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask's."""
    return type(X).__module__.partition(".")[0] == "dask"


def anywhere(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a method that answers for rows take a collection of Dask's too."""

    @wraps(method)
    def answered(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return method(self, X)
        from naively.engines import dask

        self._seen()
        return dask.predict(self, method.__name__, X)

    return answered
