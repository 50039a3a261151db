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
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel
from naively.calibration_of_terms import calibrate
from naively.class_weights import as_numbers, numbers_by_class
from naively.exceptions import NaivelyError
from naively.families.family import Family
from naively.forms import Quadratics, Tables
from naively.interactions import Interactions, read_interactions
from naively.labels import quoted
from naively.schema import Schema
from naively.scorer import FormScorer
from naively.sparse import SparseRows
from naively.sparse_scorer import SparseScorer
from naively.statistics import Scatter
from naively.summary import Summary
from naively.term import Term, read_terms
from naively.words import Words

__all__ = ["ALL_ZERO", "SAMPLE", "Model", "check_priors", "read_prior"]

Floats = NDArray[np.float64]

SAMPLE = 4000  # rows that calibration needs
ALL_ZERO = "at least one row must have a weight above zero; got none. Check the weights."


@dataclass(frozen=True, eq=False)
class Model:
    """Class probabilities and terms, ready to score rows.

    Attributes
    ----------
    schema : Schema
        The columns.
    classes : ndarray of shape (n_classes,)
        Labels.
    prior : ndarray of shape (n_classes,)
        Class probabilities.
    bias : ndarray of shape (n_classes,)
        What calibration adds to the classes.
    terms : tuple of Term
        What the columns add.
    vocabularies : tuple of ndarray
        The categories of each column of categories.
    words : tuple of Words
        The words of each column of text.
    coded : bool
        Whether categories are the codes 0, 1, 2, ... themselves.
    interactions : Interactions or None
        What several columns add together.
    """

    schema: Schema
    classes: NDArray[Any]
    prior: Floats
    bias: Floats
    terms: tuple[Term, ...]
    vocabularies: tuple[NDArray[Any], ...]
    coded: bool = False
    interactions: Interactions | None = None
    words: tuple[Words, ...] = ()
    labels: list[Any] = field(init=False, repr=False)  # the classes, to answer for single rows

    def __post_init__(self) -> None:
        is_date = self.classes.dtype.kind == "M"  # of which tolist would make integers
        object.__setattr__(self, "labels", list(self.classes) if is_date else self.classes.tolist())

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
            Which of `naively.interactions.KINDS` are added; only weights calibrate them.
        coded : bool, default=False
            Whether categories are the codes 0, 1, 2, ... themselves.
        """
        model = cls(
            schema=summary.schema,
            classes=summary.classes,
            prior=read_prior(summary, priors),
            bias=np.zeros(summary.classes.size),
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
        found: list[list[tuple[Term, int]]] = [[] for _ in range(self.schema.n_columns)]
        for term in self.terms:
            for i, j in enumerate(term.columns):
                found[j].append((term, i))
        return found

    @cached_property
    def tables(self) -> Tables | None:
        """The form of all columns of categories, in their order; None if there are none."""
        tables: dict[int, Floats] = {}
        for term in self.terms:
            if term.family.kind == "category":
                form: Any = term.form
                tables[term.at] = tables.get(term.at, 0.0) + form.values
        if not tables:
            return None
        for i, known in enumerate(self.vocabularies):  # a column without a term adds nothing
            tables.setdefault(i, np.zeros((known.size + 1, self.classes.size)))
        return Tables.of([tables[i] for i in sorted(tables)])

    @cached_property
    def kernel(self) -> Any:
        """What scores rows: the kernel's own model for Quadratics alone, else a `FormScorer`."""
        numbers = [(term.at, term.form) for term in self.terms if term.family.kind == "number"]
        texts = [(term.at, term.form) for term in self.terms if term.family.kind == "text"]
        alone = self.tables is None and self.interactions is None and not texts
        if alone and len(numbers) == 1:
            at, form = numbers[0]
            if (
                isinstance(form, Quadratics)
                and len(at) == len(self.schema.numbers)
                and form.is_plain
            ):
                return _kernel.GaussianModel(form.A, form.B, form.mu, self.constant, form.s)
        joint = None if self.interactions is None else self.interactions.form
        return FormScorer(
            self.constant, numbers, self.tables, texts, joint_forms=joint, coded=self.coded
        )

    @cached_property
    def sparse_kernel(self) -> SparseScorer:
        """What scores sparse rows of numbers."""
        numbers = [term for term in self.terms if term.family.kind == "number"]
        alone = self.interactions is None and all(
            len(term.at) == len(self.schema.numbers) for term in numbers
        )
        forms = [term.form for term in numbers] if alone else [None]
        return SparseScorer(self.constant, forms, self.kernel)

    def kernel_for(self, table: Any) -> Any:
        """Return what scores such rows."""
        is_sparse = isinstance(getattr(table, "numbers", table), SparseRows)
        return self.sparse_kernel if is_sparse else self.kernel

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
        log_share = _log(read_prior(summary, None))
        both = read_interactions(self.terms, log_share, sample, sizes, kinds, products)
        found = both[1] if both else calibrate(self.terms, log_share, sample, how)
        ends = np.cumsum([len(term.columns) for term in self.terms])
        weights = zip(self.terms, np.split(found.weight, ends, axis=1), strict=False)
        terms = tuple(replace(term, weight=weight) for term, weight in weights)
        return replace(self, terms=terms, bias=found.bias, interactions=both and both[0])

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
