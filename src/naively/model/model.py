r"""A naive Bayes model: constants and terms, read off a summary.

.. math:: \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k)

where t goes over the terms: a family for a column, or several families for one. Without
calibration the biases are 0 and the weights 1, and it is the naive Bayes of the textbooks. Where
the weights differ by class, terms are centred over the classes before.

Examples
--------
>>> from naively import summarize
>>> from naively.families import Gaussian
>>> seen = summarize([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
>>> model = Model.read(seen, {Gaussian(var_smoothing=0.0): [0]})
>>> model.terms[0].parameters.mean.tolist(), model.terms[0].form.B.tolist()
([[1.0], [8.0]], [[0.5, 0.5]])

`Model.contributions` takes the sum apart for rows: all terms of a column are one, and every
interaction is one. They are those that the scorer adds up, weights and centring included, so that
nothing is estimated or sampled. Of sparse rows, only columns that some row holds have a term of
their own; what the others add, all of them 0, is one term.

>>> from naively.data.rows import Rows
>>> found = model.contributions(Rows.of_numbers(np.array([[6.0]])))
>>> found.names, found.values.round(2).tolist()
(('column 0',), [[[-13.42], [-2.92]]])
>>> np.abs(found.joint - model.score(Rows.of_numbers(np.array([[6.0]])))).max() < 1e-12
np.True_
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data.kinds import CATEGORY, NUMBER, TEXT
from naively.data.labels import listed, quoted
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.data.threads import block_slices, map_blocks
from naively.data.tokens import Words
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.families.family import Family
from naively.families.forms import Tables, WordLines, columns_of, weighted
from naively.model.calibration import calibrate
from naively.model.class_weights import as_numbers, numbers_by_class, weighted_prior
from naively.model.interactions import Interactions, read_interactions
from naively.model.scorer import Answer, Scorer, check_not_negative
from naively.model.terms import Term, read_terms
from naively.statistics import Scatter
from naively.statistics.measure import raise_not_finite
from naively.statistics.summary import Summary

_MAX_BLOCKS = 64  # that threads take
SAMPLE = 4000  # rows that calibration needs
ALL_ZERO = "at least one row must have a weight above zero; got none. Check the weights."


@dataclass(frozen=True, eq=False)
class Model:
    """Class probabilities and terms, ready to score rows."""

    schema: Schema  # the columns
    classes: NDArray[Any]  # (n_classes,): labels
    prior: Floats  # (n_classes,): class probabilities
    bias: Floats  # (n_classes,): what calibration adds to the classes
    terms: tuple[Term, ...]  # what the columns add
    vocabularies: tuple[NDArray[Any], ...]  # the categories of each column of categories
    coded: bool = False  # whether categories are the codes 0, 1, 2, ... themselves
    interactions: Interactions | None = None  # what several columns add together
    words: tuple[Words, ...] = ()  # the words of each column of text
    labels: list[Any] = field(init=False, repr=False)  # the classes, to answer for single rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", listed(self.classes))

    @classmethod
    def read(
        cls,
        summary: Summary,
        families: Mapping[Family, Sequence[int]],
        *,
        priors: ArrayLike | Mapping[Any, float] | None = None,
        calibration: Literal["temperature", "weights"] | None = None,
        interactions: Collection[str] = (),
        coded: bool = False,
    ) -> Model:
        """Read a model off a summary.

        Parameters
        ----------
        summary : Summary
            What was seen.
        families : mapping
            The columns that each family describes, by place.
        priors : array-like of shape (n_classes,) or dict, default=None
            Class probabilities, in the order of the classes or by label; None for the classes'
            shares of all rows.
        calibration : {"temperature", "weights"} or None, default=None
            One weight for all terms, one for each term and class, or none.
        interactions : collection of str, default=()
            Which of `INTERACTIONS` are added; only weights calibrate them.
        coded : bool, default=False
            Whether categories are the codes 0, 1, 2, ... themselves
        """
        prior, bias = read_prior(summary, priors), np.zeros(summary.classes.size)
        if not all(family.has_prior for family in families):
            bias -= np.log(_equal(summary).max())  # takes equal probabilities out
        model = cls(
            schema=summary.schema,
            classes=summary.classes,
            prior=prior,
            bias=bias,
            terms=read_terms(summary, families),
            vocabularies=summary.categories,
            coded=coded,
            words=summary.words,
        )
        if calibration is None:
            return model
        kinds = interactions if calibration == "weights" else ()
        return model._calibrated(summary, calibration, kinds)

    @cached_property
    def log_prior(self) -> Floats:
        """Logarithms of the class probabilities; minus infinity where one is 0."""
        return _log(self.prior)

    @property
    def constant(self) -> Floats:
        """Log prior and bias of each class."""
        return self.log_prior + self.bias

    @cached_property
    def by_column(self) -> list[list[tuple[Term, int]]]:
        """The terms of each column, each with the place of the column in it."""
        of_columns: list[list[tuple[Term, int]]] = [[] for _ in range(self.schema.n_columns)]
        for term in self.terms:
            for i, j in enumerate(term.columns):
                of_columns[j].append((term, i))
        return of_columns

    @cached_property
    def tables(self) -> Tables | None:
        """The form of all columns of categories, in their order; None if there are none."""
        tables: dict[int, Floats] = {}
        for term in self.terms:
            if term.family.kind is CATEGORY:
                form: Any = term.form
                tables[term.at] = tables.get(term.at, 0.0) + form.values
        if not tables:
            return None
        for i, known in enumerate(self.vocabularies):  # a column without a term adds nothing
            tables.setdefault(i, np.zeros((known.size + 1, self.classes.size)))
        return Tables.of([tables[i] for i in sorted(tables)])

    @cached_property
    def scorer(self) -> Scorer:
        """What adds up the terms of rows that have the model's codes and words."""
        return Scorer(
            self.constant,
            [(term.at, term.form) for term in self.terms if term.family.kind is NUMBER],
            self.tables,
            [(term.at, term.form) for term in self.terms if term.family.kind is TEXT],
            n_numbers=len(self.schema.numbers),
            joint_forms=None if self.interactions is None else self.interactions.form,
            coded=self.coded,
        )

    def known(self, rows: Rows) -> Rows:
        """Return rows with the codes and words of the model; those unknown come last, or go."""
        return rows.known(self.vocabularies, self.schema, self.words)

    def labels_of(self, rows: Rows, *, n_jobs: int | None = 1) -> NDArray[Any]:
        """Return the most probable class of each row; ties go to the first."""
        rows, out = self.known(rows), np.empty(len(rows), self.classes.dtype)

        def label(part: Rows, out: NDArray[Any]) -> bool:
            at = np.empty(out.size, np.int64)
            finite = self.scorer.write("labels", part, at)
            self.classes.take(at, out=out, mode="clip")  # "raise" would copy
            return finite

        return self._by_block(label, rows, out, n_jobs)

    def score(
        self, rows: Rows, want: Answer = "joint", *, n_jobs: int | None = 1, dtype: Any = np.float64
    ) -> NDArray[Any]:
        """Return what is asked of rows: see `Scorer.write`. Infinity is an error."""
        rows = self.known(rows)
        shape = len(rows), 1 if want == "evidence" else self.classes.size
        write = partial(self.scorer.write, want)
        return self._by_block(write, rows, np.empty(shape, dtype), n_jobs)

    def contributions(self, rows: Rows, *, n_jobs: int | None = 1) -> Contributions:
        """Return what each term adds to each class: columns first, then interactions."""
        rows = self.known(rows)
        terms = _TermScorer(self, rows)
        out = self._by_block(terms.write, rows, terms.room(len(rows)), n_jobs)
        values = out.transpose(0, 2, 1)
        return Contributions(terms.names, terms.columns, self.log_prior, self.bias, values)

    def column_contributions(self, j: int, cells: NDArray[Any]) -> Floats:
        """Return what the terms of a column add to the classes for some cells: (n, K).

        Cells are numbers, codes, or the rows of words of a column of text.
        """
        out = np.zeros((len(cells), self.classes.size))
        for term, i in self.by_column[j]:
            form: Any = term.form
            if term.family.kind is CATEGORY:
                form.add(cells.astype(np.int32)[:, np.newaxis], out)
            elif term.family.kind is TEXT:
                if i == 0:  # its terms have one form together
                    form.add(cells, out)
            elif hasattr(form, "column"):
                form.column(i).add(np.ascontiguousarray(cells)[:, np.newaxis], out)
            else:
                out += weighted(term.log_density_of(i, cells), term.weight[:, i])
        return out

    def _by_block(self, write: Any, rows: Rows, out: NDArray[Any], n_jobs: int | None) -> Any:
        """Write about rows, block by block in threads; infinity is an error that names the cell."""
        n_columns = rows.cells_per_row if rows.is_sparse else rows.shape[1]
        blocks = block_slices(len(rows), n_columns, most=_MAX_BLOCKS)
        if not all(map_blocks(lambda at: write(rows[at], out[at]), blocks, n_jobs)):
            raise_not_finite(rows, self.schema)
        return out

    def _calibrated(
        self,
        summary: Summary,
        how: Literal["temperature", "weights"],
        kinds: Collection[str] = (),
    ) -> Model:
        """Weigh the terms on a sample, at the shares that its classes have of all rows.

        Were that done at priors that are given, biases would undo them.
        """
        sample, centres = summary.sample, summary.schema.centres
        if sample is None:
            raise NaivelyError(
                "calibration needs a sample of rows, and the summary holds none. Measure with "
                f"Schema(..., sample={SAMPLE}), or use calibration=None."
            )
        if not (len(sample) and self.terms):
            return self
        sizes = [vocabulary.size for vocabulary in self.vocabularies]
        products = None if centres is None else (summary[Scatter], centres)
        has_prior = all(term.family.has_prior for term in self.terms)
        share = read_prior(summary, None) if has_prior else _equal(summary)
        log_share = _log(share) + self.bias
        both = read_interactions(self.terms, log_share, sample, sizes, kinds, products)
        fitted = both[1] if both else calibrate(self.terms, log_share, sample, how)
        ends = np.cumsum([term.n_weights for term in self.terms])
        weights = zip(self.terms, np.split(fitted.weight, ends, axis=1), strict=False)
        terms = tuple(
            replace(term, weight=np.broadcast_to(weight, term.weight.shape))
            for term, weight in weights
        )
        bias = self.bias + fitted.bias
        return replace(self, terms=terms, bias=bias, interactions=both and both[0])

    @property
    def is_weighted(self) -> bool:
        """Whether calibration has changed anything."""
        return bool(self.bias.any()) or any((term.weight != 1).any() for term in self.terms)


