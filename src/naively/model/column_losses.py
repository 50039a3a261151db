r"""How much log loss a model has on rows without each of its columns.

.. math:: \ell = \frac{1}{W} \sum_i w_i \bigl(-\log p_{-i}(y_i \mid x_i)\bigr), \qquad
          \mathrm{increase}_j = \ell_{\setminus j} - \ell

where :math:`p_{-i}` has the terms of all other rows: in the own class of row i each term leaves the
row out, in closed form, as calibration does. A column is left out as if its cells were missing, so
that interactions go on without it. Priors, biases and weights stay those of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.rows import Rows
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.families.entries import CellTerms, SeenRows
from naively.model.calibration import floored, terms_of_sample
from naively.model.interactions import UnseenInteractions, sample_for_interactions
from naively.model.model import Model
from naively.statistics import Sample
from naively.statistics.measure import raise_not_finite

_MIN_ROWS = 50
_MAX_TERMS = 1 << 26  # rows times classes times columns, of all rows
_BLOCK_TERMS = 1 << 21  # and of those that are judged together


@dataclass(frozen=True, eq=False)
class ColumnLosses:
    """The mean log loss of rows, and how it differs by column."""

    loss: float  # of the model
    # (n_columns,): how much more it is without a column, and the standard error of that
    increase: Floats
    error: Floats  # (n_columns,)
    # (n_classes, n_columns): the increase in the rows of each class; NaN where none is judged
    by_class: Floats
    n_rows: int  # number of rows that were scored


def rows_to_judge(
    model: Model, rows: Rows, codes: NDArray[np.int32], weight: Floats | None = None
) -> Sample:
    """Return rows as a model reads them, or some of them; unknown categories have one more code."""
    rows = model.known(rows)[:]
    numbers = rows.array() if model.schema.counted is None else rows.sparse().tidy()
    if np.isinf(numbers.values if isinstance(numbers, SparseRows) else numbers).any():
        raise_not_finite(rows, model.schema)
    sizes = np.array([known.size for known in model.vocabularies], np.int64)
    cells = np.stack(rows.code_columns, axis=1) if sizes.size else np.empty((len(rows), 0))
    categories = np.minimum(np.nan_to_num(cells, nan=-1), sizes).astype(np.int32)
    weight = np.ones(len(rows)) if weight is None else np.asarray(weight, np.float64)
    n_rows, hashes = len(rows), np.zeros(len(rows), np.uint64)  # which nobody asks for
    held: Any = {"numbers": numbers, "categories": categories, "texts": rows.texts}
    sample = Sample(n_rows, 0, hashes, weight, codes, **held, drawn=True)
    if n_rows <= (most := _max_rows(model)):
        return sample
    return sample[np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))]


def column_losses(model: Model, rows: Sample, *, seen: bool = True) -> ColumnLosses:
    """Judge rows by a model without each column.

    Those that the model has learned from are ``seen``: then each is taken out first, and they are
    those of its sample if interactions are to be judged, too. Rows of a class whose prior is 0 are
    left out: whatever the columns, their loss is infinite.
    """
    interactions = model.interactions
    together: UnseenInteractions | _InteractionsOfNewRows | None = None
    if interactions is not None and seen:
        rows = sample_for_interactions(model.terms, rows, model.classes.size)
        together = UnseenInteractions(interactions, rows, model.schema, model.classes.size)
    elif interactions is not None:
        together = _InteractionsOfNewRows(model, rows)
    n_rows = min(len(rows), _max_rows(model))
    unit = float(np.max(rows.weight, initial=0.0)) or 1.0
    step, sums = max(1, _BLOCK_TERMS // _terms_per_row(model)), _Sums(model, unit)
    for start in range(0, n_rows, step):
        at = slice(start, min(start + step, n_rows))
        sums.add(rows[at], seen, None if together is None else (together, at))
    return sums.losses()


def _max_rows(model: Model) -> int:
    return max(_MIN_ROWS, _MAX_TERMS // _terms_per_row(model))


def _terms_per_row(model: Model) -> int:
    n_columns = max(1, model.schema.n_columns)
    joint = 0 if model.interactions is None else len(model.interactions.features)
    return n_columns * (model.classes.size + joint)


class _Sums:
    """Sums of log losses over rows, whose weights are in a unit that does not overflow."""

    def __init__(self, model: Model, unit: float) -> None:
        self.model, self.unit = model, unit
        n_classes, self.n_columns = model.classes.size, model.schema.n_columns
        self.weight, self.squared_weight, self.loss = np.zeros(n_classes), 0.0, 0.0
        self.increase = np.zeros((n_classes, self.n_columns))
        self.squares, self.n_rows = np.zeros(self.n_columns), 0

    def add(self, rows: Sample, seen: bool, together: Any) -> None:
        """Judge some rows."""
        model, codes = self.model, rows.codes
        weight = np.where(np.isfinite(model.constant)[codes], rows.weight / self.unit, 0.0)
        cells = _cell_terms(model, rows, seen)
        i, j, values = cells
        joint = model.constant + cells.by_row(len(rows))
        without = joint[i] - values
        if together is not None:
            interactions, at = together
            without += interactions.without_each(at)[i, :, j]
            joint += interactions.joint(at)
        loss, own, w = _log_loss(joint, codes), codes[i], weight[i]
        with np.errstate(invalid="ignore"):  # of classes without a prior, which do not count
            more = np.where(w > 0, _log_loss(without, own) - loss[i], 0.0)
        place = own * self.n_columns + j
        self.increase += np.bincount(place, w * more, self.increase.size).reshape(
            self.increase.shape
        )
        self.squares += np.bincount(j, w * more**2, self.n_columns)
        self.loss += float(weight @ np.where(weight > 0, loss, 0.0))
        self.weight += np.bincount(codes, weight, self.weight.size)
        self.squared_weight += float(weight @ weight)
        self.n_rows += int((weight > 0).sum())

    def losses(self) -> ColumnLosses:
        """Return means."""
        total = float(self.weight.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            increase = self.increase.sum(axis=0) / total
            variance = np.maximum(self.squares / total - increase**2, 0.0)
            return ColumnLosses(
                loss=float(np.divide(self.loss, total)),
                increase=increase,
                error=np.sqrt(variance * self.squared_weight) / total,
                by_class=self.increase / self.weight[:, np.newaxis],
                n_rows=self.n_rows,
            )


class _InteractionsOfNewRows:
    """What interactions add to rows that the model has not learned."""

    def __init__(self, model: Model, rows: Sample) -> None:
        self.model, self.rows = model, rows

    def joint(self, at: slice, missing: int = -1) -> Floats:
        """Return what they add to some rows, in which a column may be missing: (n, K)."""
        schema, rows, joint = self.model.schema, self.rows[at], self.model.interactions
        assert joint is not None
        numbers, codes = rows.numbers.copy(), rows.categories.copy()
        numbers[:, [at for at, j in enumerate(schema.numbers) if j == missing]] = np.nan
        codes[:, [at for at, j in enumerate(schema.categories) if j == missing]] = -1
        total = np.zeros((len(rows), self.model.classes.size))
        joint.form.add(numbers, codes, total)
        return total

    def without_each(self, at: slice) -> Floats:
        """Return what they add to some rows in which each column is missing: (n, K, d)."""
        return np.stack([self.joint(at, j) for j in range(self.model.schema.n_columns)], axis=2)


def _cell_terms(model: Model, rows: Sample, seen: bool) -> CellTerms:
    """Return what each cell adds to each class; cells that add nothing may be left out."""
    if model.schema.counted is not None:
        (term,) = model.terms
        family: Any = term.family
        own = SeenRows(rows.codes, np.minimum(rows.weight, 1.0)) if seen else None
        cells: CellTerms = family.cell_terms(rows.numbers, term.parameters, own)
        return cells._replace(values=floored(cells.values) * term.weight.flat[0])
    n, n_classes, n_columns = len(rows), model.classes.size, model.schema.n_columns
    of_columns = np.zeros((n_columns, n, n_classes))
    for term in model.terms:
        if seen:
            terms = terms_of_sample([term], rows, n_classes)
        else:
            terms = floored(term.log_density(rows.numbers, rows.categories, rows.texts))
        terms = terms - terms.mean(axis=1, keepdims=True)
        for t, column in enumerate(term.columns):
            of_columns[column] += terms[:, :, t] * term.weight[:, t]
    i, j = np.tile(np.arange(n), n_columns), np.repeat(np.arange(n_columns), n)
    return CellTerms(i, j, of_columns.reshape(-1, n_classes))


def _log_loss(joint: Floats, codes: NDArray[np.int32]) -> Floats:
    """Return -log p of each row's class."""
    most = joint.max(axis=1)
    total = np.exp(joint - most[:, np.newaxis]).sum(axis=1)
    loss: Floats = most + np.log(total) - joint[np.arange(codes.size), codes]
    return loss
