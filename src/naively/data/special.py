"""Special functions: log gamma by the kernel, the others by scipy.special when one is called.

Importing SciPy takes twice as long as importing NumPy. Gaussians need none of these functions, and
histograms, categories and their pairs need log gamma alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel


def gammaln(x: ArrayLike) -> NDArray[np.float64]:
    """Return the logarithm of the gamma function's absolute value.

    >>> gammaln([1.0, 3.0, 6.0]).round(3)
    array([0.   , 0.693, 4.787])
    """
    x = np.ascontiguousarray(x, dtype=np.float64)
    out = np.empty(x.shape)
    _kernel.log_gamma(x, out)
    return out


def __getattr__(name: str) -> Any:
    import scipy.special

    globals()[name] = found = getattr(scipy.special, name)
    return found
