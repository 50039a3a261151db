"""How important the columns of a fitted classifier are, on rows that it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.estimators._learned import LearnedMixin

if TYPE_CHECKING:
    from naively.importance import Importance

__all__ = ["ImportanceMixin"]


class ImportanceMixin(LearnedMixin):
    """The attributes and the method that measure the importance of columns."""

    @property
    def importance_(self) -> Importance:
        """The increase of the log loss of unseen rows when a column is left out.

        Rows are those of the summary's sample, each scored by the terms of all others. Without a
        sample there is no such attribute: see `importance`.
        """
        from naively.importance import importance_of_sample

        state, estimator = self._learned(), self._snapshot()
        return state.importance(lambda: importance_of_sample(estimator))  # type: ignore[arg-type]

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The increase of the log loss without each column, in their order; 0 where it falls.

        scikit-learn takes the size of such numbers, whatever their sign; `importance_` has it.
        """
        return np.maximum(self.importance_.increase, 0.0)

    def importance(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Importance:
        """Return the increase of the log loss when a column is left out.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Rows that the model has not learned from.
        y : array-like of shape (n_rows,)
            Their labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Their weights.

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
        from naively.importance import importance_of_rows

        estimator: Any = self._snapshot()
        return importance_of_rows(estimator, X, y, sample_weight)
