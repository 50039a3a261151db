"""What a fitted classifier says of rows: labels, probabilities, how well it did."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import labels
from naively.data.kinds import NUMBER, held_by_dtype, held_by_objects, numbers_of_objects
from naively.data.schema import Schema
from naively.data.sparse import SparseRows, is_sparse
from naively.data.threads import block_slices, map_blocks
from naively.engines.memory.arrays import unmasked
from naively.engines.memory.devices import on_host
from naively.errors import NaivelyError
from naively.estimators.state import LearnedMixin
from naively.estimators.upward import where_rows_are
from naively.estimators.validation import Checked, check_known, check_labels, check_weights
from naively.statistics.measure import raise_not_finite
from naively.statistics.summary import Summary

_FLOAT64 = np.dtype(np.float64)  # as the machine writes it, of which there is one
_MOST_BLOCKS = 64


class PredictionMixin(LearnedMixin):
    """The methods that ask a model that was read off a summary."""

    n_jobs: int | None

    @abstractmethod
    def _check(self, X: Any, known: Schema | None) -> Checked:
        """Make rows readable; they must have the columns that are known, if any are."""

    def _one(self, row: Any) -> Any:
        """Return a table of one row, given in order or by column name."""
        return numbers_of_row(row, self.summary_.schema)[np.newaxis]

    def _check_new(self, X: Any, learned: Summary) -> Checked:
        """Make rows readable that a model is asked about."""
        return self._check(X, learned.schema)

    @where_rows_are
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; ties go to the first.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Rows; the term of a missing cell is left out.
        """
        self._model()  # raises where too little was seen, before the rows are looked at
        return self._labels(self._check_new(X, self.summary_))

    @where_rows_are
    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log p(x, k) = log p(k) + log p(x | k) of each row and class."""
        return self._values("joint", X)

    @where_rows_are
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log p(k | x) of each row and class."""
        return self._values("log_proba", X)

    @where_rows_are
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return p(k | x) of each row and class: finite, between 0 and 1, of sum 1."""
        return self._values("proba", X)

    @where_rows_are
    def score_samples(self, X: Any) -> NDArray[Any]:
        """Return log p(x) of each row; it is low for rows that are unlike the training rows."""
        return self._values("evidence", X)[:, 0]

    def accuracy(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose predicted class is the true one; `score` is the same."""
        predicted = np.asarray(on_host(self.predict(X)))
        y, sample_weight = on_host(y), on_host(sample_weight)
        present, codes = labels.encode(check_labels(self, y, predicted.shape[0]))
        labels.union(present, self.classes_)  # raises where they are of another type
        weights = check_weights(predicted.shape[0], sample_weight)
        return float(np.average(present[codes] == predicted, weights=weights))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, as scikit-learn's classifiers do."""
        return self.accuracy(X, y, sample_weight)

    def loss(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        r"""Return the mean negative log-likelihood of the true class.

        .. math:: -\frac{1}{n} \sum_i \log p(y_i \mid x_i)

        It is infinite if a true class has probability 0, for example a label that was never seen.
        """
        snapshot = self._snapshot()
        log_proba, classes = np.asarray(on_host(snapshot.predict_log_proba(X))), snapshot.classes_
        y, sample_weight = on_host(y), on_host(sample_weight)
        present, codes = labels.encode(check_labels(self, y, log_proba.shape[0]))
        check_known(present, labels.union(present, classes))
        known = labels.contained(present, classes)
        at = np.where(known, labels.positions(present, classes), 0)[codes]
        terms = np.where(known[codes], log_proba[np.arange(at.size), at], -np.inf)
        weights = check_weights(at.size, sample_weight)
        if weights is not None:
            terms, weights = terms[weights > 0], weights[weights > 0]
        return -float(np.average(terms.astype(np.float64), weights=weights))

    # --- inside -------------------------------------------------------------------------------

    def _label_one(self, row: Any) -> Any:
        """Return the class of one row of numbers."""
        state = self._learned()
        model, schema = state.model(self._read), state.summary.schema
        values = numbers_of_row(row, schema)
        at = model.kernel.label_one(values)
        if at < 0:
            raise_not_finite(values[np.newaxis], schema)
        return model.labels[at]

    def _proba_one(self, row: Any) -> NDArray[np.float64]:
        """Return p(k | x) of one row of numbers."""
        state = self._learned()
        model, schema = state.model(self._read), state.summary.schema
        values, out = numbers_of_row(row, schema)[np.newaxis], np.empty((1, len(model.labels)))
        if not model.kernel.proba(values, out):
            raise_not_finite(values, schema)
        return out[0]

    def _labels(self, checked: Checked) -> NDArray[Any]:
        """Return the answers for rows that are readable."""
        state = self._learned()
        model, classes = state.model(self._read), state.summary.classes
        out = np.empty(checked.table.shape[0], dtype=classes.dtype)
        kernel = model.kernel_for(checked.table)

        def label(table: Any, out: NDArray[Any]) -> bool:
            at = np.empty(out.size, dtype=np.int64)
            finite: bool = kernel.labels(table, at)
            classes.take(at, out=out, mode="clip")  # "raise" would copy
            return finite

        self._score(label, checked, out)
        return out

    def _values(self, want: str, X: Any) -> NDArray[Any]:
        self._model()
        return self._values_of(want, self._check_new(X, self.summary_))

    def _values_of(self, want: str, checked: Checked) -> NDArray[Any]:
        model = self._model()
        n_values = 1 if want == "evidence" else len(model.labels)
        dtype = np.result_type(checked.dtype, self._learned().dtype)
        out = np.empty((checked.table.shape[0], n_values), dtype=dtype)
        self._score(getattr(model.kernel_for(checked.table), want), checked, out)
        return out

    def _score(self, score: Any, checked: Checked, out: NDArray[Any]) -> None:
        table = checked.table
        n_rows, n_columns = table.shape
        if isinstance(table, SparseRows):
            n_columns = table.n_cells // max(1, n_rows)
        blocks = block_slices(n_rows, n_columns, most=_MOST_BLOCKS)
        if not all(map_blocks(lambda rows: score(table[rows], out[rows]), blocks, self.n_jobs)):
            raise_not_finite(table, self.summary_.schema)


def numbers_of_row(row: Any, schema: Schema) -> NDArray[np.float64]:
    """Return the numbers of a row, given in order or by column name."""
    if isinstance(row, dict):
        row = row_of_dict(row, schema)
    elif is_sparse(row):
        row = row.toarray().reshape(-1) if row.shape[0] == 1 or row.ndim == 1 else row.toarray()
    values = row if type(row) is np.ndarray else _array_of_row(row)
    if values.shape != (schema.n_columns,):
        raise NaivelyError(f"a row must have {schema.n_columns} numbers; got shape {values.shape}.")
    if values.dtype is _FLOAT64:
        return values
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):  # infinity is an error that names the cell
            return np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind == "O":
        cells = enumerate(values.tolist())
        return np.array([numbers_of_objects([cell], schema.name(j))[0] for j, cell in cells])
    NUMBER.check(held_by_dtype(values.dtype) or held_by_objects(values.tolist()), "the row")
    return values.astype(np.float64)


def _array_of_row(row: Any) -> NDArray[Any]:
    """Return a row as an array: of numbers, or of its cells as they are."""
    try:
        array = np.asarray(row if type(row) is list else unmasked(row))
    except (TypeError, ValueError):  # such as dates beside numbers
        return np.array(row, dtype=object)
    return array if array.dtype.kind in "fiub" else np.array(row, dtype=object)


def row_of_dict(row: dict[str, Any], schema: Schema) -> list[Any]:
    """Return the cells of a row in the order of the columns."""
    names = schema.names
    if names is None:
        raise NaivelyError(
            "a dict needs column names, and the model was fitted on an array without any. "
            "Fit on a data frame, or give the row as a list."
        )
    if schema.dates:
        from naively.engines.memory.date_columns import row_parts

        row = {**row_parts(row, schema), **row}
    try:
        return [row[name] for name in names]
    except KeyError as absent:
        raise NaivelyError(
            f"the row has no column {schema.input(absent.args[0])!r}. Use None for a missing cell."
        ) from None
