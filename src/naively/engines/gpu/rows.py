"""Rows, labels and weights on a GPU, and batches of the host's memory on their way there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data import labels
from naively.engines.memory import arrays
from naively.engines.memory.arrays import unmasked
from naively.engines.memory.devices import (
    as_tensor,
    check_one_place,
    is_interpreted,
    is_on_device,
    numpy_of,
    on_host,
    sent,
    torch_for,
)
from naively.errors import NaivelyError

_MOST_RANGE = 1 << 16  # integer labels within such a range are codes already, but for the lowest
_MANY = 256  # classes, from which on it pays to leave those out that have no rows


class DeviceRows:
    """A table on a GPU. Slices are copied to the host, where the kernel of the CPU reads them."""

    def __init__(self, X: Any) -> None:
        torch = torch_for("reading arrays on a GPU")
        tensor = as_tensor(X)
        if tensor.ndim != 2:
            shape = tuple(tensor.shape)
            raise NaivelyError(f"X must have two dimensions, rows and columns; got shape {shape}.")
        if tensor.is_complex():
            raise NaivelyError(f"X must hold real numbers; got dtype {tensor.dtype}.")
        short = tensor.is_floating_point() and tensor.dtype.itemsize <= 4
        self.dtype = np.dtype(np.float32 if short else np.float64)
        self._cells, self.shape = tensor, tuple(tensor.shape)
        if not tensor.is_floating_point() or tensor.dtype.itemsize == 1:
            tensor = tensor.to(getattr(torch, self.dtype.name))
        self.tensor = tensor  # as kernels read it

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return numpy_of(self._cells[rows])


class DeviceTargets(NamedTuple):
    """The classes, the rows in an order in which classes stand together, and the rows' weights."""

    classes: NDArray[Any]  # perhaps with some between that have no rows
    order: Any  # int64: which rows
    starts: Any  # int64: where each class begins in that order, and where the last one ends
    weights: Any  # float64, by row; None where rows are not weighted

    @classmethod
    def of(cls, X: DeviceRows, y: Any, sample_weight: Any) -> DeviceTargets:
        """Encode labels and check weights, on the GPU where they are there."""
        check_one_place(X.tensor, y=y, sample_weight=sample_weight)
        classes, codes = _encoded(y, X.tensor.device)
        n_rows = X.shape[0]
        if codes.shape[0] != n_rows:
            raise NaivelyError(
                f"X and y must be equally long; got {n_rows} rows and {codes.shape[0]} labels."
            )
        torch = torch_for("reading arrays on a GPU")
        ordered, order = torch.sort(codes, stable=True)
        places = torch.arange(classes.size + 1, device=codes.device, dtype=codes.dtype)
        starts = torch.searchsorted(ordered, places)
        if classes.size > _MANY:
            there = starts[1:] > starts[:-1]
            starts = torch.cat([starts[:-1][there], starts[-1:]])
            classes = classes[numpy_of(there)]
        weights = None if sample_weight is None else _checked_weights(sample_weight, X)
        return cls(classes, order, starts, weights)


def _encoded(y: Any, device: Any) -> tuple[NDArray[Any], Any]:
    """Return distinct labels, sorted, and the code of each row, in the fewest bytes."""
    torch = torch_for("reading labels on a GPU")
    whole = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    if not is_on_device(y) or as_tensor(y).dtype not in whole or not as_tensor(y).numel():
        classes, codes = labels.encode(on_host(y))
        return classes, _short(sent(codes, device), classes.size)
    tensor = as_tensor(y)
    if tensor.ndim != 1:
        raise NaivelyError(f"labels must have one dimension; got shape {tuple(tensor.shape)}.")
    plain = tensor.to(torch.uint8) if tensor.dtype == torch.bool else tensor
    low, high = torch.stack(torch.aminmax(plain)).tolist()  # one copy: each waits for the GPU
    if high - low < _MOST_RANGE:
        classes = low + np.arange(high - low + 1)
        codes = _short(plain, classes.size)
        if low:
            codes -= torch.tensor(low).to(codes.dtype).item()  # right even where both overflow
    else:
        found, codes = torch.unique(plain, return_inverse=True)
        classes, codes = numpy_of(found), _short(codes, found.numel())
    return classes.astype(str(tensor.dtype).removeprefix("torch.")), codes


def _short(codes: Any, size: int) -> Any:
    """Return codes in the fewest bytes: the fewer there are, the sooner they are sorted."""
    torch = torch_for("reading labels on a GPU")
    fits = [torch.uint8] * (size < 1 << 8) + [torch.int16] * (size < 1 << 15)
    return codes.to([*fits, torch.int32][0], copy=True)


def _checked_weights(sample_weight: Any, X: DeviceRows) -> Any:
    torch = torch_for("reading weights on a GPU")
    if is_on_device(sample_weight):
        weights = as_tensor(sample_weight)
        if weights.is_complex():
            raise NaivelyError(
                f"weights must be real numbers; got dtype {weights.dtype} in sample_weight."
            )
        weights = weights.to(torch.float64)
    else:
        weights = sent(arrays.as_weights(sample_weight), X.tensor.device)
    if tuple(weights.shape) != (X.shape[0],):
        shape = tuple(weights.shape)
        raise NaivelyError(f"there must be one weight per row ({X.shape[0]}); got shape {shape}.")
    bad = ~((weights >= 0) & torch.isfinite(weights))
    if bool(bad.any()):
        at = int(torch.argmax(bad.to(torch.uint8)))
        raise NaivelyError(
            f"weights must be finite and >= 0; got sample_weight[{at}]={float(weights[at])}."
        )
    return weights.contiguous()


# --- Batches of the host's memory on their way to a GPU -------------------------------------------


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
