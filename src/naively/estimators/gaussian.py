"""Gaussian naive Bayes without scikit-learn: what `GaussianNB` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.data.kinds import NUMBER
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.parameters import by_name
from naively.estimators.state import State, learned
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

    public_name = "GaussianNB"
    _alone = NUMBER

    @by_name()
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
    ) -> None: ...

    @property
    def theta_(self) -> NDArray[Any]:
        """Means, by class and column."""
        state = learned(self)
        return self._parameters(state).mean.astype(state.dtype)

    @property
    def var_(self) -> NDArray[Any]:
        """Variances, smoothing included."""
        state = learned(self)
        return self._parameters(state).variance.astype(state.dtype)

    @property
    def epsilon_(self) -> Any:
        """What smoothing added to the variances."""
        return self._parameters(learned(self)).epsilon

    @property
    def coef_(self) -> NDArray[np.float64]:
        r"""Weights of the linear form.

        :math:`w_{kj} = \mu_{kj} / \sigma_j^2`; for two classes the difference
        :math:`(\mu_{1j} - \mu_{0j}) / \sigma_j^2`, the textbook's weight with its sign turned.
        """
        return self._linear()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        r"""Constants of the linear form.

        :math:`b_k = \log p(k) - \sum_j \mu_{kj}^2 / 2 \sigma_j^2`; for two classes the
        difference of the second from the first.
        """
        return self._linear()[1]

    def _read(self, summary: Summary) -> Model:
        family = Gaussian(self.var_smoothing, self.variance, self.ddof, self.smoothing)
        families: dict[Family, range] = {family: range(summary.schema.n_columns)}
        model = Model.read(
            summary, families, priors=self._prior(summary), calibration=self.calibration
        )
        if self.ddof:
            _check_defined(summary, model.terms[0].parameters, self.variance, self.ddof)
        return model

    def _kernel_rows(self) -> Any:
        plain = self.variance == "class" and self.ddof == 0 and self.var_smoothing > 0
        given = self.priors, self.class_weight, self.calibration
        if not plain or any(one is not None for one in given):
            return None
        by_column = self.smoothing == "column"
        return _kernel.gaussian_stream(self.var_smoothing, by_column, self.decay, self.window or 0)

    def _parameters(self, state: State) -> GaussianParameters:
        return state.model(self._read).terms[0].parameters

    def _linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Return weights and constants of the linear form, one row per class.

        .. math::

            \log p(k) + \sum_j \log f_{kj}(x_j) = w_k \cdot x + b_k + \text{the same for all } k,
            \qquad w_{kj} = \frac{\mu_{kj}}{\sigma_j^2}, \quad
            b_k = \log p(k) - \sum_j \frac{\mu_{kj}^2}{2 \sigma_j^2}

        For two classes, the difference of the second from the first: positive means
        ``classes_[1]``, as everywhere in scikit-learn.
        """
        is_linear(self)
        state = learned(self)
        parameters = self._parameters(state)
        mean, variance = parameters.mean, parameters.variance
        known = ~np.isnan(variance)
        weights = np.divide(mean, variance, out=np.zeros_like(mean), where=known)
        squares = np.sum(np.where(known, weights * mean, 0.0), axis=1)
        constants = state.model(self._read).log_prior - 0.5 * squares
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


def _check_defined(
    summary: Summary, parameters: GaussianParameters, variance: str, ddof: int
) -> None:
    """Raise where ddof leaves nothing to divide by. A column nobody has seen is NaN and legal."""
    undefined = np.isnan(parameters.variance) & ~np.isnan(parameters.mean)
    if not undefined.any():
        return
    k, j = np.argwhere(undefined)[0]
    label, column = summary.classes.item(k), summary.schema.name(int(j))
    if variance == "shared":
        raise NaivelyError(
            f"with variance='shared' and ddof={ddof}, {column} needs more rows than "
            f"classes times ddof; got weight {summary.moments.weight[:, j].sum():g}. "
            "Use ddof=0 or more rows."
        )
    raise NaivelyError(
        f"class {label!r} has no variance with ddof={ddof}: it needs more weight than "
        f"that in {column}; got {summary.moments.weight[k, j]:g}. Use ddof=0 or more rows."
    )
