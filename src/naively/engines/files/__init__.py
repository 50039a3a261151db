"""Files larger than memory: CSV, JSON lines, Parquet, Arrow, and any stream of Arrow's batches.

`scan` summarizes them in one pass, and says what it left out; `summarize` returns the summary
alone, as every engine's does. `predict` labels their rows as they stream by, `read_some` reads a
few of them.
"""

from naively.engines.files.plan import SchemaFromFirstRows
from naively.engines.files.predictions import predict, read_some
from naively.engines.files.sources import BadFileError
from naively.engines.files.summary_pass import Scan, scan, summarize

__all__ = [
    "BadFileError",
    "Scan",
    "SchemaFromFirstRows",
    "predict",
    "read_some",
    "scan",
    "summarize",
]
