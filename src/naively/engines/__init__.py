"""Engines: who reads the data.

Each engine file exports ``summarize(...) -> Summary``; this package's own chooses among them by
what it is given.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naively.engines import arrays
from naively.exceptions import NaivelyError
from naively.summary import Summary

__all__ = ["summarize"]


def summarize(
    X: Any,
    y: ArrayLike | None = None,
    *,
    target: str | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Summary:
    """Summarize rows by their labels: ``summarize(X, y)``, or ``summarize(files, target="y")``.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_columns)
        Numbers, in a NumPy array, nested lists, or a frame of pandas, polars or pyarrow. NaN
        and null are missing cells. With ``target``, files (CSV, Parquet, Arrow: paths, folders,
        globs), any object that streams Arrow data, a table of Ibis's, or a frame of Spark's.
        Dask collections too.
    y : array-like of shape (n_rows,)
        Labels: strings, integers or booleans, none of them missing.
    target : str, optional
        The column that holds the labels.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, finite and >= 0; weight 0 is the same as leaving the row out.
    n_jobs : int, optional
        Threads; None for all cores where there is enough to do. It does not change a bit.
    **options
        For files: those of `naively.engines.files.scan`, such as ``columns`` or ``checkpoint``.

    Returns
    -------
    Summary
        Add summaries with ``+``; read models off them with `GaussianNB.from_summary`.

    Examples
    --------
    >>> from naively import summarize
    >>> monday = summarize([[1.0], [2.0]], ["a", "b"])
    >>> tuesday = summarize([[3.0]], ["c"])
    >>> monday + tuesday
    <Summary of weight 3: 1 columns, 3 classes ('a', 'b', 'c')>
    """
    if target is not None:
        if y is not None or sample_weight is not None:
            raise NaivelyError("labels are given as y or as target; weights of files as weight=.")
        package = type(X).__module__.partition(".")[0]
        if package in ("ibis", "pyspark"):
            there = import_module(f"naively.engines.{'sql' if package == 'ibis' else 'spark'}")
            found: Summary = there.summarize(X, target=target, **options)
            return found
        from naively.engines import files

        return files.summarize(X, target=target, n_jobs=n_jobs, **options)
    if y is None or options:
        raise NaivelyError("rows need labels: summarize(X, y), or summarize(files, target='y').")
    engine: Any = arrays
    if type(X).__module__.partition(".")[0] == "dask":
        from naively.engines import dask

        return dask.summarize(X, y, sample_weight=sample_weight)
    if not isinstance(X, np.ndarray | list | tuple):
        from naively.engines import frames

        engine = frames if frames.is_frame(X) else arrays
    return engine.summarize(X, y, sample_weight=sample_weight, n_jobs=n_jobs)
