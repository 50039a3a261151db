# ruff: noqa: N802 - the names are Spark's
"""The estimator: a frame is summarized once, and models are read off the summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from pyspark import keyword_only
from pyspark.ml.classification import ProbabilisticClassifier
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

from naively.data.schema import Schema
from naively.engines import spark
from naively.engines.memory.columns import find
from naively.engines.spark.columns import FrameColumns
from naively.errors import NaivelyError
from naively.estimators.choice import check_columns, interactions_from_text
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.interface import kinds_of, sample_size, settled
from naively.estimators.naive_bayes import NaiveBayes as MixedNaiveBayes
from naively.spark.model import NaiveBayesModel
from naively.spark.params import NAMES, READING, NaiveBayesParams
from naively.statistics.summary import Summary

_FIRST = 10_000  # rows that the edges of histograms are chosen from
_UNSEEN = 100  # labels that may be missing below the largest


class NaiveBayes(
    ProbabilisticClassifier,
    NaiveBayesParams,
    DefaultParamsWritable,
    DefaultParamsReadable,
):
    """Naive Bayes as a stage of `pyspark.ml`, instead of Spark's own.

    Parameters
    ----------
    featuresCol, labelCol, predictionCol, probabilityCol, rawPredictionCol, weightCol : str
        Columns, as everywhere in `pyspark.ml`. Labels are 0, 1, ... as numbers, or text: then
        predictions are text.
    inputCols : list of str, optional
        Plain columns instead of the vector in ``featuresCol``, which saves assembling it. Null
        is a missing cell.
    thresholds : list of float, optional
        The class of largest p(k) / t(k) is predicted.
    priors : list of float, optional
        Class probabilities; by default the classes' shares of the data.
    classWeight : "balanced", optional
        Makes all classes equally probable.
    varSmoothing : float, default=1e-9
        This part of the largest variance of all columns is added to every variance.
    varSmoothingBy : {"global", "column"}, default="global"
        Smooth by the largest variance of all columns, as Spark does, or each by its own.
    variance : {"class", "shared"}, default="class"
        One variance per class and column, or one per column.
    ddof : int, default=0
        Squared deviations are divided by ``n - ddof``.
    modelType : {"gaussian", "mixed"}, default="gaussian"
        `naively.GaussianNB`, or `naively.NaiveBayes` for columns of any kind: text and booleans
        are categories then.
    calibration : {"weights", "temperature", "none"}, optional
        How terms are weighted; by default as the estimator's own default.
    interactions : str, optional
        Of a mixed model, what columns say together: "auto", "none", or some of "canonical",
        "quadratic" and "pairs", with commas between.
    families : dict, optional
        Of a mixed model: the families of some columns, by name: ``{"visits": "poisson"}``.
    smoothing : float, default=1.0
        Accepted, and of no use to these models; to a gaussian one of Spark's neither.

    Notes
    -----
    `fit` with a list of parameter maps, as a `CrossValidator` calls it, reads the data once,
    however many priors and smoothings are tried. ``rawPrediction`` is log p(x, k), which Spark
    gives without the constant of the densities. Weights of a mixed model's terms are fitted on a
    sample of up to 4,000 rows, which is part of the summary.
    """

    _input_kwargs: dict[str, Any]

    @keyword_only
    def __init__(
        self,
        *,
        featuresCol: str = "features",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
        rawPredictionCol: str = "rawPrediction",
        smoothing: float = 1.0,
        modelType: str = "gaussian",
        thresholds: list[float] | None = None,
        weightCol: str | None = None,
        inputCols: list[str] | None = None,
        priors: list[float] | None = None,
        classWeight: str | None = None,
        calibration: str | None = None,
        interactions: str | None = None,
        families: dict[str, Any] | None = None,
        varSmoothing: float = 1e-9,
        varSmoothingBy: str = "global",
        variance: str = "class",
        ddof: int = 0,
    ) -> None:
        super().__init__()
        self._set(**self._input_kwargs)

    @keyword_only
    def setParams(self, **params: Any) -> Self:
        """Set parameters by name."""
        return self._set(**params)

    def setWeightCol(self, value: str) -> Self:
        """Set the column of weights."""
        return self._set(weightCol=value)

    def setModelType(self, value: str) -> Self:
        """Set the kind of model: "gaussian" or "mixed"."""
        return self._set(modelType=value)

    def setSmoothing(self, value: float) -> Self:
        """Set what these models have no use for."""
        return self._set(smoothing=value)

    def setPriors(self, value: list[float]) -> Self:
        """Set the class probabilities."""
        return self._set(priors=value)

    def setClassWeight(self, value: str) -> Self:
        """Set "balanced" for equally probable classes."""
        return self._set(classWeight=value)

    def setCalibration(self, value: str) -> Self:
        """Set how terms are weighted: "weights", "temperature" or "none"."""
        return self._set(calibration=value)

    def setInteractions(self, value: str) -> Self:
        """Set what columns say together: "auto", "none", or kinds with commas between."""
        return self._set(interactions=value)

    def setFamilies(self, value: dict[str, Any]) -> Self:
        """Set the families of some columns, by name."""
        return self._set(families=value)

    def setVarSmoothing(self, value: float) -> Self:
        """Set the part of the largest variance that is added to every variance."""
        return self._set(varSmoothing=value)

    def setVarSmoothingBy(self, value: str) -> Self:
        """Set whose variance smooths: "global" or "column"."""
        return self._set(varSmoothingBy=value)

    def setVariance(self, value: str) -> Self:
        """Set "class" or "shared"."""
        return self._set(variance=value)

    def setDdof(self, value: int) -> Self:
        """Set what is taken off n."""
        return self._set(ddof=value)

    def fitMultiple(
        self, dataset: DataFrame, paramMaps: Sequence[Any]
    ) -> Iterator[tuple[int, NaiveBayesModel]]:
        """Fit a model for each map of parameters, from one summary where that is possible."""
        names = {param.name for map_ in paramMaps for param in map_}
        if not names <= READING:
            return super().fitMultiple(dataset, paramMaps)
        every = {self.interactions: "auto"} if "interactions" in names else {}
        summary = self.copy(every)._summary(dataset)  # of what any of them reads
        models = [self.copy(map_)._read(summary) for map_ in paramMaps]
        return iter(list(enumerate(models)))

    def _fit(self, dataset: DataFrame) -> NaiveBayesModel:
        return self._read(self._summary(dataset))

    def _summary(self, dataset: DataFrame) -> Summary:
        """Read the data once."""
        weight = self.getWeightCol() if self.isDefined(self.weightCol) else None
        label = find(self.getLabelCol(), dataset.columns)
        look = partial(spark.summarize, target=label, columns=self._columns(), weight=weight)
        return _indexed(look(dataset, schema=self._schema(dataset, look)), label)

    def _schema(self, dataset: DataFrame, look: Callable[..., Summary]) -> Schema:
        """Return what is measured; the first rows decide on some of it for a mixed model."""
        estimator, schema = self._estimator(), FrameColumns.of(dataset, self._columns()).schema
        if isinstance(estimator, GaussianNB):  # to whom booleans are numbers
            return replace(schema, kinds=None, sample=sample_size(estimator))
        given, columns = kinds_of(estimator), schema.names or range(schema.n_columns)
        check_columns(given, schema)
        kinds = zip(columns, schema.held, strict=True)
        schema = replace(schema, kinds=tuple(given.get(name, kind) for name, kind in kinds))
        rows = dataset.limit(_FIRST)
        return settled(
            estimator, schema, lambda size: look(rows, schema=replace(schema, sample=size)).sample
        )

    def _read(self, summary: Summary) -> NaiveBayesModel:
        estimator = self._estimator()
        model = NaiveBayesModel(estimator.from_summary(summary, **estimator.get_params(deep=False)))
        return self._copyValues(model._resetUid(self.uid))

    def _estimator(self) -> GaussianNB | MixedNaiveBayes:
        """Return naively's own estimator, with the parameters of this one."""
        names = NAMES.get(self.getModelType())
        if names is None:
            raise NaivelyError(
                f"modelType must be 'gaussian' or 'mixed'; got {self.getModelType()!r}. "
                "Spark's own NaiveBayes has other models, for counts."
            )
        given = {
            ours: getattr(self, f"get{name[0].upper()}{name[1:]}")() for name, ours in names.items()
        }
        params = {name: value for name, value in given.items() if value is not None}
        if params.get("calibration") == "none":
            params["calibration"] = None
        if "interactions" in params:
            params["interactions"] = interactions_from_text(params["interactions"])
        return (GaussianNB if self.getModelType() == "gaussian" else MixedNaiveBayes)(**params)


def _indexed(summary: Summary, label: str) -> Summary:
    """Make labels what Spark's are: doubles, each the place of its class in a vector.

    There is room for those below the largest that were not seen.
    """
    classes = summary.classes
    if classes.dtype.kind not in "fiub" or not classes.size:
        return summary
    if classes[0] < 0 or classes[-1] >= 2 * classes.size + _UNSEEN:
        worst = classes[0] if classes[0] < 0 else classes[-1]
        raise NaivelyError(
            f"the labels in {label!r} must be 0, 1, ... without large gaps, as StringIndexer "
            f"makes them; got {worst:g}."
        )
    doubles = summary.relabelled(classes.astype(np.float64))
    return Summary.zero(summary.schema, np.arange(float(classes[-1]) + 1)) + doubles
