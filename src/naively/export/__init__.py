"""Models for other machines: an ONNX graph, or one SELECT.

Both take a fitted estimator and return what they wrote: `to_onnx` bytes, `to_sql` text.
"""

from naively.export.onnx import to_onnx
from naively.export.sql import to_sql

__all__ = ["to_onnx", "to_sql"]
