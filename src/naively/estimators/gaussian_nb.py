r"""Gaussian naive Bayes with scikit-learn's face.

.. math::

    \hat y = \arg\max_k \Big[ \log p(k) + \sum_j \log f(x_j \mid \mu_{kj}, \sigma^2_{kj}) \Big]
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from naively.engines.arrays import summarize
from naively.estimators._base import SummaryClassifier
from naively.estimators._dask import lazy_on_dask
from naively.estimators._state import State
from naively.estimators._validation import check_defined
from naively.exceptions import NaivelyError
from naively.families.family import Family
from naively.families.gaussian import Gaussian, GaussianParameters
from naively.model import Model
from naively.statistics import Moments
from naively.summary import Summary

__all__ = ["GaussianNB"]


def _is_linear(estimator: GaussianNB) -> bool:
    if estimator.variance == "shared":
        return True
    raise AttributeError("the model is linear only with variance='shared'.")


class GaussianNB(SummaryClassifier):
    r"""Gaussian naive Bayes: a drop-in replacement for scikit-learn's class.

    .. math::

        \log p(k \mid x) = \log p(k) + \sum_j \log f(x_j \mid \mu_{kj}, \sigma^2_{kj})
                           - \log p(x)

    where :math:`p(k) = N_k / N`, :math:`\mu_{kj}` and :math:`\sigma^2_{kj}` are the mean and the
    variance of column j in class k, and f is the Gaussian density. NaN is a missing cell: `fit`
    skips it, and `predict` leaves its term out.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None for the class frequencies in the data. Calibration always uses
        the frequencies in the data.
    class_weight : dict, "balanced" or None, default=None
        Factors that multiply the class probabilities; 1 for classes that are not in the dict.
        ``"balanced"`` makes all classes equally probable. Nothing else changes.
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
    decay : float, default=1.0
        Each `partial_fit` multiplies the weight of all earlier rows by this factor.
    open_classes : bool, default=False
        Allow new labels in every `partial_fit`; ``classes`` is not needed then.
    n_jobs : int, default=None
        Number of threads; None uses all cores if there is enough work. The result does not
        depend on it.

    Attributes
    ----------
    summary_ : Summary
        The statistics of all rows seen. Everything else is computed from it.
    model_ : Model
        The model that scores rows: class probabilities and the terms of all columns.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Class probabilities.
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
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if `fit` was given a data frame.

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

    _alone = "number"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", None],
        "var_smoothing": [Interval(Real, 0, None, closed="left")],
        "variance": [StrOptions({"class", "shared"})],
        "ddof": [Interval(Integral, 0, None, closed="left")],
        "smoothing": [StrOptions({"global", "column"})],
        "calibration": [StrOptions({"temperature", "weights"}), None],
        **SummaryClassifier._parameter_constraints,
    }

    def __init__(
        self,
        *,
        priors: ArrayLike | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        var_smoothing: float = 1e-9,
        variance: Literal["class", "shared"] = "class",
        ddof: int = 0,
        smoothing: Literal["global", "column"] = "global",
        calibration: Literal["temperature", "weights"] | None = None,
        decay: float = 1.0,
        open_classes: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.priors = priors
        self.class_weight = class_weight
        self.var_smoothing = var_smoothing
        self.variance = variance
        self.ddof = ddof
        self.smoothing = smoothing
        self.calibration = calibration
        self.decay = decay
        self.open_classes = open_classes
        self.n_jobs = n_jobs

    @property
    def theta_(self) -> NDArray[Any]:
        """Means, by class and column."""
        state = self._learned()
        return self._parameters(state).mean.astype(state.dtype)

    @property
    def var_(self) -> NDArray[Any]:
        """Variances, smoothing included."""
        state = self._learned()
        return self._parameters(state).variance.astype(state.dtype)

    @property
    def epsilon_(self) -> Any:
        """What smoothing added to the variances."""
        return self._parameters(self._learned()).epsilon

    @property
    def coef_(self) -> NDArray[np.float64]:
        r"""Weights of the linear form.

        :math:`w_{kj} = \mu_{kj} / \sigma_j^2`; for two classes the difference
        :math:`(\mu_{1j} - \mu_{0j}) / \sigma_j^2`, the textbook's weight with its sign turned.
        """
        _is_linear(self)
        return self._linear()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        r"""Constants of the linear form.

        :math:`b_k = \log p(k) - \sum_j \mu_{kj}^2 / 2 \sigma_j^2`; for two classes the
        difference of the second from the first.
        """
        _is_linear(self)
        return self._linear()[1]

    @available_if(_is_linear)
    @lazy_on_dask
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the linear form; only with ``variance="shared"``.

        For two classes ``X @ coef_[0] + intercept_[0]``, the log odds of ``classes_[1]``: it is
        predicted where this is positive. For more, the joint log-probability of each class,
        which is ``X @ coef_.T + intercept_`` but for a number that all classes share.
        """
        joint = self.predict_joint_log_proba(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def _read(self, summary: Summary) -> Model:
        family = Gaussian(self.var_smoothing, self.variance, self.ddof, self.smoothing)
        families: dict[Family, range] = {family: range(summary.schema.n_columns)}
        model = Model.read(
            summary, families, priors=self._prior(summary), calibration=self.calibration
        )
        if self.ddof:
            check_defined(summary, model.terms[0].parameters, self.variance, self.ddof)
        return model

    def _parameters(self, state: State) -> GaussianParameters:
        return self._model(state).terms[0].parameters

    def _linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Return weights and constants of the linear form, one row per class.

        .. math::

            \log p(k) + \sum_j \log f_{kj}(x_j) = w_k \cdot x + b_k + \text{the same for all } k,
            \qquad w_{kj} = \frac{\mu_{kj}}{\sigma_j^2}, \quad
            b_k = \log p(k) - \sum_j \frac{\mu_{kj}^2}{2 \sigma_j^2}

        For two classes, the difference of the second from the first: positive means
        ``classes_[1]``, as everywhere in scikit-learn.
        """
        state = self._learned()
        mean, variance = self._parameters(state).mean, self._parameters(state).variance
        known = ~np.isnan(variance)
        weights = np.divide(mean, variance, out=np.zeros_like(mean), where=known)
        squares = np.sum(np.where(known, weights * mean, 0.0), axis=1)
        constants = self._model(state).log_prior - 0.5 * squares
        if constants.size == 2:
            return weights[1:] - weights[:1], constants[1:] - constants[:1]
        return weights, constants

    def _check_summary(self, summary: Summary) -> None:
        super()._check_summary(summary)
        if summary.schema.categories:
            raise NaivelyError(
                "GaussianNB reads columns of numbers; got "
                f"{summary.schema.name(summary.schema.categories[0])}, which holds categories. "
                "Use NaiveBayes."
            )

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
