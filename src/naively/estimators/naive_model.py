r"""A naive Bayes model of any columns, read off a summary.

.. math:: \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k)

where t goes over the terms: a family for a column, or several families for one. Without
calibration the biases are 0 and the weights 1, and it is the naive Bayes of the textbooks. Where
the weights differ by class, terms are centred over the classes before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively import _kernel, calibration
from naively.calibration import Calibration
from naively.estimators.gaussian_model import logarithm, read_prior
from naively.exceptions import NaivelyError
from naively.families.edges import Edges
from naively.families.family import Family, SpreadError
from naively.families.forms import Form, Tables, without_infinity
from naively.families.histogram import Bins
from naively.rows import Rows
from naively.statistics import Moments, Sample
from naively.summary import Summary

__all__ = ["SAMPLE", "Block", "NaiveModel", "Reading", "Scorer", "blocks_of"]

Floats = NDArray[np.float64]

SAMPLE = 4000  # rows that calibration needs
_SURE = 1e3  # what is less likely by e to this counts as that: no weight can tell them apart
_CELLS = 10_000_000  # of the terms of a sample that are computed together
_IN_CACHE = 200_000  # of them, that are looked at more than once
_ROWS = 2048  # that are scored together: their sums stay in the cache


@dataclass(frozen=True)
class Reading:
    """How a model is read off a summary: priors, the families of each column, calibration."""

    priors: ArrayLike | None
    families: Sequence[Sequence[Family]]
    calibration: Literal["temperature", "weights"] | None


@dataclass(frozen=True)
class Block:
    """Columns of one family, and their parameters.

    Attributes
    ----------
    family : Family
        Its formula.
    columns : list of int
        Their places in the schema.
    at : list of int, or int
        Their places among the columns of numbers; of categories, its place among those.
    statistic, parameters
        What was measured, and what is read off it.
    """

    family: Family
    columns: list[int]
    at: Any
    statistic: Any
    parameters: Any

    def cells(self, numbers: Floats, codes: NDArray[np.int32]) -> Any:
        """Return the cells of the columns: of numbers a table, of categories a column."""
        return (numbers if self.family.kind == "number" else codes)[:, self.at]

    def terms(self, numbers: Floats, codes: NDArray[np.int32]) -> Floats:
        """Return log f of shape (n, K, number of columns)."""
        found = self.family.log_density(self.cells(numbers, codes), self.parameters)
        return found.reshape(*found.shape[:2], -1)

    def terms_left_out(self, sample: Sample) -> Floats:
        """Return the terms of a sample: in each row's own class, as if it had not been seen."""
        terms = self.terms(sample.numbers, sample.categories)
        terms[np.arange(len(sample)), sample.codes] = self.own_terms(sample)
        return without_infinity(terms, axis=1)

    def own_terms(self, sample: Sample) -> Floats:
        """Return the terms of rows in their own class as if they had not been seen: (n, d)."""
        own = self.family.left_out(
            self.cells(sample.numbers, sample.categories),
            sample.codes,
            np.minimum(sample.weight, 1.0),  # of equal rows, one
            self.statistic,
            self.parameters,
        )
        return own.reshape(len(sample), -1)


def blocks_of(summary: Summary, families: Sequence[Sequence[Family]]) -> list[Block]:
    """Read parameters: of numbers by family, of categories column by column."""
    schema, blocks = summary.schema, []
    number_at = {j: i for i, j in enumerate(schema.numbers)}
    category_at = {j: i for i, j in enumerate(schema.categories)}
    of_family: dict[Family, list[int]] = {}
    for j, given in enumerate(families):
        for family in given:
            of_family.setdefault(family, []).append(j)
    for family, columns in of_family.items():
        if family.kind == "number":
            at = [number_at[j] for j in columns]
            statistic = _of_numbers(summary, family, at)
            try:
                found = family.parameters(statistic)
            except SpreadError as error:
                name = schema.name(columns[error.at])
                raise NaivelyError(f"{name} {error.what}") from None
            blocks.append(Block(family, columns, at, statistic, found))
            continue
        for j in columns:
            place = category_at[j]
            tally = summary.tally(place)
            blocks.append(Block(family, [j], place, tally, family.parameters(tally)))
    return blocks


