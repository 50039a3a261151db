"""What a client of a Spark server is given, as JSON.

A process either holds Spark or is the client of a server, so this one is its own:
``python -m tests.connected`` starts a server, asks it, and ends it.
"""

import json
import os
import sys

import numpy as np
import pandas as pd

from tests import sparks

N = 5000  # enough for sums of Spark's own


def rows():
    """Numbers far from zero, text and labels."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, N)
    number, text = y + rng.normal(1e8, size=N), np.array(["x", "y", "z"])[y]
    text = np.where(rng.random(N) < 0.3, "other", text)
    return pd.DataFrame({"id": np.arange(N), "number": number, "text": text, "y": y})


def main():
    """Ask a server."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JDK_JAVA_OPTIONS"] = sparks.QUICK
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    try:
        print(json.dumps(_given(spark)))
    finally:
        spark.stop()


def _given(spark):
    from pyspark.sql import functions

    from naively import GaussianNB, NaiveBayes, NaivelyError
    from naively import spark as stages
    from naively.engines import spark as engine
    from naively.engines import spark as scoring

    df = spark.createDataFrame(rows()).repartition(3)
    numbers = engine.summarize(df, target="y", columns=["number"])
    mixed = NaiveBayes(calibration=None).fit(rows()[["number", "text"]], rows()["y"])
    labelled = df.withColumnRenamed("y", "label")
    infinite = df.withColumn("number", functions.lit(float("inf")))
    try:
        engine.summarize(infinite, target="y", columns=["number"])
    except NaivelyError as error:
        told = str(error)
    return {
        "moments": numbers.moments.values.tolist(),
        "numbers": _labels(scoring.predict(GaussianNB.from_summary(numbers), df)),
        "mixed": _labels(scoring.predict(mixed, df)),
        "stage": _labels(stages.NaiveBayes(inputCols=["number"]).fit(labelled).transform(labelled)),
        "told": told,
    }


def _labels(df):
    return df.toPandas().sort_values("id")["prediction"].tolist()


if __name__ == "__main__":
    main()
