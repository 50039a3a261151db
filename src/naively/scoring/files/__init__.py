"""Files of any size are predicted as they stream by, in the order of their rows."""

from naively.scoring.files.predict import predict
from naively.scoring.files.some_rows import read_some

__all__ = ["predict", "read_some"]
