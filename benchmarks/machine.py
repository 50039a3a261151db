"""What the numbers were measured on, and with which versions."""

from __future__ import annotations

import os
import platform
import sys
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["describe"]

_PACKAGES = ["naively", "numpy", "scikit-learn", "mlpack", "river", "shap"]
_PACKAGES += ["pandas", "polars", "torch", "triton"]


def describe() -> dict[str, Any]:
    """Return processor, cores, memory, versions and the day."""
    return {
        "date": date.today().isoformat(),
        "cpu": _cpu(),
        "gpu": _gpu(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "versions": {"python": platform.python_version()} | _versions(),
    }


def _cpu() -> str:
    """Name the processor, and the widest vectors it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    flags = facts.get("flags", "").split()
    vectors = next((name for name in ("avx512f", "avx2") if name in flags), "")
    return f"{facts.get('model name', platform.machine())} {vectors}".strip()


def _gpu() -> str | None:
    """Name the GPU, if a suite has used one."""
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch and torch.cuda.is_initialized() else None


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
