"""Errors on an executor, as one sentence.

Spark reports an error of Python code as a traceback within a traceback, of which only the last line
matters.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from naively.errors import NaivelyError, need

_OURS = f"{NaivelyError.__module__}.{NaivelyError.__qualname__}: "


@contextmanager
def readable_errors() -> Iterator[None]:
    """Raise errors of Python code on an executor as `NaivelyError`; leave others as they are."""
    errors = need("pyspark.errors", "Spark", extra="spark")
    try:
        yield
    except errors.PythonException as error:
        raise NaivelyError(cause(str(error))) from error


def cause(traceback: str) -> str:
    r"""Return what a traceback ends with.

    >>> cause("Traceback (most recent call last):\n  ...\nValueError: 7 is odd\n")
    'a partition could not be read: ValueError: 7 is odd'
    >>> cause("Traceback ...\nnaively.errors.NaivelyError: partition 3: ...\n")
    'partition 3: ...'
    >>> cause("Traceback ...\nValueError: 7 is odd\n SQLSTATE: 38000")  # of Spark's server
    'a partition could not be read: ValueError: 7 is odd'
    """
    lines = [line for line in map(str.rstrip, traceback.splitlines()) if line]
    lines = [line for line in lines if not line.lstrip().startswith("SQLSTATE: ")]
    for line in lines:
        if line.startswith(_OURS):
            return line.removeprefix(_OURS)
    if lines[-1] == "ModuleNotFoundError: No module named 'naively'":
        return (
            "the executors must have naively; got a Python without it. Install it there, and let "
            "PYSPARK_PYTHON name that Python."
        )
    return f"a partition could not be read: {lines[-1]}"
