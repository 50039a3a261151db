"""What findings look at: a model, its summary, and what is read off them once for all findings."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.estimators.estimator import SummaryClassifier
from naively.inspection.diagnosis.dependence import Dependence
from naively.inspection.diagnosis.finding import NotMeasuredError
from naively.inspection.diagnosis.fits import Fit, fits_of
from naively.inspection.diagnosis.left_out import LeftOutRows, left_out_rows, some_rows
from naively.model.model import SAMPLE, Model
from naively.statistics import MissingCells, Sample
from naively.statistics.summary import Summary

_FEWEST_ROWS = 20  # of a sample


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
        if len(sample) < _FEWEST_ROWS:
            raise NotMeasuredError(
                f"the sample holds {len(sample)} rows, and {_FEWEST_ROWS} are needed."
            )
        return sample

    @property
    def has_sample(self) -> bool:
        """Whether there are rows to look at."""
        sample = self.summary.sample
        return sample is not None and len(sample) >= _FEWEST_ROWS

    @property
    def is_counted(self) -> bool:
        """Whether all columns are counts of one family."""
        return self.summary.schema.counted is not None

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
        return self._calibration is not None

    @property
    def _calibration(self) -> Any:
        return self.estimator.get_params(deep=False).get("calibration")

    @cached_property
    def uncalibrated(self) -> Model:
        """The model without calibration."""
        return self._calibrated_by(None)

    @cached_property
    def before(self) -> LeftOutRows:
        """What the model without calibration says of rows that it has not seen."""
        return left_out_rows(self.uncalibrated, self._whole_sample)

    @cached_property
    def after(self) -> LeftOutRows:
        """What the model says with its calibration, or with a temperature where it has none."""
        sample = self._whole_sample
        if "calibration" not in self.estimator.get_params(deep=False):
            raise NotMeasuredError(f"{type(self.estimator).__name__} has no calibration.")
        model = self._calibrated_by(self._calibration or "temperature")
        return left_out_rows(model, sample)

    @property
    def judged(self) -> LeftOutRows:
        """What the model as it is says of rows that it has not seen."""
        return self.after if self.is_calibrated else self.before

    def present(self) -> NDArray[np.float64]:
        """Return the weight of the cells that are not missing, (K, d); NaN where it is unknown."""
        summary, schema = self.summary, self.summary.schema
        found = np.full((len(self.classes), schema.n_columns), np.nan)
        found[:, list(schema.undecided)] = 0.0
        if schema.counted is None:
            found[:, list(schema.numbers)] = summary.moments.weight
        elif schema.counted == "documents":
            gone = summary[MissingCells].values[:, : schema.n_columns]
            found = summary.class_weight[:, np.newaxis] - gone
        for place, j in enumerate(schema.categories):
            found[:, j] = summary.tally(place).sum(axis=1)
        return found

    def _calibrated_by(self, calibration: str | None) -> Model:
        if self._calibration == calibration:
            return self.model
        params = self.estimator.get_params(deep=False)
        other = type(self.estimator).from_summary(
            self.summary, **params | {"calibration": calibration}
        )
        model: Model = other.model_
        return model
