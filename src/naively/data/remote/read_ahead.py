r"""Blocks of a remote file are fetched ahead of what is asked for, and few of them are kept.

>>> blocks = ReadAhead(lambda place, size: bytes(range(place, place + size)), 10)
>>> blocks.read_at(7, 100)
b'\x07\x08\t'
"""

from __future__ import annotations

import io
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import Lock

BLOCK = 1 << 22  # bytes that are fetched at once
_AHEAD = 2  # blocks that are fetched before they are asked for
_KEPT = 8  # blocks
_THREADS = 8

Fetch = Callable[[int, int], bytes]  # given a place and a size


class ReadAhead:
    """The bytes of a file, for several threads."""

    def __init__(self, fetch: Fetch, size: int) -> None:
        self._fetch, self._size, self._lock = fetch, size, Lock()
        self._blocks: OrderedDict[int, Future[bytes]] = OrderedDict()

    def read_at(self, place: int, size: int) -> bytes:
        """Return that many bytes from a place on; fewer only at the end of the file."""
        end = min(place + size, self._size)
        parts = []
        while place < end:
            i, skipped = divmod(place, BLOCK)
            part = self._block(i)[skipped : skipped + end - place]
            parts.append(part)
            place += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _block(self, i: int) -> bytes:
        with self._lock:
            goes_on = i == 0 or i - 1 in self._blocks or i in self._blocks
            block = self._submitted(i)
            for j in range(i + 1, i + 1 + _AHEAD * goes_on):
                if j * BLOCK < self._size:
                    self._submitted(j)
            self._blocks.move_to_end(i)
            while len(self._blocks) > _KEPT:
                self._blocks.popitem(last=False)
        try:
            found = block.result()
            expected = min(BLOCK, self._size - i * BLOCK)
            if len(found) != expected:
                raise OSError(f"it ended early: {len(found)} of {expected} bytes came")
            return found
        except BaseException:
            with self._lock:
                self._blocks.pop(i, None)  # whoever asks again, tries again
            raise

    def _submitted(self, i: int) -> Future[bytes]:
        if i not in self._blocks:
            start = i * BLOCK
            size = min(BLOCK, self._size - start)
            self._blocks[i] = _threads().submit(self._fetch, start, size)
        return self._blocks[i]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, "naively-read-ahead")


class RangeFile(io.RawIOBase):
    """A file that is read by ranges."""

    def __init__(self, fetch: Fetch, size: int) -> None:
        super().__init__()
        self._fetch, self._size, self._place = fetch, size, 0

    def readable(self) -> bool:
        """Return that it is."""
        return True

    def seekable(self) -> bool:
        """Return that it is."""
        return True

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes."""
        left = max(0, self._size - self._place)
        size = left if size is None or size < 0 else min(size, left)
        found = self._fetch(self._place, size) if size else b""
        self._place += len(found)
        return found
