"""The functions of scipy.special, which is imported when the first of them is called.

Importing it takes twice as long as importing NumPy, and Gaussians do without.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import scipy.special

    globals()[name] = found = getattr(scipy.special, name)
    return found
