"""A server of a model on the loopback, as ``examples/serve.py`` makes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["served"]

_EXAMPLES = Path(__file__).parent.parent / "examples"


@contextmanager
def served(
    model: Path, *, before: Sequence[str] = (), options: Sequence[str] = ()
) -> Iterator[tuple[int, int]]:
    """Serve a model's file until the end of the block; the port, and the number of the process."""
    command = ["-m", "uvicorn", "--app-dir", str(_EXAMPLES), "--port", "0", "--no-access-log"]
    process = subprocess.Popen(
        [*before, sys.executable, *command, *options, "serve:app"],
        env={**os.environ, "MODEL": str(model)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"running on http://127\.0\.0\.1:(\d+)", line):
                yield int(found[1]), process.pid
                return
        raise RuntimeError("the server did not start:\n" + "".join(lines))
    finally:
        process.terminate()
        process.wait(10)
        process.stderr.close()
