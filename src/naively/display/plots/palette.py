"""Colours, markers and dashes of the classes, safe for the colour-blind.

The hues are those of Okabe and Ito without yellow, which a white page swallows. After seven
classes they come again, darker and with other dashes, then lighter; markers differ for twelve.

References
----------
M. Okabe, K. Ito (2008), Color universal design: how to make figures and presentations that are
friendly to colorblind people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FAINT",
    "GRID",
    "INK",
    "REST",
    "colour",
    "dash",
    "deep",
    "marker",
    "marker_area",
    "mixed",
    "rgb",
]

INK = "#333333"
FAINT = "#666666"
GRID = "#E4E4E4"
REST = "#B0B0B0"  # what is not shown in colour

_HUES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
_TONES = (("#000000", 0.0), ("#000000", 0.45), ("#FFFFFF", 0.45))
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.5, 1)))
_MARKERS = "os^DvP<>*phd"  # X is kept for centroids
_AREAS = dict.fromkeys("^v<>", 1.4) | {"*": 2.0, "D": 0.8, "P": 1.2, "s": 0.9}


def colour(k: int) -> str:
    """Return the colour of class k.

    >>> colour(0), colour(7)
    ('#0072B2', '#003F62')
    """
    other, part = _TONES[k // len(_HUES) % len(_TONES)]
    return mixed(_HUES[k % len(_HUES)], other, part) if part else _HUES[k % len(_HUES)]


def deep(k: int) -> str:
    """Return a darker shade of it, for lines and marks over points."""
    return mixed(colour(k), "#000000", 0.3)


def dash(k: int) -> Any:
    """Return the line style of class k."""
    return _DASHES[k // len(_HUES) % len(_DASHES)]


def marker(k: int) -> str:
    """Return the marker of class k."""
    return _MARKERS[k % len(_MARKERS)]


def marker_area(k: int) -> float:
    """Return how much area makes the marker of class k look as large as a circle."""
    return _AREAS.get(marker(k), 1.0)


def mixed(a: str, b: str, part: float) -> str:
    """Mix this part of colour b into colour a.

    >>> mixed("#000000", "#FFFFFF", 0.4)
    '#666666'
    """
    channels = np.rint(255 * ((1 - part) * rgb(a) + part * rgb(b))).astype(int)
    return "#{:02X}{:02X}{:02X}".format(*channels)


def rgb(code: str) -> NDArray[np.float64]:
    """Return red, green and blue between 0 and 1.

    >>> rgb("#FF0000")
    array([1., 0., 0.])
    """
    return np.array([int(code[i : i + 2], 16) for i in (1, 3, 5)]) / 255
