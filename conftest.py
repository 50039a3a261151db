"""Leave out the doctests of Spark's modules where Spark is not installed.

No other import may fail: pytest's own option to ignore such errors would skip broken tests, too.
"""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pyspark") else ["src/naively/*spark/*"]
