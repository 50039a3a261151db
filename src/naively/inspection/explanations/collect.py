"""Explains rows: the terms of the model, one by one, and what the estimator answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.engines.memory.native import is_frame
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.interface import rows_for
from naively.estimators.prediction import labels_of, values_of
from naively.inspection.explanations.explained_rows import ExplainedRows
from naively.inspection.explanations.explanation import Explanation


def explain(estimator: SummaryClassifier, X: Any) -> Explanation:
    """Return why rows get their answers, by the estimator as it is now."""
    estimator.model_  # noqa: B018 - raises where there is none, before rows are looked at
    library = type(X).__module__.partition(".")[0] if is_frame(X) else None
    return explain_checked(estimator, rows_for(estimator, X), library)


def explain_checked(
    estimator: SummaryClassifier, checked: Any, library: str | None = None
) -> Explanation:
    """Return why rows get their answers that are readable already."""
    model, table = estimator.model_, checked.table
    return Explanation(
        model=type(estimator).__name__,
        classes=model.classes,
        contributions=model.contributions(table, n_jobs=estimator.n_jobs),
        probabilities=values_of(estimator, "proba", checked),
        predicted=labels_of(estimator, checked),
        rows=(every := np.arange(table.shape[0])),
        source=ExplainedRows(model, table, every),
        library=library,
    )
