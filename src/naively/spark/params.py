# ruff: noqa: N802, N815 - the names are Spark's
"""The parameters that `NaiveBayes` and `NaiveBayesModel` share, as `pyspark.ml` has them."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasWeightCol

# What our estimators call the parameters of each type of model.
NAMES = {
    "gaussian": {
        "priors": "priors",
        "classWeight": "class_weight",
        "calibration": "calibration",
        "varSmoothing": "var_smoothing",
        "varSmoothingBy": "smoothing",
        "variance": "variance",
        "ddof": "ddof",
    },
    "mixed": {
        "priors": "priors",
        "classWeight": "class_weight",
        "calibration": "calibration",
        "interactions": "interactions",
        "families": "families",
    },
}
# Those that say how a summary is read: another value of them needs no other pass.
READING = {
    "interactions",
    "classWeight",
    "priors",
    "varSmoothing",
    "varSmoothingBy",
    "variance",
    "ddof",
    "thresholds",
}

_param = partial(Param, Params._dummy())  # of any stage


class NaiveBayesParams(HasInputCols, HasWeightCol):
    """How rows are read, and how a model is read off what was seen."""

    modelType: Param[str] = _param(
        "modelType",
        'The model: "gaussian", or "mixed" for columns of any kind.',
        TypeConverters.toString,
    )
    smoothing: Param[float] = _param(
        "smoothing",
        "For Spark's models of counts; none of these has a use for it.",
        TypeConverters.toFloat,
    )
    priors: Param[list[float]] = _param(
        "priors",
        "Class probabilities, in the order of the labels; by default their shares of the data.",
        TypeConverters.toListFloat,
    )
    classWeight: Param[str] = _param(
        "classWeight", '"balanced" for equally probable classes.', TypeConverters.toString
    )
    calibration: Param[str] = _param(
        "calibration",
        'How terms are weighted: "weights", "temperature" or "none".',
        TypeConverters.toString,
    )
    interactions: Param[str] = _param(
        "interactions",
        'Of a mixed model: "auto", "none", or some of "canonical,quadratic,pairs".',
        TypeConverters.toString,
    )
    families: Param[dict[str, Any]] = _param(
        "families", "Of a mixed model: the families of some columns, by name."
    )
    varSmoothing: Param[float] = _param(
        "varSmoothing",
        "This part of the largest variance of all columns is added to every variance.",
        TypeConverters.toFloat,
    )
    varSmoothingBy: Param[str] = _param(
        "varSmoothingBy",
        'Smooth by the largest variance of all columns ("global"), or each by its own ("column").',
        TypeConverters.toString,
    )
    variance: Param[str] = _param(
        "variance",
        'One variance per class and column ("class"), or one per column ("shared").',
        TypeConverters.toString,
    )
    ddof: Param[int] = _param(
        "ddof", "Squared deviations are divided by n - ddof.", TypeConverters.toInt
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._setDefault(
            modelType="gaussian",
            smoothing=1.0,
            varSmoothing=1e-9,
            varSmoothingBy="global",
            variance="class",
            ddof=0,
        )

    def getModelType(self) -> str:
        """Return the kind of model."""
        return self.getOrDefault(self.modelType)

    def getSmoothing(self) -> float:
        """Return what these models have no use for."""
        return self.getOrDefault(self.smoothing)

    def getPriors(self) -> list[float] | None:
        """Return the class probabilities, or None for their shares of the data."""
        return self._given(self.priors)

    def getClassWeight(self) -> str | None:
        """Return "balanced", or None where classes have the weight of their rows."""
        return self._given(self.classWeight)

    def getCalibration(self) -> str | None:
        """Return how terms are weighted, or None for what is usual."""
        return self._given(self.calibration)

    def getInteractions(self) -> str | None:
        """Return what columns say together, or None for what is usual."""
        return self._given(self.interactions)

    def getFamilies(self) -> dict[str, Any] | None:
        """Return the families of some columns, or None where their types decide."""
        return self._given(self.families)

    def getVarSmoothing(self) -> float:
        """Return the part of the largest variance that is added to every variance."""
        return self.getOrDefault(self.varSmoothing)

    def getVarSmoothingBy(self) -> str:
        """Return whose variance smooths: "global" or "column"."""
        return self.getOrDefault(self.varSmoothingBy)

    def getVariance(self) -> str:
        """Return "class" or "shared"."""
        return self.getOrDefault(self.variance)

    def getDdof(self) -> int:
        """Return what is taken off n."""
        return self.getOrDefault(self.ddof)

    def setInputCols(self, value: list[str]) -> Self:
        """Read plain columns instead of a vector."""
        return self._set(inputCols=value)

    def _given(self, param: Any) -> Any:
        """Return a value that has no default, or None."""
        return self.getOrDefault(param) if self.isDefined(param) else None

    def _columns(self) -> list[str] | str:
        """Return the columns to read."""
        return self.getInputCols() if self.isDefined(self.inputCols) else self.getFeaturesCol()
