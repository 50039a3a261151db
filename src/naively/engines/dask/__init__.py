"""Dask arrays and data frames, on threads or on a cluster.

`summarize` runs the kernel where the partitions are and brings back one summary. No row comes to
the client. Predictions are in `naively.scoring.dask`.

>>> import dask.array as da
>>> X = da.from_array([[1.0], [3.0], [10.0]], chunks=(2, 1))
>>> summarize(X, ["a", "a", "b"])
<Summary of weight 3: 1 columns, 2 classes ('a', 'b')>
"""

from naively.engines.dask.example import example, missing_row
from naively.engines.dask.summarize import summarize

__all__ = ["example", "missing_row", "summarize"]
