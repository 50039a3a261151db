# ruff: noqa: N802 - the names are Spark's
"""The model: it adds columns to a frame, and is saved as naively's own file beside metadata."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from pyspark.ml.classification import ProbabilisticClassificationModel
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import DenseMatrix, DenseVector
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from naively.engines.spark.types import quoted
from naively.errors import NaivelyError, need
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.loading import load
from naively.scoring import spark
from naively.spark.params import NaiveBayesParams

pa: Any = need("pyarrow", "a stage of Spark", extra="spark")

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
