"""
Spark data frames
=================

This example needs Spark and is not run here. Each partition is summarized on its executor; the
answers can be computed by Spark SQL, without Python.
"""

from pyspark.sql import SparkSession

import naively
from naively import GaussianNB
from naively.engines import spark

session = SparkSession.builder.master("local[2]").getOrCreate()
flowers = session.createDataFrame(
    [(5.1, 1.4, "setosa"), (6.0, 4.5, "versicolor")] * 50, ["sepal", "petal", "y"]
)
summary = naively.summarize(flowers, target="y")
model = GaussianNB.from_summary(summary)
spark.predict(model, flowers, sql=True).show(3)
