"""Stages for pipelines of `pyspark.ml`: `NaiveBayes` is fitted, `NaiveBayesModel` transforms.

They have the names, parameters and columns of Spark's own gaussian naive Bayes, and stand where
it stood: in a `Pipeline`, a `CrossValidator`, a saved `PipelineModel`. They also take priors,
missing cells and plain columns, and their variances do not cancel.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from naively.errors import need

__all__ = ["NaiveBayes", "NaiveBayesModel"]

if TYPE_CHECKING:
    from naively.spark.stages import NaiveBayes, NaiveBayesModel

_homes = {"NaiveBayes": "naively.spark.stages", "NaiveBayesModel": "naively.spark.stages"}


def __getattr__(name: str) -> Any:
    if name not in _homes:
        raise AttributeError(f"module 'naively.spark' has no attribute {name!r}")
    need("pyspark", "a stage of Spark", extra="spark")
    return getattr(import_module(_homes[name]), name)
