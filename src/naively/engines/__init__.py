"""Engines: they read data, wherever it is, and summarize it.

Each engine exports two verbs, ``summarize(...) -> Summary`` and ``predict``, which answers where
the rows are; this package's own `summarize` asks `engine_of` which one reads data. Frames in
memory whose labels are a column of them are read as files are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data.labels import encode
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.sparse import SparseRows, is_sparse
from naively.engines.memory import arrays, columns
from naively.engines.memory.devices import (
    check_one_place,
    holds_booleans,
    is_on_device,
    on_host,
)
from naively.engines.memory.frames import without_zeros
from naively.engines.places import DASK, FILES, GPU, MEMORY, SPARK, SQL, Engine, engine_of
from naively.errors import NaivelyError
from naively.statistics.measure import measure
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.model.model import Model

__all__ = [
    "DASK",
    "FILES",
    "GPU",
    "MEMORY",
    "SPARK",
    "SQL",
    "Classifier",
    "Engine",
    "engine_of",
    "summarize",
]


class Classifier(Protocol):
    """What an engine asks of a fitted estimator, which it need not import."""

    n_jobs: int | None
    state_: Any  # of which an engine reads the type of its answers

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""

    @property
    def summary_(self) -> Summary:
        """What it has learned from."""

    @property
    def model_(self) -> Model:
        """What was read off that."""

    def predict(self, X: Any) -> Any:
        """Return the label of each row."""

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class."""

    def predict_joint_log_proba(self, X: Any) -> Any:
        """Return log p(x, k)."""

    def to_sql(self, table: str, *, dialect: str = "duckdb", **options: Any) -> str:
        """Return one SELECT that scores a table inside its database."""

    def __naively_snapshot__(self, **params: Any) -> Self:
        """Return an estimator of the present state, which what is learned later does not change."""


def summarize(
    X: Any,
    y: ArrayLike | None = None,
    *,
    target: str | None = None,
    schema: Schema | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Summary:
    """Summarize rows by their labels: ``summarize(X, y)``, or ``summarize(files, target="y")``.

    What a column holds is decided by its type, and the same for the same table wherever it is:
    numbers are numbers; text, booleans and a frame's own categories are categories; a column
    without any cell is undecided until one comes; dates are read by their year, month, weekday and
    hour; all else is an error.

    Parameters
    ----------
    X : array-like or data frame of shape (n_rows, n_columns)
        A NumPy array, nested lists, a sparse matrix or array of SciPy's, a frame of pandas, polars
        or pyarrow, a collection of Dask's, or an array on a GPU, which is measured there (of
        torch, CuPy, or any that speaks DLPack). NaN, null and masked cells are missing. With
        ``target``, files (CSV, JSON lines, Parquet, Arrow: paths, folders, globs), any object
        that streams Arrow data, a table of Ibis's, or a frame of Spark's.
    y : array-like of shape (n_rows,)
        Labels: strings, integers or booleans, none of them missing.
    target : str, optional
        The column that holds the labels.
    schema : Schema, optional
        What to measure, where it has been agreed upon, such as ``other.schema`` of a summary to
        which this one will be added; by default, what the types say.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, finite and >= 0; weight 0 is the same as leaving the row out.
    n_jobs : int, optional
        Threads; None for all cores where there is enough to do. It does not change a bit.
    **options
        For files: those of `naively.engines.files.scan`, such as ``columns`` or ``checkpoint``.

    Returns
    -------
    Summary
        Add summaries with ``+``; read models off them with `NaiveBayes.from_summary`, or
        `GaussianNB.from_summary` where all columns hold numbers.

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
        engine = engine_of(X)
        if engine in (SQL, SPARK):
            return engine.module.summarize(X, target=target, schema=schema, **options)
        weight = options.pop("weight", None) if engine is DASK else None
        if engine is DASK and (parts := columns.rows_and_labels(X, y, target, weight)):
            return summarize(*parts[:2], schema=schema, sample_weight=parts[2], **options)
        return FILES.module.summarize(X, target=target, n_jobs=n_jobs, schema=schema, **options)
    if y is None or options:
        raise NaivelyError("rows need labels: summarize(X, y), or summarize(files, target='y').")
    check_one_place(X, y=y, sample_weight=sample_weight)
    if is_on_device(X) and holds_booleans(X):
        X, y, sample_weight = map(on_host, (X, y, sample_weight))
    if (engine := engine_of(X)) in (GPU, DASK):
        return engine.module.summarize(X, y, schema=schema, sample_weight=sample_weight)
    X, y, sample_weight = without_zeros(X, y, sample_weight)
    if is_sparse(X):
        rows = Rows.of_numbers(SparseRows.of(X))
        targets = Targets(*encode(y), arrays.as_weights(sample_weight))
        return measure(rows, targets, schema or Schema(rows.shape[1]), n_jobs=n_jobs)
    arrays.check_dense(X)
    numbers = _numbers(X) if schema is None else None
    if numbers is not None:
        return arrays.summarize(numbers, y, sample_weight=sample_weight, n_jobs=n_jobs)
    from naively.engines.memory import tables

    schema = tables.schema_of(X, schema)
    targets = Targets(*encode(y), arrays.as_weights(sample_weight))
    return measure(tables.read(X, schema), targets, schema, n_jobs=n_jobs)


def _numbers(X: Any) -> NDArray[Any] | None:
    """Return an array of numbers, or None where X is no array, or holds more than numbers."""
    if isinstance(X, list | tuple):
        if arrays.holds_more(X):
            return None
        try:
            X = np.asarray(X)
        except ValueError:
            return None
    return X if isinstance(X, np.ndarray) and X.dtype.kind in "fiu" else None
