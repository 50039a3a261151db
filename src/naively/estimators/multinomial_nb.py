r"""Multinomial naive Bayes with scikit-learn's face: how often words occur in texts.

.. math:: \hat y = \arg\max_k \Big[ \log p(k)
          + \sum_j x_j \log \frac{N_{kj} + \alpha_j}{N_k + A} \Big]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from numpy.typing import ArrayLike

from naively.estimators._counts import CountClassifier
from naively.families.multinomial import Multinomial

__all__ = ["MultinomialNB"]


class MultinomialNB(CountClassifier):
    r"""Naive Bayes for counts, as of words: a drop-in for scikit-learn's, on a summary that adds.

    .. math:: \log p(k \mid x) = \log p(k) + \sum_j x_j \log \frac{N_{kj} + \alpha_j}{N_k + A}
              + \mathrm{const}

    where :math:`N_{kj}` is how often column j occurs in class k, :math:`N_k` the sum of those, and
    A that of alpha. X may be dense or sparse, and is never copied; cells of a sparse row that stand
    at one place are added up. NaN is a missing cell, which adds nothing.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        What is added to every count: one number, or one for each column. 0 for nothing.
    force_alpha : bool, default=True
        Take an alpha below 1e-10 as it is, and not as 1e-10.
    fit_prior : bool, default=True
        Learn class probabilities from the data, or let all classes be equally probable.
    class_prior : array-like of shape (n_classes,), default=None
        Class probabilities; they go before ``fit_prior``.
    class_weight : dict, "balanced" or None, default=None
        Weights that class probabilities are multiplied by, 1 where a class has none, or
        ``"balanced"`` for equally probable classes. Columns are described as without it.
    calibration : {"temperature"} or None, default=None
        None for the textbook's probabilities, which are too sure of themselves on long texts. One
        exponent for all columns, and a bias for each class, are fitted on a sample of rows, each
        judged by what all others say.
    decay : float, default=1.0
        What was seen before counts this much less with each `partial_fit`.
    open_classes : bool, default=False
        Let `partial_fit` meet new labels at any time; ``classes`` is not needed then.
    n_jobs : int, default=None
        Threads: None for all cores where there is enough to do, 1 for none. The result does not
        depend on it.

    Attributes
    ----------
    summary_ : Summary
        What was seen. Everything else is read off it, when it is asked for.
    model_ : Model
        What scores rows: class probabilities, and the terms of all columns.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the class probabilities.
    feature_count_ : ndarray of shape (n_classes, n_features)
        How often each column occurs in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the smoothed shares of columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if `fit` was given a frame.

    Notes
    -----
    Logarithms are read off when they are asked for: `partial_fit` costs what the batch holds, not
    classes times columns. Sums of whole numbers are exact.

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

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        calibration: Literal["temperature"] | None = None,
        decay: float = 1.0,
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
        self.open_classes = open_classes
        self.n_jobs = n_jobs

    def _family(self, alpha: Any) -> Multinomial:
        return Multinomial(alpha)
