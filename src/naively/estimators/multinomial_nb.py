r"""Multinomial naive Bayes with scikit-learn's interface: how often words occur in texts.

.. math:: \hat y = \arg\max_k \Big[ \log p(k)
          + \sum_j x_j \log \frac{N_{kj} + \alpha_j}{N_k + A} \Big]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from naively.estimators.counts import MULTINOMIAL, CountClassifier
from naively.estimators.validation import by_name
from naively.families.multinomial import Multinomial


class MultinomialNB(CountClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Naive Bayes for counts, as of words: a drop-in replacement for scikit-learn's class.

    .. math:: \log p(k \mid x) = \log p(k) + \sum_j x_j \log \frac{N_{kj} + \alpha_j}{N_k + A}
              + \mathrm{const}

    where :math:`N_{kj}` is the sum of the counts of column j in class k, :math:`N_k` the sum over
    all columns, and A the sum of alpha. X may be dense or sparse, and is never copied; duplicate
    entries of a sparse matrix are added. NaN is a missing cell and contributes nothing.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Additive (Laplace) smoothing: one number, or one for each column; 0 for no smoothing.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is set to 1e-10.
    fit_prior : bool, default=True
        Estimate class probabilities from the data; if False, all classes that have rows are
        equally probable.
    class_prior : array-like of shape (n_classes,) or dict, default=None
        Class probabilities, in the order of ``classes_`` or by label; if given, ``fit_prior`` is
        ignored.
    class_weight : dict, "balanced" or None, default=None
        Factors that multiply the class probabilities; 1 for classes that are not in the dict.
        ``"balanced"`` makes all classes equally probable. Nothing else changes.
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
        Logarithms of the smoothed shares of columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if `fit` was given a data frame.

    Notes
    -----
    Logarithms are computed when they are needed, so the time of `partial_fit` depends on the size
    of the batch, not on classes times columns. Sums of whole numbers are exact.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from naively import MultinomialNB
    >>> X = csr_array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> model = MultinomialNB().fit(X, ["ham", "ham", "spam"])
    >>> model.predict(csr_array([[0, 1, 1]]))
    array(['spam'], dtype='<U4')
    >>> model.feature_count_.tolist()
    [[3.0, 1.0, 0.0], [0.0, 1.0, 3.0]]
    """

    _name = "MultinomialNB"

    _terms = MULTINOMIAL

    @by_name
    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
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
        self.calibration = calibration
        self.decay = decay
        self.window = window
        self.open_classes = open_classes
        self.n_jobs = n_jobs

    def _family(self, alpha: Any) -> Multinomial:
        return Multinomial(alpha, self.n_jobs)
