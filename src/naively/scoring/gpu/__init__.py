"""Predictions for rows on a GPU, which stay there.

Rows are scored by the forms of a model where a GPU knows them all. Otherwise, and for the few rows
whose scores are beyond ordinary numbers, rows are copied to the host and scored there.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from naively.engines.gpu.rows import DeviceRows
from naively.engines.memory.devices import numpy_of, sent, torch_for
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.state import learned
from naively.scoring.gpu.scorer import DeviceScorer, is_scored_here

__all__ = ["predict"]

_WANTS = {
    "predict": "labels",
    "predict_proba": "proba",
    "predict_log_proba": "log_proba",
    "predict_joint_log_proba": "joint",
    "score_samples": "evidence",
}


def predict(model: SummaryClassifier, method: str, X: Any) -> Any:
    """Return the answers of a model's method, on the GPU that the rows are on.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        Its method: "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba" or
        "score_samples".
    X : array on a GPU of shape (n_rows, n_columns)
        Rows; NaN is a missing cell.

    Returns
    -------
    Array of X's kind, on its device; labels of text are an array of NumPy's.
    """
    rows, want, on_cpu = DeviceRows(X), _WANTS[method], getattr(model, method)
    (n_rows, n_columns), schema = rows.shape, model.summary_.schema
    if not n_rows or n_columns != schema.n_columns or schema.names is not None:
        on_cpu(rows[:1])  # which raises, or warns that X has no names
    decided = getattr(model, "costs", None) is not None or getattr(model, "reject", None)
    if (want == "labels" and decided) or not is_scored_here(model.model_, want):
        return _sent(on_cpu(rows[:]), X, rows)
    torch, scorer = torch_for("scoring on a GPU"), _scorer(model.model_, rows.tensor.device)
    dtype = getattr(torch, np.result_type(rows.dtype, learned(model).dtype).name)
    if want == "labels":
        dtype = scorer.names.dtype
    shape = (n_rows,) if want in ("labels", "evidence") else (n_rows, model.classes_.size)
    out = torch.empty(shape, dtype=dtype, device=rows.tensor.device)
    left = scorer.answers(want, rows, out)
    is_named = want != "labels" or model.classes_.dtype.kind in "iuf"
    if left.numel():
        try:
            some = on_cpu(numpy_of(rows.tensor[left]))
        except NaivelyError:
            on_cpu(rows[:])  # which names the row
            raise
        out[left] = sent(some if is_named else np.searchsorted(model.classes_, some), out.device)
    return _of_kind(out, X) if is_named else _sent(model.classes_[numpy_of(out)], X, rows)


def _scorer(model: Any, device: Any) -> DeviceScorer:
    """Return the scorer of a model on a device, which is kept beside the model."""
    kept = model.__dict__.setdefault("_on_devices", {})
    if str(device) not in kept:
        kept[str(device)] = DeviceScorer(model, device)
    return kept[str(device)]


def _sent(answers: Any, X: Any, rows: DeviceRows) -> Any:
    """Return the host's answers as an array of X's kind; text stays where it is."""
    if answers.dtype.kind not in "fiub":
        return answers
    return _of_kind(sent(answers, rows.tensor.device), X)


def _of_kind(tensor: Any, X: Any) -> Any:
    """Return a tensor as an array of the library that X is of, if it reads DLPack."""
    if hasattr(X, "__array_namespace__"):
        library = X.__array_namespace__()
    else:
        library = import_module(type(X).__module__.partition(".")[0])
    if isinstance(X, type(tensor)) or not hasattr(library, "from_dlpack"):
        return tensor
    return library.from_dlpack(tensor)
