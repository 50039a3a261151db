"""Predictions for a Dask collection, as lazy as the collection is.

>>> import dask.array as da
>>> from naively import GaussianNB
>>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"])
>>> answer = predict(model, "predict", da.from_array([[3.0], [7.0]], chunks=(1, 1)))
>>> answer.chunks, answer.compute()
(((1, 1),), array(['a', 'b'], dtype='<U1'))
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from naively.engines.dask.example import missing_row
from naively.engines.dask.partitions import check_table, is_array, name_partition
from naively.engines.memory.arrays import unmasked
from naively.errors import need
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.state import snapshot

dask: Any = need("dask", "reading Dask collections", extra="dask")


def predict(model: SummaryClassifier, method: str, X: Any) -> Any:
    """Return the answers of a model's method, to be computed later.

    Parameters
    ----------
    model : estimator
        Fitted. What it learns afterwards does not change the answers.
    method : str
        Its method: "predict", "predict_proba", "predict_log_proba",
        "predict_joint_log_proba", "score_samples" or "decision_function".
    X : Dask array or data frame
        Rows.

    Returns
    -------
    Dask array, series or data frame
        For an array, an array with its chunks of rows. For a frame, a series, or a frame with one
        column per class, with its partitions, divisions and index.
    """
    check_table(X)
    model = snapshot(model, n_jobs=1)  # Dask has threads of its own
    expected = getattr(model, method)(missing_row(X))[:0]
    # The model is in the graph once, not once per partition.
    held = dask.delayed(model, pure=True, traverse=False)
    if is_array(X):
        return _of_array(held, method, X, expected)
    expected = _framed(expected, X._meta.index[:0], model.classes_)
    return X.map_partitions(_framed_answers, model=held, method=method, meta=expected)


def _of_array(held: Any, method: str, X: Any, expected: NDArray[Any]) -> Any:
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    one = expected.ndim == 1
    return X.map_blocks(
        _answers,
        model=held,
        method=method,
        expected=expected,
        chunks=(X.chunks[0],) if one else (X.chunks[0], (expected.shape[1],)),
        drop_axis=1 if one else None,
        dtype=expected.dtype,
        meta=expected,
    )


def _answers(
    rows: Any,
    *,
    model: SummaryClassifier,
    method: str,
    expected: NDArray[Any],
    block_id: Any = (0,),
) -> NDArray[Any]:
    if rows.shape[0] == 0:
        return expected
    with name_partition(block_id[0]):
        return getattr(model, method)(unmasked(rows))


def _framed_answers(
    rows: Any, *, model: SummaryClassifier, method: str, partition_info: Any = None
) -> Any:
    some = rows if len(rows) else rows.reset_index(drop=True).reindex([0])  # of missing cells
    with name_partition(partition_info["number"] if partition_info else 0):
        answers = getattr(model, method)(some)
    return _framed(answers[: len(rows)], rows.index, model.classes_)


def _framed(answers: NDArray[Any], index: Any, classes: NDArray[Any]) -> Any:
    pandas: Any = need("pandas", "reading Dask data frames", extra="dask")
    if answers.ndim == 1:
        return pandas.Series(answers, index=index)
    return pandas.DataFrame(answers, index=index, columns=classes)
