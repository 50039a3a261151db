"""Servers of files on the loopback: one that speaks like S3, and web servers of every mood."""

import os
import re
import socket
import subprocess
import sys
import time
from base64 import b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

BUCKET = "data"
_HUGE = 10**15  # bytes, which a server says that a file has
SECRETS = {"AWS_ACCESS_KEY_ID": "an-access-key", "AWS_SECRET_ACCESS_KEY": "a-secret-access-key"}


@pytest.fixture(scope="session")
def s3_endpoint():
    """A server of moto's, which keeps objects in memory."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as server:
        try:
            _wait_for(port, server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def _wait_for(port, server):
    for _ in range(300):
        assert server.poll() is None, "the server has ended"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the server of S3 does not answer")


class Bucket:
    """An empty bucket, by the store's own client."""

    def __init__(self, endpoint):
        import boto3

        self.client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")
        self.client.create_bucket(Bucket=BUCKET)
        for one in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
            self.client.delete_object(Bucket=BUCKET, Key=one["Key"])

    def put(self, key, content):
        """Store an object, and return its address."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)
        return f"s3://{BUCKET}/{key}"

    def get(self, key):
        """Return the bytes of an object."""
        return self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def keys(self):
        """Return the names of all objects."""
        listed = self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return sorted(one["Key"] for one in listed)


@pytest.fixture
def bucket(s3_endpoint, monkeypatch):
    """A bucket that is reached as the environment says."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    settings = {"AWS_ENDPOINT_URL": s3_endpoint, "AWS_REGION": "us-east-1"}
    for name, value in {**SECRETS, **settings, "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    return Bucket(s3_endpoint)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        server.requests.append((self.path, self.headers.get("Range")))
        server.authorized.append("Authorization" in self.headers)
        path = self.path.partition("?")[0]
        if server.busy > 0:
            server.busy -= 1
            self._answer(503, b"try again", {"Retry-After": "0"})
        elif server.password and self.headers.get("Authorization") != f"Basic {server.password}":
            self._answer(401, b"who are you?")
        elif path in server.redirects:
            self._answer(302, b"", {"Location": server.redirects[path]})
        elif path not in server.files:
            self._answer(404, b"no such file")
        else:
            self._send(server.files[path])

    def _send(self, content):
        tag = {"ETag": f'"{hash(content)}"', "Last-Modified": "Sun, 01 Nov 2026 00:00:00 GMT"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if asked is None or not self.server.ranges:
            self._answer(200, content, tag)
            return
        start, stop = int(asked[1]), min(int(asked[2]) + 1, len(content))
        if start >= stop:
            self._answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        total = _HUGE if self.server.lie == "total" else len(content)
        span = {"Content-Range": f"bytes {start}-{stop - 1}/{total}"}
        self._answer(206, content[start:stop], {**span, **tag})

    def _answer(self, status, content, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        lies = self.server.lie == "length"
        self.send_header("Content-Length", str(_HUGE if lies else len(content)))
        self.close_connection |= lies
        self.end_headers()
        if self.server.breaks > 0 and len(content) > 1 and status < 300:
            self.server.breaks -= 1
            self.wfile.write(content[: len(content) // 2])
            self.close_connection = True
            return
        self.wfile.write(content)

    def log_message(self, *_args):
        """Say nothing."""


class WebServer(ThreadingHTTPServer):
    """A web server: the first requests may fail, and the first answers break off halfway.

    It may lie about the ``"length"`` of its answers, or about the ``"total"`` length of its files.
    """

    daemon_threads = True

    def __init__(self, files, *, ranges=True, busy=0, breaks=0, password=None, lie=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files, self.ranges, self.busy, self.breaks = files, ranges, busy, breaks
        self.lie = lie
        self.password = None if password is None else b64encode(password.encode()).decode()
        self.requests, self.authorized, self.redirects = [], [], {}

    def at(self, path, user=""):
        """Return the address of a file."""
        return f"http://{user}127.0.0.1:{self.server_port}{path}"

    def handle_error(self, *_args):
        """Say nothing: a client may leave before all was sent."""


@contextmanager
def web_server(files, **moods):
    """Serve files, by their paths."""
    with WebServer(files, **moods) as server:
        thread = Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
