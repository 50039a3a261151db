"""A small Spark on this machine, started once for all tests that want it."""

import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

QUICK = (  # Java lives for minutes: no careful compiler, no proofs of Spark's own classes, room
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:NewSize=512m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


def absent():
    """Why there is no Spark here, or None."""
    if find_spec("pyspark") is None:
        return "Spark is not installed: pip install '.[spark]', or make test SPARK=1"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Spark needs Java 17 or newer: apt-get install openjdk-17-jre-headless"
    return None


@cache
def session():
    """Start Spark with two threads and two attempts at each task; it ends with the process."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    os.environ["PYSPARK_PYTHON"] = sys.executable  # or executors take the path's Python
    builder = SparkSession.builder.master("local[2,2]").appName("naively")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with quiet():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")  # tasks fail on purpose
    return spark


@contextmanager
def quiet():
    """Do not make errors of Spark's own warnings: it warns of new versions of pandas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