def read_prior(summary: Summary, priors: ArrayLike | Mapping[Any, float] | None) -> Floats:
    """Return the probability of each class: as given, or its share of all rows."""
    if priors is not None:
        return check_priors(priors, summary.classes)
    if not summary.weight > 0:
        raise NaivelyError(ALL_ZERO)
    return summary.class_weight / summary.weight


def _equal(summary: Summary) -> Floats:
    """Return equal probabilities of all classes that have rows."""
    return weighted_prior(read_prior(summary, None), "balanced", summary.classes)


def _log(p: Floats) -> Floats:
    if p.all():
        return np.log(p)
    return np.log(p, out=np.full(p.shape, -np.inf), where=p > 0)


def check_priors(priors: Any, classes: NDArray[Any]) -> Floats:
    """Return the priors, an array or a dict by label, as an array: >= 0, of sum 1."""
    if isinstance(priors, Mapping):
        priors = numbers_by_class("priors", priors, classes)
    priors = as_numbers("priors", priors)
    if priors.shape != classes.shape:
        raise NaivelyError(
            "Number of priors must match number of classes: priors must have one entry per "
            f"class ({classes.size}: {quoted(classes)}); got {priors.size}."
        )
    if not np.isclose(priors.sum(), 1.0):
        raise NaivelyError(f"The sum of the priors should be 1; got {priors.sum()}.")
    if (priors < 0).any():
        k = int(np.argmax(priors < 0))
        raise NaivelyError(
            f"Priors must be non-negative; got {priors[k]} for class {classes.item(k)!r}."
        )
    return priors


