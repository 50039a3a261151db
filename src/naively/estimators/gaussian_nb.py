r"""Gaussian naive Bayes with scikit-learn's interface.

.. math::

    \hat y = \arg\max_k \Big[ \log p(k) + \sum_j \log f(x_j \mid \mu_{kj}, \sigma^2_{kj}) \Big]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from naively.engines.memory.arrays import summarize
from naively.estimators.gaussian import GaussianClassifier, is_linear
from naively.estimators.upward import where_rows_are
from naively.statistics import Moments


class GaussianNB(GaussianClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Gaussian naive Bayes: a drop-in replacement for scikit-learn's class.

    .. math::

        \log p(k \mid x) = \log p(k) + \sum_j \log f(x_j \mid \mu_{kj}, \sigma^2_{kj})
                           - \log p(x)

    where :math:`p(k) = N_k / N`, :math:`\mu_{kj}` and :math:`\sigma^2_{kj}` are the mean and the
    variance of column j in class k, and f is the Gaussian density. NaN is a missing cell: `fit`
    skips it, and `predict` leaves its term out.

    Parameters
    ----------
    priors, class_weight
    var_smoothing : float, default=1e-9
        This fraction of the largest variance of all columns is added to every variance. With 0, a
        class whose cells in a column are all equal gets the variance ``v / (n + 1)``, where v is
        the variance of the column within classes and n the weight of the cells.
    variance : {"class", "shared"}, default="class"
        One variance per class and column, or one per column, pooled within the classes: then
        the model is linear and has `coef_`, `intercept_` and `decision_function`.
    ddof : int, default=0
        Divide squared deviations by ``n - ddof``: 0 for maximum likelihood, 1 for the sample
        variance.
    smoothing : {"global", "column"}, default="global"
        Smooth by the largest variance of all columns, as scikit-learn does, or each column by its
        own variance, so that the model does not depend on the units of the columns.
    calibration : {"temperature", "weights"} or None, default=None
        None for plain naive Bayes, whose probabilities are too close to 0 and 1 if columns depend
        on each other. ``"temperature"`` fits one weight for all columns, ``"weights"`` one for each
        column, on a sample of rows; each row is predicted by the statistics of all others.
    decay, window, open_classes, n_jobs

    Attributes
    ----------
    summary_, model_, classes_, class_count_, class_prior_
    theta_ : ndarray of shape (n_classes, n_features)
        Means.
    var_ : ndarray of shape (n_classes, n_features)
        Variances, smoothing included.
    epsilon_ : float, or ndarray of shape (n_features,) with ``smoothing="column"``
        What smoothing added to the variances.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the linear form; only with ``variance="shared"``.
    intercept_ : ndarray of shape (n_classes,), or (1,) for two classes
        Its constants; only with ``variance="shared"``.
    n_features_in_, feature_names_in_

    Notes
    -----
    Statistics are float64 whatever the type of X, and are added by the formula of Chan, Golub and
    LeVeque; `partial_fit` on any batches in any order gives the same model as `fit` on all rows.
    Learned attributes and probabilities have the type of X, as in scikit-learn.

    A class that has no cell in a column gets the mean and variance of the whole column.

    Examples
    --------
    >>> import numpy as np
    >>> from naively import GaussianNB
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> y = np.array(["low", "low", "low", "high", "high", "high"])
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict([[-0.8, -1]])
    array(['low'], dtype='<U4')
    >>> model.predict_one([-0.8, np.nan])  # a missing cell
    'low'
    >>> half = GaussianNB().fit(X[::2], y[::2])
    >>> half.update(GaussianNB().fit(X[1::2], y[1::2]).summary_).theta_.tolist()
    [[2.0, 1.3333333333333333], [-2.0, -1.3333333333333333]]
    """

    @available_if(is_linear)
    @where_rows_are
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the linear form; only with ``variance="shared"``.

        For two classes ``X @ coef_[0] + intercept_[0]``, the log odds of ``classes_[1]``: it is
        predicted where this is positive. For more, the joint log-probability of each class,
        which is ``X @ coef_.T + intercept_`` but for a number that all classes share.
        """
        joint = self.predict_joint_log_proba(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @staticmethod
    def _update_mean_variance(
        n_past: float,
        mu: ArrayLike,
        var: ArrayLike,
        X: NDArray[Any],
        sample_weight: ArrayLike | None = None,
    ) -> tuple[Any, Any]:
        """Add rows to a mean and a variance: scikit-learn's tests call it by this name."""
        if X.shape[0] == 0:
            return mu, var
        past = Moments.of(n_past, mu, np.asarray(var) * n_past)
        rows = summarize(X, np.zeros(X.shape[0], dtype=int), sample_weight=sample_weight)
        total = past + rows.moments[0]
        return total.mean, total.m2 / total.weight
