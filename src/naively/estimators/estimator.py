"""The one code path of every estimator: data becomes a summary, a model is read off it.

A subclass declares its parameters and implements `_read`: how its model is read off a summary. The
other methods after "what rooms above ask" are for those whose rows are not just numbers.
"""

from __future__ import annotations

import inspect
import os
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import __version__
from naively.data import labels
from naively.data.kinds import UNDECIDED, Kind
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.engines.memory.devices import on_host
from naively.errors import NaivelyError
from naively.estimators import measurement, stream
from naively.estimators.answers import label_of_row, labels_of, values_of
from naively.estimators.measurement import (
    Checked,
    Measured,
    check_known,
    check_labels,
    check_table,
    check_weights,
)
from naively.estimators.parameters import (
    BY_CLASS,
    check_parameters,
    params_as_text,
    with_shared_entries,
)
from naively.estimators.plain_rows import cells_in_order, number_cell, numbers_of_row
from naively.estimators.state import (
    NOTHING,
    State,
    adopt,
    end_stream,
    is_fitted,
    learned,
    snapshot,
)
from naively.estimators.upward import Upward, where_rows_are
from naively.model.class_weights import check_class_weight, weighted_prior
from naively.model.model import SAMPLE, Model, check_priors, read_prior
from naively.model.scorer import Answer
from naively.statistics import Sample, model_file
from naively.statistics.measure import measure
from naively.statistics.model_file import ModelFile
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from naively.engines.files import SchemaFromFirstRows

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


