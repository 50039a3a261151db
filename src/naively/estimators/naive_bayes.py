r"""Naive Bayes for any table: each column has the family that suits it.

.. math:: \hat y = \arg\max_k \Big[ \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k) \Big]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sized
from dataclasses import replace
from html import escape
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from naively import labels
from naively.engines import mixed, single_row, tables
from naively.engines.tables import flagged, kinds_of, names_of, read
from naively.estimators import choice
from naively.estimators._answering import row_of_dict
from naively.estimators._base import SummaryClassifier
from naively.estimators._dask import lazy_on_dask
from naively.estimators._validation import Checked, check_cells, check_labels
from naively.estimators.choice import as_text, check_columns, choose, from_text, kind_of
from naively.estimators.decisions import check_costs, check_reject, decide
from naively.exceptions import NaivelyError
from naively.families.edges import edges
from naively.families.family import Family
from naively.measure import measure, measure_sample
from naively.model import SAMPLE, Model, check_priors
from naively.rows import Rows, Targets
from naively.schema import Kind, Schema
from naively.statistics import Sample
from naively.statistics.sample import EVERYTHING
from naively.summary import Summary

if TYPE_CHECKING:
    from naively.engines.files import Undecided

__all__ = ["NaiveBayes"]

_EDGES = 1000  # rows that the edges of histograms need
_MANY = 100_000  # categories that are worth a warning


class NaiveBayes(SummaryClassifier):
    r"""Naive Bayes for tables of any columns, with probabilities that can be trusted.

    .. math:: \log p(k \mid x) = \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k) - \log p(x)

    where t goes over terms: a family f for a column. Columns of numbers are described by a
    Student t and a histogram together, text, booleans and categories by smoothed shares. The
    weights w and biases b are fitted on a sample of rows, each judged by what all others say, so
    that columns which say the same are not counted twice. Missing cells are left out.

    Parameters
    ----------
    families : dict, default=None
        Families of some columns, by name (or place, for arrays): ``"student_t"``,
        ``"histogram"``, ``"categorical"``, ``"bernoulli"``, ``"poisson"``, ``"gaussian"``, an
        object such as ``Categorical(alpha=2)``, or several in a tuple. Others are chosen by type.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None for the classes' shares of the data.
    calibration : {"weights", "temperature"} or None, default="weights"
        A weight for each term, one for all, or none: the naive Bayes of the textbooks, where a
        column of numbers is described by the Student t alone.
    costs : array-like of shape (n_classes, n_classes), default=None
        What it costs to answer class j where i is true, in row i; `predict` then answers at the
        least expected cost.
    reject : tuple of a float and a label, default=None
        ``(0.8, "unknown")`` answers "unknown" where no class has a probability of 0.8. An
        ensemble that numbers the classes cannot count this answer, be it text or a number: let
        it ask for probabilities, as ``VotingClassifier(voting="soft")`` does.
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
        What was seen. Everything else is read off it. Unless ``calibration`` is None it holds up
        to 4,000 rows as they are.
    model_ : Model
        What scores rows: class probabilities, and the terms of all columns.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Class probabilities.
    families_ : dict
        The families of each column.
    weights_ : dict
        For each column, the weights of its families' terms; by class, where they differ.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if `fit` was given a frame.

    Examples
    --------
    >>> import pandas
    >>> from naively import NaiveBayes
    >>> towns = ["Ulm", "Ulm", "Bonn", "Bonn"]
    >>> frame = pandas.DataFrame({"age": [25, 31, 47, None], "town": towns})
    >>> model = NaiveBayes(calibration=None).fit(frame, ["no", "no", "yes", "yes"])
    >>> model.predict(pandas.DataFrame({"age": [29, 52], "town": ["Ulm", "Berlin"]}))
    array(['no', 'yes'], dtype='<U3')
    >>> model.families_["town"]
    (Categorical(alpha=None),)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [dict, None],
        "priors": ["array-like", None],
        "calibration": [StrOptions({"weights", "temperature"}), None],
        "costs": ["array-like", None],
        "reject": [tuple, list, None],
        "decay": [Interval(Real, 0, 1, closed="both")],
        "open_classes": ["boolean"],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
    }

    def __init__(
        self,
        *,
        families: Mapping[Any, Any] | None = None,
        priors: ArrayLike | None = None,
        calibration: Literal["weights", "temperature"] | None = "weights",
        costs: ArrayLike | None = None,
        reject: tuple[float, Any] | None = None,
        decay: float = 1.0,
        open_classes: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.families = families
        self.priors = priors
        self.calibration = calibration
        self.costs = costs
        self.reject = reject
        self.decay = decay
        self.open_classes = open_classes
        self.n_jobs = n_jobs

    @classmethod
    def from_files(cls, source: Any, *, target: str, **options: Any) -> Self:
        """Return an estimator fitted on files, in one streaming pass and little memory.

        What columns hold is decided by their types, and the edges of histograms by the first
        rows; text is a column of categories. A ``schema`` may be given instead, such as
        ``other.summary_.schema``, to merge with the other model later.

        Parameters
        ----------
        source : str, path-like, list of those, or an Arrow stream
            CSV, Parquet or Arrow: paths, folders, globs, or any object that streams Arrow data.
        target : str
            The column of labels.
        **options
            The estimator's parameters, and those of `naively.summarize` for files: ``columns``,
            ``exclude``, ``weight``, ``checkpoint``, ``skip_bad_files``, ...
        """
        model = super().from_files(source, target=target, **options)
        _warn_of_many(model.summary_, model.summary_.schema)
        return model

    @property
    def families_(self) -> dict[Any, tuple[Family, ...]]:
        """The families of each column."""
        schema = self.summary_.schema
        columns = schema.names or range(schema.n_columns)
        return dict(zip(columns, self._families(schema), strict=True))

    @property
    def weights_(self) -> dict[Any, NDArray[np.float64]]:
        """For each column, the weight of each of its families' terms in each class."""
        snapshot = self._snapshot()
        found: dict[Any, list[Any]] = {column: [] for column in snapshot.families_}
        columns = list(found)
        for term in snapshot.model_.terms:
            for j, weights in zip(term.columns, term.weight.T, strict=True):
                found[columns[j]].append(weights)
        return {column: np.array(weights) for column, weights in found.items()}

    @lazy_on_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: the most probable, or of least cost, or the reject's label.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Rows; the term of a missing cell is left out.
        """
        if self.costs is None and self.reject is None:
            return super().predict(X)
        return decide(self.predict_proba(X), self.classes_, self.costs, self.reject)

    def predict_one(self, row: Any) -> Any:
        """Return the class of one row.

        Parameters
        ----------
        row : list or dict
            Cells, in order or by column name. None and NaN are missing.
        """
        snapshot = self._snapshot()
        return snapshot.predict(snapshot._one(row)).tolist()[0]

    def predict_proba_one(self, row: Any) -> NDArray[np.float64]:
        """Return p(k | x) of one row, one number per class.

        Parameters
        ----------
        row : list or dict
            Cells, in order or by column name. None and NaN are missing.
        """
        snapshot = self._snapshot()
        return snapshot.predict_proba(snapshot._one(row))[0]

    def _params_as_text(self) -> dict[str, Any]:
        params = super()._params_as_text()
        if self.families is not None:
            params["families"] = [
                [column, [as_text(f) for f in choose(column, "number", self.families)]]
                for column in self.families
            ]
        return params

    @classmethod
    def _from_text(cls, summary: Summary, params: dict[str, Any]) -> Self:
        families = params.get("families")
        if families is not None:
            families = {column: tuple(map(from_text, several)) for column, several in families}
        return super()._from_text(summary, {**params, "families": families})

    # --- inside -------------------------------------------------------------------------------

    def _measured(
        self, X: Any, y: Any, sample_weight: Any, known: Schema | None
    ) -> tuple[Summary, np.dtype[Any]]:
        measured = None
        if known is not None and sample_weight is None and self.decay:  # 0 forgets all categories
            measured = self._single(X, y, known)
        if measured is None:
            return super()._measured(X, y, sample_weight, known)
        return measured, np.dtype(np.float64)

    def _single(self, X: Any, y: Any, known: Schema) -> Summary | None:
        """Summarize a single row of a stream the short way, if it can be taken."""
        learned = self.summary_
        row = single_row.read(X, known, learned.categories)
        if row is None:
            return None
        classes, _ = labels.encode(check_labels(self, y, 1))
        return single_row.measure(row, classes, learned, _bound(learned.sample))

    def _one(self, row: Any) -> Rows:
        """Return a table of one row."""
        summary = self.summary_
        schema, categories = summary.schema, summary.categories
        if isinstance(row, dict):
            row = row_of_dict(row, schema)
        if type(row) is list and (plain := single_row.read([row], schema, categories)) is not None:
            places = np.array([plain.places], dtype=np.int32)
            return Rows((1, schema.n_columns), plain.numbers, places, categories)
        scalar = isinstance(row, str | bytes) or not isinstance(row, Sized)
        if scalar or getattr(row, "ndim", 1) == 0:
            raise NaivelyError(f"a row must be a list or a dict of cells; got {row!r}.")
        cells = np.empty((1, len(row)), dtype=object)
        cells[0] = list(row)
        if cells.shape[1] != schema.n_columns:
            raise NaivelyError(
                f"a row must have {schema.n_columns} cells; got {cells.shape[1]} of them."
            )
        return read(cells, schema)

    def _check(self, X: Any, known: Schema | None) -> Checked:
        if isinstance(X, Rows):
            return Checked(X, None, np.dtype(np.float64), known or Schema(X.shape[1]))
        X = check_cells(self, X, known)
        if known is None:
            schema = self._schema_of(X)
            return Checked(read(X, schema), schema.names, np.dtype(np.float64), schema)
        _warn_of_more(X, known)
        table = flagged(read(X, known), self._flags(), known)
        return Checked(table, known.names, np.dtype(np.float64), known)

    def _flags(self) -> set[int]:
        """Return the columns of booleans, which come in several spellings."""
        summary = self.summary_
        seen = zip(summary.schema.categories, summary.categories, strict=True)
        return {j for j, categories in seen if categories.dtype.kind == "b"}

    def _decided(self, X: Any, known: Schema) -> Schema:
        return mixed.decided(X, known) if known.undecided else known

    def _schema_of(self, X: Any) -> Schema:
        """Return the columns and what they hold, by type unless families say otherwise."""
        given = self._kinds()
        names, kinds = kinds_of(X, given)
        schema = Schema(len(kinds), names, kinds)
        check_columns(given, schema)
        return schema

    def _kinds(self) -> dict[Any, Kind]:
        """Return what columns must hold for the families that are given for them."""
        return {column: kind_of(wanted, column) for column, wanted in (self.families or {}).items()}

    def _undecided(self) -> Undecided:
        """Say what is measured of files: it depends on their first rows."""
        from naively.engines.files import Undecided

        given = self._kinds()

        def complete(first: Summary) -> Schema:
            check_columns(given, first.schema)
            return self._cut(first.schema, lambda: first.sample)

        return Undecided(given, complete, _EDGES)

    def _families(self, schema: Schema) -> list[tuple[Family, ...]]:
        columns = schema.names or range(schema.n_columns)
        kinds = schema.kinds or ("number",) * schema.n_columns
        stacked = self.calibration == "weights" and schema.edges is not None
        return [
            choose(column, kind, self.families, stacked=stacked)
            for column, kind in zip(columns, kinds, strict=True)
        ]

    def _measure(self, table: Rows, schema: Schema, targets: Targets) -> Summary:
        learned = self.summary_ if self.__sklearn_is_fitted__() else None
        if learned is not None and schema is learned.schema:
            bound = _bound(learned.sample)
            return measure(table, targets, schema, n_jobs=self.n_jobs, bound=bound)
        if schema.sample or schema.edges:
            return measure(table, targets, schema, n_jobs=self.n_jobs)
        _warn_of_many(table, schema)
        size = SAMPLE if self.calibration else _EDGES
        sample = None  # drawn once: the edges of histograms are of the first of its rows

        def first() -> Sample:
            nonlocal sample
            wanted = replace(schema, sample=size)
            sample = measure_sample(table, targets, wanted, n_jobs=self.n_jobs)
            return sample.least(_EDGES)

        schema = self._cut(schema, first)
        return measure(table, targets, schema, n_jobs=self.n_jobs, sample=sample)

    def _settled(self, schema: Schema, first: Callable[[int], Any]) -> Schema:
        return self._cut(schema, lambda: first(_EDGES))

    def _cut(self, schema: Schema, sample: Callable[[], Any]) -> Schema:
        """Fix the edges of histograms by a sample of rows, if they are needed."""
        schema = replace(schema, sample=self._sample_size())
        needed = self._families(replace(schema, edges=((),)))
        if not any(family.reads == "bins" for families in needed for family in families):
            return schema
        cuts, knots = (tuple(map(tuple, part.tolist())) for part in edges(sample().numbers))
        return replace(schema, edges=cuts, knots=knots)

    def _sample_size(self) -> int:
        return SAMPLE if self.calibration else 0

    def _check_summary(self, summary: Summary) -> None:
        super()._check_summary(summary)
        schema = summary.schema
        check_columns(self.families, schema)
        for j, families in enumerate(self._families(schema)):
            for family in families:
                _check_measured(family, schema, j)

    def _read(self, summary: Summary) -> Model:
        check_costs(self.costs, summary.classes)
        check_reject(self.reject, summary.classes)
        columns_of: dict[Family, list[int]] = {}
        for j, families in enumerate(self._families(summary.schema)):
            for family in families:
                columns_of.setdefault(family, []).append(j)
        return Model.read(summary, columns_of, priors=self.priors, calibration=self.calibration)

    def _score(self, score: Any, checked: Checked, out: NDArray[Any]) -> None:
        given: Any = checked.table
        table = tables.known(given, self.summary_.categories, self.summary_.schema)
        only_numbers = not self.summary_.schema.categories
        super()._score(score, checked._replace(table=table.numbers if only_numbers else table), out)

    def _check_declared(self, declared: NDArray[Any] | None) -> None:
        if self.priors is not None and declared is not None:
            check_priors(self.priors, declared)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "families": choice.plain(self.families)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "families": choice.from_plain(state.get("families"))})

    def _repr_html_(self) -> str:
        """Show the parameters, and once fitted the families of the columns."""
        parameters = super()._repr_html_()
        if not self.__sklearn_is_fitted__():
            return parameters
        rows = "".join(
            f"<tr><td>{escape(str(column))}</td>"
            f"<td>{escape(' and '.join(family.name for family in families))}</td></tr>"
            for column, families in self.families_.items()
        )
        return f"{parameters}<table><tr><th>column</th><th>family</th></tr>{rows}</table>"


def _check_measured(family: Family, schema: Schema, j: int) -> None:
    """Raise where a summary does not hold what a family of a column reads."""
    other = {"number": schema.categories, "category": schema.numbers}
    if j in other[family.kind]:
        read, held = "numbers", "categories"
        if family.kind == "category":
            read, held = held, read
        raise NaivelyError(
            f"the family {family.name!r} reads {read}, and the summary holds {held} of "
            f"{schema.name(j)}. Give the column another family, or measure it again."
        )
    if family.reads == "bins" and schema.edges is None:
        raise NaivelyError(
            f"the family {family.name!r} of {schema.name(j)} reads a histogram, and the summary "
            "holds none. Give the column another family, or measure with a schema that has edges."
        )


def _bound(sample: Sample | None) -> int:
    """Return below which hash rows of a batch matter to a sample that it is added to."""
    return EVERYTHING if sample is None or sample.drawn else sample.bound


def _warn_of_more(X: Any, schema: Schema) -> None:
    names = names_of(X)
    if not names or not schema.names or names == schema.names:
        return
    known = set(schema.names)
    more = [name for name in names if name not in known]
    if more:
        shown = ", ".join(map(repr, more[:5])) + (", ..." if len(more) > 5 else "")
        warnings.warn(
            f"the table has columns that the model was not fitted on, and ignores: {shown}.",
            UserWarning,
            stacklevel=4,
        )


def _warn_of_many(table: Rows | Summary, schema: Schema) -> None:
    for j, categories in zip(schema.categories, table.categories, strict=True):
        if categories.size > _MANY:
            warnings.warn(
                f"{schema.name(j)} has {categories.size:,} categories. Is it an identifier, or a "
                "number? Then leave it out, or give it a family of numbers.",
                UserWarning,
                stacklevel=5,
            )
