"""Where rows lie: which engine reads data, told by its type, without importing its library.

>>> [engine_of(X).name for X in ([[1.0]], "rows.csv", ["fine tea", "cold soup"])]
['memory', 'files', 'memory']
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from naively.engines.memory.devices import is_dask, is_on_device

__all__ = ["DASK", "FILES", "GPU", "MEMORY", "SPARK", "SQL", "Engine", "engine_of", "is_stream"]


class Engine(NamedTuple):
    """A place where rows lie, which the module of this name reads."""

    name: str
    takes: Callable[[Any], bool]
    has_labels: bool  # whether labels are a column of what it reads
    predicts: bool = False  # whether answers lie where rows do, as what the methods return

    @property
    def module(self) -> Any:
        """The module, whose packages are imported when it is needed."""
        return import_module(f"naively.engines.{self.name}")


def engine_of(X: Any) -> Engine:
    """Return the engine that reads data; a single text is the name of a file."""
    return next(engine for engine in _ENGINES if engine.takes(X))


def is_stream(X: Any) -> bool:
    """Whether X can be read as a stream of Arrow's batches, be it in memory or not.

    pyarrow's datasets and scanners stream but do not say so, and lazy frames of polars neither.
    """
    kind: Any = type(X)
    if hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "collect_batches"):
        return True
    return kind.__module__.startswith("pyarrow._dataset") and hasattr(kind, "to_batches")


def is_stream_alone(X: Any) -> bool:
    """Whether rows of X can be had as a stream alone: of frames and columns, arrays can be made."""
    return not hasattr(type(X), "__array__") and is_stream(X)


def _are_files(X: Any) -> bool:
    """Whether X is a path, or a list or tuple of paths, all there where they might be texts."""
    if isinstance(X, list | tuple):
        return bool(X) and all(
            _is_there(one) if isinstance(one, str) else isinstance(one, os.PathLike) for one in X
        )
    return isinstance(X, str | os.PathLike)


def _is_there(name: str) -> bool:
    from glob import has_magic, iglob

    from naively.data.remote import is_remote

    try:
        if is_remote(name) or Path(name).exists():
            return True
        return has_magic(name) and any(True for _ in iglob(name, recursive=True))  # noqa: PTH207
    except (OSError, ValueError):  # a text that can be no path
        return False


def _is_of(package: str) -> Callable[[Any], bool]:
    return lambda X: type(X).__module__.partition(".")[0] == package


GPU = Engine("gpu", is_on_device, has_labels=False, predicts=True)
DASK = Engine("dask", is_dask, has_labels=False, predicts=True)
SQL = Engine("sql", _is_of("ibis"), has_labels=True)
SPARK = Engine("spark", _is_of("pyspark"), has_labels=True)
FILES = Engine("files", lambda X: _are_files(X) or is_stream_alone(X), has_labels=True)
MEMORY = Engine("memory", lambda X: True, has_labels=False)  # whatever is no other engine's
_ENGINES = (GPU, DASK, SQL, SPARK, FILES, MEMORY)
