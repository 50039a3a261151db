"""Gaussian naive Bayes without scikit-learn: what `GaussianNB` does."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.data.kinds import NUMBER
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.state import State
from naively.estimators.validation import Interval, OneOf, by_name, check_defined
from naively.families.family import Family
from naively.families.gaussian import Gaussian, GaussianParameters
from naively.model.model import Model
from naively.statistics.summary import Summary


def is_linear(estimator: GaussianClassifier) -> bool:
    """Return True where the model is linear, or raise AttributeError."""
    if estimator.variance == "shared":
        return True
    raise AttributeError("the model is linear only with variance='shared'.")


class GaussianClassifier(SummaryClassifier):
    """A Gaussian for each column and class."""

    _name = "GaussianNB"
    _alone = NUMBER
    _constraints: ClassVar[dict[str, list[Any]]] = {
        "priors": ["array-like", dict, None],
        "var_smoothing": [Interval(Real, 0)],
        "variance": [OneOf(["class", "shared"])],
        "ddof": [Interval(Integral, 0)],
        "smoothing": [OneOf(["global", "column"])],
        "calibration": [OneOf(["temperature", "weights"]), None],
        **SummaryClassifier._constraints,
    }

    @by_name
    def __init__(
        self,
        *,
        priors: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        var_smoothing: float = 1e-9,
        variance: Literal["class", "shared"] = "class",
        ddof: int = 0,
        smoothing: Literal["global", "column"] = "global",
        calibration: Literal["temperature", "weights"] | None = None,
        decay: float = 1.0,
        window: int | None = None,
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
        self.window = window
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
        is_linear(self)
        return self._linear()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        r"""Constants of the linear form.

        :math:`b_k = \log p(k) - \sum_j \mu_{kj}^2 / 2 \sigma_j^2`; for two classes the
        difference of the second from the first.
        """
        is_linear(self)
        return self._linear()[1]

    def _read(self, summary: Summary) -> Model:
        family = Gaussian(self.var_smoothing, self.variance, self.ddof, self.smoothing)
        families: dict[Family, range] = {family: range(summary.schema.n_columns)}
        model = Model.read(
            summary, families, priors=self._prior(summary), calibration=self.calibration
        )
        if self.ddof:
            check_defined(summary, model.terms[0].parameters, self.variance, self.ddof)
        return model

    def _kernel_rows(self) -> Any:
        plain = self.variance == "class" and self.ddof == 0 and self.var_smoothing > 0
        given = self.priors, self.class_weight, self.calibration
        if not plain or any(one is not None for one in given):
            return None
        by_column = self.smoothing == "column"
        return _kernel.gaussian_stream(self.var_smoothing, by_column, self.decay, self.window or 0)

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
