"""Candidates: estimators that differ in how they read a model off the same rows.

>>> from naively import GaussianNB
>>> grid = {"var_smoothing": [1e-9, 0.1], "variance": ["class", "shared"]}
>>> [one.params for one in candidates_of(GaussianNB(), grid, Schema(2))][:2]
[{'var_smoothing': 1e-09, 'variance': 'class'}, {'var_smoothing': 1e-09, 'variance': 'shared'}]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, reduce
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils._param_validation import InvalidParameterError

from naively.data.schema import Schema
from naively.engines.files import SchemaFromFirstRows
from naively.errors import NaivelyError
from naively.estimators.choice import with_options
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.mixed import NaiveBayesClassifier
from naively.estimators.parameters import check_parameters
from naively.statistics.summary import Summary

COLUMNS = "columns"  # a name in grids: the columns that a candidate reads
_FIXED = {"costs", "reject", "decay", "window", "open_classes", "n_jobs"}  # of no probability
_MEASURED = ("families", "calibration", "interactions", "binarize")  # they decide what is measured

_BY_COLUMN = ("alpha", "min_categories")  # they may have an entry for each column
_ALPHAS = [1.0, 1e-3, 1e-2, 0.1, 0.3, 3.0, 10.0]
_DEFAULTS: dict[str, list[dict[str, list[Any]]]] = {
    "GaussianNB": [
        {
            "smoothing": ["global", "column"],
            "var_smoothing": [1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0],
            "variance": ["class", "shared"],
        },
        {"calibration": ["temperature", "weights"]},
    ],
    "NaiveBayes": [
        {"calibration": ["weights"], "interactions": ["auto", None]},
        {"calibration": ["temperature", None]},
    ],
    "MultinomialNB": [{"alpha": _ALPHAS, "fit_prior": [True, False]}],
    "BernoulliNB": [{"alpha": _ALPHAS, "fit_prior": [True, False]}],
    "CategoricalNB": [{"alpha": _ALPHAS, "fit_prior": [True, False]}],
    "ComplementNB": [{"alpha": _ALPHAS, "norm": [False, True]}],
}


@dataclass(frozen=True, eq=False)
class Candidate:
    """Parameters to try: as the grid has them, and as an estimator that is not fitted."""

    params: dict[str, Any]
    estimator: SummaryClassifier
    columns: tuple[int, ...] | None = None  # places, ascending; None for all

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """What decides what is measured: candidates that share it share a summary."""
        return tuple(repr(getattr(self.estimator, name, None)) for name in _MEASURED)

    def read_of(self, summary: Summary) -> Summary:
        """Return what it reads of a summary."""
        return summary if self.columns is None else summary.with_columns(self.columns)


def default_grid(model: SummaryClassifier, schema: Schema) -> list[dict[str, list[Any]]]:
    """Return what is tried where no grid is given: the model as it is, and what is often better."""
    grid: list[dict[str, list[Any]]] = [{}, *_DEFAULTS[type(model).__name__]]
    given = model.get_params()
    numbers = [schema.names_or_places[j] for j in schema.numbers]
    if "families" in given and given["families"] is None and numbers:
        each = [dict.fromkeys(numbers, family) for family in ("gaussian", "histogram")]
        grid.append({"calibration": [None], "families": each})
    return grid


def tunable(model: SummaryClassifier) -> list[str]:
    """Return the names of the parameters that can be tuned."""
    return [*(name for name in model.get_params() if name not in _FIXED), COLUMNS]


def check_grid(model: SummaryClassifier, grid: Any) -> None:
    """Raise where a grid holds nothing, unknown parameters, or values that are no list."""
    parts = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(parts, Sequence) or not all(isinstance(one, Mapping) for one in parts):
        raise NaivelyError(
            "grid must be a dict of lists by parameter, or a list of such dicts; got "
            f"{grid!r}. For example: {{'{tunable(model)[0]}': [...]}}."
        )
    if not parts or grid == {}:
        raise NaivelyError(
            "grid must hold at least one candidate; got an empty one. [{}] is the model as it is."
        )
    for part in parts:
        for name, values in part.items():
            _check_name(model, name)
            _check_values(name, values)


def candidates_of(model: SummaryClassifier, grid: Any, schema: Schema) -> list[Candidate]:
    """Return the candidates of a grid, in the order of scikit-learn's `ParameterGrid`."""
    found, given = [], clone(model).get_params()
    for params in ParameterGrid(default_grid(model, schema) if grid is None else grid):
        others = {name: value for name, value in params.items() if name != COLUMNS}
        estimator = type(model)(**{**given, **others})
        try:
            check_parameters(estimator)
        except InvalidParameterError as error:
            raise NaivelyError(f"the candidate {params} is not possible: {error}") from None
        places = _places(params.get(COLUMNS), schema)
        if places is not None:
            params = {**params, COLUMNS: [schema.names_or_places[j] for j in places]}
            estimator = _restricted(estimator, places, schema)
        found.append(Candidate(params, estimator, places))
    return found


