"""The rows of one fold, and how candidates score on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.rows import Columns, Rows
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.text.rows import TextRows
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.engines.memory.categories import recode
from naively.engines.memory.tables import code_columns
from naively.evaluation.folds import only_numbers, taken
from naively.families.forms import columns_of
from naively.model.model import Model
from naively.tuning.quadratics import QuadraticModels
from naively.tuning.scoring import Scoring

_WORTH_IT = 3  # models of Gaussians that are scored together


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows of one fold: cells, classes and weights."""

    table: Any
    codes: NDArray[np.int32]
    weights: Floats | None

    @classmethod
    def of(
        cls,
        table: Any,
        codes: NDArray[np.int32],
        weights: Floats | None,
        at: NDArray[np.intp],
        known: Sequence[NDArray[Any]],
    ) -> HeldOut:
        """Take some of all rows; categories that are not known come last."""
        rows = _recoded(taken(table[slice(None)], at), known)
        return cls(rows, codes[at], None if weights is None else weights[at])

    def of_model(self, model: Model, schema: Schema, columns: Sequence[int] | None) -> Any:
        """Return the cells as a model reads them, which may know some of the columns only."""
        table = self.table if columns is None else some_columns(self.table, schema, columns)
        if model.coded:  # codes are the categories
            sizes = [known.size for known in model.vocabularies]
            table = replace(table, codes=np.minimum(table.codes, sizes))
        return only_numbers(table)

    def scores(
        self,
        models: Sequence[Model],
        columns: Sequence[Sequence[int] | None],
        schema: Schema,
        scoring: Scoring,
        n_jobs: int | None,
    ) -> Floats:
        """Return the scores of models, each of which reads some of the columns, or all of them."""
        found = np.full(len(models), np.nan)
        left = self._together(models, columns, schema, scoring, n_jobs, found)
        weights = np.ones(self.codes.size) if self.weights is None else self.weights

        def scored(i: int) -> None:
            table = self.of_model(models[i], schema, columns[i])
            log_p = np.empty((self.codes.size, models[i].classes.size))
            models[i].kernel_for(table).log_proba(table, log_p)
            found[i] = scoring.of(self.codes, log_p, weights)

        map_blocks(scored, left, n_jobs)
        return found

    def _together(
        self,
        models: Sequence[Model],
        columns: Sequence[Sequence[int] | None],
        schema: Schema,
        scoring: Scoring,
        n_jobs: int | None,
        found: Floats,
    ) -> list[int]:
        """Score Gaussians whose means agree; returns the places of all other models."""
        every = list(range(len(models)))
        numbers = getattr(self.table, "numbers", self.table)
        if not scoring.by_row or isinstance(numbers, SparseRows) or len(every) < _WORTH_IT:
            return every
        place = {j: i for i, j in enumerate(schema.numbers)}
        at = [
            [place[j] for j in (schema.numbers if some is None else some) if j in place]
            for some in columns
        ]
        these, taken = QuadraticModels.of(models, at, len(place))
        if len(taken) < _WORTH_IT:
            return every
        x = np.column_stack(numbers) if isinstance(numbers, list) else numbers
        x = np.ascontiguousarray(x, dtype=np.float64)
        total = these.scores(x, self.codes, self.weights, scoring.name, n_jobs)
        if total is None:
            return every
        found[taken] = total / (self.codes.size if self.weights is None else self.weights.sum())
        return sorted(set(every) - set(taken))


def some_columns(table: Any, schema: Schema, columns: Sequence[int]) -> Any:
    """Return the rows with some of their columns, by ascending places."""
    chosen = set(columns)
    numbers, codes, texts = (
        [i for i, j in enumerate(places) if j in chosen]
        for places in (schema.numbers, schema.categories, schema.texts)
    )
    if not isinstance(table, Rows):
        return _columns(table, numbers)
    words = None
    if table.texts is not None and texts:
        cells = tuple(table.texts.columns[i] for i in texts)
        words = TextRows(table.texts.hashes[:, texts], cells)
    return Rows(
        (table.shape[0], len(chosen)),
        _columns(table.numbers, numbers),
        columns_of(table.codes, codes),
        tuple(table.categories[i] for i in codes) if table.categories else (),
        words,
        tuple(table.words[i] for i in texts),
    )


def _recoded(table: Any, known: Sequence[NDArray[Any]]) -> Any:
    """Return rows with other codes: those of sorted categories, and one more for all others."""
    if not isinstance(table, Rows) or not table.categories:
        return table
    columns = zip(code_columns(table), table.categories, known, strict=True)
    own = [recode(codes, categories, its) for codes, categories, its in columns]
    return replace(table, codes=Columns(own, table.shape[0])[:])


def _columns(numbers: Any, at: list[int]) -> Any:
    if not isinstance(numbers, SparseRows):
        return columns_of(numbers, at)
    places = np.full(numbers.n_columns, -1, np.intp)
    places[at] = np.arange(len(at))
    return numbers.moved(places, len(at))
