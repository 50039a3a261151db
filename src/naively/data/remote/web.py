"""Files of web servers, read by ranges, with patience.

A request that fails for the moment is made again, a little later each time: connections that are
refused, reset or broken off, no answer in time, and answers such as 503. A server that knows no
ranges gives its file once: it is copied to a temporary file, and read from there.
"""

from __future__ import annotations

import base64
import http.client
import io
import random
import shutil
import socket
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import Any, BinaryIO, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from naively.data.remote.files import Facts, RangeFile, RemoteFile
from naively.errors import need

ATTEMPTS = 6  # at most, of one request
WAIT = 0.2  # seconds before the second attempt; then twice as long each time
TIMEOUT = 30.0  # seconds without a byte
_MAX_WAIT_SECONDS = 30.0  # seconds, where a server asks for it
_NO_ADDRESS = http.client.InvalidURL, ValueError
_FOR_THE_MOMENT = {408, 425, 429, 500, 502, 503, 504}
_REASONS = {
    401: "permission denied (401): the server wants a user and a password",
    403: "permission denied (403)",
    404: "there is no such file (404)",
    410: "there is no such file any more (410)",
}

Answer = TypeVar("Answer")


class _NoRangesError(Exception):
    """The server gives whole files alone."""


class WebStore:
    """A web server, for one file."""

    def __init__(self) -> None:
        self._copy: BinaryIO | None = None  # of a file whose server knows no ranges
        self._lock = Lock()

    def find(self, address: str) -> list[RemoteFile]:
        """Return the one file: a web server lists none."""
        return [RemoteFile(address, self, self.facts(address))]

    def facts(self, address: str) -> Facts:
        """Ask for the first byte, since signed addresses allow no HEAD; without ranges, copy all.

        A copy does not change.
        """
        with self._lock:
            if self._copy is None:
                try:
                    return _patiently(lambda: _facts(address))
                except _NoRangesError:
                    self._copy = _patiently(lambda: _copied(address))
                    weakref.finalize(self, self._copy.close)
            return Facts(self._copy.seek(0, io.SEEK_END), None)

    def open(self, address: str, size: int) -> Any:
        """Return the file, each read of which is a request."""
        pa = need("pyarrow", "reading remote files", extra="files")

        def fetch(place: int, count: int) -> bytes:
            if self._copy is None:
                return _patiently(lambda: _range(address, place, count))
            with self._lock:
                self._copy.seek(place)
                return self._copy.read(count)

        return pa.PythonFile(RangeFile(fetch, size), mode="r")

    def write(self, address: str, content: BinaryIO) -> None:
        """Refuse."""
        self.check_output(address)

    def check_output(self, address: str) -> None:
        """Refuse."""
        raise OSError("files of a web server are only read")


def _patiently(ask: Callable[[], Answer]) -> Answer:
    """Ask again where something is wrong for the moment."""
    for attempt in range(ATTEMPTS):
        try:
            return ask()
        except HTTPError as error:
            error.close()
            if error.code not in _FOR_THE_MOMENT or attempt == ATTEMPTS - 1:
                reason = _REASONS.get(error.code, f"the server answers {error.code} {error.reason}")
                raise OSError(reason) from None
            asked_for = error.headers.get("Retry-After", "")
            least = float(asked_for) if asked_for.isdigit() else 0.0
        except (URLError, http.client.HTTPException, OSError, ValueError) as error:
            cause = error.reason if isinstance(error, URLError) else error
            is_unknown = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME
            is_hopeless = is_unknown or isinstance(cause, _NO_ADDRESS)
            if is_hopeless or attempt == ATTEMPTS - 1:
                raise OSError(_told(cause)) from None
            least = 0.0
        wait = WAIT * 2**attempt * random.uniform(0.5, 1.0)
        time.sleep(min(max(wait, least), _MAX_WAIT_SECONDS))
    raise AssertionError("the last attempt returns or raises")


def _told(cause: object) -> str:
    """Return why there was no answer."""
    if isinstance(cause, socket.gaierror):
        return "its server is not known"
    if isinstance(cause, _NO_ADDRESS):
        return "it is no address of a web server"
    if isinstance(cause, TimeoutError):
        return f"its server gave no answer for {TIMEOUT:g} seconds"
    return f"its server broke off or gave no answer: {cause or type(cause).__name__}"


def _facts(address: str) -> Facts:
    try:
        with _answer(address, "bytes=0-0") as answer:
            if answer.status != http.client.PARTIAL_CONTENT:
                raise _NoRangesError
            return _facts_of(answer.headers)
    except HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:  # there is no first byte
            return _facts_of(error.headers)
        raise


def _facts_of(headers: Any) -> Facts:
    total = headers.get("Content-Range", "").rpartition("/")[2]
    if not total.isdigit():
        raise _NoRangesError
    changed = headers.get("Last-Modified")
    modified = None if changed is None else int(parsedate_to_datetime(changed).timestamp()) * 10**9
    return Facts(int(total), modified, headers.get("ETag"))


def _range(address: str, start: int, size: int) -> bytes:
    span = f"{start}-{start + size - 1}"
    with _answer(address, f"bytes={span}") as answer:
        if answer.headers.get("Content-Range", "").partition("/")[0] != f"bytes {span}":
            raise OSError(f"the server gave other bytes than {span}")
        found = answer.read(size)  # whatever size the server says that it has
        if len(found) != size:
            raise http.client.IncompleteRead(found, size - len(found))
        return found


def _copied(address: str) -> BinaryIO:
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the store
    try:
        with _answer(address, None) as answer:
            shutil.copyfileobj(answer, copy, 1 << 20)
            expected = answer.headers.get("Content-Length")
            if expected is not None and copy.tell() != int(expected):
                raise http.client.IncompleteRead(b"", int(expected) - copy.tell())
    except BaseException:
        copy.close()
        raise
    return copy


@contextmanager
def _answer(address: str, span: str | None) -> Iterator[Any]:
    """Give the answer to a request for some bytes, or for all."""
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    plain = urlunsplit((parts.scheme, host, quote(parts.path, "/%:@!$&'()*+,;=~"), parts.query, ""))
    request = Request(plain, headers={"User-Agent": "naively", "Accept-Encoding": "identity"})
    if span is not None:
        request.add_header("Range", span)
    if at:  # not sent to where a server leads us
        token = base64.b64encode(unquote(user).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {token}")
    with build_opener(_WebAlone).open(request, timeout=TIMEOUT) as answer:
        yield answer


class _WebAlone(HTTPRedirectHandler):
    """Follows a server to another web server alone: neither to files of this machine nor to FTP."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        scheme = urlsplit(newurl).scheme
        if scheme in ("http", "https"):
            return super().redirect_request(req, fp, code, msg, headers, newurl)
        reason = f"and leads to an address of {scheme}, where only http and https are followed"
        raise HTTPError(req.full_url, code, reason, headers, fp)
