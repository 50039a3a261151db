r"""Terms: what the columns of a model add, read off a summary.

.. math:: w_{kt} \log f_t(x \mid k)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from naively.data.kinds import NUMBER
from naively.data.rows import TextRows
from naively.data.schema import Schema
from naively.data.tokens import Words
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Codes, Family, SpreadError
from naively.families.forms import Form, WordLines
from naively.statistics import Sample
from naively.statistics.summary import Summary


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

    @property
    def n_weights(self) -> int:
        """How many weights of a class may differ: one where all columns are one term."""
        return 1 if self.family.is_joint else len(self.columns)

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
        terms = self.family.among_others(cells, weights, self.parameters)
        return terms.reshape(*terms.shape[:2], self.n_weights)

    def log_density(self, numbers: Floats, codes: Codes, texts: TextRows | None = None) -> Floats:
        """Return log f of shape (n, K, number of columns), without weights."""
        cells = self._cells(numbers, codes, texts)
        terms = self.family.log_density(cells, self.parameters)
        return terms.reshape(*terms.shape[:2], self.n_weights)

    def each_column(self, sample: Sample) -> Iterator[Floats]:
        """Yield log f of column after column, each of shape (n, K): `among_others` by the form."""
        if self.family.tells_seen_rows or self.family.is_joint:
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
        return own.reshape(len(sample), self.n_weights)

    def _cells(self, numbers: Floats, codes: Codes, texts: TextRows | None) -> Any:
        return self.family.cells_of(numbers, codes, texts, self.at)


def read_terms(summary: Summary, families: Mapping[Family, Sequence[int]]) -> tuple[Term, ...]:
    """Read parameters off a summary: of numbers by family, of categories column by column."""
    terms = []
    for family, columns in families.items():
        columns = columns if isinstance(columns, range) else sorted(columns)
        at = places_of(family, summary.schema, columns)
        groups: Any = [(columns, at)]
        if family.kind is not NUMBER:
            groups = [([j], place) for j, place in zip(columns, at, strict=True)]
        for some, places in groups:
            statistic = family.statistic_of(summary, some, places)
            try:
                parameters = family.parameters(statistic)
            except SpreadError as error:
                name = summary.schema.name(some[error.at])
                raise NaivelyError(f"{name} {error.what}") from None
            if family.n_terms > 1:
                some = [j for j in some for _ in range(family.n_terms)]
            shape = summary.classes.size, len(some)
            weight = np.broadcast_to(1.0, shape) if family.is_joint else np.ones(shape)
            terms.append(Term(family, some, places, statistic, parameters, weight))
    return tuple(terms)


def places_of(family: Family, schema: Schema, columns: Sequence[int]) -> Sequence[int]:
    """Return the places of ascending columns among those that hold what a family reads, or raise.

    >>> from naively.families import Categorical
    >>> places_of(Categorical(), Schema(3, kinds=("number", "category", "category")), [2])
    [1]
    """
    there = schema.of_kind(family.kind)
    every = columns == there or list(columns) == list(there)
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
    if columns:
        family.check_measured(schema, columns)
    return range(len(columns)) if every else [place_of[j] for j in columns]


# --- The words of a column of text ----------------------------------------------------------------


class TopWord(NamedTuple):
    """A word that speaks for a class."""

    word: str  # the word; hashed ones are called by their place
    place: int  # its place in the vocabulary
    # What it adds to the score of the class, beside the mean of all classes, in a document in
    # which it is alone
    contribution: float
    counts: Floats  # (n_classes,): the documents of each class that have it; or how often it occurs


def top_words(term: Term, words: Words, most: int) -> list[list[TopWord]]:
    r"""Return for each class the words of a column of text that speak most for it, so many at most.

    .. math:: c_{kj} = \frac{d_{kj}}{w_k} \Bigl(B_{jk} - \frac{1}{K} \sum_l B_{jl}\Bigr)

    where B is what the word adds to the score of a class, and :math:`d_{kj} / w_k` the share of the
    documents of class k that have it: about what the word adds to a document of its class.
    """
    form = term.form
    assert isinstance(form, WordLines)
    centred = form.B - form.B.mean(axis=1, keepdims=True)
    values, documents = term.statistic.values, term.statistic.documents
    of_classes = []
    for k, weight in enumerate(documents.tolist()):
        said = values[k] / weight * centred[:, k] if weight > 0 else np.zeros(len(centred))
        few = np.argpartition(-said, most)[:most] if said.size > most else np.arange(said.size)
        order = few[np.lexsort((few, -said[few]))]
        of_classes.append(
            [
                TopWord(words.word(j), j, float(centred[j, k]), values[:, j])
                for j in order.tolist()
                if said[j] > 0
            ]
        )
    return of_classes
