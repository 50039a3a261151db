"""Spark: every executor summarizes its own partitions, and only summaries travel.

``summarize(df, target="y")`` reads a frame once; ``predict(model, df)`` adds columns to it. The
stages of a `pyspark.ml` pipeline are in `naively.spark`.
"""

from naively.engines.spark.predictions import predict
from naively.engines.spark.summaries import summarize

__all__ = ["predict", "summarize"]