class SummaryClassifier(Upward):
    """A classifier that is its parameters and a `State`: a summary, from which all else is read.

    It needs no scikit-learn: an estimator inherits from this first, then from scikit-learn.
    """

    calibration: Any = None  # of those that have no such parameter

    public_name: ClassVar[str]
    """The name of the estimator in messages and files, also of a class without scikit-learn."""
    state_ = NOTHING
    _constraints: ClassVar[dict[str, list[Any]]]  # what its parameters may be
    _alone: ClassVar[Kind | None] = None  # what all columns hold, where they hold the same
    _absent: ClassVar[Any] = None  # the cell of a column that a dict lacks

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
        cls._constraints = getattr(cls.__init__, "constraints", getattr(cls, "_constraints", {}))
        if cls.__doc__ is not None:
            cls.__doc__ = with_shared_entries(cls.__doc__)

    if TYPE_CHECKING:

        def __init__(self, **params: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...  # parameters, which `by_name` sets

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
        check_parameters(estimator)
        return estimator.with_summary(summary)

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
        params = {name: options.pop(name) for name in cls._constraints if name in options}
        estimator = cls(**params)
        check_parameters(estimator)
        summary = measurement.measured_files(estimator, source, target=target, **options)
        return estimator.with_summary(summary)

    # --- what was learned -------------------------------------------------------------------------

    @property
    def summary_(self) -> Summary:
        """The statistics of all rows seen. Everything else is computed from it."""
        return learned(self).summary

    @property
    def model_(self) -> Model:
        """The model that scores rows: class probabilities and the terms of all columns."""
        return learned(self).model(self._read)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the table that was learned from; a date is one."""
        schema = learned(self).summary.schema
        return schema.n_columns if schema.inputs is None else len(schema.inputs)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of these columns; there is no such attribute where they have none."""
        return self._named(learned(self).summary.schema.inputs)

    @property
    def column_names_(self) -> NDArray[Any]:
        """Names of the model's columns: as `feature_names_in_`, but the parts of dates."""
        return self._named(learned(self).summary.schema.names)

    def _named(self, names: tuple[str, ...] | None) -> NDArray[Any]:
        if names is None:
            raise AttributeError(f"this {self.public_name} was fitted without column names.")
        return np.array(names, dtype=object)

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, sorted."""
        return learned(self).summary.classes

    @property
    def class_count_(self) -> NDArray[Any]:
        """Weight of the rows of each class."""
        state = learned(self)
        return state.summary.class_weight.astype(state.dtype)

    @property
    def class_prior_(self) -> NDArray[Any]:
        """Class probabilities."""
        state = learned(self)
        return state.model(self._read).prior.astype(state.dtype)

    # --- learning ---------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        target: str | None = None,
        weight: str | None = None,
    ) -> Self:
        """Fit the model to rows and their labels; earlier rows are discarded.

        ``fit(X, y)``, or ``fit(frame, target="churned")`` for a table that holds its labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Rows. NaN and null are missing cells; infinity is an error. With ``target``, also what
            is read in one streaming pass, and never held as a whole: files, as `from_files` takes
            them, a polars ``LazyFrame``, a relation of DuckDB, or any other stream of Arrow.
        y : array-like of shape (n_rows,), default=None
            Labels: strings, integers or booleans.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights, finite and >= 0; weight 0 is the same as leaving the row out.
        target : str, default=None
            The column of X that holds the labels, in place of y. The model learns from all others.
        weight : str, default=None
            The column of X that holds the weights, in place of ``sample_weight``.

        Examples
        --------
        >>> import pandas
        >>> from naively import GaussianNB
        >>> frame = pandas.DataFrame({"age": [25, 31, 47, 52], "left": ["no", "no", "yes", "yes"]})
        >>> GaussianNB().fit(frame, target="left").predict(pandas.DataFrame({"age": [45]}))
        array(['yes'], dtype='<U3')
        """
        check_parameters(self)
        if target is None and weight is None:
            summary, dtype = self.measured(X, y, sample_weight)
        else:
            how = y, sample_weight, target, weight
            summary, dtype = measurement.measured_with_target(self, X, *how)
        self.state_ = NOTHING.changed(summary, self._read(summary), dtype=dtype)
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
        check_parameters(self)
        fitted = is_fitted(self)
        seen = self.summary_ if fitted else None
        declared = self._declared(classes, fitted)
        known = None if seen is None else seen.schema
        batch, dtype = self.measured(X, y, sample_weight, known)
        if seen is not None:
            before = seen if self.decay == 1 else self.decay * seen
        else:
            before = Summary.zero(batch.schema, declared)
            self._check_declared(declared)
        summary = before + batch
        if not self.open_classes and summary.classes.size > before.classes.size:
            check_known(batch.classes, declared)
        return adopt(self, summary, self._read_if_far(summary), None if fitted else dtype)

    def update(self, summary: Summary) -> Self:
        """Add a summary of other rows.

        Parameters
        ----------
        summary : Summary
            Of the same columns; its classes may be new.
        """
        check_parameters(self)
        summary = self.readable(summary)
        before = self.summary_ if is_fitted(self) else Summary.zero(summary.schema)
        total = before + summary
        return adopt(self, total, self._read_if_far(total))

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
        rows, _ = self.measured(X, y, sample_weight, before.schema)
        return adopt(self, before - rows)

    # --- streams ----------------------------------------------------------------------------------

    def learn_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Learn from one row of a stream, in a microsecond or two.

        Labels and columns may come at any time. A column that is new is missing in all rows before,
        and one that is not in a dict is missing; where cells are counts, both are 0.

        Parameters
        ----------
        row : dict, list, tuple or array of shape (n_columns,)
            Cells, by column name or in order. None and NaN are missing.
        label : str, int or bool
            Its class.
        weight : float, default=1.0
            Its weight, finite and >= 0; a row of weight 0 is left out.
        """
        live = self.state_.stream
        if live is None or live.rows is None or live.rows.learn(row, label, weight):
            stream.change(self, "learn", row, label, weight)
        else:
            live.is_ahead = True
        return self

    def forget_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Remove one row as if it had never been seen; exact up to rounding.

        Parameters
        ----------
        row, label
            As they were given to `learn_one`.
        weight : float, default=1.0
            What the row counts now: less than at first, if there is a decay. In a window, rows
            have the weight that they were learned with.
        """
        learned(self)
        stream.change(self, "forget", row, label, weight)
        return self

    def predict_one(self, row: Any) -> Any:
        """Return the class of one row, in microseconds.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            Cells, in order or by column name. None and NaN are missing. After `learn_one`, a dict
            may lack columns, and those that it has besides are ignored.
        """
        live = self.state_.stream
        if live is not None and live.rows is not None:
            label = live.rows.label(row)
            if label is None:
                label = live.rows.label(stream.plain_or_same(self, row))
            if label is not None:
                return label
        return label_of_row(stream.recent(self), row)

    def predict_proba_one(self, row: Any) -> NDArray[np.float64]:
        """Return p(k | x) of one row, one number per class.

        Parameters
        ----------
        row : array-like of shape (n_columns,), or dict
            As for `predict_one`.
        """
        live = self.state_.stream
        if live is not None and live.rows is not None:
            rows, out = live.rows, np.empty(0)
            while out.size != rows.n_classes:  # another thread may learn a new class meanwhile
                out = np.empty(rows.n_classes)
                if rows.proba(row, out) or rows.proba(stream.plain_or_same(self, row), out):
                    return out
        model = stream.recent(self)
        p: NDArray[np.float64] = values_of(model, "proba", Checked(model.row_for(row)))[0]
        return p

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator; a stream goes on with them.

        A smaller window forgets its oldest rows at once. A larger one grows with the next rows.
        Rows that were learned without a window are not kept, and never leave the model.

        Parameters
        ----------
        **params
            The parameters, by name.
        """
        state = end_stream(self)
        super().set_params(**params)  # type: ignore[misc]
        if self.window is None:
            self.state_ = replace(state, window=[])
        elif "window" in params and state.window:
            stream.live(self).is_ahead = True
        return self

    # --- answers ----------------------------------------------------------------------------------

    @where_rows_are
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; ties go to the first.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Rows; the term of a missing cell is left out.
        """
        self.model_  # noqa: B018 - raises where too little was seen, before rows are looked at
        return labels_of(self, self.rows_for(X))

    @where_rows_are
    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log p(x, k) = log p(k) + log p(x | k) of each row and class."""
        return self._values("joint", X)

    @where_rows_are
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Return log p(k | x) of each row and class."""
        return self._values("log_proba", X)

    @where_rows_are
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return p(k | x) of each row and class: finite, between 0 and 1, of sum 1."""
        return self._values("proba", X)

    @where_rows_are
    def score_samples(self, X: Any) -> NDArray[Any]:
        """Return log p(x) of each row; it is low for rows that are unlike the training rows."""
        return self._values("evidence", X)[:, 0]

    def accuracy(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose predicted class is the true one; `score` is the same."""
        predicted = np.asarray(on_host(self.predict(X)))
        y, sample_weight = on_host(y), on_host(sample_weight)
        present, codes = labels.encode(check_labels(self, y, predicted.shape[0]))
        labels.union(present, self.classes_)  # raises where they are of another type
        weights = check_weights(predicted.shape[0], sample_weight)
        return float(np.average(present[codes] == predicted, weights=weights))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, as scikit-learn's classifiers do."""
        return self.accuracy(X, y, sample_weight)

    def loss(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        r"""Return the mean negative log-likelihood of the true class.

        .. math:: -\frac{1}{n} \sum_i \log p(y_i \mid x_i)

        It is infinite if a true class has probability 0, for example a label that was never seen.
        """
        model = snapshot(self)
        log_proba, classes = np.asarray(on_host(model.predict_log_proba(X))), model.classes_
        y, sample_weight = on_host(y), on_host(sample_weight)
        present, codes = labels.encode(check_labels(self, y, log_proba.shape[0]))
        check_known(present, labels.union(present, classes))
        known = labels.contained(present, classes)
        at = np.where(known, labels.positions(present, classes), 0)[codes]
        terms = np.where(known[codes], log_proba[np.arange(at.size), at], -np.inf)
        weights = check_weights(at.size, sample_weight)
        if weights is not None:
            terms, weights = terms[weights > 0], weights[weights > 0]
        return -float(np.average(terms.astype(np.float64), weights=weights))

    def _values(self, want: Answer, X: Any) -> NDArray[Any]:
        self.model_  # noqa: B018 - raises where too little was seen, before rows are looked at
        return values_of(self, want, self.rows_for(X))

    # --- parameters, files, pickles ---------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Without meaning here: no parameter is an estimator.
        """
        return {name: getattr(self, name) for name in _parameters(type(self))}  # type: ignore[arg-type]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, completely or not at all; `naively.load` reads it.

        Parameters
        ----------
        path : path-like
            The file, by custom with the ending ``.safetensors``; or the address of a remote one.
        """
        state, params = learned(self), params_as_text(self)
        content = ModelFile(state.summary, self.public_name, params, state.dtype.name)
        model_file.write(path, content, version=__version__)

    @classmethod
    def _from_text(cls, summary: Summary, params: dict[str, Any], dtype: np.dtype[Any]) -> Self:
        """Return what was saved: also one that has seen too little for a model so far."""
        by_class = {name: params[name] for name in BY_CLASS if isinstance(params.get(name), list)}
        dicts = {n: dict(v) for n, v in by_class.items() if all(isinstance(p, list) for p in v)}
        estimator = cls(**{**params, **dicts})
        check_parameters(estimator)
        estimator._check_declared(summary.classes)
        summary = estimator.readable(summary)
        with suppress(NaivelyError):  # `predict` raises it, as it did before the model was saved
            return adopt(estimator, summary, estimator._read(summary), dtype)
        return adopt(estimator, summary, dtype=dtype)

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self)

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags

    def __naively_snapshot__(self, **params: Any) -> Self:
        """Return an estimator of the present state, for engines: it changes no more."""
        return snapshot(self, **params)

    def __getstate__(self) -> dict[str, Any]:
        state = end_stream(self)
        held: Any = super().__getstate__()
        content = {name: value for name, value in held.items() if name != "state_"}
        return content if state.summary is None else {**content, "state_": state.plain()}

    def __setstate__(self, content: dict[str, Any]) -> None:
        plain = content.get("state_")
        is_older = bool({"summary_", "_state"} & content.keys())
        if is_older or not (plain is None or State.is_plain(plain)):
            raise NaivelyError(
                f"this pickle of a {self.public_name} must be of the same version of naively; "
                "got one of another. Fit again, or use model.save and naively.load, which read "
                "files of every version."
            )
        if plain is not None:
            content = {**content, "state_": State.from_plain(plain)}
        super().__setstate__(content)  # type: ignore[misc]

    # --- what rooms above ask, and an estimator may do in its own way -----------------------------

    def measured(
        self, X: Any, y: Any, sample_weight: Any = None, known: Schema | None = None
    ) -> Measured:
        """Summarize rows, under a schema if one is known; and return the type of answers."""
        return measurement.measured(self, X, y, sample_weight, known)

    def fixed_kinds(self) -> dict[Any, Kind]:
        """Return what some columns must hold, by name or by place."""
        return {}

    def sample_size(self) -> int:
        """Return how many rows a summary is to keep: those that calibration needs."""
        return 0 if self.calibration is None else SAMPLE

    def files_schema(self) -> SchemaFromFirstRows:
        """Return what is measured of files, which may depend on their first rows."""
        from naively.engines.files import SchemaFromFirstRows

        fixed = {"sample": self.sample_size(), **self._counting()}
        if not any(fixed.values()):
            return SchemaFromFirstRows()
        return SchemaFromFirstRows(None, lambda first: replace(first.schema, **fixed))

    def settled(self, schema: Schema, first: Callable[[int], Any]) -> Schema:
        """Fix what must be fixed before measuring, by a sample of the first rows if need be."""
        return schema

    def check_rows(self, X: Any, known: Schema | None = None) -> Checked:
        """Return rows as the kernel reads them; they must have the columns that are known."""
        checked = check_table(self, X, known)
        if checked.schema is known:
            return checked
        sample, counting = self.sample_size() if known is None else known.sample, self._counting()
        if sample == checked.schema.sample and not counting:
            return checked
        return checked._replace(schema=replace(checked.schema, sample=sample, **counting))

    def rows_for(self, X: Any) -> Checked:
        """Return rows that the model is asked about."""
        return self.check_rows(X, self.summary_.schema)

    def row_for(self, row: Any) -> Rows:
        """Return a table of one row, which is given in order or by column name."""
        return self._table(numbers_of_row(self._cells(row), self.summary_.schema)[np.newaxis])

    def measure_rows(
        self, rows: Rows, schema: Schema, targets: Targets, sample: Sample | None = None
    ) -> Summary:
        """Measure rows that are readable, of which a sample may have been drawn already."""
        return measure(rows, targets, schema, n_jobs=self.n_jobs, sample=sample)

    def warn_of(self, seen: Any, schema: Schema) -> None:
        """Warn of what is probably a mistake in rows or in a summary; of nothing by default."""

    def read_model(self, summary: Summary) -> Model:
        """Return the model that is read off a summary, whoever has measured it."""
        return self._read(self.readable(summary))

    def with_summary(self, summary: Summary, dtype: np.dtype[Any] | None = None) -> Self:
        """Return this estimator, fitted from a summary; its answers are of a type."""
        summary = self.readable(summary)
        return adopt(self, summary, self._read(summary), dtype)

    # --- inside: the model ------------------------------------------------------------------------

    @abstractmethod
    def _read(self, summary: Summary) -> Model:
        """Read a model off a summary, by the parameters as they are now."""

    def readable(self, summary: Summary) -> Summary:
        """Return a summary, measured elsewhere, as this estimator reads it; raise where it cannot.

        Columns in which no cell has been seen hold what all columns of the estimator hold.
        """
        if not isinstance(summary, Summary):
            raise NaivelyError(
                f"a Summary must be given, such as naively.summarize(X, y); got "
                f"{type(summary).__name__}. To learn from more rows, use partial_fit(X, y)."
            )
        if summary.schema.undecided:
            summary = summary.decided(self._kinds_of_empty(summary.schema))
        self._check_summary(summary)
        return summary

    def _kinds_of_empty(self, schema: Schema) -> list[Kind]:
        """Return for every column what it holds if it is empty."""
        return [self._alone or UNDECIDED] * schema.n_columns

    def _check_summary(self, summary: Summary) -> None:
        """Raise where a summary, measured elsewhere, holds what this estimator cannot read."""
        if summary.schema.counted and not self._counting():
            raise NaivelyError(
                f"{self.public_name} reads moments of numbers; got a summary that counts "
                f"{summary.schema.counted}. Use MultinomialNB or BernoulliNB."
            )
        if self.sample_size() and not summary.schema.sample:
            raise NaivelyError(
                "calibration needs a sample of rows, and the summary holds none. Measure with "
                f"Schema(..., sample={self.sample_size()}), or use calibration=None."
            )

    def _read_if_far(self, summary: Summary) -> Model | None:
        """Read the model at once where numbers are so large that it might not be possible.

        So a cell that is too large is refused, and what was learned before it stays.
        """
        return self._read(summary) if summary.moments.is_far else None

    def _families_as_text(self) -> dict[str, Any]:
        """Return parameters that hold families as JSON can hold them."""
        return {}

    # --- inside: what is measured -----------------------------------------------------------------

    def _counting(self) -> dict[str, Any]:
        """Return what is counted of numbers, by the schema's names; nothing by default."""
        return {}

    def _decided(self, X: Any, known: Schema) -> Schema:
        """Return the schema once rows have decided undecided columns; unchanged by default."""
        return known

    def _of_partitions(self) -> dict[str, Any]:
        """Return options of Dask's engine: how this estimator measures a partition."""
        return {}

    # --- inside: single rows ----------------------------------------------------------------------

    def _kernel_rows(self) -> Any:
        """Return the kernel's stream for the parameters as they are; None where it has none."""
        return None

    def _stream_schema(self, columns: Schema) -> Schema:
        """Return what is measured of columns, of which names or number are known."""
        kinds = (self._alone or UNDECIDED,) * columns.n_columns
        fixed: Any = {"kinds": kinds, "sample": self.sample_size(), **self._counting()}
        return Schema(columns.n_columns, columns.names, **fixed)

    def _cell(self, cell: Any, name: str) -> Any:
        """Return a plain cell of a row, or raise."""
        return number_cell(cell, name)

    def _held_by(self, cell: Any) -> str:
        """Return what a plain cell is: all of a column are the same."""
        return "number"

    def _cells(self, row: Any) -> Any:
        """Return the cells of a row in the order of the columns."""
        state = learned(self)
        absent = self._absent if state.takes_some_columns else ...
        return cells_in_order(row, state.summary.schema, absent)

    def _measure_cells(
        self, cells: list[list[Any]], targets: Targets, columns: Schema, known: Schema | None
    ) -> Summary:
        """Measure plain cells of rows of a stream, under a schema if one is known."""
        numbers = np.array(cells, dtype=np.float64).reshape(len(cells), columns.n_columns)
        schema = known or self._stream_schema(columns)
        return self.measure_rows(self._table(numbers), schema, targets)

    def _table(self, numbers: NDArray[Any]) -> Rows:
        """Return an array of numbers as a table that the kernel reads."""
        return Rows.of_numbers(numbers)

    # --- inside: classes --------------------------------------------------------------------------

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


@lru_cache(maxsize=64)
def _parameters(kind: type[SummaryClassifier]) -> list[str]:
    return sorted([*inspect.signature(kind.__init__).parameters][1:])
