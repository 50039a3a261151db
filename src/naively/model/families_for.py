r"""The best family of a column of numbers, by the log density of rows as if they were not seen.

.. math:: \frac{1}{\sum_i w_i} \sum_i w_i \log f(x_i \mid y_i, \text{all rows but } i)

over the rows i of the sample that have the cell. The candidates are densities that every cell seen
is within the support of; ties go to the first. A `Histogram` is none of them, since it is known up
to what all classes share alone, and a `VonMises` needs a period. A column of 0 and 1 is a
`Bernoulli`. Of a column of counts up to a thousand, a density is divided by its sum over all of
them: then it is compared with probabilities as one.

Examples
--------
>>> from naively import summarize
>>> from naively.data.schema import Schema
>>> from naively.data.functions import ColumnFunction
>>> schema = Schema(1, sample=100, functions=(ColumnFunction(0, "log"),))
>>> x = np.exp(np.random.default_rng(0).normal(size=(100, 1)))
>>> choice = choose_families(summarize(x, np.zeros(100, int), schema=schema), [0])[0]
>>> choice.best.name
'log_normal'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from naively.data.functions import ColumnFunction
from naively.errors import NaivelyError
from naively.families import CANDIDATES, Family, StudentT
from naively.families.family import ROUNDING
from naively.model.terms import Term, read_terms
from naively.statistics import FunctionMoments, Moments
from naively.statistics.summary import Summary

COUNT = ("count", 1.0)  # the function that tells whole numbers from others
_MAX_COUNT = 1000


@dataclass(frozen=True)
class FamilyChoice:
    """The families that a column may have, the best first, and the mean log density of each."""

    families: tuple[Family, ...]
    scores: tuple[float, ...]

    @property
    def best(self) -> Family:
        """The family of the largest log density."""
        return self.families[0]

    def table(self) -> dict[str, float]:
        """Return the mean log density by the name of the family."""
        return {f.name: score for f, score in zip(self.families, self.scores, strict=True)}


def choose_families(
    summary: Summary, columns: Sequence[int], candidates: Sequence[Family] = CANDIDATES
) -> dict[int, FamilyChoice]:
    """Return the choice of each of some columns of numbers, by its place in the schema."""
    if not columns:
        return {}
    sample = summary.sample
    if sample is None:
        raise NaivelyError(
            "the best family is chosen on a sample of rows, and the summary holds none. Measure "
            "with Schema(..., sample=4000), or name a family."
        )
    place = {j: i for i, j in enumerate(summary.schema.numbers)}
    weight = np.where(np.isnan(sample.numbers), 0.0, sample.weight[:, np.newaxis])
    found: dict[int, list[tuple[float, Family]]] = {j: [] for j in columns}
    whole = summary.moments.pooled()
    for family in candidates:
        fits = [j for j in columns if _fits(summary, whole, family, j, place[j])]
        for term in read_terms(summary, {family: fits}) if fits else ():
            own = term.left_out(sample)
            for i, j in enumerate(term.columns):
                terms, w = own[:, i], weight[:, place[j]]
                if not family.discrete and _has_all(summary, j, place[j], COUNT):
                    terms = terms - _log_sum(term, i, sample.numbers[:, place[j]])[sample.codes]
                mean = float(w @ terms / w.sum()) if w.any() else 0.0
                found[j].append((mean, family))
    return {j: _ordered(scored) for j, scored in found.items()}


def _log_sum(term: Term, i: int, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log sum of a class's density over counts; 0 where there are too many counts."""
    most = np.nanmax(cells, initial=0.0)
    if most > _MAX_COUNT:
        return np.zeros(term.weight.shape[0])
    low, high = term.family.support
    counts = np.arange(2 * most + 10)
    counts = counts[(counts >= low) & (counts <= high)]
    return np.asarray(np.logaddexp.reduce(term.log_density_of(i, counts), axis=0))


def _ordered(scored: list[tuple[float, Family]]) -> FamilyChoice:
    only = [(score, family) for score, family in scored if family.support == (0, 1)]
    scored = sorted(only or scored, key=lambda one: -one[0])  # stable: ties go to the first
    return FamilyChoice(tuple(f for _, f in scored), tuple(score for score, _ in scored))


def _fits(summary: Summary, whole: Moments, family: Family, j: int, place: int) -> bool:
    """Whether every cell of a column is one that a family knows.

    A column of one value is left to `StudentT`, to which it adds nothing.
    """
    w, mean, m2 = (float(part[place]) for part in whole.values[:3])
    if m2 <= w * np.square(np.finfo(np.float64).eps * mean):
        return isinstance(family, StudentT)
    functions = family.functions or ((COUNT,) if family.discrete else ())
    if not all(_has_all(summary, j, place, function) for function in functions):
        return False
    if family.support != (0, 1):
        return True
    # counts are 0 or 1 where squares add up as they do
    return abs(m2 - w * mean * (1 - mean)) <= 1e-9 * w


def _has_all(summary: Summary, j: int, place: int, function: tuple[str, float]) -> bool:
    """Whether a function was measured of a column, and every cell has a value."""
    wanted = ColumnFunction(j, *function)
    if wanted not in summary.schema.functions:
        return False
    at = summary.schema.functions.index(wanted)
    known = summary[FunctionMoments].weight[:, at].sum()
    seen: NDArray[np.float64] = summary.moments.weight[:, place].sum()
    return bool(seen - known <= ROUNDING * seen)
