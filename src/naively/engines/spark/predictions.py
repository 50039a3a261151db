"""Predictions for a Spark frame: new columns, computed on the executors by the kernel or as SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from naively.engines import Classifier
from naively.engines.memory.columns import names_to_read
from naively.engines.spark.frames import FrameColumns, quoted
from naively.errors import NaivelyError, need

_TYPES = {  # of labels, as Spark and as Arrow call them
    "U": ("string", "string"),
    "O": ("string", "string"),
    "i": ("long", "int64"),
    "u": ("long", "int64"),
    "b": ("boolean", "bool"),
    "f": ("double", "double"),
    "S": ("binary", "binary"),
    "M": ("timestamp_ntz", "timestamp[us]"),
}


def predict(
    model: Classifier,
    df: Any,
    *,
    columns: Sequence[str] | str | None = None,
    prediction: str | None = "prediction",
    probability: str | None = None,
    joint: str | None = None,
    sql: bool = False,
) -> Any:
    """Return a frame with the labels of its rows as a new column.

    Parameters
    ----------
    model : estimator
        Fitted.
    df : pyspark.sql.DataFrame
        Rows; the term of a missing cell is left out.
    columns : sequence of str, or str, optional
        The model's columns, in its order, or a vector that holds them; None for those of the
        names that the model was fitted on.
    prediction : str, default="prediction"
        What to call the column of labels; None for none.
    probability : str, optional
        What to call a column of probabilities: arrays, in the order of the model's classes.
    joint : str, optional
        What to call a column of log p(x, k): arrays, in the same order.
    sql : bool, default=False
        Whether Spark is to compute it as SQL, without any Python on the executors. It needs
        plain columns, and suits small models: each class and column is a term.
    """
    for name in (prediction, probability, joint):
        if name is not None and name.casefold() in map(str.casefold, df.columns):
            raise NaivelyError(
                f"new columns must have new names; {name!r} is there. Drop it, or choose another."
            )
    model = model.__naively_snapshot__(n_jobs=1)  # Spark has given the other cores to other tasks
    if sql:
        return _by_sql(model, df, columns, prediction, probability, joint)
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    if not hasattr(functions, "arrow_udf"):
        raise NaivelyError("predict needs Spark 4.1 or newer; with an older one, use sql=True.")
    cells = FrameColumns.of(df, columns, model.summary_.schema)
    names = {"prediction": prediction, "probability": probability, "joint": joint}
    score = _SparkScore(
        model, cells, tuple(answer for answer, name in names.items() if name is not None)
    )
    udf = functions.arrow_udf(score.function(), score.type)
    found = f"naively_{uuid4().hex}"
    scored = df.withColumn(found, udf(functions.struct(*cells.select(df))))
    new = [scored[found][answer].alias(names[answer]) for answer in score.answers]
    return scored.select(*(scored[quoted(name)] for name in df.columns), *new)


class _SparkScore(NamedTuple):
    """A model, the columns that it reads, and the answers that it gives, on an executor."""

    model: Classifier
    cells: FrameColumns
    answers: tuple[str, ...]

    @property
    def type(self) -> str:
        """The type of the answers, as Spark calls it."""
        label, _ = _label_types(self.model.classes_)
        types = {"prediction": label, "probability": "array<double>", "joint": "array<double>"}
        return "struct<" + ", ".join(f"{answer}: {types[answer]}" for answer in self.answers) + ">"

    def function(self) -> Callable[[Any], Any]:
        """Return a function of a struct of columns, which returns a struct of answers."""
        pyarrow = need("pyarrow", "Spark", extra="spark")

        def score(rows: Any) -> Any:
            frame = self.cells.frame(rows.flatten())
            columns = [getattr(self, f"_{answer}")(frame) for answer in self.answers]
            return pyarrow.StructArray.from_arrays(columns, names=list(self.answers))

        # Spark tells the kind of a function by its types.
        score.__annotations__ = {"rows": pyarrow.Array, "return": pyarrow.Array}
        return score

    def _prediction(self, frame: Any) -> Any:
        _, kind = _label_types(self.model.classes_)
        return need("pyarrow", "Spark", extra="spark").array(self.model.predict(frame)).cast(kind)

    def _probability(self, frame: Any) -> Any:
        return _lists(self.model.predict_proba(frame))

    def _joint(self, frame: Any) -> Any:
        return _lists(self.model.predict_joint_log_proba(frame))


def _label_types(classes: NDArray[Any]) -> tuple[str, Any]:
    """Return the type of labels as Spark and as Arrow call it."""
    if classes.dtype == "M8[D]":
        return "date", "date32"
    if classes.dtype.kind == "u" and (classes >= 2**63).any():  # Spark has no unsigned integers
        return "decimal(20,0)", need("pyarrow", "Spark", extra="spark").decimal128(20, 0)
    return _TYPES[classes.dtype.kind]


def _lists(rows: NDArray[Any]) -> Any:
    pyarrow = need("pyarrow", "Spark", extra="spark")
    ends = np.arange(0, rows.size + 1, rows.shape[1], dtype=np.int32)
    return pyarrow.ListArray.from_arrays(ends, rows.astype(np.float64).reshape(-1))


def _by_sql(
    model: Classifier,
    df: Any,
    columns: Sequence[str] | str | None,
    prediction: str | None,
    probability: str | None,
    joint: str | None,
) -> Any:
    """Score by one SELECT, in which the frame is a view."""
    if joint is not None:
        raise NaivelyError("joint needs the kernel; got sql=True. Leave one of them out.")
    functions = need("pyspark.sql.functions", "Spark", extra="spark")
    schema = model.summary_.schema
    given = None if columns is None else names_to_read(df.columns, columns, schema)
    view, label = f"naively_{uuid4().hex}", f"label_{uuid4().hex}"
    query = model.to_sql(
        view,
        dialect="spark",
        columns=given,
        keep=df.columns,
        label=label,
        proba=probability is not None,
    )
    df.createTempView(view)
    try:
        scored = df.sparkSession.sql(query)
    finally:
        df.sparkSession.catalog.dropTempView(view)
    shares = [scored[name] for name in scored.columns[len(df.columns) + 1 :]]
    new = [] if prediction is None else [scored[label].alias(prediction)]
    new += [] if probability is None else [functions.array(*shares).alias(probability)]
    return scored.select(*(scored[quoted(name)] for name in df.columns), *new)
