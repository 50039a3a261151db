# ruff: noqa: N802 - the names are Spark's
"""An estimator and its model for `pyspark.ml`, and the parameters that they share.

A frame is summarized once, and models are read off the summary. A model adds columns to a frame,
and is saved as naively's own file beside metadata.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
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


class StageParam(NamedTuple):
    """A parameter of the stages: its type, what our estimators call it, and its default."""

    convert: Callable[[Any], Any] | None
    ours: str | None = None
    default: Any = None


_TEXT, _NUMBER = TypeConverters.toString, TypeConverters.toFloat
_PARAMS = {
    "modelType": StageParam(_TEXT, None, "gaussian"),
    "smoothing": StageParam(_NUMBER, None, 1.0),
    "priors": StageParam(TypeConverters.toListFloat, "priors"),
    "classWeight": StageParam(_TEXT, "class_weight"),
    "calibration": StageParam(_TEXT, "calibration"),
    "interactions": StageParam(_TEXT, "interactions"),
    "families": StageParam(None, "families"),
    "varSmoothing": StageParam(_NUMBER, "var_smoothing", 1e-9),
    "varSmoothingBy": StageParam(_TEXT, "smoothing", "global"),
    "variance": StageParam(_TEXT, "variance", "class"),
    "ddof": StageParam(TypeConverters.toInt, "ddof", 0),
}
_MODELS = {"gaussian": GaussianNB, "mixed": MixedNaiveBayes}
# Those that say how a summary is read: another value of them needs no other pass.
_READING = {"thresholds", *_PARAMS} - {"modelType", "smoothing", "families", "calibration"}


def _with_params(kind: type[Params]) -> type[Any]:
    """Return a class with the parameters that its docstring describes, and their getters."""
    docs = _entries(kind)
    for name, (convert, *_) in _PARAMS.items():
        setattr(kind, name, Param(Params._dummy(), name, docs.get(name, ""), convert))
        setattr(kind, f"get{name[0].upper()}{name[1:]}", _getter(name, docs.get(name, "")))
    return kind


def _entries(kind: type[Any]) -> dict[str, str]:
    """Return the descriptions of parameters in a docstring, by name."""
    entries = re.findall(r"^(\w+) : .*\n((?: {4}.*\n?)+)", cleandoc(kind.__doc__ or ""), re.M)
    return {name: " ".join(text.split()) for name, text in entries}


def _with_setters(kind: type[Params]) -> type[Any]:
    """Return a class with what sets the parameters, by name or one at a time."""
    docs = _entries(NaiveBayesParams)
    columns = ("features", "label", "prediction", "probability", "rawPrediction")
    names: dict[str, Any] = {f"{name}Col": name for name in columns}
    names |= dict.fromkeys(("thresholds", "weightCol", "inputCols"))
    names |= {name: param.default for name, param in _PARAMS.items()}
    by_name = [Parameter(n, Parameter.KEYWORD_ONLY, default=v) for n, v in names.items()]
    kind.__signature__ = Signature(by_name)
    summary, notes = cleandoc(kind.__doc__ or "").split("\n\n", 1)
    _, described = cleandoc(NaiveBayesParams.__doc__ or "").split("\n\n", 1)
    kind.__doc__ = f"{summary}\n\n{described}\n\n{notes}"
    for name in (*_PARAMS, "weightCol"):
        doc = docs.get(name, "The column of weights.")
        setattr(kind, f"set{name[0].upper()}{name[1:]}", _setter(name, doc))
    return kind


def _getter(name: str, doc: str) -> Callable[[Any], Any]:
    def get(self: Any) -> Any:
        return self.getOrDefault(name) if self.isDefined(name) else None

    get.__doc__ = f"Return {name}, or None where it is not set. {doc}"
    return get


def _setter(name: str, doc: str) -> Callable[[Any, Any], Any]:
    def set_to(self: Any, value: Any) -> Any:
        return self.setParams(**{name: value})

    set_to.__doc__ = f"Set {name}. {doc}"
    return set_to


@_with_params
class NaiveBayesParams(HasInputCols, HasWeightCol):
    """How rows are read, and how a model is read off what was seen.

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
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        defaults = {name: param.default for name, param in _PARAMS.items()}
        self._setDefault(**{n: value for n, value in defaults.items() if value is not None})

    def setInputCols(self, value: list[str]) -> Self:
        """Read plain columns instead of a vector."""
        return self._set(inputCols=value)

    def _columns(self) -> list[str] | str:
        """Return the columns to read."""
        return self.getInputCols() if self.isDefined(self.inputCols) else self.getFeaturesCol()


