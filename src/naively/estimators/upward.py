"""Methods of an estimator whose work is done elsewhere, which is imported when they are called.

Explanations, importance and exports are in rooms above: this is the only module that imports from
such. Predictions for collections of Dask and arrays on a GPU are made by their engines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data.whole_files import write_atomically
from naively.engines import engine_of
from naively.engines.memory.devices import is_on_device, on_host
from naively.errors import NaivelyError
from naively.estimators.state import learned, snapshot

if TYPE_CHECKING:
    from naively.inspection.counterfactual import Counterfactual
    from naively.inspection.explanations import Explanation
    from naively.inspection.importance import Importance


class Upward:
    """Explanations, the importance of columns, and exports of a fitted classifier."""

    def explain(self, X: Any) -> Explanation:
        """Explain predictions: return what every column contributes to every class.

        Parameters
        ----------
        X : array-like, data frame, files, or table of a database
            Rows, as `predict` takes them, or up to 100,000 rows of files, of a stream of Arrow, of
            a lazy frame or of a table of Ibis's.

        Returns
        -------
        Explanation
            Prior, bias and the contributions of all columns, which add up to
            `predict_joint_log_proba`.

        Examples
        --------
        >>> from naively import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
        >>> print(model.explain([[4.0]]))
        row 0: 'a' (0.9707) rather than 'b' (0.0293), log-odds 3.5000
                  value    for a    for b  log-odds
        column 0      4  -5.4189  -8.9189    3.5000
        prior            -0.6931  -0.6931    0.0000
        sum              -6.1121  -9.6121    3.5000
        """
        from naively.inspection.explanations import explain

        return explain(snapshot(self), on_host(X))

    def counterfactual(
        self, row: Any, *, to: Any = None, columns: Iterable[Any] | None = None
    ) -> Counterfactual:
        """Return the smallest change of one cell that changes the prediction.

        The size of a change is measured in standard deviations of the column for numbers, and in
        units for counts; another category has a size of 1. Texts and missing cells are not changed.

        Parameters
        ----------
        row : list, dict, or table of one row
            Its cells, as `predict_one` or `predict` takes them.
        to : label, default=None
            The class that should be predicted; None for any other class.
        columns : iterable of names or places, default=None
            The columns that may change; None for all.

        Returns
        -------
        Counterfactual
            The change; it is false if no change of one cell is enough.

        Examples
        --------
        >>> from naively import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
        >>> print(model.counterfactual([4.0]))
        'a' (0.9707) becomes 'b' (0.5000) by
                  before  after  distance
        column 0       4    4.5    0.1374
        """
        from naively.inspection.counterfactual import counterfactual

        return counterfactual(snapshot(self), on_host(row), to=to, columns=columns)

    def importance(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        target: str | None = None,
    ) -> Importance:
        """Return the increase of the log loss of unseen rows when a column is left out.

        Without rows, they are those of the summary's sample, which models with calibration keep:
        each is scored by the terms of all others. That is also the attribute `importance_`, and
        `feature_importances_` is its increase as scikit-learn's tools take it.

        Parameters
        ----------
        X : array-like, data frame, files, table of a database, or Summary, default=None
            Rows that the model has not learned from. Of files, of a database and of a summary, a
            sample is scored.
        y : array-like of shape (n_rows,), default=None
            Their labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Their weights.
        target : str, default=None
            The column of labels, instead of y.

        Returns
        -------
        Importance
            Of every column: the increase, its standard error, and by class.

        Examples
        --------
        >>> from naively import GaussianNB
        >>> X = [[0.0, 1.0], [2.0, 3.0], [7.0, 1.0], [9.0, 3.0]]
        >>> model = GaussianNB().fit(X, ["a", "a", "b", "b"])
        >>> print(model.importance([[1.0, 2.0], [6.0, 1.0], [5.0, 2.5]], ["a", "b", "b"]))
        GaussianNB: increase of the log loss (0.0099) of 3 unseen rows without each column
                  increase   error    in a    in b
        column 0    0.6832  0.0081  0.6931  0.6783
        column 1    0.0000  0.0000  0.0000  0.0000
        """
        from naively.inspection.importance import importance_of_rows, importance_of_sample

        estimator = snapshot(self)
        state = learned(estimator)
        if X is not None:
            return importance_of_rows(estimator, X, y, sample_weight, target=target)
        importance: Importance = state.once("importance", lambda: importance_of_sample(estimator))
        return importance

    @property
    def importance_(self) -> Importance:
        """What `importance` returns without rows; without a sample there is no such attribute."""
        try:
            return self.importance()
        except NaivelyError as error:
            raise AttributeError(str(error)) from None

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The increase of `importance` without rows, in the order of columns; 0 where it falls.

        scikit-learn takes the size of such numbers, whatever their sign.
        """
        return np.maximum(self.importance_.increase, 0.0)

    def to_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        dtype: Literal["float32", "float64"] = "float32",
    ) -> None:
        """Write the model as an ONNX graph, which gives ``prediction`` and ``probabilities``.

        Parameters
        ----------
        path : path-like
            The file, by custom with the ending ``.onnx``.
        dtype : {"float32", "float64"}, default="float32"
            The type of the input. The arithmetic inside is float64.
        """
        from naively.export import to_onnx

        write_atomically(path, to_onnx(snapshot(self), dtype=dtype))

    def to_sql(self, table: str, *, dialect: str = "duckdb", **options: Any) -> str:
        """Return one SELECT that scores a table inside its database.

        Parameters
        ----------
        table : str
            The table, as the dialect writes it.
        dialect : str, default="duckdb"
            duckdb, postgres, sqlite, bigquery, snowflake, spark or databricks.
        **options
            ``columns``, ``keep``, ``label`` and ``proba`` of `naively.export.to_sql`.
        """
        from naively.export import to_sql

        return to_sql(snapshot(self), table, dialect=dialect, **options)


def where_rows_are(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a method that also answers for a collection of Dask's, or an array on a GPU.

    Both are recognised without importing their packages. The answer is another collection, as lazy
    as X is, or another array on the GPU. The learned state is taken once, at the start: a thread
    that learns meanwhile changes nothing of the answer.
    """

    @wraps(method)
    def answer(self: Any, X: Any) -> Any:
        estimator = snapshot(self)
        if type(X) in (np.ndarray, list, tuple):
            return method(estimator, X)
        if method.__name__ == "decision_function" and is_on_device(X):  # which asks for the joint
            return method(estimator, X)
        if (engine := engine_of(X)).predicts:
            return engine.module.predict(estimator, method.__name__, X)
        return method(estimator, X)

    return answer
