r"""Naive Bayes for any table: each column has the family that suits it.

.. math:: \hat y = \arg\max_k \Big[ \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k) \Big]
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from naively.engines import tables
from naively.estimators import choice
from naively.estimators._mixed import MixedClassifier
from naively.estimators._validation import Checked
from naively.estimators.choice import BEST, as_text, choose, from_text, interaction_kinds
from naively.estimators.decisions import check_costs, check_reject, decide
from naively.families.family import Family
from naively.family_choice import CANDIDATES
from naively.interactions import MOST_FEATURES
from naively.model import Model
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["NaiveBayes"]


class NaiveBayes(MixedClassifier):
    r"""Naive Bayes for mixed tables, with calibrated probabilities.

    .. math:: \log p(k \mid x) = \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k) - \log p(x)

    where each term t is a family f of a column. A column of numbers has two families, a Student t
    and a histogram; strings, booleans and categories have smoothed shares; text has words. The
    weights w and biases b are fitted on a sample of rows, each predicted by the statistics of all
    others, so that correlated columns are not counted several times. Missing cells are skipped.

    Parameters
    ----------
    families : dict or "best", default=None
        Families of some columns, by name (or position, for arrays): ``"student_t"``, ``"gamma"``,
        ``"poisson"``, an object such as ``VonMises(period=24)``, or several in a tuple. Other
        columns get the default families of their type. ``"best"``, for one column or for all
        columns of numbers, is the family with the greatest log density of unseen rows: see
        ``family_scores_``.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None for the class frequencies in the data. Calibration always uses
        the frequencies in the data.
    class_weight : dict, "balanced" or None, default=None
        Factors that multiply the class probabilities; 1 for classes that are not in the dict.
        ``"balanced"`` makes all classes equally probable. Nothing else changes.
    calibration : {"weights", "temperature"} or None, default="weights"
        One weight for each term, one weight for all terms, or none. With None, the model is plain
        naive Bayes, and a column of numbers has the Student t as its only family.
    interactions : "auto", tuple of str or None, default="auto"
        Terms of several columns: ``"canonical"`` (directions in which the classes differ),
        ``"quadratic"`` (one multivariate Student t of all numbers) and ``"pairs"`` (tables of two
        columns), or ``"auto"`` for all three. With None, the model is a sum over columns.
        Interactions need ``calibration="weights"``; otherwise there are none.
    costs : array-like of shape (n_classes, n_classes), default=None
        ``costs[i][j]`` is the cost of predicting class j if class i is true; `predict` then returns
        the class with the lowest expected cost.
    reject : tuple of a float and a label, default=None
        ``(0.8, "unknown")`` predicts "unknown" if no class has a probability of at least 0.8. In an
        ensemble, combine probabilities, as ``VotingClassifier(voting="soft")`` does: this label is
        not one of ``classes_``.
    decay : float, default=1.0
        Each `partial_fit` multiplies the weight of all earlier rows by this factor.
    open_classes : bool, default=False
        Allow new labels in every `partial_fit`; ``classes`` is not needed then.
    n_jobs : int, default=None
        Number of threads; None uses all cores if there is enough work. The result does not
        depend on it.

    Attributes
    ----------
    summary_ : Summary
        The statistics of all rows seen. Everything else is computed from it. Unless
        ``calibration`` is None, it contains up to 4,000 rows of the data.
    model_ : Model
        The model that scores rows: class probabilities and the terms of all columns.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Class probabilities.
    families_ : dict
        The families of each column.
    family_scores_ : dict
        For each column whose family was chosen by ``"best"``, the mean log density of unseen rows
        for each candidate family, the best first.
    weights_ : dict
        For each column, the weights of its families; one for each class, if they differ by class.
    interactions_ : list of dict
        The interactions: directions, the quadratic term and pairs, with their columns and
        weights.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if `fit` was given a data frame.

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
        "families": [dict, StrOptions({"best"}), None],
        "priors": ["array-like", None],
        "calibration": [StrOptions({"weights", "temperature"}), None],
        "interactions": [StrOptions({"auto"}), tuple, list, None],
        "costs": ["array-like", None],
        "reject": [tuple, list, None],
        **MixedClassifier._parameter_constraints,
    }

    def __init__(
        self,
        *,
        families: Mapping[Any, Any] | Literal["best"] | None = None,
        priors: ArrayLike | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        calibration: Literal["weights", "temperature"] | None = "weights",
        interactions: Literal["auto"] | tuple[str, ...] | None = "auto",
        costs: ArrayLike | None = None,
        reject: tuple[float, Any] | None = None,
        decay: float = 1.0,
        open_classes: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.families = families
        self.priors = priors
        self.class_weight = class_weight
        self.calibration = calibration
        self.interactions = interactions
        self.costs = costs
        self.reject = reject
        self.decay = decay
        self.open_classes = open_classes
        self.n_jobs = n_jobs

    @property
    def families_(self) -> dict[Any, tuple[Family, ...]]:
        """The families of each column."""
        schema = self.summary_.schema
        columns, found = schema.names or range(schema.n_columns), self._families(schema)
        for j in self._free(schema):
            found[j] = tuple(term.family for term, _ in self.model_.by_column[j])
        return dict(zip(columns, found, strict=True))

    @property
    def family_scores_(self) -> dict[Any, dict[str, float]]:
        """The mean log density of unseen rows, by column and family; the best family is first."""
        schema = self.summary_.schema
        columns = schema.names or range(schema.n_columns)
        return {columns[j]: its.table() for j, its in self._choices(self.summary_).items()}

    @property
    def weights_(self) -> dict[Any, NDArray[np.float64]]:
        """For each column, the weight of each of its families' terms in each class."""
        model = self.model_
        names = model.schema.names or range(model.schema.n_columns)
        terms = zip(names, model.by_column, strict=True)
        return {name: np.array([term.weight[:, i] for term, i in of_it]) for name, of_it in terms}

    @property
    def interactions_(self) -> list[dict[str, Any]]:
        """What columns say together, term by term.

        Each has its ``kind``, its ``columns``, and ``weights`` of shape (n_families, n_classes). A
        direction is described by two families, as a column is; its ``loadings`` are how much a
        standard deviation of each column counts.
        """
        model = self.model_
        names = model.schema.names or range(model.schema.n_columns)
        return [] if model.interactions is None else model.interactions.table(model.schema, names)

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
        if isinstance(self.families, Mapping):
            params["families"] = [
                [column, BEST if families is CANDIDATES else [as_text(f) for f in families]]
                for column in self.families
                if (families := choose(column, "number", self.families))
            ]
        return params

    @classmethod
    def _from_text(cls, summary: Summary, params: dict[str, Any]) -> Self:
        families = params.get("families")
        if isinstance(families, list):
            families = {
                column: BEST if several == BEST else tuple(map(from_text, several))
                for column, several in families
            }
        kinds = params.get("interactions")  # files of earlier versions have none
        kinds = tuple(kinds) if isinstance(kinds, list) else kinds
        return super()._from_text(summary, {**params, "families": families, "interactions": kinds})

    # --- inside -------------------------------------------------------------------------------

    def _read(self, summary: Summary) -> Model:
        check_costs(self.costs, summary.classes)
        check_reject(self.reject, summary.classes)
        return Model.read(
            summary,
            self._columns_of(summary.schema, self._choices(summary)),
            priors=self._prior(summary),
            calibration=self.calibration,
            interactions=interaction_kinds(self.interactions),
        )

    def _labels(self, checked: Checked) -> NDArray[Any]:
        """Return the class of each row: the most probable, or of least cost, or the reject's."""
        if self.costs is None and self.reject is None:
            return super()._labels(checked)
        p = self._values_of("proba", checked)
        return decide(p, self.classes_, self.costs, self.reject)

    def _reads_products(self, schema: Schema) -> bool:
        kinds = {"canonical", "quadratic"} & {*interaction_kinds(self.interactions)}
        few = 0 < len(schema.numbers) <= MOST_FEATURES
        return self.calibration == "weights" and bool(kinds) and few

    def _score(self, score: Any, checked: Checked, out: NDArray[Any]) -> None:
        given: Any = checked.table
        summary = self.summary_
        table = tables.known(given, summary.categories, summary.schema, summary.words)
        only_numbers = not (summary.schema.categories or summary.schema.texts)
        super()._score(score, checked._replace(table=table.numbers if only_numbers else table), out)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "families": choice.plain(self.families)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        families = choice.from_plain(state.get("families"))
        super().__setstate__({"interactions": None, **state, "families": families})

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
