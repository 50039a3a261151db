"""Spark: every executor summarizes its own partitions, and only summaries travel.

``summarize(df, target="y")`` reads a frame once, by `mapInArrow` and the native kernel. Predictions
are in `naively.scoring.spark`, the stages of a `pyspark.ml` pipeline in `naively.spark`.
"""

from naively.engines.spark.summaries import summarize

__all__ = ["summarize"]