def _of_numbers(summary: Summary, family: Family, at: list[int]) -> Moments | Bins:
    if family.reads == "moments":
        return Moments(np.ascontiguousarray(summary.moments.values[:, :, at]))
    schema = summary.schema
    cuts, knots = np.array(schema.edges)[at], np.array(schema.knots)[at]
    return Bins(np.ascontiguousarray(summary.bins.values[:, at]), Edges(cuts, knots))


class NaiveModel:
    """Class probabilities and terms, ready to score rows."""

    coded = False  # categories are what they are, and not codes

    def __init__(self, summary: Summary, reading: Reading) -> None:
        self.classes: list[Any] = summary.classes.tolist()
        self.categories = summary.categories
        self.prior = read_prior(summary, reading.priors)
        self.log_prior = logarithm(self.prior)
        self.blocks = blocks_of(summary, reading.families)
        self.calibration = self._calibrated(summary, reading)
        constant = self.log_prior + self.calibration.bias
        self.kernel = Scorer(constant, *_forms(self.blocks, self.calibration.weight))

    def _calibrated(self, summary: Summary, reading: Reading) -> Calibration:
        n_terms = sum(len(block.columns) for block in self.blocks)
        sample = summary.sample
        if reading.calibration is not None and sample is None:
            raise NaivelyError(
                "calibration needs a sample of rows, and the summary holds none. Measure with "
                f"Schema(..., sample={SAMPLE}), or use calibration=None."
            )
        n_classes = len(self.classes)
        if reading.calibration is None or sample is None or not (len(sample) and n_terms):
            return Calibration(np.ones((n_classes, n_terms)), np.zeros(n_classes))
        sample = sample.least(calibration.sample_rows(n_classes, n_terms))
        given = sample.codes, sample.weight, self.log_prior
        if n_classes * n_terms <= calibration.MOST_WEIGHTS:
            terms = _LeftOut.of(self.blocks, sample).terms(slice(None), n_classes)
            return calibration.fit(terms, *given, reading.calibration)
        summed = _LeftOut.of(self.blocks, sample).sums(n_classes)
        common = calibration.fit(summed[:, :, np.newaxis], *given, "temperature")
        return Calibration(np.repeat(common.weight, n_terms, axis=1), common.bias)


