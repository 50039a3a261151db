"""Files larger than memory: CSV, Parquet, Arrow, and any stream of Arrow's batches.

`scan` summarizes them in one pass, and says what it left out; `summarize` returns the summary
alone, as every engine's does. `naively.scoring.files` predicts them as they stream by.
"""

from naively.engines.files.plan import SchemaFromFirstRows
from naively.engines.files.scan import Scan, scan, summarize
from naively.engines.files.sources import BadFileError

__all__ = ["BadFileError", "Scan", "SchemaFromFirstRows", "scan", "summarize"]
