r"""Forward and backward choice of columns, by exact removal of terms.

A model is a sum of terms, so the model of fewer columns is the sum of theirs:

.. math:: \log p(x, k) = c_k + \sum_{j \in S} t_{jk}(x_j)

Terms of held-out rows are computed once per fold. A step adds the column that gives the best score,
or takes the one away whose loss hurts least; of columns that tie, the first stay. So come nested
sets of columns, which are then judged like all candidates, by models that are read off the
summaries of these columns alone: calibration and what smoothing reads off all columns are theirs.
Terms of several columns together, interactions, do not decide the order.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from naively import _kernel
from naively.data.schema import Schema
from naively.data.threads import map_blocks
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.model.model import Model, TermScorer
from naively.tuning.candidates import Candidate
from naively.tuning.held_out import HeldOut
from naively.tuning.scoring import SCORINGS, Scoring
from naively.tuning.search import Measured

MOST_COLUMNS = 500
MOST_TERMS = 1 << 26  # of all folds, which are kept: 512 MiB
_BLOCK = 1 << 18  # numbers of a block
_IMPOSSIBLE = -1e4  # stands for minus infinity, from which nothing could be taken away


def chosen_columns(
    candidate: Candidate,
    rows: Measured,
    direction: Literal["forward", "backward"],
    scoring: Scoring,
) -> list[Candidate]:
    """Return candidates of ever more columns, or of ever fewer."""
    columns = list(range(rows.schema.n_columns) if candidate.columns is None else candidate.columns)
    if len(columns) > MOST_COLUMNS:
        raise NaivelyError(
            f"columns are chosen among at most {MOST_COLUMNS}; got {len(columns):,}. Give sets of "
            "columns in the grid instead."
        )
    share = MOST_TERMS / (rows.fold.size * rows.truth.classes.size * len(columns))
    folds = [
        _FoldTerms(read(candidate), _thinned(held_out, share), rows.schema, candidate)
        for held_out, read in rows.folds()
    ]
    scoring = scoring if scoring.by_row else SCORINGS["log_loss"]
    found: list[list[int]] = [] if direction == "forward" else [list(range(len(columns)))]
    chosen = [] if direction == "forward" else list(range(len(columns)))
    while len(chosen) < len(columns) if direction == "forward" else len(chosen) > 1:
        adds = direction == "forward"
        moves = [i for i in range(len(columns)) if (i in chosen) != adds]
        score = np.mean([fold.scores(chosen, moves, adds, scoring) for fold in folds], axis=0)
        loss = -score if scoring.greater_is_better else score
        at = int(np.argmin(loss)) if adds else len(moves) - 1 - int(np.argmin(loss[::-1]))
        chosen = sorted({*chosen, moves[at]} if adds else {*chosen} - {moves[at]})
        found.append(chosen)
    return [candidate.with_columns((columns[i] for i in some), rows.schema) for some in found]


def _thinned(held_out: HeldOut, share: float) -> HeldOut:
    """Return so many of the rows that terms fit into memory, evenly spaced."""
    if share >= 1:
        return held_out
    n_rows = held_out.codes.size
    at = np.linspace(0, n_rows - 1, max(1, int(share * n_rows))).astype(np.intp)
    return HeldOut.of(held_out.table, held_out.codes, held_out.weights, at, ())


class _FoldTerms:
    """What each column adds, for the rows of a fold: by class, row and column."""

    def __init__(
        self, model: Model, held_out: HeldOut, schema: Schema, candidate: Candidate
    ) -> None:
        table = held_out.of_model(model, schema, candidate.columns)
        self.codes, self.weights = held_out.codes, held_out.weights
        self.n_jobs: Any = candidate.estimator.n_jobs
        scorer = TermScorer(model, table)
        found = scorer.room(self.codes.size)
        scorer.write(table, found)
        places = {int(j): t for t, j in enumerate(scorer.columns) if j >= 0}
        n_columns = model.schema.n_columns
        self.terms = np.zeros((model.classes.size, self.codes.size, n_columns))
        for j, t in places.items():  # sparse rows may not hold all columns
            self.terms[:, :, j] = found[:, t].T
        np.maximum(self.terms, _IMPOSSIBLE, out=self.terms)
        self.constant = model.constant

    def scores(self, chosen: list[int], moves: list[int], adds: bool, scoring: Scoring) -> Floats:
        """Return the scores once each of some columns is added, or taken away."""
        n_classes, n_rows, _ = self.terms.shape
        offset = np.repeat(self.constant[:, np.newaxis], len(moves), axis=1)
        step = max(1, _BLOCK // (n_classes * len(moves)))

        def added(rows: slice) -> Floats:
            terms, total = self.terms[:, rows], np.zeros(len(moves))
            now = terms[:, :, chosen].sum(axis=2, keepdims=True)
            distance = -(now + terms[:, :, moves]) if adds else terms[:, :, moves] - now
            weights = None if self.weights is None else self.weights[rows]
            _kernel.add_scores(
                np.ascontiguousarray(distance),
                offset,
                self.codes[rows],
                weights,
                scoring.name,
                total,
            )
            return total

        blocks = [slice(start, start + step) for start in range(0, n_rows, step)]
        total = np.sum(map_blocks(added, blocks, self.n_jobs), axis=0)
        weight = n_rows if self.weights is None else float(self.weights.sum())
        return np.asarray(total / weight)
