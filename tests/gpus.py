"""Tensors for tests: on a GPU, or for Triton's interpreter where there is none."""

import os
from pathlib import Path

from tests.packages import installed

IS_THERE = Path("/dev/nvidiactl").exists()
if not IS_THERE:
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
DEVICE = "cuda" if IS_THERE else "cpu"


def tensor(array, dtype=None):
    """Return an array as a tensor, or skip the test where torch or Triton is not installed."""
    torch = installed("torch", "gpu")
    installed("triton", "gpu")
    found = torch.tensor(array, device=DEVICE)
    return found if dtype is None else found.to(getattr(torch, dtype))
