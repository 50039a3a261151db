r"""What a fitted classifier answers: labels and probabilities, costs and rejected rows.

.. math:: \hat y = \arg\min_j \sum_i p(i \mid x)\, c_{ij}

where :math:`c_{ij}` is the cost of answering j where i is true. With costs of 0 for the truth and 1
for everything else, that is the most probable class.

>>> p = np.array([[0.9, 0.1], [0.55, 0.45]])
>>> decide(p, np.array(["ham", "spam"]), costs=[[0, 1], [9, 0]])
array(['ham', 'spam'], dtype='<U4')
>>> decide(p, np.array(["ham", "spam"]), reject=(0.8, "?"))
array(['ham', '?'], dtype='<U4')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data.kinds import NUMBER
from naively.data.labels import is_text, listed
from naively.data.rows import Rows
from naively.errors import NaivelyError
from naively.estimators.measurement import Checked
from naively.estimators.parameters import check_costs, check_reject
from naively.estimators.plain_rows import numbers_of_row
from naively.estimators.state import learned
from naively.model.scorer import Answer
from naively.statistics.measure import raise_not_finite

if TYPE_CHECKING:
    from naively.estimators.estimator import SummaryClassifier


def labels_of(estimator: SummaryClassifier, checked: Checked) -> NDArray[Any]:
    """Return the class of each row: the most probable, or of least cost, or the label of reject."""
    costs, reject = getattr(estimator, "costs", None), getattr(estimator, "reject", None)
    if costs is not None or reject is not None:
        p = values_of(estimator, "proba", checked)
        return decide(p, estimator.classes_, costs, reject)
    return estimator.model_.labels_of(checked.table, n_jobs=estimator.n_jobs)


def values_of(estimator: SummaryClassifier, want: Answer, checked: Checked) -> NDArray[Any]:
    """Return what the scorer of the model calls so: joint, log_proba, proba or evidence."""
    state = learned(estimator)
    dtype, model = np.result_type(checked.dtype, state.dtype), state.model(estimator._read)
    return model.score(checked.table, want, n_jobs=estimator.n_jobs, dtype=dtype)


def label_of_row(estimator: SummaryClassifier, row: Any) -> Any:
    """Return the class of one row; numbers alone go to the kernel without a table."""
    state = learned(estimator)
    if estimator._alone is not NUMBER:
        return listed(labels_of(estimator, Checked(estimator.row_for(row))))[0]
    model, schema = state.model(estimator._read), state.summary.schema
    values = numbers_of_row(estimator._cells(row), schema)
    at = model.scorer.label_one(values)
    if at < 0:
        raise_not_finite(Rows.of_numbers(values[np.newaxis]), schema)
    return model.labels[at]


def decide(
    probabilities: NDArray[Any],
    classes: NDArray[Any],
    costs: ArrayLike | None = None,
    reject: Any = None,
) -> NDArray[Any]:
    """Return an answer for each row, of which the probabilities of the classes are given.

    Row i of the costs holds those of answering j where i is true. To reject is to give a label
    where the answer's probability is below a bound, as in ``(0.8, "unknown")``.
    """
    matrix = check_costs(costs, classes)
    p = probabilities.astype(np.float64)
    at = p.argmax(axis=1) if matrix is None else (p @ matrix).argmin(axis=1)
    answers = classes[at]
    if reject is None:
        return answers
    least, label = check_reject(reject, classes)
    if isinstance(label, str) and not is_text(classes):
        raise NaivelyError(
            f"the label of reject must be a number, as the classes are; got {label!r} beside "
            f"{classes[:1].tolist()[0]!r}. Where an ensemble numbers the classes, let it ask for "
            "probabilities (VotingClassifier(voting='soft'), stack_method='predict_proba'), or "
            "give reject to the ensemble's last model."
        )
    doubtful = p[np.arange(at.size), at] < least
    dtype = np.result_type(classes.dtype, np.asarray(label).dtype)
    if dtype.kind == "f" and classes.astype(dtype).tolist() != classes.tolist():
        raise NaivelyError(
            f"the label of reject must be an integer beside classes above 2^53; got {label!r}, "
            "which no type of NumPy holds together with them. Use another label."
        )
    return np.where(doubtful, np.array(label, dtype=dtype), answers.astype(dtype))
