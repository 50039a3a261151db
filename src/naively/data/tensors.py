"""Tensors that were read from a file, taken one by one, trusting nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class UnsoundError(Exception):
    """What is wrong with a file."""


class Tensors:
    """Named arrays; each can be taken once, and none may be left in the end."""

    def __init__(self, tensors: dict[str, NDArray[Any]]) -> None:
        self._left = dict(tensors)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def dtype(self, name: str) -> np.dtype[Any] | None:
        """Return the type of a tensor; None if there is no such tensor."""
        return self._left[name].dtype if name in self._left else None

    def length(self, name: str, axis: int = 0) -> int:
        """Return how long an axis is; 0 if there is no such tensor or axis."""
        tensor = self._left.get(name)
        return 0 if tensor is None or tensor.ndim == 0 else tensor.shape[axis]

    def take(self, name: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """Take a tensor that must be there, of this type and shape."""
        if name not in self._left:
            raise UnsoundError(f"it does not hold {name!r}")
        tensor = self._left.pop(name)
        if tensor.dtype != dtype:
            raise UnsoundError(f"{name} must be {np.dtype(dtype)}, and is {tensor.dtype}")
        if tensor.shape != shape:
            raise UnsoundError(f"{name} must have the shape {shape}, and has {tensor.shape}")
        return tensor

    def weights(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Take weights: finite and not below 0."""
        values = self.take(name, np.float64, shape)
        if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
            raise UnsoundError(f"{name} must be weights, finite and not below 0")
        return values

    def texts(self, name: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Take texts one after the other: the block of their bytes, and where each begins."""
        block = self.take(f"{name}.block", np.uint8, (self.length(f"{name}.block"),))
        offsets = self.take(f"{name}.offsets", np.int64, (self.length(f"{name}.offsets"),))
        sound = offsets.size > 0 and offsets[0] == 0 and offsets[-1] == block.size
        if not sound or (np.diff(offsets) < 0).any():
            raise UnsoundError(f"{name} must be texts, one after the other")
        return block, offsets

    def check_empty(self) -> None:
        """Raise where something was not taken."""
        if self._left:
            raise UnsoundError(f"it holds {min(self._left)!r}, which nothing needs")
