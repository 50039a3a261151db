r"""Naive Bayes for counts with scikit-learn's interface: how often words occur in texts.

.. math:: \hat y = \arg\max_k \Big[ \log p(k) + \sum_j x_j \log p_{kj} \Big]

`MultinomialNB` estimates :math:`p_{kj}` by the counts of a class, `ComplementNB` by those of all
other classes, and `BernoulliNB` asks which words are in a text and which are not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from naively import _kernel
from naively.data.kinds import NUMBER
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.measurement import Checked
from naively.estimators.parameters import OneOf, by_name, large_enough
from naively.families.entries import Complement, Multinomial, Presence, counts_of
from naively.families.family import Family
from naively.model.class_weights import weighted_prior
from naively.model.model import Model, read_prior
from naively.statistics import Sample
from naively.statistics.summary import Summary

MULTINOMIAL, COMPLEMENT, PRESENCE = range(3)
_MIN_STREAM_ALPHA = 1e-10  # of which products and their logarithms are safe

_FLOAT64 = np.dtype(np.float64)


class CountClassifier(SummaryClassifier):
    """A classifier of rows of counts, dense or sparse; its model is read off when it is asked."""

    _alone = NUMBER
    _absent = 0.0
    _terms: ClassVar[int]  # as the kernel names them

    @by_name(calibration=[OneOf(["temperature"]), None])
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
    ) -> None: ...

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self.__dict__.get("_n_features") or super().n_features_in_

    @n_features_in_.setter
    def n_features_in_(self, number: int) -> None:
        self._n_features = number  # scikit-learn's tests do that before they fit

    @property
    def feature_count_(self) -> NDArray[np.float64]:
        """Counts by class and column."""
        return counts_of(self.summary_).values

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """Logarithms of the probabilities of columns, by class."""
        return self.model_.terms[0].parameters.log_share

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """Logarithms of the class probabilities."""
        prior = self._prior(self.summary_)
        return np.log(prior, out=np.full(prior.shape, -np.inf), where=prior > 0)

    # --- inside -------------------------------------------------------------------------------

    @abstractmethod
    def _family(self, alpha: Any) -> Family:
        """Return the family that describes all columns."""

    def _counting(self) -> dict[str, Any]:
        return {"counted": "occurrences"}

    def _cell(self, cell: Any, name: str) -> float:
        number = super()._cell(cell, name)
        if number < 0 and self._counting()["counted"] == "occurrences":
            raise NaivelyError(f"{name} must hold counts, which are >= 0; got {cell!r}.")
        return float(number)

    def _kernel_rows(self) -> Any:
        given = self.class_prior, self.class_weight, self.calibration
        if any(one is not None for one in given) or not isinstance(self.alpha, Real):
            return None
        alpha = float(self._check_alpha())
        if not _MIN_STREAM_ALPHA <= alpha <= 1 / _MIN_STREAM_ALPHA:
            return None
        priors = self.fit_prior and self._terms != COMPLEMENT
        threshold = self._counting().get("threshold", 0.0)
        return _kernel.count_stream(
            self._terms, alpha, threshold, priors, self.decay, self.window or 0
        )

    def check_rows(self, X: Any, known: Schema | None = None) -> Checked:
        """Return rows as the kernel reads them; answers are of float64 whatever their type is."""
        return super().check_rows(X, known)._replace(dtype=_FLOAT64)

    def measure_rows(
        self, rows: Rows, schema: Schema, targets: Targets, sample: Sample | None = None
    ) -> Summary:
        """Measure rows that are readable; an error names the estimator."""
        try:
            return super().measure_rows(rows, schema, targets, sample)
        except NaivelyError as error:
            who = f"passed to {self.public_name} (input X):"
            raise NaivelyError(str(error).replace("passed to X:", who)) from None

    def _read(self, summary: Summary) -> Model:
        family = self._family(self._check_alpha(summary.schema.n_columns))
        families: dict[Family, range] = {family: range(summary.schema.n_columns)}
        calibration = None if summary.sample is None else self.calibration
        return Model.read(
            summary, families, priors=self._model_prior(summary), calibration=calibration
        )

    def _model_prior(self, summary: Summary) -> NDArray[np.float64]:
        """Return the class probabilities of the model."""
        return self._prior(summary)

    def _read_if_far(self, summary: Summary) -> Model | None:
        """Read the model, of which nothing is computed until it is asked for."""
        return self._read(summary) if summary.weight > 0 else None

    def _check_alpha(self, n_features: int | None = None) -> Any:
        """Return alpha as it is used: not too small, and one for each column if it is an array."""
        alpha: Any = self.alpha
        alpha = alpha if isinstance(alpha, Real) else np.asarray(alpha, np.float64)
        if isinstance(alpha, np.ndarray):
            n_features = n_features or self.n_features_in_
            if alpha.shape != (n_features,):
                raise NaivelyError(
                    "When alpha is an array, it should contains `n_features`: one number for each "
                    f"of {n_features} columns; got shape {alpha.shape}."
                )
            if not ((alpha >= 0) & (alpha < np.inf)).all():
                raise NaivelyError(
                    "All values in alpha must be greater than 0., or 0, and finite; got "
                    f"{alpha[~((alpha >= 0) & (alpha < np.inf))][0]}."
                )
        return alpha if self.force_alpha else large_enough(alpha)

    def _check_summary(self, summary: Summary) -> None:
        super()._check_summary(summary)
        wanted, schema = self._counting(), summary.schema
        if {name: getattr(schema, name) for name in wanted} != wanted:
            listed = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
            raise NaivelyError(
                f"{self.public_name} reads counts of Schema(..., {listed}); got "
                f"counted={schema.counted!r}. Measure with that schema."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags


class MultinomialNB(CountClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Naive Bayes for counts, as of words: a drop-in replacement for scikit-learn's class.

    .. math:: \log p(k \mid x) = \log p(k) + \sum_j x_j \log \frac{N_{kj} + \alpha_j}{N_k + A}
              + \mathrm{const}

    where :math:`N_{kj}` is the sum of the counts of column j in class k, :math:`N_k` the sum over
    all columns, and A the sum of alpha. X may be dense or sparse, and is never copied; duplicate
    entries of a sparse matrix are added. NaN is a missing cell and contributes nothing.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, class_weight, calibration, decay, window
    open_classes, n_jobs

    Attributes
    ----------
    summary_, model_, classes_, class_count_, class_log_prior_
    feature_count_ : ndarray of shape (n_classes, n_features)
        Sum of the counts of each column in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the smoothed shares of columns.
    n_features_in_, feature_names_in_

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

    public_name = "MultinomialNB"
    _terms = MULTINOMIAL

    def _family(self, alpha: Any) -> Multinomial:
        return Multinomial(alpha, self.n_jobs)


class ComplementNB(CountClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Complement naive Bayes: a drop-in replacement for scikit-learn's.

    .. math:: \log p(k \mid x) = -\sum_j x_j
              \log \frac{\sum_{l \ne k} N_{lj} + \alpha_j}{\sum_{l \ne k} N_l + A} + \mathrm{const}

    where :math:`N_{kj}` is the sum of the counts of column j in class k. It is made for classes of
    very different sizes. As in scikit-learn, class probabilities are not used. X may be dense or
    sparse, and is never copied. NaN is a missing cell and contributes nothing.

    Parameters
    ----------
    alpha, force_alpha
    fit_prior : bool, default=True
        Only ``class_log_prior_`` depends on it, as in scikit-learn.
    class_prior : array-like of shape (n_classes,), default=None
        Only ``class_log_prior_`` depends on it, as in scikit-learn.
    class_weight : dict, "balanced" or None, default=None
        Factors that multiply the class probabilities, which are equal by default; 1 for classes
        that are not in the dict. ``"balanced"`` only changes ``class_log_prior_``.
    norm : bool, default=False
        Divide the weights of each class by their sum.
    calibration, decay, window, open_classes, n_jobs

    Attributes
    ----------
    summary_, model_, classes_, class_count_, class_log_prior_
    feature_count_ : ndarray of shape (n_classes, n_features)
        Sum of the counts of each column in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weights of columns: high if the column is rare in the other classes.
    feature_all_ : ndarray of shape (n_features,)
        Sum of the counts of each column in all classes.
    n_features_in_, feature_names_in_

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

    public_name = "ComplementNB"
    _terms = COMPLEMENT

    @by_name(calibration=[OneOf(["temperature"]), None])
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
    ) -> None: ...

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


class BernoulliNB(CountClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Naive Bayes for binary columns: a drop-in replacement for scikit-learn's.

    .. math:: \log p(k \mid x) = \log p(k) + \sum_j x_j \log p_{kj} + (1 - x_j) \log(1 - p_{kj})
              - \log p(x), \qquad p_{kj} = \frac{D_{kj} + \alpha_j}{W_{kj} + 2 \alpha_j}

    where :math:`D_{kj}` is the weight of the rows of class k in which column j is 1, and
    :math:`W_{kj}` the weight of the rows in which it is not missing. X may be dense or sparse, and
    is never copied; duplicate entries of a sparse matrix are added, where scikit-learn returns NaN.
    NaN is a missing cell: `fit` skips it, and `predict` leaves its term out.

    Parameters
    ----------
    alpha, force_alpha
    binarize : float or None, default=0.0
        Cells above this threshold become 1, others 0. None if all cells are 0 or 1 already.
    fit_prior, class_prior, class_weight, calibration, decay, window, open_classes, n_jobs

    Attributes
    ----------
    summary_, model_, classes_, class_count_, class_log_prior_
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weight of the rows of each class in which each column is 1.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Logarithms of the smoothed probabilities of columns.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from naively import BernoulliNB
    >>> X = csr_array([[2, 1, 0], [1, 0, 0], [0, 1, 3]])
    >>> model = BernoulliNB().fit(X, ["ham", "ham", "spam"])
    >>> model.predict(csr_array([[0, 1, 1]]))
    array(['spam'], dtype='<U4')
    >>> model.feature_count_.tolist()
    [[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """

    public_name = "BernoulliNB"
    _terms = PRESENCE

    @by_name(calibration=[OneOf(["temperature"]), None])
    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        calibration: Literal["temperature"] | None = None,
        decay: float = 1.0,
        window: int | None = None,
        open_classes: bool = False,
        n_jobs: int | None = None,
    ) -> None: ...

    def _kernel_rows(self) -> Any:
        return None if self.binarize is None else super()._kernel_rows()

    def _family(self, alpha: Any) -> Presence:
        return Presence(alpha, self.binarize, self.n_jobs)

    def _counting(self) -> dict[str, Any]:
        if self.binarize is None:
            return {"counted": "occurrences"}
        return {"counted": "documents", "threshold": float(self.binarize)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags
