"""Files of any size are predicted as they stream by, in the order of their rows."""

from naively.scoring.files.predict import predict

__all__ = ["predict"]
