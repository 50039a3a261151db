"""Naive Bayes for any table without scikit-learn: what `NaiveBayes` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.engines import tables
from naively.estimators import choice
from naively.estimators._constraints import OneOf, by_name
from naively.estimators._mixed_stream import MixedStream
from naively.estimators._validation import Checked
from naively.estimators.choice import BEST, as_text, choose, from_text, interaction_kinds
from naively.estimators.decisions import check_costs, check_reject, decide
from naively.families.family import Family
from naively.family_choice import CANDIDATES
from naively.interactions import MOST_FEATURES
from naively.model import Model
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["NaiveBayesClassifier"]


class NaiveBayesClassifier(MixedStream):
    """The families that suit each column, calibrated, with interactions of columns."""

    _name = "NaiveBayes"
    _constraints: ClassVar[dict[str, list[Any]]] = {
        "families": [dict, OneOf(["best"]), None],
        "priors": ["array-like", dict, None],
        "calibration": [OneOf(["weights", "temperature"]), None],
        "interactions": [OneOf(["auto"]), tuple, list, None],
        "costs": ["array-like", None],
        "reject": [tuple, list, None],
        **MixedStream._constraints,
    }

    @by_name
    def __init__(
        self,
        *,
        families: Mapping[Any, Any] | Literal["best"] | None = None,
        priors: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        calibration: Literal["weights", "temperature"] | None = "weights",
        interactions: Literal["auto"] | tuple[str, ...] | None = "auto",
        costs: ArrayLike | None = None,
        reject: tuple[float, Any] | None = None,
        decay: float = 1.0,
        window: int | None = None,
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
        self.window = window
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

    def _label_one(self, row: Any) -> Any:
        snapshot = self._snapshot()
        return snapshot.predict(snapshot._one(row)).tolist()[0]

    def _proba_one(self, row: Any) -> NDArray[np.float64]:
        snapshot = self._snapshot()
        return snapshot.predict_proba(snapshot._one(row))[0]

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

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "families": choice.plain(self.families)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        families = choice.from_plain(state.get("families"))
        super().__setstate__({"interactions": None, **state, "families": families})
