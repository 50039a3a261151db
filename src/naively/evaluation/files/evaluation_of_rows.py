"""An evaluation of rows that streamed by: the one in memory, if all of them were kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.evaluation.evaluation import Evaluation
from naively.evaluation.files.score_pass import ScoredRows
from naively.evaluation.files.total_metrics import TotalMetrics
from naively.evaluation.inputs import Truth
from naively.evaluation.metrics import N_BINS, Confidence, Reliability


def evaluation_of(rows: ScoredRows, classes: NDArray[Any], method: str, **more: Any) -> Evaluation:
    """Return every figure of judged rows.

    Of more rows than are kept, labels and probabilities are those of the sample.
    """
    truth, answers, totals = rows.kept.truth(), rows.kept.answers(), rows.totals
    assert totals is not None
    if truth.size == totals.n_rows:
        return Evaluation.of(Truth(classes, truth), answers, method, **more)
    right = int(totals.confusion.trace())
    counts = np.array([totals.n_rows - right, right])
    wrong_sure, right_sure = np.divide(
        totals.sure, counts, out=np.full(2, np.nan), where=counts > 0
    )
    return Evaluation.of_confusion(
        totals.confusion,
        classes,
        answers,
        method=method,
        loss=totals.loss.mean,
        brier=totals.squared_error.mean,
        confidence=Confidence(
            float(totals.sure.sum() / totals.n_rows), float(right_sure), float(wrong_sure)
        ),
        reliability=_reliability(totals.confidence),
        rows=TotalMetrics.of(truth, answers, classes.size, totals=totals, scores=rows.scores),
        **more,
    )


def _reliability(sums: NDArray[np.float64]) -> Reliability:
    count, right, sure = sums
    nothing = np.full(N_BINS, np.nan)
    accuracy = np.divide(right, count, out=nothing.copy(), where=count > 0)
    confidence = np.divide(sure, count, out=nothing, where=count > 0)
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    return Reliability(edges, confidence, accuracy, count.astype(np.int64))
