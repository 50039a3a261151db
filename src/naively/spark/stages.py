# ruff: noqa: N802, N815 - the names are Spark's
"""An estimator and its model for `pyspark.ml`, and the parameters that they share.

A frame is summarized once, and models are read off the summary. A model adds columns to a frame,
and is saved as naively's own file beside metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from pyspark import keyword_only
from pyspark.ml.classification import ProbabilisticClassificationModel, ProbabilisticClassifier
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import DenseMatrix, DenseVector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from naively.data.schema import Schema
from naively.engines import spark
from naively.engines.memory.columns import find
from naively.engines.spark.frames import FrameColumns, quoted
from naively.errors import NaivelyError, need
from naively.estimators.choice import check_columns, interactions_from_text
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.loading import load
from naively.estimators.naive_bayes import NaiveBayes as MixedNaiveBayes
from naively.statistics.summary import Summary

pa: Any = need("pyarrow", "a stage of Spark", extra="spark")

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


# --- The estimator --------------------------------------------------------------------------------


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
            return replace(schema, kinds=None, sample=estimator.sample_size())
        given, columns = estimator.fixed_kinds(), schema.names or range(schema.n_columns)
        check_columns(given, schema)
        kinds = zip(columns, schema.held, strict=True)
        schema = replace(schema, kinds=tuple(given.get(name, kind) for name, kind in kinds))
        rows = dataset.limit(_FIRST)
        return estimator.settled(
            schema, lambda size: look(rows, schema=replace(schema, sample=size)).sample
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


# --- The model ------------------------------------------------------------------------------------


_FILE = "model.safetensors"


class NaiveBayesModel(ProbabilisticClassificationModel, NaiveBayesParams, MLWritable, MLReadable):
    """A model of naively's as a stage of `pyspark.ml`.

    Parameters
    ----------
    estimator : GaussianNB or NaiveBayes
        An estimator of naively that is fitted.

    Attributes
    ----------
    estimator : GaussianNB or NaiveBayes
        The same; its ``summary_`` holds what was seen, and adds.
    """

    def __init__(self, estimator: SummaryClassifier) -> None:
        super().__init__()
        self.estimator: Any = estimator

    @property
    def numClasses(self) -> int:
        """The number of classes."""
        return int(self.estimator.classes_.size)

    @property
    def numFeatures(self) -> int:
        """The number of columns, each number of a vector being one."""
        return self.estimator.n_features_in_

    @property
    def pi(self) -> DenseVector:
        """The logarithms of the class probabilities."""
        return DenseVector(self.estimator.model_.log_prior)

    @property
    def theta(self) -> DenseMatrix:
        """The means, by class and column, of a gaussian model."""
        return _matrix(self.estimator.theta_)

    @property
    def sigma(self) -> DenseMatrix:
        """The variances, smoothing included, by class and column, of a gaussian model."""
        return _matrix(self.estimator.var_)

    def predict(self, value: Any) -> Any:
        """Return the label of one vector."""
        shares = self.predictProbability(value).toArray()
        return self.estimator.classes_.item(int(np.argmax(self._ratios(shares))))

    def predictRaw(self, value: Any) -> DenseVector:
        """Return log p(x, k) of one vector."""
        return DenseVector(self.estimator.predict_joint_log_proba(self._table(value))[0])

    def predictProbability(self, value: Any) -> DenseVector:
        """Return p(k | x) of one vector."""
        return DenseVector(self.estimator.predict_proba(self._table(value))[0])

    def write(self) -> MLWriter:
        """Return what saves the model."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[NaiveBayesModel]:
        """Return what loads a model."""
        return _Reader()

    def _transform(self, dataset: DataFrame) -> DataFrame:
        raw, shares = self.getRawPredictionCol() or None, self.getProbabilityCol() or None
        label, decided = self.getPredictionCol() or None, self.isDefined(self.thresholds)
        held = shares or (f"naively_{uuid4().hex}" if label and decided else None)
        scored = spark.predict(
            self.estimator,
            dataset,
            columns=self._columns(),
            prediction=None if decided else label,
            probability=held,
            joint=raw,
        )
        new = [array_to_vector(scored[quoted(c)]).alias(c) for c in (raw, shares) if c]
        if label:
            answer = self._decided(scored[held]) if decided else scored[quoted(label)]
            new.append(answer.alias(label))
        return scored.select(*(scored[quoted(c)] for c in dataset.columns), *new)

    def _decided(self, shares: Column) -> Column:
        """Return the class of largest p(k) / t(k) as an expression."""
        infinite = F.lit(float("inf"))
        ratios = F.array(
            *(
                shares[k] / t if t else F.when(shares[k] > 0, infinite).otherwise(-infinite)
                for k, t in enumerate(self._checked_thresholds())
            )
        )
        labels = F.array(*map(F.lit, self.estimator.classes_.tolist()))
        return F.get(labels, F.array_position(ratios, F.array_max(ratios)).cast("int") - 1)

    def _ratios(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return p(k) / t(k), or p(k) where there are no thresholds."""
        if not self.isDefined(self.thresholds):
            return shares
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(shares / self._checked_thresholds(), nan=-np.inf, posinf=np.inf)

    def _checked_thresholds(self) -> list[float]:
        thresholds = self.getThresholds()
        if len(thresholds) != self.numClasses:
            raise NaivelyError(
                f"there must be one threshold per class ({self.numClasses}); got {len(thresholds)}."
            )
        return thresholds

    def _table(self, value: Any) -> Any:
        """Return a vector as a table of one row, with names where the model has some."""
        row, names = np.asarray(value.toArray(), np.float64), self.estimator.summary_.schema.names
        return row[np.newaxis] if names is None else pa.table([[cell] for cell in row], list(names))


def _matrix(values: NDArray[np.float64]) -> DenseMatrix:
    return DenseMatrix(*values.shape, values.ravel(), isTransposed=True)  # row after row


class _Writer(MLWriter):
    """Saves Spark's metadata, and the model as a file that `naively.load` reads."""

    def __init__(self, model: NaiveBayesModel) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:
        """Save the model in a folder."""
        DefaultParamsWriter.saveMetadata(self._model, path, self.sparkSession)
        with TemporaryDirectory() as folder:
            file = Path(folder) / _FILE
            self._model.estimator.save(file)
            _write(self.sparkSession, f"{path}/{_FILE}", file.read_bytes())


class _Reader(MLReader):
    """Loads what `_Writer` saved."""

    def load(self, path: str) -> NaiveBayesModel:
        """Load a model from a folder."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        files = self.sparkSession.read.format("binaryFile").load(f"{path}/{_FILE}")
        with TemporaryDirectory() as folder:
            file = Path(folder) / _FILE
            file.write_bytes(files.first().content)
            model = NaiveBayesModel(load(file))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _write(session: SparkSession, path: str, content: bytes) -> None:
    """Write a file to wherever Spark writes: there is no Python for that."""
    place = session._jvm.org.apache.hadoop.fs.Path(path)
    system = place.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
    stream = system.create(place)
    try:
        stream.write(content)
    finally:
        stream.close()
