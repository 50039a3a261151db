"""Which family would fit a column better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from naively import _kernel
from naively.data.functions import function_values
from naively.data.kinds import NUMBER
from naively.families import FAMILIES
from naively.families.family import Family
from naively.inspection.diagnosis.fits import Fit, columns_of, fits_of_term
from naively.model.terms import Term
from naively.statistics import Bins, FunctionMoments, Moments, Sample

_MUCH = 0.6  # of the distance: below that, another family is better


def better_family(fit: Fit, at: int, moments: Moments, sample: Sample) -> Family:
    """Return the family that fits a column of numbers best, given its place among them.

    Families that read moments of cells, or of functions of them, are tried with the parameters of
    their defaults, its own first; where none is much better, it is one that takes any shape.
    """
    x = columns_of(sample.numbers, [at])
    some = Moments(np.ascontiguousarray(moments.values[:, :, at : at + 1]))
    ones = np.ones((some.weight.shape[0], 1))
    best, least = None, _MUCH * fit.distance
    candidates = _candidates(x[~np.isnan(x)])
    for family in sorted(candidates, key=lambda family: family.name != fit.family):
        read = _moments_of_functions(family, x, sample, some) if family.functions else some
        term = Term(family, [0], [at], read, family.parameters(read), ones)
        found = [one.distance for _, one in fits_of_term(term, sample, [""], range(len(ones)))]
        if found and max(found) < least:
            best, least = family, max(found)
            if family.name == fit.family:
                break
    return best or next(kind() for kind in FAMILIES.values() if kind.reads is Bins)


def _candidates(cells: Any) -> Iterator[Family]:
    """Yield the families of moments whose support holds all cells."""
    for kind in FAMILIES.values():
        low, high = kind.support
        if (
            kind.kind is not NUMBER
            or kind.reads not in (Moments, FunctionMoments)
            or not cells.size
        ):
            continue
        within = low <= cells.min() and cells.max() <= high
        if within and not (kind.discrete and (cells != np.floor(cells)).any()):
            yield kind()


def _moments_of_functions(family: Family, x: Any, sample: Sample, cells: Moments) -> Moments:
    """Return the moments of functions of the sampled cells: by class, function and column."""
    values = [function_values(name, x[:, 0], period) for name, period in family.functions]
    n_classes = cells.weight.shape[0]
    found = np.zeros((4, n_classes, len(values)))
    _kernel.summarize(values, sample.codes, sample.weight, np.zeros(n_classes), found)
    return Moments(found[..., np.newaxis])
