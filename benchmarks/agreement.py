"""Answers are compared before any time is reported: each function raises where they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from benchmarks.peers import peer

__all__ = ["learned_rows", "same_labels", "same_models", "same_numbers"]
__all__ += ["same_sum", "true_with_missing"]

_TIE = 1e-9  # labels may differ where two classes are this close, relative to their joint
_ROWS = 1000  # to ask a model about whose parameters cannot be seen


def same_models(answers: dict[str, Any], X: Any, *, rtol: float = 1e-9) -> None:
    """Compare fitted models: means and variances, or else what they predict."""
    ours = answers["naively"]
    for name, theirs in answers.items():
        if hasattr(theirs, "theta_"):
            assert_allclose(ours.theta_, theirs.theta_, rtol=rtol, atol=rtol, err_msg=name)
            assert_allclose(ours.var_, theirs.var_, rtol=rtol, err_msg=name)
        else:
            labels = np.ravel(peer(name).predict(theirs, X[:_ROWS]))
            same_labels({"naively": ours.predict(X[:_ROWS]), name: labels}, ours, X)


def same_sum(total: float, X: NDArray[Any]) -> None:
    """Check the sum of all cells by the sums of columns."""
    assert_allclose(total, X.sum(axis=0).sum(), rtol=1e-9)


def same_labels(answers: dict[str, NDArray[Any]], model: Any, X: Any) -> None:
    """Compare labels, which may differ where two classes tie."""
    ours = answers["naively"]
    for name, theirs in answers.items():
        at = np.flatnonzero(ours != np.ravel(theirs))
        joint = model.predict_joint_log_proba(X[at]) if at.size else np.zeros((0, 1))
        rows = np.arange(at.size)
        a, b = joint[rows, ours[at]], joint[rows, np.ravel(theirs)[at].astype(int)]
        assert np.all(np.abs(a - b) <= _TIE * np.abs(a)), f"{name}: labels differ beyond ties"


def same_numbers(answers: dict[str, NDArray[Any]], *, atol: float = 1e-9) -> None:
    """Compare probabilities."""
    for name, theirs in answers.items():
        assert_allclose(answers["naively"], theirs, rtol=0, atol=atol, err_msg=name)


def learned_rows(counts: Any, means: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Compare what was learned row by row, from the first rows on, with a fit on those rows."""
    rows = np.arange(int(np.sum(counts))) % y.size
    model = peer("naively").fit(X[rows], y[rows])
    assert_allclose(counts, model.class_count_)
    assert_allclose(means, model.theta_, rtol=1e-9, atol=1e-9)


def true_with_missing(model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    """Compare a model of rows with missing cells, and its labels, with NumPy's formulas."""
    for k in range(3):
        rows = X[y == k, :2]
        assert_allclose(model.theta_[k, :2], np.nanmean(rows, axis=0), rtol=1e-9)
        variance = np.nanvar(rows, axis=0) + model.epsilon_
        assert_allclose(model.var_[k, :2], variance, rtol=1e-9)
    x = X[:_ROWS, np.newaxis]
    terms = (x - model.theta_) ** 2 / model.var_ + np.log(2 * np.pi * model.var_)
    joint = np.log(model.class_prior_) - 0.5 * np.nansum(terms, axis=2)
    assert_array_equal(model.predict(X[:_ROWS]), model.classes_[joint.argmax(axis=1)])
