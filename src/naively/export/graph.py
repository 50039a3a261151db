"""A graph as text in ONNX's own language, and what the text does not hold.

Opset 18 is of 2022: onnxruntime 1.14 and all newer ones run it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from naively.labels import is_text

__all__ = ["LABELS", "TYPES", "Graph", "plain_classes"]

LABELS = {"U": "string", "O": "string", "i": "int64", "u": "uint64", "b": "bool", "f": "double"}
TYPES = {"float32": ("float", 1), "float64": ("double", 11)}


@dataclass(frozen=True)
class Graph:
    """A graph.

    Attributes
    ----------
    text : str
        Its nodes.
    constants : dict of arrays
        The numbers that it names.
    metadata : dict
        What else a reader may want to know, as JSON can hold it.
    keys : dict of dicts
        For nodes that make texts codes, by what they give: the code of each text.
    """

    text: str
    constants: dict[str, NDArray[Any]]
    metadata: dict[str, Any]
    keys: dict[str, dict[str, int]] = field(default_factory=dict)


def plain_classes(classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels as a tensor can hold them."""
    return classes.astype(object) if is_text(classes) else classes
