"""The one code path of every estimator: data becomes a summary, a model is read off it.

A subclass declares its parameters and implements `_read`: how its model is read off a summary.
"""

from __future__ import annotations

import inspect
import sys
from functools import lru_cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import labels
from naively.data.kinds import UNDECIDED
from naively.data.schema import Schema
from naively.engines.memory.devices import on_host
from naively.errors import NaivelyError
from naively.estimators.measurement import MeasurementMixin
from naively.estimators.state import PersistenceMixin, State
from naively.estimators.stream import StreamMixin
from naively.estimators.upward import UpwardMixin
from naively.estimators.validation import Interval, OneOf, check, check_known
from naively.model.class_weights import check_class_weight, weighted_prior
from naively.model.model import Model, check_priors, read_prior
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from sklearn.utils import Tags

_NEVER_CALLED = (  # the methods that classes may override in scikit-learn's naive Bayes
    "_joint_log_likelihood",
    "_check_X",
    "_check_X_y",
    "_count",
    "_init_counters",
    "_partial_fit",
    "_update_class_log_prior",
    "_update_feature_log_prob",
    "_update_mean_variance",
    "_validate_n_categories",
)


class SummaryClassifier(
    MeasurementMixin,
    StreamMixin,
    UpwardMixin,
    PersistenceMixin,
):
    """A classifier whose whole state is a `Summary`, kept in ``summary_``.

    It needs no scikit-learn: an estimator inherits from this first, then from scikit-learn.
    """

    _constraints: ClassVar[dict[str, list[Any]]] = {
        "class_weight": [OneOf(["balanced"]), dict, None],
        "decay": [Interval(Real, 0, 1)],
        "window": [Interval(Integral, 1, sys.maxsize, flags=False), None],
        "open_classes": [bool, np.bool_],
        "n_jobs": [
            Interval(Integral, 1),
            Interval(Integral, high=-1),
            None,
        ],
    }
    decay: float
    open_classes: bool

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse a subclass that overrides what scikit-learn calls, and nothing here."""
        super().__init_subclass__(**options)
        for name in _NEVER_CALLED:
            owner = next((kind for kind in cls.__mro__ if name in vars(kind)), None)
            if owner is not None and not owner.__module__.startswith("naively."):
                raise NaivelyError(
                    f"{cls.__name__} must not override {name}, which scikit-learn's naive Bayes "
                    "calls and naively's does not: rows are measured and scored by the kernel. "
                    "Override the public methods that you use (fit, predict, predict_proba, ...; "
                    "none calls another), or inherit from scikit-learn's class."
                )

    @classmethod
    def from_summary(cls, summary: Summary, **params: Any) -> Self:
        """Return an estimator that is fitted from a summary.

        Parameters
        ----------
        summary : Summary
            The statistics of some rows.
        **params
            The estimator's parameters.

        Examples
        --------
        >>> from naively import GaussianNB, summarize
        >>> seen = summarize([[0.0], [2.0], [9.0]], ["a", "a", "b"])
        >>> GaussianNB.from_summary(seen, priors=[0.5, 0.5]).predict([[3.0]])
        array(['a'], dtype='<U1')
        """
        estimator = cls(**params)
        estimator._check_params()
        summary = estimator._readable(summary)
        return estimator._adopt(summary, estimator._read(summary))

    @classmethod
    def from_files(cls, source: Any, *, target: str, **options: Any) -> Self:
        """Return an estimator fitted on files, in one streaming pass and little memory.

        `NaiveBayes` decides by the first rows what columns hold, and the edges of histograms. A
        ``schema`` may be given instead, such as ``other.summary_.schema``, to merge with the other
        model later.

        Parameters
        ----------
        source : str, path-like, list of those, or an Arrow stream
            CSV, JSON lines, Parquet or Arrow: paths, folders, globs, or any object that streams
            Arrow data.
        target : str
            The column of labels.
        **options
            The estimator's parameters, and those of `naively.summarize` for files: ``columns``,
            ``exclude``, ``weight``, ``checkpoint``, ``skip_bad_files``, ...
        """
        from naively.engines import files

        names = cls._constraints
        params = {name: options.pop(name) for name in list(options) if name in names}
        estimator = cls(**params)
        estimator._check_params()
        options.setdefault("schema", estimator._schema_of_files())
        summary = files.summarize(source, target=target, n_jobs=estimator.n_jobs, **options)
        estimator._warn_of(summary, summary.schema)
        return cls.from_summary(summary, **params)

    # --- learning -----------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to rows and their labels; earlier rows are discarded.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers. NaN and null are missing cells; infinity is an error.
        y : array-like of shape (n_rows,)
            Labels: strings, integers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights, finite and >= 0; weight 0 is the same as leaving the row out.
        """
        self._check_params()
        summary, dtype = self._measured(X, y, sample_weight, None)
        self._adopt(summary, self._read(summary), dtype)
        self._streams, self._kept = False, []
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from more rows. Batches in any order give the same model as one `fit`.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like of shape (n_classes,), default=None
            All labels that may occur. Needed in the first call, unless ``open_classes``.
        """
        self._check_params()
        fitted = self.__sklearn_is_fitted__()
        learned = self.summary_ if fitted else None
        declared = self._declared(classes, fitted)
        known = None if learned is None else learned.schema
        batch, dtype = self._measured(X, y, sample_weight, known)
        if learned is not None:
            before = learned if self.decay == 1 else self.decay * learned
        else:
            before = Summary.zero(batch.schema, declared)
            self._check_declared(declared)
        summary = before + batch
        if not self.open_classes and summary.classes.size > before.classes.size:
            check_known(batch.classes, declared)
        return self._adopt(summary, self._read_if_far(summary), None if fitted else dtype)

    def update(self, summary: Summary) -> Self:
        """Add a summary of other rows.

        Parameters
        ----------
        summary : Summary
            Of the same columns; its classes may be new.
        """
        self._check_params()
        summary = self._readable(summary)
        before = self.summary_ if self.__sklearn_is_fitted__() else Summary.zero(summary.schema)
        total = before + summary
        return self._adopt(total, self._read_if_far(total))

    def forget(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Remove rows: the model becomes the one that never saw them.

        It is exact up to rounding, relative to all rows seen. Removing rows that were never added
        is an error if a weight would become negative.

        Parameters
        ----------
        X, y, sample_weight
            As they were given to `fit`.
        """
        before = self.summary_
        rows, _ = self._measured(X, y, sample_weight, before.schema)
        return self._adopt(before - rows)

    # --- inside -------------------------------------------------------------------------------

    def _readable(self, summary: Summary) -> Summary:
        """Return a summary, measured elsewhere, as this estimator reads it; raise where it cannot.

        Columns in which no cell has been seen hold what all columns of the estimator hold.
        """
        summary = self._decide(summary)
        self._check_summary(summary)
        return summary

    def _decide(self, summary: Summary) -> Summary:
        """Return a summary in which empty columns hold what all columns hold."""
        kinds = [self._alone or UNDECIDED] * summary.schema.n_columns
        return summary.decided(kinds) if summary.schema.undecided else summary

    def _check_summary(self, summary: Summary) -> None:
        """Raise where a summary, measured elsewhere, holds what this estimator cannot read."""
        if summary.schema.counted and not self._counting():
            raise NaivelyError(
                f"{self._name} reads moments of numbers; got a summary that counts "
                f"{summary.schema.counted}. Use MultinomialNB or BernoulliNB."
            )
        if self._sample_size() and not summary.schema.sample:
            raise NaivelyError(
                "calibration needs a sample of rows, and the summary holds none. Measure with "
                f"Schema(..., sample={self._sample_size()}), or use calibration=None."
            )

    def _read_if_far(self, summary: Summary) -> Model | None:
        """Read the model at once where numbers are so large that it might not be possible.

        So a cell that is too large is refused, and what was learned before it stays.
        """
        return self._read(summary) if summary.moments.is_far else None

    def _declared(self, classes: ArrayLike | None, fitted: bool) -> NDArray[Any] | None:
        """Return the classes that may come."""
        if classes is None:
            if not fitted and not self.open_classes:
                raise NaivelyError("classes must be passed on the first call to partial_fit.")
            return self.summary_.classes if fitted else None
        classes = on_host(classes)
        if np.size(np.asarray(classes)) == 0:
            raise NaivelyError("classes must name at least one class; got none.")
        declared, _ = labels.encode(classes)
        once = np.size(np.asarray(classes)) == declared.size
        if fitted and not (self.open_classes or (once and np.array_equal(declared, self.classes_))):
            raise NaivelyError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )
        return declared

    def _warn_of(self, seen: Any, schema: Schema) -> None:
        """Warn of what is probably a mistake in rows or in a summary; of nothing by default."""

    def _check_declared(self, declared: NDArray[Any] | None) -> None:
        """Check the class probabilities that are given, before the model is read."""
        given = self._given_prior()
        if given is not None and declared is not None:
            check_priors(given, declared)
        check_class_weight(self.class_weight, given, declared)

    def _given_prior(self) -> Any:
        """Return the class probabilities that are given, or None."""
        return getattr(self, "priors", getattr(self, "class_prior", None))

    def _prior(self, summary: Summary) -> NDArray[np.float64]:
        """Return class probabilities: as given, shares of the rows or equal; times weights.

        A class without rows has the probability 0, unless another one is given.
        """
        given, classes = self._given_prior(), summary.classes
        check_class_weight(self.class_weight, given)
        prior = read_prior(summary, given)
        if given is None and not getattr(self, "fit_prior", True):
            prior = weighted_prior(prior, "balanced", classes)
        return weighted_prior(prior, self.class_weight, classes)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Without meaning here: no parameter is an estimator.
        """
        return {name: getattr(self, name) for name in _parameters(type(self))}  # type: ignore[arg-type]

    def _check_params(self) -> None:
        """Check the parameters, but the same ones only once."""
        values = [getattr(self, name) for name in self._constraints]
        try:
            _check_once(type(self), *values)  # type: ignore[arg-type]
        except TypeError:  # something that cannot be remembered, such as an array of priors
            check(self._name, self._constraints, values)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        self._pause_stream()
        state: Any = super().__getstate__()
        learned = state.get("_state")
        if learned is None:
            return state
        return {**state, "_state": learned.plain()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        learned = state.get("_state")
        if "summary_" in state or not (learned is None or State.is_plain(learned)):
            raise NaivelyError(
                f"this pickle of a {self._name} must be of the same version of naively; "
                "got one of another. Fit again, or use model.save and naively.load, which read "
                "files of every version."
            )
        super().__setstate__(  # type: ignore[misc]
            {
                "class_weight": None,
                **state,
                "_state": None if learned is None else State.from_plain(learned),
            }
        )


@lru_cache(maxsize=64, typed=True)
def _check_once(kind: type[SummaryClassifier], *values: Any) -> None:
    check(kind._name, kind._constraints, values)


@lru_cache(maxsize=64)
def _parameters(kind: type[SummaryClassifier]) -> list[str]:
    return sorted([*inspect.signature(kind.__init__).parameters][1:])