def _restricted(
    estimator: SummaryClassifier, columns: tuple[int, ...], schema: Schema
) -> SummaryClassifier:
    """Return an estimator whose parameters have entries for some of the columns only."""
    own = estimator.get_params()
    changed: dict[str, Any] = {}
    for name in _BY_COLUMN:
        value = np.asarray(own.get(name))
        if value.shape == (schema.n_columns,):
            changed[name] = value[list(columns)]
    if isinstance(own.get("families"), Mapping):
        names = {schema.names_or_places[j] for j in columns}
        changed["families"] = {j: own["families"][j] for j in own["families"] if j in names}
    return clone(estimator).set_params(**changed) if changed else estimator


def reads_alike(one: SummaryClassifier, other: SummaryClassifier, schema: Schema) -> bool:
    """Whether one estimator certainly reads columns as another does, whose schema is known."""
    if not isinstance(one, NaiveBayesClassifier) or not isinstance(other, NaiveBayesClassifier):
        return getattr(one, "binarize", None) == getattr(other, "binarize", None)
    kinds = one.fixed_kinds()
    held = dict(zip(schema.names_or_places, schema.held, strict=True))
    same = all(held.get(column) == kind for column, kind in kinds.items())
    return (
        same
        and other.fixed_kinds().keys() <= kinds.keys()
        and with_options(schema, one.families) == schema
    )


def _check_name(model: SummaryClassifier, name: Any) -> None:
    known = tunable(model)
    if name in known:
        return
    close = get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise NaivelyError(
        f"grid names a parameter {name!r}, and {type(model).__name__} has none that can be "
        f"tuned.{hint} There are {', '.join(known)}."
    )


def _check_values(name: str, values: Any) -> None:
    if isinstance(values, str | Mapping) or not isinstance(values, Sequence | np.ndarray):
        raise NaivelyError(f"grid[{name!r}] must be a list of values; got {values!r}.")
    if len(values) == 0:
        raise NaivelyError(f"grid[{name!r}] must hold at least one value; got an empty list.")


def _places(wanted: Any, schema: Schema) -> tuple[int, ...] | None:
    """Return the places of columns that are given by name or by place, ascending."""
    if wanted is None:
        return None
    known = list(schema.names_or_places)
    one_by_one = isinstance(wanted, Sequence | np.ndarray) and not isinstance(wanted, str)
    if not one_by_one or len(wanted) == 0:
        raise NaivelyError(f"grid['columns'] must hold lists of columns, or None; got {wanted!r}.")
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise NaivelyError(f"grid['columns'] names a column {unknown[0]!r}, and there is none.")
    return tuple(sorted({known.index(name) for name in wanted}))


# --- what is measured of files --------------------------------------------------------------------


def schema_of_files(model: SummaryClassifier, grid: Any, size: int) -> SchemaFromFirstRows:
    """Return what is measured of files, so that any candidate can be read off their summary.

    A column holds the same for all candidates.
    """
    own = model.files_schema()
    kinds = None if own.kinds is None else {**own.kinds, **_given_kinds(model, grid)}

    def complete(first: Summary) -> Schema:
        schemas = []
        for one in {one.measured: one for one in candidates_of(model, grid, first.schema)}.values():
            fixed = one.estimator.files_schema().complete
            schemas.append(first.schema if fixed is None else fixed(first))
        return replace(reduce(Schema.widened, schemas), sample=size)

    return SchemaFromFirstRows(kinds, complete, own.sample)


def _given_kinds(model: SummaryClassifier, grid: Any) -> dict[Any, Any]:
    """Return what columns must hold for the families of a grid; raise where candidates differ."""
    kinds: dict[Any, Any] = {}
    parts = [grid] if isinstance(grid, Mapping) else grid or []
    for families in (one for part in parts for one in part.get("families", ())):
        candidate: Any = type(model)(families=families)
        for column, kind in candidate.fixed_kinds().items():
            if kinds.setdefault(column, kind) != kind:
                raise NaivelyError(
                    f"in files, column {column!r} must hold the same for all candidates; the "
                    f"families of the grid read it as {kinds[column]} and as {kind}."
                )
    return kinds
