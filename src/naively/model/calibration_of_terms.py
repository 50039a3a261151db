"""Calibration of a model's terms, on a sample of rows, each judged as if it had not been seen.

A class that never had a category is impossible to it; no weight can express that, so such a term
is replaced by the least one of any class, and log densities are floored at the maximum minus 1000.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from naively import _kernel
from naively.data.types import Floats
from naively.families.family import Family
from naively.families.forms import without_infinity
from naively.model import calibration
from naively.model.calibration import Calibration, CentredTerms
from naively.model.terms import Term
from naively.statistics import Sample

_CELLS = 10_000_000  # of the terms of a sample that are computed together
_IN_CACHE = 200_000  # of them, that are looked at more than once


def calibrate(
    terms: Sequence[Term],
    log_prior: Floats,
    sample: Sample,
    how: Literal["temperature", "weights"],
) -> Calibration:
    """Fit weights and biases of terms on a sample of rows that they were read off."""
    n_classes, n_terms = log_prior.size, sum(term.n_weights for term in terms)
    size = calibration.sample_rows(n_classes, n_terms, text=sample.texts is not None)
    sample = sample.least(size)
    rows, given = _TermsOfSample.of(terms, sample), (sample.codes, sample.weight, log_prior)
    if n_classes * n_terms <= calibration.MOST_WEIGHTS:
        if n_classes <= calibration.MOST_CLASSES:
            return calibration.fit_centred(rows.centred(log_prior), how)
        return calibration.fit(rows.terms(slice(None), n_classes), *given, how)
    sums = rows.sums(n_classes)[:, :, np.newaxis]
    common = calibration.fit(sums, *given, "temperature")
    return Calibration(np.repeat(common.weight, n_terms, axis=1), common.bias)


def terms_of_sample(terms: Sequence[Term], sample: Sample, n_classes: int) -> Floats:
    """Return all terms of a sample, of shape (n, K, T): each row judged as if it was not seen."""
    return _TermsOfSample.of(terms, sample).terms(slice(None), n_classes)


def floored(terms: Floats, floor: float = Family.floor) -> Floats:
    """Replace what is impossible or far below the maximum of classes, the second axis, in place."""
    for block in np.array_split(terms, max(1, terms.size // _IN_CACHE)):
        possible = without_infinity(block, axis=1)
        np.maximum(possible, possible.max(axis=1, keepdims=True) - floor, out=block)
    return terms


class _TermsOfSample(NamedTuple):
    """All terms of a sample: in each row's own class, as if it had not been seen."""

    parts: Sequence[Term]
    sample: Sample
    own: Floats  # (n, T): of the own classes

    @classmethod
    def of(cls, parts: Sequence[Term], sample: Sample) -> _TermsOfSample:
        own = np.concatenate([part.left_out(sample) for part in parts], axis=1)
        return cls(parts, sample, own)

    def centred(self, log_prior: Floats) -> CentredTerms:
        """Return the terms by class, centred; they are written one by one, in the cache."""
        sample, n_terms = self.sample, self.own.shape[1]
        found = CentredTerms.room(n_terms, sample.codes, sample.weight, log_prior)
        each = ((part, values) for part in self.parts for values in part.each_column(sample))
        for t, (part, values) in enumerate(each):
            floor = part.family.floor
            _kernel.centre_term(values, self.own[:, t], sample.codes, floor, t, found.terms)
        return found

    def terms(self, rows: slice, n_classes: int) -> Floats:
        """Return the terms of some rows, of shape (n, K, T)."""
        sample, own = self.sample[rows], self.own[rows]
        terms = np.empty((len(sample), n_classes, own.shape[1]))
        start = 0
        for part in self.parts:
            end = start + part.n_weights
            terms[:, :, start:end] = part.among_others(sample)
            start = end
        terms[np.arange(len(sample)), sample.codes] = own
        return floored(terms, max((part.family.floor for part in self.parts), default=Family.floor))

    def sums(self, n_classes: int) -> Floats:
        """Return the sums of each row's terms, centred over the classes: (n, K)."""
        n, n_terms = self.own.shape
        some = max(1, _CELLS // (n_classes * n_terms))
        sums = np.empty((n, n_classes))
        for start in range(0, n, some):
            rows = slice(start, start + some)
            sums[rows] = self.terms(rows, n_classes).sum(axis=2)
        return sums - sums.mean(axis=1, keepdims=True)
