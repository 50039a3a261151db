"""Stores of objects, by Arrow's file systems where it has one, and otherwise by fsspec's.

Both know retries, time-outs, and credentials of the environment; nothing else is given to them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from glob import has_magic
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from naively.data.remote.files import Facts, RemoteFile, is_data, shown
from naively.errors import NaivelyError, install, need

pafs = need("pyarrow.fs", "reading remote files", extra="files")

_ATTEMPTS, _CONNECT_SECONDS, _TIMEOUT_SECONDS = 6, 10, 60  # seconds
_CHUNK_BYTES = 1 << 23  # bytes that are written at once


class ArrowStore:
    """A file system of pyarrow's, and where an address lies in it."""

    def __init__(
        self, filesystem: Any, path_of: Callable[[str], str], *, has_buckets: bool = False
    ) -> None:
        self._files, self._path_of, self._has_buckets = filesystem, path_of, has_buckets

    def find(self, address: str) -> list[RemoteFile]:
        """Return the file, those of the folder, or those of the glob."""
        path = self._path_of(address)
        info = self._files.get_file_info(path)
        if info.type == pafs.FileType.File:
            return [RemoteFile(address, self, _facts(info))]
        if info.type == pafs.FileType.Directory:
            return self._below(address, lambda inner: is_data(inner.split("/")), "in the folder")
        if has_magic(address):
            base = _base(address)
            pattern = _regex(address[len(base) :].lstrip("/"))
            deep = "/" in address[len(base) :].lstrip("/")
            matches = lambda inner: re.fullmatch(pattern, inner) is not None  # noqa: E731
            return self._below(base, matches, "that matches", deep=deep, asked=address)
        self._check_bucket(path)
        raise FileNotFoundError("there is no such file")

    def facts(self, address: str) -> Facts:
        """Return size and time."""
        info = self._files.get_file_info(self._path_of(address))
        if info.type != pafs.FileType.File:
            raise FileNotFoundError("there is no such file")
        return _facts(info)

    def open(self, address: str, size: int) -> Any:
        """Return the file."""
        return self._files.open_input_file(self._path_of(address))

    def write(self, address: str, content: BinaryIO) -> None:
        """Write a file; a store shows it when it is whole."""
        with self._files.open_output_stream(self._path_of(address)) as file:
            while chunk := content.read(_CHUNK_BYTES):
                file.write(chunk)

    def check_output(self, address: str) -> None:
        """Raise where there is no such bucket, or the path is that of a folder."""
        path = self._path_of(address)
        if not path.strip("/") or path.endswith("/"):
            raise IsADirectoryError("it is a folder")
        self._check_bucket(path)

    def _check_bucket(self, path: str) -> None:
        bucket = path.partition("/")[0]
        if self._has_buckets and self._files.get_file_info(bucket).type == pafs.FileType.NotFound:
            raise FileNotFoundError(f"there is no bucket {bucket!r}")

    def _below(
        self,
        base: str,
        counts: Callable[[str], bool],
        where: str,
        *,
        deep: bool = True,
        asked: str | None = None,
    ) -> list[RemoteFile]:
        """Return the files in a folder that count, by their names."""
        path = self._path_of(base).rstrip("/")
        if asked is not None:
            self._check_bucket(path)
        listed = self._files.get_file_info(
            pafs.FileSelector(path, allow_not_found=True, recursive=deep)
        )
        found = []
        for info in sorted(listed, key=lambda info: PurePosixPath(info.path).parts):
            inner = info.path[len(path) :].lstrip("/")
            if info.type == pafs.FileType.File and counts(inner):
                found.append(RemoteFile(f"{base.rstrip('/')}/{inner}", self, _facts(info)))
        if not found:
            raise NaivelyError(f"there must be a file {where} {shown(asked or base)!r}; got none.")
        return found


def _facts(info: Any) -> Facts:
    return Facts(info.size, info.mtime_ns)


def _base(pattern: str) -> str:
    """Return the folder in which a glob looks.

    >>> _base("s3://bucket/year=*/a.csv")
    's3://bucket'
    """
    parts = pattern.split("/")
    return "/".join(parts[: next(i for i, part in enumerate(parts) if has_magic(part))])


def _regex(pattern: str) -> str:
    """Return what a glob means: * and ? stay within a name, ** does not.

    >>> [bool(re.fullmatch(_regex("**/*.csv"), name)) for name in ("a.csv", "b/c.csv", "b/.csv")]
    [True, True, False]
    """
    parts = []
    for part in pattern.split("/"):
        if part == "**":
            parts.append(r"(?:[^/.][^/]*/)*")
            continue
        name = re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
        name = re.sub(r"\\\[(!?)(.+?)\\\]", lambda m: f"[{'^' * len(m[1])}{m[2]}]", name)
        parts.append(("" if part.startswith(".") else r"(?!\.)") + name + "/")
    return "".join(parts).removesuffix("/")


