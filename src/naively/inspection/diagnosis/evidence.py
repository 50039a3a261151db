"""What findings look at: a model, its summary, and what is read off them once for all findings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from naively.data.types import Floats
from naively.estimators.estimator import SummaryClassifier
from naively.evaluation.judgement import Judgement
from naively.inspection.diagnosis.dependence import Dependence
from naively.inspection.diagnosis.distributions import Fit, fits_of
from naively.inspection.diagnosis.finding import NotMeasuredError
from naively.model.calibration import Calibration, terms_of_sample
from naively.model.interactions import UnseenInteractions, sample_for_interactions
from naively.model.model import SAMPLE, Model
from naively.statistics import Sample
from naively.statistics.summary import Summary

_MIN_SAMPLE = 20  # rows
_MIN_ROWS = 200  # that are looked at, however many terms they have
_MAX_TERMS = 16_000_000  # rows times classes times terms that are looked at in all
_MAX_BLOCK = 2_000_000  # and of those that are looked at together


class Evidence:
    """A model and what it was read off; whatever is expensive is computed once, when needed."""

    def __init__(self, estimator: SummaryClassifier) -> None:
        self.estimator = estimator
        self.model: Model = estimator.model_
        self.summary: Summary = estimator.summary_
        self.classes: list[Any] = self.model.labels
        schema = self.summary.schema
        self.names = [*map(str, schema.names or (f"column {j}" for j in range(schema.n_columns)))]

    def column(self, j: int) -> str:
        """Name a column at the beginning of a sentence."""
        return self.summary.schema.name(j).replace("column", "Column", 1)

    @cached_property
    def sample(self) -> Sample:
        """Rows, or raise: not so many that looking at them takes long."""
        return some_rows(self.model, self._whole_sample)

    @property
    def _whole_sample(self) -> Sample:
        sample = self.summary.sample
        if sample is None:
            raise NotMeasuredError(
                f"{type(self.estimator).__name__} keeps no sample of rows without calibration. "
                f"Calibrate it, or read it off a summary of Schema(..., sample={SAMPLE})."
            )
        if len(sample) < _MIN_SAMPLE:
            raise NotMeasuredError(
                f"the sample holds {len(sample)} rows, and {_MIN_SAMPLE} are needed."
            )
        return sample

    @property
    def has_sample(self) -> bool:
        """Whether there are rows to look at."""
        sample = self.summary.sample
        return sample is not None and len(sample) >= _MIN_SAMPLE

    @cached_property
    def fits(self) -> tuple[Fit, ...]:
        """How well families fit, by column and class."""
        return fits_of(self.model, self.sample)

    @cached_property
    def dependence(self) -> Dependence:
        """How columns depend on each other within classes."""
        return Dependence.of(self.summary, self.sample)

    @property
    def is_calibrated(self) -> bool:
        """Whether the model is calibrated."""
        return self._params.get("calibration") is not None

    @cached_property
    def uncalibrated(self) -> Model:
        """The model without calibration."""
        return self._calibrated_by(None)

    @cached_property
    def before(self) -> Judgement:
        """What the model without calibration says of rows that it has not seen."""
        return left_out_rows(self.uncalibrated, self._whole_sample)

    @cached_property
    def after(self) -> Judgement:
        """What the model says with its calibration, or with a temperature where it has none."""
        sample = self._whole_sample
        if "calibration" not in self._params:
            raise NotMeasuredError(f"{type(self.estimator).__name__} has no calibration.")
        return left_out_rows(
            self._calibrated_by(self._params["calibration"] or "temperature"), sample
        )

    @property
    def judged(self) -> Judgement:
        """What the model as it is says of rows that it has not seen."""
        return self.after if self.is_calibrated else self.before

    @property
    def _params(self) -> dict[str, Any]:
        params: dict[str, Any] = self.estimator.get_params(deep=False)
        return params

    def _calibrated_by(self, calibration: str | None) -> Model:
        if self._params.get("calibration") == calibration:
            return self.model
        params = self._params | {"calibration": calibration}
        model: Model = type(self.estimator).from_summary(self.summary, **params).model_
        return model


# --- what a model says of its own sample, each row as if it had not been seen ---------------------


def some_rows(model: Model, sample: Sample) -> Sample:
    """Return so many rows of a sample that looking at all their terms takes little time."""
    if model.schema.counted is not None:
        return sample
    n_terms = sum(term.n_weights for term in model.terms)
    n_rows = _MAX_TERMS // max(1, model.classes.size * n_terms)
    return sample[: max(_MIN_ROWS, n_rows)]


def left_out_rows(model: Model, sample: Sample) -> Judgement:
    """Judge rows of a model's sample, each by what was seen of all others."""
    rows, n_classes = some_rows(model, sample), model.classes.size
    none = np.empty((n_classes, 0))
    weights = [none, *(term.weight[:, : term.n_weights] for term in model.terms)]
    fitted = Calibration(np.concatenate(weights, axis=1), model.bias)
    together = None
    if model.interactions is not None:
        every = sample_for_interactions(model.terms, sample, n_classes)
        rows = every[: len(rows)]
        together = UnseenInteractions(model.interactions, every, model.schema, n_classes)
    joint = np.empty((len(rows), n_classes))
    for at, terms in terms_in_blocks(model, rows):
        joint[at] = fitted.joint(terms, model.log_prior)
        if together is not None:
            joint[at] += together.joint(at)
    return Judgement.of_joint(rows.codes, joint, weight=rows.weight)


def terms_in_blocks(model: Model, sample: Sample) -> Iterator[tuple[slice, Floats]]:
    """Yield rows with their terms, of shape (n, K, T), of some rows at a time."""
    n_classes, n_terms = model.classes.size, sum(len(term.columns) for term in model.terms)
    step = max(1, _MAX_BLOCK // max(1, n_classes * n_terms))
    for start in range(0, len(sample), step):
        at = slice(start, min(start + step, len(sample)))
        rows = sample[at]
        if model.terms:
            yield at, terms_of_sample(model.terms, rows, n_classes)
        else:
            yield at, np.zeros((len(rows), n_classes, 0))
