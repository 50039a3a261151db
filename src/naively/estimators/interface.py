"""What rooms above ask of an estimator, besides scikit-learn's methods.

Each estimator answers in its own way, by methods that its users need not see. Functions of
`naively.estimators.state`, `measurement`, `prediction` and `parameters` are for rooms above, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.data.kinds import Kind
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.state import adopt
from naively.estimators.validation import Checked
from naively.model.model import Model
from naively.statistics import Sample
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.engines.files import SchemaFromFirstRows


def name_of(estimator: SummaryClassifier) -> str:
    """Return the public name of an estimator, also of a class without scikit-learn."""
    return estimator._name


# --- what is measured -----------------------------------------------------------------------------


def kinds_of(estimator: SummaryClassifier) -> dict[Any, Kind]:
    """Return what some columns must hold, by name or by place."""
    return estimator._kinds()


def sample_size(estimator: SummaryClassifier) -> int:
    """Return how many rows a summary is to keep."""
    return estimator._sample_size()


def schema_of_files(estimator: SummaryClassifier) -> SchemaFromFirstRows:
    """Return what is measured of files, which may depend on their first rows."""
    return estimator._schema_of_files()


def settled(estimator: SummaryClassifier, schema: Schema, first: Callable[[int], Any]) -> Schema:
    """Return the schema with all that must be fixed before measuring, by a sample of rows."""
    return estimator._settled(schema, first)


def check_rows(estimator: SummaryClassifier, X: Any, known: Schema | None = None) -> Checked:
    """Return rows as the kernel reads them; they must have the columns that are known, if any."""
    return estimator._check(X, known)


def measure_rows(
    estimator: SummaryClassifier,
    rows: Rows,
    schema: Schema,
    targets: Targets,
    sample: Sample | None = None,
) -> Summary:
    """Measure rows that are readable, of which a sample may have been drawn already."""
    return estimator._measure(rows, schema, targets, sample)


def warn_of(estimator: SummaryClassifier, summary: Summary) -> None:
    """Warn of what is probably a mistake in what was measured."""
    estimator._warn_of(summary, summary.schema)


# --- the model ------------------------------------------------------------------------------------


def read_model(estimator: SummaryClassifier, summary: Summary) -> Model:
    """Return the model that an estimator reads off a summary."""
    return estimator._read(estimator._readable(summary))


def fitted(
    estimator: SummaryClassifier, summary: Summary, dtype: np.dtype[Any] | None = None
) -> Any:
    """Return an estimator fitted from a summary, whose answers are of a type."""
    summary = estimator._readable(summary)
    return adopt(estimator, summary, estimator._read(summary), dtype)


# --- answers --------------------------------------------------------------------------------------


def rows_for(estimator: SummaryClassifier, X: Any) -> Checked:
    """Return rows as the model of a fitted estimator reads them."""
    return estimator._check_new(X, estimator.summary_)


def row_for(estimator: SummaryClassifier, row: Any) -> Rows:
    """Return a table of one row, which is given in order or by column name."""
    return estimator._one(row)
