r"""Complement naive Bayes with scikit-learn's interface: words that the other classes lack.

.. math:: \hat y = \arg\max_k \Big[ -\sum_j x_j
          \log \frac{\sum_{l \ne k} N_{lj} + \alpha_j}{\sum_{l \ne k} N_l + A} \Big]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from naively.estimators.counts import COMPLEMENT, CountClassifier
from naively.estimators.validation import by_name
from naively.families.complement import Complement
from naively.model.class_weights import weighted_prior
from naively.model.model import read_prior
from naively.statistics.summary import Summary


class ComplementNB(CountClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Complement naive Bayes: a drop-in replacement for scikit-learn's.

    .. math:: \log p(k \mid x) = -\sum_j x_j
              \log \frac{\sum_{l \ne k} N_{lj} + \alpha_j}{\sum_{l \ne k} N_l + A} + \mathrm{const}

    where :math:`N_{kj}` is the sum of the counts of column j in class k. It is made for classes of
    very different sizes. As in scikit-learn, class probabilities are not used. X may be dense or
    sparse, and is never copied. NaN is a missing cell and contributes nothing.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Additive (Laplace) smoothing: one number, or one for each column; 0 for no smoothing.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is set to 1e-10.
    fit_prior : bool, default=True
        Only ``class_log_prior_`` depends on it, as in scikit-learn.
    class_prior : array-like of shape (n_classes,), default=None
        Only ``class_log_prior_`` depends on it, as in scikit-learn.
    class_weight : dict, "balanced" or None, default=None
        Factors that multiply the class probabilities, which are equal by default; 1 for classes
        that are not in the dict. ``"balanced"`` only changes ``class_log_prior_``.
    norm : bool, default=False
        Divide the weights of each class by their sum.
    calibration : {"temperature"} or None, default=None
        None for plain naive Bayes, whose probabilities are too close to 0 and 1 on long texts.
        ``"temperature"`` fits one weight for all columns and a bias for each class on a sample of
        rows; each row is predicted by the statistics of all others.
    decay : float, default=1.0
        Each `partial_fit` and `learn_one` multiplies the weight of all earlier rows by this factor.
    window : int, default=None
        Number of rows that `learn_one` keeps; older rows are forgotten. None for all.
    open_classes : bool, default=False
        Allow new labels in every `partial_fit`; ``classes`` is not needed then.
    n_jobs : int, default=None
        Number of threads; None uses all cores if there is enough work. The result does not
        depend on it.

    Attributes
    ----------
    summary_ : Summary
        The statistics of all rows seen. Everything else is computed from it on access.
    model_ : Model
        The model that scores rows: class probabilities and the terms of all columns.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class probabilities.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Sum of the counts of each column in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weights of columns: high if the column is rare in the other classes.
    feature_all_ : ndarray of shape (n_features,)
        Sum of the counts of each column in all classes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if `fit` was given a data frame.

    References
    ----------
    J. D. Rennie, L. Shih, J. Teevan, D. R. Karger (2003), Tackling the poor assumptions of naive
    Bayes text classifiers.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from naively import ComplementNB
    >>> X = csr_array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> ComplementNB().fit(X, ["ham", "ham", "spam"]).predict(csr_array([[0, 1, 1]]))
    array(['spam'], dtype='<U4')
    """

    _name = "ComplementNB"
    _terms = COMPLEMENT
    _constraints: ClassVar[dict[str, list[Any]]] = {
        **CountClassifier._constraints,
        "norm": [bool, np.bool_],
    }

    @by_name
    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        norm: bool = False,
        calibration: Literal["temperature"] | None = None,
        decay: float = 1.0,
        window: int | None = None,
        open_classes: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.norm = norm
        self.calibration = calibration
        self.decay = decay
        self.window = window
        self.open_classes = open_classes
        self.n_jobs = n_jobs

    @property
    def feature_all_(self) -> NDArray[np.float64]:
        """How often each column occurs in all classes together."""
        return self.model_.terms[0].statistic.whole

    def _kernel_rows(self) -> Any:
        return None if self.norm else super()._kernel_rows()

    def _family(self, alpha: Any) -> Complement:
        return Complement(alpha, self.norm, self.n_jobs)

    def _model_prior(self, summary: Summary) -> NDArray[np.float64]:
        """Return equal probabilities times class weights."""
        self._prior(summary)  # raises where it is wrong
        equal = weighted_prior(read_prior(summary, None), "balanced", summary.classes)
        return weighted_prior(equal, self.class_weight, summary.classes)
