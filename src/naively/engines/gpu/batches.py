"""Batches of the host's memory on their way to a GPU, through memory that does not page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from naively.engines.memory.arrays import unmasked
from naively.engines.memory.devices import is_interpreted, torch_for
from naively.errors import NaivelyError


class BatchSender:
    """Sends batches to a GPU, one ahead of the one that is measured there."""

    def __init__(self, device: Any) -> None:
        self.torch = torch_for("sending batches to a GPU")
        self.device = self.torch.device(device)
        is_cuda = self.device.type == "cuda" and self.torch.cuda.is_available()
        if not is_cuda and not (self.device.type == "cpu" and is_interpreted()):
            raise NaivelyError(
                f"device must be a CUDA device that torch can use; got device='{device}'. "
                "To summarize in the host's memory, add up naively.summarize(X, y) of each batch."
            )
        self.stream = self.torch.cuda.Stream(self.device) if is_cuda else None

    def sent(self, batches: Iterable[Sequence[Any]]) -> Iterator[tuple[Any, Any, Any]]:
        """Yield rows on the GPU, with labels and weights, which stay as they are."""
        ahead = None
        for batch in batches:
            if not 2 <= len(batch) <= 3:
                raise NaivelyError(
                    f"a batch must be (X, y) or (X, y, sample_weight); got {len(batch)} parts."
                )
            X, y, weight = (*batch, None)[:3]
            coming = self._started(X), y, weight
            if ahead is not None:
                yield self._arrived(*ahead)
            ahead = coming
        if ahead is not None:
            yield self._arrived(*ahead)

    def _started(self, X: Any) -> tuple[Any, Any]:
        """Begin to copy rows; return the pinned ones too, which must live until they are there."""
        rows = X if isinstance(X, self.torch.Tensor) else self._copied(X)
        if self.stream is None:
            return rows, rows
        pinned = rows if rows.is_cuda or rows.is_pinned() else rows.pin_memory()
        with self.torch.cuda.stream(self.stream):
            return pinned, pinned.to(self.device, non_blocking=True)

    def _copied(self, X: Any) -> Any:
        """Copy an array, which may be read-only or in any order, to a pinned tensor."""
        array = np.asarray(unmasked(X))
        dtype = getattr(self.torch, array.dtype.name, None)
        if array.dtype.kind not in "fiub" or dtype is None:
            raise NaivelyError(f"X must hold real numbers; got dtype {array.dtype}. Convert it.")
        is_pinned = self.stream is not None
        rows = self.torch.empty(array.shape, dtype=dtype, device="cpu", pin_memory=is_pinned)
        rows.numpy()[...] = array
        return rows

    def _arrived(self, copied: tuple[Any, Any], y: Any, weight: Any) -> tuple[Any, Any, Any]:
        """Wait until rows are on the GPU."""
        _, rows = copied
        if self.stream is not None:
            self.stream.synchronize()
            rows.record_stream(self.torch.cuda.current_stream(self.device))
        return rows, y, weight
