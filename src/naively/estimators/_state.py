"""What an estimator has learned, as one value that is replaced as a whole.

Methods that read take the state once. Learning makes another state, and one assignment puts it in
place: whoever reads meanwhile has the old one or the new one, and never parts of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from naively.summary import Summary

__all__ = ["State", "snapshot"]


class State:
    """A summary, the type of answers, and the model that is read off this summary.

    The model is read when it is first asked for. Threads that ask at the same time may read it
    twice, which gives equal models.
    """

    __slots__ = ("_model", "dtype", "summary")

    def __init__(self, summary: Summary, dtype: np.dtype[Any], model: Any = None) -> None:
        self.summary, self.dtype, self._model = summary, dtype, model

    def model(self, read: Callable[[Summary], Any]) -> Any:
        """Return the model, read off the summary by the given function unless it is there."""
        model = self._model
        if model is None:
            model = self._model = read(self.summary)
        return model


def snapshot(model: Any) -> Any:
    """Return a classifier as it is now; one that is not naively's, or not fitted, is itself."""
    fitted = getattr(model, "_state", None) is not None and hasattr(model, "_snapshot")
    return model._snapshot() if fitted else model
