"""What is inspected, and compared: models, summaries, or data wherever it lies, with its labels.

Data is summarized by the default estimator, `NaiveBayes`, or like what it is compared with: with
the same columns, found by name, and the same bins. Labels are given beside rows, or named as a
column of a frame, of files or of a table; a pair (X, y) is both at once.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from naively.engines import FILES, SPARK, SQL, engine_of, summarize
from naively.engines.memory.arrays import check_in_memory, check_no_scalar
from naively.engines.memory.columns import rows_and_labels
from naively.engines.memory.devices import is_dask
from naively.engines.memory.frames import frame_library, is_frame
from naively.engines.places import is_stream
from naively.errors import NaivelyError, need
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.naive_bayes import NaiveBayes
from naively.estimators.state import snapshot
from naively.statistics.summary import Summary


class Inspected(NamedTuple):
    """A summary, and where it came from."""

    summary: Summary
    labelled: bool = True  # whether its rows have classes
    model: Any = None  # that was given, or is read off data
    rows: Any = None  # rows in memory, without labels
    library: str | None = None  # of the frame that they came in


def read(
    data: Any,
    y: Any = None,
    *,
    target: str | None = None,
    sample_weight: Any = None,
    like: Inspected | None = None,
) -> Inspected:
    """Return the summary that is given, or that of a model, of its file, or of data.

    Data is read by the default estimator, or as what it is compared with was.
    """
    if isinstance(data, Summary):
        return Inspected(data)
    if (model := model_in(data)) is not None:
        return Inspected(model.summary_, model=model)
    engine = engine_of(data)
    asks_for_rows = engine is SQL and like is None and target is not None  # a sample, bins
    if y is None and (engine is FILES or asks_for_rows):
        return _of_files(data, target, like)
    schema = None if like is None else like.summary.schema
    if engine in (SQL, SPARK):
        if target is None:
            raise NaivelyError("tables of databases and of Spark need target=, their labels.")
        return Inspected(summarize(data, target=target, schema=schema))
    X, y = labelled_pair(data, y, target)
    codes = _one_class(X) if y is None else y
    if like is not None and like.model is None:
        summary = summarize(X, codes, schema=schema, sample_weight=sample_weight)
    else:
        estimator = NaiveBayes() if like is None else like.model
        summary, _ = estimator.measured(X, codes, sample_weight, known=schema)
    rows = None if is_dask(X) else X
    model = NaiveBayes.from_summary(summary) if like is None else None
    return Inspected(summary, y is not None, model, rows, frame_library(X))


def model_in(data: Any) -> SummaryClassifier | None:
    """Return a fitted model as it is now, or that of a model file; None for anything else."""
    if isinstance(data, str | os.PathLike) and os.fspath(data).endswith(".safetensors"):
        from naively.estimators.loading import load

        data = load(data)
    if not isinstance(data, SummaryClassifier):
        return None
    model: SummaryClassifier = snapshot(data)
    _ = model.summary_  # raises where it is not fitted
    return model


def arranged(before: Summary, after: Summary) -> tuple[Summary, Summary]:
    """Bring the columns of a summary to the order of another, and let both hold the same.

    A column in which one side has seen no cell holds what it holds on the other.
    """
    names, own = before.schema.names, after.schema.names
    if names and own and own != names and sorted(own) == sorted(names):
        after = after.with_columns([own.index(name) for name in names])
    a, b = before.schema, after.schema
    if a.n_columns != b.n_columns or not (a.undecided or b.undecided):
        return before, after
    return before.decided(b.held), after.decided(a.held)


def labelled_pair(data: Any, y: Any = None, target: str | None = None) -> tuple[Any, Any]:
    """Return rows in memory or of Dask's, and their labels, None where there are none."""
    if isinstance(data, tuple) and len(data) == 2 and y is None:
        return data
    if y is None and target is not None and is_stream(data) and not is_frame(data):
        data = need("pyarrow", "reading a batch").table(data)  # of Arrow, which is a frame then
    rows = rows_and_labels(data, y, target)
    if rows is None:
        raise NaivelyError(
            "target must name a column of a data frame or of files; give arrays with their labels "
            "as a pair, (X, y)."
        )
    return rows[:2]


def _of_files(data: Any, target: str | None, like: Inspected | None) -> Inspected:
    from naively.engines.files import scan
    from naively.engines.files.plan import types_of

    how: dict[str, Any] = {"schema": NaiveBayes().files_schema()}
    if like is not None:
        how = {"schema": like.summary.schema, "types": types_of(like.summary)}
    summary = scan(data, target=target, skip_columns=True, **how).summary
    model = NaiveBayes.from_summary(summary) if like is None else None
    return Inspected(summary, target is not None, model)


def _one_class(X: Any) -> Any:
    """Return the same label for all rows, of which there are none."""
    if is_dask(X):
        raise NaivelyError("collections of Dask's need labels: give the pair (X, y).")
    check_in_memory(X)
    if not hasattr(X, "__len__") and not hasattr(X, "shape"):
        raise NaivelyError(
            "before and after must each be a summary, a fitted estimator, its file, or data; "
            f"got {type(X).__name__}."
        )
    check_no_scalar(X)
    return np.zeros(X.shape[0] if hasattr(X, "shape") else len(X), np.int64)