class _LeftOut(NamedTuple):
    """Terms of a sample: in each row's own class, as if it had not been seen."""

    blocks: list[Block]
    sample: Sample
    own: Floats  # (n, T): of the own classes

    @classmethod
    def of(cls, blocks: list[Block], sample: Sample) -> _LeftOut:
        own = np.concatenate([block.own_terms(sample) for block in blocks], axis=1)
        return cls(blocks, sample, own)

    def terms(self, rows: slice, n_classes: int) -> Floats:
        """Return the terms of some rows, of shape (n, K, T)."""
        sample, own = self.sample[rows], self.own[rows]
        terms = np.empty((len(sample), n_classes, own.shape[1]))
        start = 0
        for block in self.blocks:
            end = start + len(block.columns)
            terms[:, :, start:end] = block.terms(sample.numbers, sample.categories)
            start = end
        terms[np.arange(len(sample)), sample.codes] = own
        for part in np.array_split(terms, max(1, terms.size // _IN_CACHE)):
            possible = without_infinity(
                part, axis=1
            )  # no weight can tell how impossible a class is
            np.maximum(possible, possible.max(axis=1, keepdims=True) - _SURE, out=part)
        return terms

    def sums(self, n_classes: int) -> Floats:
        """Return the sums of each row's terms, centred over the classes: (n, K)."""
        n, n_terms = self.own.shape
        some = max(1, _CELLS // (n_classes * n_terms))
        sums = np.empty((n, n_classes))
        for start in range(0, n, some):
            rows = slice(start, start + some)
            sums[rows] = self.terms(rows, n_classes).sum(axis=2)
        return sums - sums.mean(axis=1, keepdims=True)


def _forms(blocks: list[Block], weight: Floats) -> tuple[list[tuple[Any, Form]], Tables | None]:
    """Return the forms of columns of numbers, and one for all columns of categories."""
    numbers: list[tuple[Any, Form]] = []
    tables: dict[int, Floats] = {}
    start = 0
    for block in blocks:
        end = start + len(block.columns)
        form = block.family.form(block.parameters, weight[:, start:end])
        start = end
        if isinstance(form, Tables):
            tables[block.at] = tables.get(block.at, 0.0) + form.values
        else:
            numbers.append((block.at, form))
    every = [tables[j] for j in sorted(tables)]
    return numbers, Tables.of(every) if every else None


class Scorer:
    """Adds up terms, and says what was asked for: it has the methods of the kernel's models."""

    def __init__(
        self,
        constant: Floats,
        numbers: list[tuple[Any, Form]],
        categories: Tables | None,
        check: Callable[[Any], None] | None = None,
    ) -> None:
        self.constant, self.numbers, self.categories = constant, numbers, categories
        self._exceptions = None if categories is None else categories.exceptions()
        self._check = check  # of codes, while they are in the cache

    def joint(self, table: Rows, out: NDArray[Any]) -> bool:
        """Write log p(k) + b_k + the sum of weighted terms of each row and class."""
        return self._finished("joint", table, out)

    def log_proba(self, table: Rows, out: NDArray[Any]) -> bool:
        """Write log p(k | x)."""
        return self._finished("log_proba", table, out)

    def proba(self, table: Rows, out: NDArray[Any]) -> bool:
        """Write p(k | x)."""
        return self._finished("proba", table, out)

    def evidence(self, table: Rows, out: NDArray[Any]) -> bool:
        """Write log p(x), one number for each row."""
        return self._finished("evidence", table, out)

    def labels(self, table: Rows, out: NDArray[np.int64]) -> bool:
        """Write the index of the most probable class; of equals, the first."""
        return self._finished("labels", table, out)

    def label_one(self, row: Floats) -> int:
        """Return the index of the most probable class of a row of numbers; -1 at infinity."""
        out = np.empty(1, np.int64)
        return int(out[0]) if self._finished("labels", row[np.newaxis], out) else -1

    def _finished(self, want: str, table: Any, out: NDArray[Any]) -> bool:
        if not isinstance(table, Rows):
            table = _of_numbers_alone(table)
        for start in range(0, table.shape[0], _ROWS):
            rows = slice(start, min(start + _ROWS, table.shape[0]))
            joint = np.tile(self.constant, (rows.stop - rows.start, 1))
            if not self._add(table, rows, joint):
                return False
            if want == "joint":
                out[rows] = joint
            else:
                if self._exceptions is not None and want != "evidence":
                    self._rank_impossible(table, rows, joint)
                _kernel.finish(joint, want, out[rows])
        return True

    def _rank_impossible(self, table: Rows, rows: slice, joint: Floats) -> None:
        """Where every class is impossible, keep those that have the fewest impossible cells."""
        lost = ~(joint > -np.inf).any(axis=1)
        if not lost.any():
            return
        assert self._exceptions is not None
        rest, count = np.tile(self.constant, (lost.size, 1)), np.zeros_like(joint)
        self._add_numbers(table, rows, rest)
        for form, total in zip(self._exceptions, (rest, count), strict=True):
            form.add(_rows_of(table.codes, rows), total)
        count[rest == -np.inf] = np.inf  # a class without a probability of its own
        fewest = count == count.min(axis=1, keepdims=True)
        joint[lost] = np.where(fewest, rest, -np.inf)[lost]

    def _add_numbers(self, table: Rows, rows: slice, joint: Floats) -> bool:
        numbers = _rows_of(table.numbers, rows)
        return all(form.add(_picked(numbers, at), joint) for at, form in self.numbers)

    def _add(self, table: Rows, rows: slice, joint: Floats) -> bool:
        if not self._add_numbers(table, rows, joint):
            return False
        if self.categories is None:
            return True
        codes = _rows_of(table.codes, rows)
        if self._check is not None:
            self._check(codes)
        return self.categories.add(codes, joint)


def _of_numbers_alone(X: Any) -> Rows:
    shape = (X[0].shape[0], len(X)) if isinstance(X, list) else X.shape
    return Rows(shape, X, np.empty((shape[0], 0), np.int32), ())


def _rows_of(X: Any, rows: slice) -> Any:
    return [column[rows] for column in X] if isinstance(X, list) else X[rows]


def _picked(X: Any, at: list[int]) -> Any:
    if isinstance(X, list):
        return X if len(at) == len(X) else [X[j] for j in at]
    return X if len(at) == X.shape[1] else X[:, at]