# --- What each term of a model adds to each class, for rows -------------------------------------

ZEROS = "all other columns (0)"  # the term of columns that no row of a sparse table holds
_BLOCK_ROWS = 1024  # that are looked at together: they stay in the cache
_MAX_NUMBERS = 1 << 30  # of contributions: 8 GiB


@dataclass(frozen=True, eq=False)
class Contributions:
    """What each term adds to each class."""

    names: tuple[str, ...]  # the terms: columns, then interactions
    # (n_terms,): the place of each term's column in the schema; -1 for terms of several columns
    columns: NDArray[np.intp]
    log_prior: Floats  # (n_classes,): what is added to every row
    bias: Floats  # (n_classes,)
    values: Floats  # (n_rows, n_classes, n_terms): what the terms add

    @property
    def joint(self) -> Floats:
        """The joint log-probability of each row and class: the sum of all."""
        total: Floats = self.values.sum(axis=2) + (self.log_prior + self.bias)
        return total


class _Source(NamedTuple):
    """A form of columns of numbers: where its columns are in a table, and which terms they are."""

    form: Any
    at: Sequence[int]
    terms: Sequence[int]


class _TermScorer:
    """Evaluates the terms of a model one by one, by the forms that its scorer adds up.

    The rows are all that are asked about: of sparse ones, they say which columns are held.
    """

    def __init__(self, model: Model, rows: Rows) -> None:
        self.model = model
        schema, joint = model.schema, model.interactions
        names = schema.names or [f"column {j}" for j in range(schema.n_columns)]
        held = _held(model, rows.numbers)
        self._held = held
        at = range(schema.n_columns) if held is None else held.tolist()
        singles = (*(str(names[j]) for j in at), *(() if held is None else (ZEROS,)))
        self.names = singles if joint is None else (*singles, *joint.names(schema, names))
        self.columns = np.full(len(self.names), -1, np.intp)
        self.columns[: len(at)] = at
        self._n_singles = len(singles)
        numbers = [term for term in model.terms if term.family.kind is NUMBER]
        self._sources = [_Source(term.form, term.at, term.columns) for term in numbers]
        if held is not None:
            self._sources = self._split(held)

    def room(self, n_rows: int) -> Floats:
        """Return memory for the contributions of rows, by row, term and class.

        In memory terms are first: each is written in one go.
        """
        n_terms, n_classes = len(self.names), self.model.classes.size
        if n_rows * n_terms * n_classes > _MAX_NUMBERS:
            raise NaivelyError(
                f"the contributions of {n_terms:,} terms to {n_classes:,} classes in {n_rows:,} "
                f"rows would need {8e-9 * n_rows * n_terms * n_classes:,.0f} GB. "
                "Explain fewer rows at a time."
            )
        return np.empty((n_terms, n_rows, n_classes)).transpose(1, 0, 2)

    def write(self, rows: Rows, out: Floats) -> bool:
        """Write the contributions of some rows to what `room` returned; False at infinity."""
        steps = range(0, len(out), _BLOCK_ROWS)
        parts = [slice(start, min(start + _BLOCK_ROWS, len(out))) for start in steps]
        return all(self._write(rows[at], out[at]) for at in parts)

    def _write(self, rows: Rows, out: Floats) -> bool:
        out[...] = 0.0
        x = self._array(rows)
        if np.isinf(x).any():
            return False
        for source in self._sources:
            each = source.form.each(columns_of(x, source.at), out.shape[2])
            for t, value in zip(source.terms, each, strict=True):
                out[:, t] += value
        self._add_others(rows, out)
        if self._held is not None:
            out[:, self._held.size] += self._of_zeros
        if (joint := self.model.interactions) is not None:
            numbers = rows.dense().numbers
            each = joint.form.each(numbers, rows.codes, len(out), out.shape[2])
            for t, value in enumerate(each, self._n_singles):
                out[:, t] += value
        return True

    def _add_others(self, rows: Rows, out: Floats) -> None:
        """Add the terms of categories and of texts."""
        codes = rows.code_columns
        for term in self.model.terms:
            form: Any = term.form
            if term.family.kind is CATEGORY:
                column = codes[term.at]
                if self.model.coded:
                    check_not_negative(column)
                    column = np.minimum(column, self.model.vocabularies[term.at].size)
                form.add(column[:, np.newaxis], out[:, term.columns[0]])
            elif isinstance(form, WordLines):
                assert rows.texts is not None
                form.add(rows.texts.columns[term.at], out[:, term.columns[0]])

    def _array(self, rows: Rows) -> Floats:
        """Return an array of the columns of numbers, or of those that sparse rows hold."""
        numbers = rows.numbers
        if self._held is None or not isinstance(numbers, SparseRows):
            return rows.array()
        places = np.full(numbers.n_columns, -1, np.intp)
        places[self._held] = np.arange(self._held.size)
        return numbers.moved(places, self._held.size).dense()

    def _split(self, held: NDArray[np.intp]) -> list[_Source]:
        """Split the forms into those of columns that are held, and the sums of the others."""
        self._of_zeros = np.zeros(self.model.classes.size)
        place = np.full(self.model.schema.n_columns, -1, np.intp)
        place[held] = np.arange(held.size)
        sources = []
        for term in self.model.terms:
            form: Any = term.form
            at = place[np.asarray(term.columns)]
            own = at[at >= 0].tolist()
            sources.append(_Source(form.some(at >= 0), own, own))
            zeros = np.zeros((1, int((at < 0).sum())))
            form.some(at < 0).add(zeros, self._of_zeros[np.newaxis])
        return sources


def _held(model: Model, numbers: Any) -> NDArray[np.intp] | None:
    """Return the columns that sparse rows hold; None where all columns have terms of their own."""
    if not isinstance(numbers, SparseRows):
        return None
    if not all(hasattr(term.form, "some") for term in model.terms):  # a form of the user's own
        return None
    places: NDArray[np.intp] = np.unique(numbers.places[numbers.cells]).astype(np.intp)
    return places
