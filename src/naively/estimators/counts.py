"""What the estimators of counts share: `MultinomialNB`, `ComplementNB` and `BernoulliNB`."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
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
from naively.families.entries import EntryCounts
from naively.model import calibration
from naively.model.model import Model, read_prior
from naively.model.terms import Term
from naively.statistics import Documents, MissingCells, Occurrences, Sample
from naively.statistics.counts import Counts
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
        return self._counts(self.summary_).values

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
    def _family(self, alpha: Any) -> Any:
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

    def _counts(self, summary: Summary) -> Counts:
        kind: type[Counts] = Documents if summary.schema.counted == "documents" else Occurrences
        return summary[kind]

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
        missing = summary[MissingCells] if summary.schema.counted == "documents" else None
        counts = self._counts(summary)
        statistic = EntryCounts(counts, summary.class_weight, missing, self.n_jobs)
        every = range(summary.schema.n_columns)
        one = np.broadcast_to(1.0, (summary.classes.size, len(every)))
        term = Term(family, every, every, statistic, family.parameters(statistic), one)
        prior, bias = self._constants(summary)
        model = Model(summary.schema, summary.classes, prior, bias, (term,), ())
        return model if self.calibration is None else self._calibrated(model, summary)

    def _constants(self, summary: Summary) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the class probabilities of the model, and what else is added to the classes."""
        return self._prior(summary), np.zeros(summary.classes.size)

    def _unweighted_prior(self, summary: Summary) -> NDArray[np.float64]:
        """Return class probabilities as the sample has them."""
        return read_prior(summary, None)

    def _calibrated(self, model: Model, summary: Summary) -> Model:
        """Return the model with one weight for all columns, and a bias for each class.

        They are fitted at the shares of the data: else biases would undo priors that are given.
        """
        (term,), sample = model.terms, summary.sample
        if sample is None or not len(sample):
            return model
        family: Any = term.family
        at_shares = replace(model, prior=self._unweighted_prior(summary))
        one_each = np.minimum(sample.weight, 1.0)  # of equal rows, one
        terms = family.left_out(sample.numbers, sample.codes, one_each, term.parameters)
        given = sample.codes, sample.weight, at_shares.constant
        found = calibration.fit(terms[:, :, np.newaxis], *given, "temperature")
        weight = np.broadcast_to(found.weight[0, 0], term.weight.shape)
        return replace(model, terms=(replace(term, weight=weight),), bias=model.bias + found.bias)

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
