"""What a model says of its own sample of rows, each as if it had not been seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.model.calibration import Calibration, terms_of_sample
from naively.model.interactions import UnseenInteractions, sample_for_interactions
from naively.model.model import Model
from naively.statistics import Sample

_CELLS = 16_000_000  # rows times classes times terms that are looked at in all
_BLOCK = 2_000_000  # and of those that are looked at together
_FEWEST_ROWS = 200
_BINS = 10  # of the confidence


class LeftOutRows(NamedTuple):
    """Log-probabilities of rows that were left out, (n, K), with their classes and weights."""

    log_p: Floats
    codes: NDArray[np.int32]
    weight: Floats

    def first(self, n: int) -> LeftOutRows:
        """Return some rows, the first ones."""
        return LeftOutRows(self.log_p[:n], self.codes[:n], self.weight[:n])

    @property
    def predicted(self) -> NDArray[np.intp]:
        """The place of the most probable class."""
        return self.log_p.argmax(axis=1)

    @property
    def accuracy(self) -> float:
        """The share of rows whose class is the most probable one."""
        return float(self.weight @ (self.predicted == self.codes) / self.weight.sum())

    @property
    def log_loss(self) -> float:
        """The mean of -log p of the true class."""
        of_truth = self.log_p[np.arange(self.codes.size), self.codes]
        return float(-(self.weight @ of_truth) / self.weight.sum())

    @property
    def calibration_error(self) -> float:
        """The expected calibration error, in ten bins of the confidence."""
        confidence = np.exp(self.log_p.max(axis=1))
        at = np.clip(np.ceil(_BINS * confidence).astype(int) - 1, 0, _BINS - 1)
        gap = self.weight * ((self.predicted == self.codes) - confidence)
        return float(np.abs(np.bincount(at, gap, _BINS)).sum() / self.weight.sum())


def some_rows(model: Model, sample: Sample) -> Sample:
    """Return so many rows of a sample that looking at all their terms takes little time."""
    if model.schema.counted is not None:
        return sample
    n_terms = sum(term.n_weights for term in model.terms)
    most = _CELLS // max(1, model.classes.size * n_terms)
    return sample[: max(_FEWEST_ROWS, most)]


def left_out_rows(model: Model, sample: Sample) -> LeftOutRows:
    """Return log-probabilities of rows of a model's sample, each by what was seen of all others."""
    rows = some_rows(model, sample)
    none = np.empty((model.classes.size, 0))
    weights = [none, *(term.weight[:, : term.n_weights] for term in model.terms)]
    fitted = Calibration(np.concatenate(weights, axis=1), model.bias)
    together = None
    if model.interactions is not None:
        every = sample_for_interactions(model.terms, sample, model.classes.size)
        rows = every[: len(rows)]
        size = model.schema, model.classes.size
        together = UnseenInteractions(model.interactions, every, *size)
    joint = np.empty((len(rows), model.classes.size))
    for at, terms in terms_in_blocks(model, rows):
        joint[at] = fitted.joint(terms, model.log_prior)
        if together is not None:
            joint[at] += together.joint(at)
    behind = joint - joint.max(axis=1, keepdims=True)
    log_p = behind - np.log(np.exp(behind).sum(axis=1, keepdims=True))
    return LeftOutRows(log_p, rows.codes, rows.weight)


def terms_in_blocks(model: Model, sample: Sample) -> Iterator[tuple[slice, Floats]]:
    """Yield rows with their terms, of shape (n, K, T), of some rows at a time."""
    n_classes, n_terms = model.classes.size, sum(len(term.columns) for term in model.terms)
    step = max(1, _BLOCK // max(1, n_classes * n_terms))
    for start in range(0, len(sample), step):
        at = slice(start, min(start + step, len(sample)))
        rows = sample[at]
        if model.terms:
            yield at, terms_of_sample(model.terms, rows, n_classes)
        else:
            yield at, np.zeros((len(rows), n_classes, 0))
