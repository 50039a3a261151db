r"""Terms: what the columns of a model add, read off a summary.

.. math:: w_{kt} \log f_t(x \mid k)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.data.functions import ColumnFunction
from naively.data.kinds import CATEGORY, TEXT
from naively.data.schema import Schema
from naively.data.text.rows import TextRows
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.edges import Edges
from naively.families.family import Codes, Family, SpreadError
from naively.families.forms import Form
from naively.families.histogram import BinnedColumns
from naively.families.kernel_density import SampledColumns
from naively.families.text import Text, WordCounts
from naively.statistics import Documents, FunctionMoments, Moments, Occurrences, Sample
from naively.statistics.counts import Counts
from naively.statistics.summary import Summary

ROUNDING = 1e-12  # of sums of the same weights


@dataclass(frozen=True, eq=False)
class Term:
    """Columns of one family: what was measured, what was read off it, and the form of that."""

    family: Family
    # their places in the schema; one that has several terms is there as often
    columns: Sequence[int]
    # their places among the columns of numbers; for categories and text, the place among those
    at: Any
    # statistic and parameters: what was measured, and what the family read off it
    statistic: Any
    parameters: Any
    weight: Floats  # (n_classes, n_columns): how much the terms count

    @cached_property
    def form(self) -> Form:
        """What scores rows, with the weights folded in."""
        return self.family.form(self.parameters, self.weight)

    @property
    def unweighted_form(self) -> Form:
        """The form of weights of 1."""
        return self.family.form(self.parameters, np.ones_like(self.weight))

    def among_others(self, sample: Sample) -> Floats:
        """Return log f of shape (n, K, number of columns), without weights, of rows seen.

        In a row's own class it is meaningless: see `left_out`.
        """
        weights = np.minimum(sample.weight, 1.0)
        cells = self._cells(sample.numbers, sample.categories, sample.texts)
        found = self.family.among_others(cells, weights, self.parameters)
        return found.reshape(*found.shape[:2], len(self.columns))

    def log_density(self, numbers: Floats, codes: Codes, texts: TextRows | None = None) -> Floats:
        """Return log f of shape (n, K, number of columns), without weights."""
        cells = self._cells(numbers, codes, texts)
        found = self.family.log_density(cells, self.parameters)
        return found.reshape(*found.shape[:2], len(self.columns))

    def each_column(self, sample: Sample) -> Iterator[Floats]:
        """Yield log f of column after column, each of shape (n, K): `among_others` by the form."""
        if self.family.kind is TEXT:  # whose rows are told apart from others
            return iter(np.ascontiguousarray(self.among_others(sample).transpose(2, 0, 1)))
        cells = self._cells(sample.numbers, sample.categories, None).reshape(len(sample), -1)
        return self.unweighted_form.each(cells, self.weight.shape[0])

    def log_density_of(self, i: int, x: Floats) -> Floats:
        """Return log f of some cells of the i-th column of numbers, of shape (n, n_classes)."""
        cells = np.full((x.size, len(self.columns)), np.nan)
        cells[:, i] = x
        return self.family.log_density(cells, self.parameters)[:, :, i]

    def left_out(self, sample: Sample) -> Floats:
        """Return log f of rows in their own class as if they had not been seen: (n, d)."""
        own = self.family.left_out(
            self._cells(sample.numbers, sample.categories, sample.texts),
            sample.codes,
            np.minimum(sample.weight, 1.0),  # of equal rows, one
            self.statistic,
            self.parameters,
        )
        return own.reshape(len(sample), len(self.columns))

    def _cells(self, numbers: Floats, codes: Codes, texts: TextRows | None) -> Any:
        """Return the cells of the columns: of numbers a table, of others a column."""
        if self.family.kind is CATEGORY:
            return codes[:, self.at]
        if self.family.kind is TEXT:
            assert texts is not None
            return texts.columns[self.at]
        return numbers if len(self.at) == numbers.shape[1] else numbers[:, self.at]


def read_terms(summary: Summary, families: Mapping[Family, Sequence[int]]) -> tuple[Term, ...]:
    """Read parameters off a summary: of numbers by family, of categories column by column."""
    terms = []
    for family, columns in families.items():
        for some, at, statistic in _statistics(summary, family, sorted(columns)):
            try:
                found = family.parameters(statistic)
            except SpreadError as error:
                name = summary.schema.name(some[error.at])
                raise NaivelyError(f"{name} {error.what}") from None
            some = [j for j in some for _ in range(family.n_terms)]
            weight = np.ones((summary.classes.size, len(some)))
            terms.append(Term(family, some, at, statistic, found, weight))
    return tuple(terms)


def places_of(family: Family, schema: Schema, columns: Sequence[int]) -> Sequence[int]:
    """Return the places of ascending columns among those that hold what a family reads, or raise.

    >>> from naively.families import Categorical
    >>> places_of(Categorical(), Schema(3, kinds=("number", "category", "category")), [2])
    [1]
    """
    there = schema.of_kind(family.kind)
    every = list(there) == list(columns)
    place_of = {j: i for i, j in enumerate(() if every else there)}
    for before, j in zip((None, *columns), () if every else columns, strict=False):
        if j == before or j not in range(schema.n_columns):
            raise NaivelyError(
                f"families must name columns by their places, each once; got {j!r}. There are "
                f"{schema.n_columns} columns."
            )
        if j not in place_of:
            raise NaivelyError(
                f"the family {family.name!r} reads {family.kind.plural}, and the summary holds "
                f"{schema.held[j].plural} of {schema.name(j)}. Give the column "
                "another family, or measure it again."
            )
    if columns and family.reads == "bins" and schema.edges is None:
        raise NaivelyError(
            f"the family {family.name!r} of {schema.name(columns[0])} reads a histogram, and the "
            "summary holds none. Give the column another family, or measure with a schema that has "
            "edges."
        )
    if columns and family.reads == "sample" and not schema.sample:
        raise NaivelyError(
            f"the family {family.name!r} of {schema.name(columns[0])} reads a sample of rows, and "
            "the summary holds none. Give the column another family, or measure with "
            "Schema(..., sample=4000)."
        )
    if family.functions:
        measured = set(schema.functions)
        for j in columns:
            if not all(ColumnFunction(j, *f) in measured for f in family.functions):
                raise NaivelyError(
                    f"the family {family.name!r} of {schema.name(j)} reads "
                    f"{', '.join(name for name, _ in family.functions)} of its cells, which the "
                    "summary does not hold. Give the column another family, or measure it again."
                )
    return range(len(columns)) if every else [place_of[j] for j in columns]


def _statistics(
    summary: Summary, family: Family, columns: Sequence[int]
) -> Iterator[tuple[Sequence[int], Any, Any]]:
    """Give columns, their places among those of their kind, and the statistic that is read."""
    schema, at = summary.schema, places_of(family, summary.schema, columns)
    if family.kind is CATEGORY:
        for j, place in zip(columns, at, strict=True):
            yield [j], place, summary.tally(place)
        return
    if isinstance(family, Text):
        for j, place in zip(columns, at, strict=True):
            yield [j], place, _word_counts(summary, place, family)
        return
    every = len(at) == len(schema.numbers)
    if family.reads == "moments":
        values = summary.moments.values
        some = summary.moments if every else Moments(np.ascontiguousarray(values[:, :, at]))
        yield columns, at, some
        return
    if family.reads == "sample":
        sample = summary[Sample]
        cells = np.ascontiguousarray(sample.numbers[:, at])
        rows = SampledColumns(cells, sample.codes, sample.weight, summary.classes.size)
        yield columns, at, rows
        return
    if family.reads == "functions":
        yield columns, at, _function_moments(summary, family, columns, at)
        return
    edges = Edges(np.array(schema.edges)[at], np.array(schema.knots)[at])
    yield columns, at, BinnedColumns(np.ascontiguousarray(summary.bins.values[:, at]), edges)


def _function_moments(
    summary: Summary, family: Family, columns: Sequence[int], at: Sequence[int]
) -> Moments:
    """Return the moments of functions, by class, function and column; raise where one has none."""
    measured = {function: i for i, function in enumerate(summary.schema.functions)}
    places = [[measured[ColumnFunction(j, *f)] for j in columns] for f in family.functions]
    found = Moments(summary[FunctionMoments].values[:, :, places])
    seen = summary.moments.weight[:, at].sum(axis=0)
    lost = seen - found.weight.sum(axis=0).min(axis=0)
    if (lost > ROUNDING * seen).any():
        i = int(np.argmax(lost > ROUNDING * seen))
        raise NaivelyError(
            f"cells of the family {family.name!r} must be {family.cells}; got others in "
            f"{summary.schema.name(columns[i])} (their weight is {lost[i]:g}). Give the column "
            "another family, such as 'student_t', or make these cells missing."
        )
    return found


def _word_counts(summary: Summary, place: int, family: Text) -> WordCounts:
    """Return the counts of the words of a column of text."""
    kind: type[Counts] = Documents if family.presence else Occurrences
    starts = summary.axes.word_starts
    values = summary[kind].values
    first = values.shape[1] - starts[-1]
    cells = slice(first + starts[place], first + starts[place + 1])
    return WordCounts(values[:, cells], summary.class_weight)
