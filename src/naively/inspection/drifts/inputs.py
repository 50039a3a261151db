"""What is compared: summaries, models, or data that is summarized like what it is compared with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from naively.data.remote import is_remote
from naively.data.schema import Schema
from naively.engines import summarize
from naively.engines.memory.arrays import check_in_memory
from naively.engines.memory.devices import is_dask
from naively.engines.memory.native import is_frame
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.state import snapshot
from naively.statistics.summary import Summary


class Compared(NamedTuple):
    """A summary, and where it came from."""

    summary: Summary
    labelled: bool = True  # whether its rows have classes
    model: Any = None  # the estimator, where one was given
    rows: Any = None  # rows in memory, without labels
    library: str | None = None  # of the frame that they came in


def read_before(given: Any, target: str | None) -> Compared:
    """Return the summary that is given, or that of a model or of data."""
    found = _known(given)
    if found is not None:
        return found
    from naively.estimators.naive_bayes import NaiveBayes

    model = NaiveBayes()
    if _is_files(given):
        from naively.engines.files import scan

        how: dict[str, Any] = {"schema": model.files_schema(), "skip_columns": True}
        return Compared(scan(_paths(given), target=target, **how).summary, target is not None)
    X, y = _split(given, target)
    summary, _ = model.measured(X, _labels(X, y))
    plain = NaiveBayes.from_summary(summary, calibration=None, interactions=None)
    return Compared(summary, y is not None, plain)


def read_after(given: Any, target: str | None, before: Compared) -> Compared:
    """Return the summary that is given, or that of a model; data is summarized as before."""
    found = _known(given)
    if found is not None:
        return found
    schema = before.summary.schema
    if _is_files(given):
        from naively.engines.files import scan
        from naively.engines.files.plan import types_of

        more: dict[str, Any] = {
            "schema": schema,
            "types": types_of(before.summary),
            "skip_columns": True,
        }
        return Compared(scan(_paths(given), target=target, **more).summary, target is not None)
    if type(given).__module__.partition(".")[0] in ("ibis", "pyspark"):
        if target is None:
            raise NaivelyError("tables of databases and of Spark need target=, their labels.")
        return Compared(summarize(given, target=target, schema=schema))
    X, y = _split(given, target)
    if is_dask(X):
        return Compared(_measured(X, y, before, schema))
    library = type(X).__module__.partition(".")[0] if is_frame(X) else None
    return Compared(_measured(X, y, before, schema), y is not None, None, X, library)


def _measured(X: Any, y: Any, before: Compared, schema: Schema) -> Summary:
    labels = _labels(X, y)
    if before.model is None:
        return summarize(X, labels, schema=schema)
    return before.model.measured(X, labels, known=schema)[0]


def _known(given: Any) -> Compared | None:
    """Return a summary that need not be measured, if it is one."""
    if isinstance(given, Summary):
        return Compared(given)
    if isinstance(given, str | os.PathLike) and os.fspath(given).endswith(".safetensors"):
        from naively.estimators.loading import load

        given = load(given)
    if not isinstance(given, SummaryClassifier):
        return None
    model = snapshot(given)
    return Compared(model.summary_, model=model)


def _is_files(given: Any) -> bool:
    if isinstance(given, list) and given:
        return all(isinstance(one, str | os.PathLike) and _is_there(one) for one in given)
    return isinstance(given, str | os.PathLike)


def _is_there(path: Any) -> bool:
    try:
        return is_remote(path) or Path(path).exists()
    except (OSError, ValueError):  # a text that can be no path
        return False


def _paths(given: Any) -> Any:
    return [os.fspath(one) for one in given] if isinstance(given, list) else os.fspath(given)


def _split(given: Any, target: str | None) -> tuple[Any, Any]:
    """Return rows and their labels, None where there are none."""
    if isinstance(given, tuple) and len(given) == 2:
        return given
    if target is None:
        return given, None
    if not is_frame(given):
        raise NaivelyError(
            "target must name a column of a data frame or of files; give arrays with their labels "
            "as a pair, (X, y)."
        )
    import narwhals.stable.v2 as nw

    frame = nw.from_native(given, eager_only=True)
    if target not in frame.columns:
        raise NaivelyError(f"the data has no column {target!r}, the target.")
    return frame.drop(target).to_native(), frame[target].to_numpy()


def _labels(X: Any, y: Any) -> Any:
    """Return labels; the same for all rows where there are none."""
    if y is not None:
        return y
    if is_dask(X):
        raise NaivelyError("collections of Dask's need labels: give the pair (X, y).")
    check_in_memory(X)
    if not hasattr(X, "__len__") and not hasattr(X, "shape"):
        raise NaivelyError(
            "before and after must each be a summary, a fitted estimator, its file, or data; "
            f"got {type(X).__name__}."
        )
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    return np.zeros(n_rows, np.int64)
