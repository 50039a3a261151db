"""Tensors on a GPU: moments are measured there, and only the summary comes to the host.

Where a schema asks for more (histograms, a sample of rows, products of columns, counts), blocks of
rows are copied to the host and measured there. Several GPUs: summarize on each, and add the
summaries.

Predictions stay on the GPU. Rows are scored by the forms of a model where a GPU knows them all.
Otherwise, and for the few rows whose scores are beyond ordinary numbers, rows are copied to the
host and scored there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from naively.data.labels import encode
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines import Classifier
from naively.engines.gpu.moments import measured
from naively.engines.gpu.rows import BatchSender, DeviceRows, DeviceTargets
from naively.engines.gpu.scorer import DeviceScorer, is_scored_here
from naively.engines.memory import arrays
from naively.engines.memory.devices import check_one_place, numpy_of, on_host, sent, torch_for
from naively.errors import NaivelyError
from naively.statistics import STATISTICS, ClassWeight, Moments
from naively.statistics.axes import Axes
from naively.statistics.measure import measure, raise_not_finite
from naively.statistics.summary import Summary
from naively.statistics.weights import check_weight

__all__ = ["DeviceRows", "is_measured_here", "predict", "summarize", "summarize_batches"]

_HERE = {ClassWeight, Moments}  # what is measured on the GPU


def is_measured_here(schema: Schema) -> bool:
    """Whether a GPU measures all that a schema asks for."""
    asked = {kind for kind in STATISTICS if kind.is_measured(schema)}
    return asked <= _HERE and len(schema.numbers) == schema.n_columns


def summarize(
    X: Any, y: Any, *, schema: Schema | None = None, sample_weight: Any = None
) -> Summary:
    """Summarize rows on a GPU by their labels.

    Parameters
    ----------
    X : array on a GPU of shape (n_rows, n_columns)
        A tensor of torch's, an array of CuPy's, or any that speaks DLPack. NaN is missing.
    y : array of shape (n_rows,)
        Labels, on the same GPU or on the host.
    schema : Schema, optional
        What to measure; by default the moments of numbers without names.
    sample_weight : array of shape (n_rows,), optional
        Weights, finite and >= 0, on the same GPU or on the host.
    """
    rows = X if isinstance(X, DeviceRows) else DeviceRows(X)
    n_rows, n_columns = rows.shape
    schema = schema or Schema(n_columns)
    if len(schema.numbers) != n_columns:
        raise NaivelyError(
            f"an array on a GPU holds numbers; got a schema in which {len(schema.numbers)} of "
            f"{schema.n_columns} columns do, for {n_columns} columns. Give a frame instead."
        )
    if not (n_rows and n_columns and is_measured_here(schema)):
        check_one_place(rows.tensor, y=y, sample_weight=sample_weight)
        weights = arrays.as_weights(on_host(sample_weight))
        return measure(Rows.of_numbers(rows), Targets(*encode(on_host(y)), weights), schema)
    targets = DeviceTargets.of(rows, y, sample_weight)
    weight, found = measured(rows, targets)
    check_weight(weight)
    if found is None:
        raise_not_finite(Rows.of_numbers(rows), schema)
        raise AssertionError  # it never returns
    there = weight > 0
    statistics = ClassWeight(weight[there]), Moments(np.ascontiguousarray(found[:, there]))
    return Summary.of(schema, Axes(targets.classes[there]), *statistics)


def summarize_batches(
    batches: Iterable[Sequence[Any]], *, device: Any = "cuda", schema: Schema | None = None
) -> Summary:
    """Summarize batches of the host's memory on a GPU; the next is sent while one is measured.

    Parameters
    ----------
    batches : iterable of (X, y) or (X, y, sample_weight)
        Arrays of NumPy's or tensors, of any numbers of rows.
    device : torch.device or str, default="cuda"
        Where they are measured.
    schema : Schema, optional
        As for `summarize`.
    """
    total = None
    for X, y, weight in BatchSender(device).sent(batches):
        found = summarize(X, y, schema=schema, sample_weight=weight)
        total = found if total is None else total + found
    if total is None:
        raise NaivelyError("there must be at least one batch of rows; got none.")
    return total


# --- Predictions ----------------------------------------------------------------------------------


_WANTS = {
    "predict": "labels",
    "predict_proba": "proba",
    "predict_log_proba": "log_proba",
    "predict_joint_log_proba": "joint",
    "score_samples": "evidence",
}


def predict(model: Classifier, method: str, X: Any) -> Any:
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
    dtype = getattr(torch, np.result_type(rows.dtype, model.state_.dtype).name)
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
