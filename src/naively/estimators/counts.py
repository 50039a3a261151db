"""What the estimators of counts share: `MultinomialNB`, `ComplementNB` and `BernoulliNB`."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.data.kinds import NUMBER
from naively.data.rows import Targets
from naively.data.schema import Schema
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.validation import Checked, Interval, OneOf, large_enough
from naively.families.entries import counts_of
from naively.families.family import Family
from naively.model.model import Model
from naively.statistics import Sample
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from sklearn.utils import Tags

MULTINOMIAL, COMPLEMENT, PRESENCE = range(3)
_LEAST_ALPHA = 1e-10  # of which products and their logarithms are safe

_FLOAT64 = np.dtype(np.float64)


class CountClassifier(SummaryClassifier):
    """A classifier of rows of counts, dense or sparse; its model is read off when it is asked."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    calibration: Any

    _alone = NUMBER
    _absent = 0.0
    _terms: ClassVar[int]  # as the kernel names them
    _constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0), "array-like"],
        "force_alpha": [bool, np.bool_],
        "fit_prior": [bool, np.bool_],
        "class_prior": ["array-like", dict, None],
        "calibration": [OneOf(["temperature"]), None],
        **SummaryClassifier._constraints,
    }

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        found: Any = self.__dict__.get("_n_features")
        return found or super().n_features_in_

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
        if not _LEAST_ALPHA <= alpha <= 1 / _LEAST_ALPHA:
            return None
        priors = self.fit_prior and self._terms != COMPLEMENT
        threshold = self._counting().get("threshold", 0.0)
        return _kernel.count_stream(
            self._terms, alpha, threshold, priors, self.decay, self.window or 0
        )

    def _check(self, X: Any, known: Schema | None) -> Checked:
        return super()._check(X, known)._replace(dtype=_FLOAT64)

    def _measure(
        self, table: Any, schema: Schema, targets: Targets, sample: Sample | None = None
    ) -> Summary:
        try:
            return super()._measure(table, schema, targets, sample)
        except NaivelyError as error:
            who = f"passed to {self._name} (input X):"
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
            said = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
            raise NaivelyError(
                f"{self._name} reads counts of Schema(..., {said}); got "
                f"counted={schema.counted!r}. Measure with that schema."
            )

    def _params_as_text(self) -> dict[str, Any]:
        params = super()._params_as_text()
        if not isinstance(self.alpha, Real):
            params["alpha"] = np.asarray(self.alpha, np.float64).tolist()
        return params

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
