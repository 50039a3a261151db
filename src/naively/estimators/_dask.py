"""Methods that also answer for a collection of Dask's, or an array on a GPU.

Both are recognised without importing their packages.

A method takes the learned state once, at its start: a thread that learns meanwhile changes nothing
of the answer. For a collection, the answer is another collection, as lazy as it is; for an array on
a GPU, another one there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from naively.engines.devices import is_dask, is_on_device

__all__ = ["lazy_on_dask"]


def lazy_on_dask(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a method that answers by the present state, and where X is."""

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        snapshot = self._snapshot()
        if type(X) is np.ndarray:
            return method(snapshot, X)
        if is_on_device(X) and method.__name__ != "decision_function":  # which asks for the joint
            from naively.scoring import gpu

            return gpu.predict(snapshot, method.__name__, X)
        if not is_dask(X):
            return method(snapshot, X)
        from naively.scoring import dask

        return dask.predict(snapshot, method.__name__, X)

    return answer
