"""Arrays on a GPU, and collections of Dask's, are recognised here and brought into memory.

Neither torch nor Dask is imported for it.

A CPU tensor counts as one where ``TRITON_INTERPRET=1`` is set: then the kernels of the GPU run in
Triton's interpreter, which is how they are tested on machines without a GPU.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.errors import NaivelyError, need

_CUDA = (2, 13)  # DLPack's numbers of CUDA's memory, and of memory that CUDA manages
_PLAIN = (np.ndarray, list, tuple, type(None))


def is_on_device(X: Any) -> bool:
    """Whether X is an array in the memory of a GPU."""
    if type(X) in _PLAIN or not hasattr(X, "__dlpack_device__"):
        return False
    if type(X).__module__.partition(".")[0] == "torch":
        return X.is_cuda or (X.device.type == "cpu" and is_interpreted())
    try:
        return int(X.__dlpack_device__()[0]) in _CUDA
    except (TypeError, ValueError):  # text of older versions of pyarrow: not on a GPU
        return False


def is_dask(X: Any) -> bool:
    """Whether X is a collection of Dask's."""
    return type(X).__module__.partition(".")[0] == "dask"


def is_interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter, on the CPU."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def holds_booleans(X: Any) -> bool:
    """Whether an array on a GPU holds booleans, which are categories as they are elsewhere."""
    return str(as_tensor(X).dtype) == "torch.bool"


@cache
def torch_for(purpose: str) -> Any:
    """Import torch and Triton, or say how to get them."""
    need("triton", purpose, extra="gpu")
    return need("torch", purpose, extra="gpu")


def as_tensor(X: Any) -> Any:
    """Return an array on a GPU as a tensor of torch's, without a copy if memory holds its cells."""
    torch = torch_for("reading arrays on a GPU")
    tensor = X.detach() if isinstance(X, torch.Tensor) else torch.from_dlpack(X)
    if tensor.layout != torch.strided:
        raise NaivelyError(
            f"arrays on a GPU must be dense; got a tensor of layout {tensor.layout}. "
            "Convert it by to_dense()."
        )
    return tensor.resolve_neg()  # torch may keep a minus sign beside the cells


def on_host(X: Any) -> Any:
    """Return an array on a GPU, or a collection of Dask's, in memory; anything else as it is."""
    if is_on_device(X):
        return numpy_of(as_tensor(X))
    return X.compute() if is_dask(X) else X


def numpy_of(tensor: Any) -> NDArray[Any]:
    """Return a tensor as an array of NumPy's, which has no bfloat16."""
    if tensor.is_floating_point() and tensor.dtype.itemsize < 4:
        tensor = tensor.float()
    found: NDArray[Any] = tensor.cpu().numpy()
    return found


def check_one_place(X: Any, **others: Any) -> None:
    """Raise where labels or weights are on a GPU that the rows are not on."""
    for name, other in others.items():
        if not is_on_device(other):
            continue
        place = str(as_tensor(X).device) if is_on_device(X) else "the host"
        if str(as_tensor(other).device) != place:
            moved = "to(X.device)" if is_on_device(X) else "cpu()"
            raise NaivelyError(
                f"X and {name} must be on one device; got X on {place} and {name} on "
                f"{as_tensor(other).device}. Move one of them, as by {name}.{moved}."
            )


def sent(array: Any, device: Any) -> Any:
    """Return a copy of an array of NumPy's as a tensor on a device."""
    return torch_for("using a GPU").tensor(np.ascontiguousarray(array), device=device)


@cache
def processors(device: Any) -> int:
    """Return how many multiprocessors a GPU has; Triton's interpreter is as a small one."""
    if device.type != "cuda":
        return 1
    torch = torch_for("using a GPU")
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def power_of_two(number: int) -> int:
    """Return the least power of two that is not less; 16 at least."""
    return max(16, 1 << (number - 1).bit_length())
