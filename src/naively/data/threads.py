"""Blocks of rows, and threads that take them one by one.

The kernel is single-threaded and lets go of the interpreter's lock. Blocks depend on the shape
of the work alone, never on the number of threads, so the result has the same bits on any
number of them. Threads live as long as one call: nothing is left behind for a fork to copy. The
calling thread takes blocks too: one that only waits would be woken after each block, on a core
that is at work.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")
B = TypeVar("B")

_BLOCK_CELLS = 1 << 19  # a block worth a thread: about a millisecond of work
_TILE_ROWS = 32  # blocks are whole tiles of the kernel


def block_slices(n_rows: int, n_columns: int, most: int) -> list[slice]:
    """Cut rows into at most ``most`` equal blocks, each large enough to gain from a thread.

    >>> block_slices(100, 4, most=16)
    [slice(0, 100, None)]
    """
    n_blocks = max(1, min(most, n_rows * n_columns // _BLOCK_CELLS))
    step = -(-n_rows // n_blocks // _TILE_ROWS) * _TILE_ROWS if n_blocks > 1 else max(1, n_rows)
    return [slice(start, min(start + step, n_rows)) for start in range(0, max(1, n_rows), step)]


def map_blocks(work: Callable[[B], T], blocks: list[B], n_jobs: int | None) -> list[T]:
    """Return ``[work(block) for block in blocks]``, by ``n_jobs`` threads of which this is one.

    Where blocks fail, the error is that of the first of them.
    """
    threads = min(thread_count(n_jobs), len(blocks)) if len(blocks) > 1 else 1
    if threads <= 1:
        return [work(block) for block in blocks]
    waiting, done = deque(enumerate(blocks)), dict[int, T]()
    failed = dict[int, BaseException]()

    def take_blocks() -> None:
        while not failed:
            try:
                at, block = waiting.popleft()
            except IndexError:
                return
            try:
                done[at] = work(block)
            except BaseException as error:
                failed[at] = error

    others = [Thread(target=take_blocks) for _ in range(threads - 1)]
    try:
        for thread in others:
            thread.start()
        take_blocks()
        for thread in others:
            thread.join()
    finally:
        waiting.clear()  # an interrupt stops the others too
    if failed:
        raise failed.pop(min(failed))
    return [done[at] for at in range(len(blocks))]


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads are meant: all cores by None, all but one by -2."""
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    available: Any = getattr(os, "sched_getaffinity", None)
    cores = len(available(0)) if available else (os.cpu_count() or 1)
    return cores if n_jobs is None else max(1, cores + 1 + n_jobs)