# --- The estimator --------------------------------------------------------------------------------


_FIRST_ROWS = 10_000  # rows that the edges of histograms are chosen from
_MAX_UNSEEN_LABELS = 100  # labels that may be missing below the largest


@_with_setters
class NaiveBayes(
    ProbabilisticClassifier,
    NaiveBayesParams,
    DefaultParamsWritable,
    DefaultParamsReadable,
):
    """Naive Bayes as a stage of `pyspark.ml`, instead of Spark's own.

    Notes
    -----
    `fit` with a list of parameter maps, as a `CrossValidator` calls it, reads the data once,
    however many priors and smoothings are tried. ``rawPrediction`` is log p(x, k), which Spark
    gives without the constant of the densities. Weights of a mixed model's terms are fitted on a
    sample of up to 4,000 rows, which is part of the summary.
    """

    def __init__(self, **params: Any) -> None:
        super().__init__()
        self.setParams(**params)

    def setParams(self, **params: Any) -> Self:
        """Set parameters by name."""
        for name in params:
            if not self.hasParam(name):
                raise TypeError(f"NaiveBayes of Spark has no parameter {name!r}.")
        return self._set(**params)

    def fitMultiple(
        self, dataset: DataFrame, paramMaps: Sequence[Any]
    ) -> Iterator[tuple[int, NaiveBayesModel]]:
        """Fit a model for each map of parameters, from one summary where that is possible."""
        names = {param.name for map_ in paramMaps for param in map_}
        if not names <= _READING:
            return super().fitMultiple(dataset, paramMaps)
        every = {self.getParam("interactions"): "auto"} if "interactions" in names else {}
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
        given, columns = estimator.fixed_kinds(), schema.names_or_places
        check_columns(given, schema)
        kinds = zip(columns, schema.held, strict=True)
        schema = replace(schema, kinds=tuple(given.get(name, kind) for name, kind in kinds))
        rows = dataset.limit(_FIRST_ROWS)
        return estimator.settled(
            schema, lambda size: look(rows, schema=replace(schema, sample=size)).sample
        )

    def _read(self, summary: Summary) -> NaiveBayesModel:
        estimator = self._estimator()
        model = NaiveBayesModel(estimator.from_summary(summary, **estimator.get_params(deep=False)))
        return self._copyValues(model._resetUid(self.uid))

    def _estimator(self) -> GaussianNB | MixedNaiveBayes:
        """Return naively's own estimator, with the parameters of this one."""
        kind = _MODELS.get(self.getOrDefault("modelType"))
        if kind is None:
            raise NaivelyError(
                f"modelType must be 'gaussian' or 'mixed'; got {self.getOrDefault('modelType')!r}. "
                "Spark's own NaiveBayes has other models, for counts."
            )
        params = {
            str(param.ours): self.getOrDefault(name)
            for name, param in _PARAMS.items()
            if param.ours in kind().get_params() and self.isDefined(name)
        }
        if params.get("calibration") == "none":
            params["calibration"] = None
        if "interactions" in params:
            params["interactions"] = interactions_from_text(params["interactions"])
        return kind(**params)


def _indexed(summary: Summary, label: str) -> Summary:
    """Make labels what Spark's are: doubles, each the place of its class in a vector.

    There is room for those below the largest that were not seen.
    """
    classes = summary.classes
    if classes.dtype.kind not in "fiub" or not classes.size:
        return summary
    if classes[0] < 0 or classes[-1] >= 2 * classes.size + _MAX_UNSEEN_LABELS:
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