def arrow_store(address: str) -> ArrowStore:
    """Return what reads an address, which holds no password."""
    scheme, _, rest = address.partition("://")
    scheme, anonymous = scheme.lower(), rest.startswith("anonymous@")
    if scheme in ("s3", "s3a", "s3n"):
        bucket = rest.removeprefix("anonymous@").partition("/")[0]
        return ArrowStore(_s3(bucket, anonymous, _environment()), _in_bucket, has_buckets=True)
    if scheme in ("gs", "gcs"):
        return ArrowStore(_gs(anonymous), _in_bucket, has_buckets=True)
    if scheme == "az":
        return ArrowStore(_azure(), _in_bucket, has_buckets=True)
    if scheme in ("abfs", "abfss", "hdfs", "viewfs", "file"):
        return _by_uri(address)
    return _by_fsspec(address, scheme)


def _in_bucket(address: str) -> str:
    return address.partition("://")[2].removeprefix("anonymous@")


def _environment() -> tuple[tuple[str, str], ...]:
    """Return what decides how S3 is reached, and by whom."""
    return tuple(sorted(one for one in os.environ.items() if one[0].startswith("AWS_")))


@lru_cache
def _s3(bucket: str, anonymous: bool, environment: object) -> Any:
    """Return S3, or what speaks like it at AWS_ENDPOINT_URL; the bucket tells its region."""
    endpoint = _first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    region = _first("AWS_REGION", "AWS_DEFAULT_REGION")
    where: dict[str, Any] = {}
    if endpoint:
        parts = urlsplit(endpoint if "://" in endpoint else f"https://{endpoint}")
        where = {"scheme": parts.scheme, "endpoint_override": parts.netloc}
    elif region is None:
        region = pafs.resolve_s3_region(bucket)
    return pafs.S3FileSystem(
        anonymous=anonymous,
        region=region,
        connect_timeout=_CONNECT_SECONDS,
        request_timeout=_TIMEOUT_SECONDS,
        retry_strategy=pafs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        **where,
    )


def _gs(anonymous: bool) -> Any:
    """Return Google Cloud Storage, or its emulator at STORAGE_EMULATOR_HOST."""
    emulator = os.environ.get("STORAGE_EMULATOR_HOST")
    where = {}
    if emulator:
        parts = urlsplit(emulator if "://" in emulator else f"http://{emulator}")
        where = {"scheme": parts.scheme, "endpoint_override": parts.netloc}
    patience = timedelta(seconds=_TIMEOUT_SECONDS)
    is_open = anonymous or bool(emulator)
    return pafs.GcsFileSystem(anonymous=is_open, retry_time_limit=patience, **where)


def _azure() -> Any:
    """Return Azure's blobs, by the variables that its own tools read."""
    found = {
        "account_name": _first("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"),
        "account_key": _first("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY"),
        "sas_token": _first("AZURE_STORAGE_SAS_TOKEN"),
    }
    if found["account_name"] is None:
        raise NaivelyError(
            "az:// needs the name of the account in AZURE_STORAGE_ACCOUNT_NAME; "
            "an address with it is abfs://container@account.dfs.core.windows.net/path."
        )
    return pafs.AzureFileSystem(**{name: value for name, value in found.items() if value})


def _first(*names: str) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _by_uri(address: str) -> ArrowStore:
    """Return the file system that Arrow finds; its paths begin where the address's path does."""
    base = _base(address) if has_magic(address) else address
    try:
        filesystem, path = pafs.FileSystem.from_uri(base)
    except (ValueError, OSError) as error:
        raise OSError(str(error)) from None
    return ArrowStore(filesystem, lambda other: path + other[len(base) :])


def _by_fsspec(address: str, scheme: str) -> ArrowStore:
    fsspec = need("fsspec", f"reading {scheme}://", extra="remote")
    try:
        filesystem, _ = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise NaivelyError(
            f"reading {scheme}:// needs another package: {error}. {install('remote')} brings those "
            "of hf://."
        ) from None
    except ValueError as error:
        raise OSError(str(error)) from None
    wrapped = pafs.PyFileSystem(pafs.FSSpecHandler(filesystem))
    return ArrowStore(wrapped, filesystem._strip_protocol)
