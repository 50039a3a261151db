"""A private PostgreSQL server on loopback, started for tests and gone after them."""

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


def binaries():
    """The folder of initdb and pg_ctl, or None. Debian keeps them off the path."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else Path("/usr/lib/postgresql").glob("*/bin")
    return max((f for f in folders if (f / "pg_ctl").exists()), default=None)


@contextmanager
def server():
    """Start a server; yield what psycopg needs to connect to it."""
    folder = Path(tempfile.mkdtemp(prefix="naively-postgres-"))
    try:
        user = _owner(folder)
        data, port = folder / "data", _free_port()
        options = (
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        )
        _run(user, folder, "initdb", "-D", data, "-U", "naively", "-A", "trust", "-E", "UTF8",
             "--locale=C", "--no-sync")  # fmt: skip
        _run(user, folder, "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"host=127.0.0.1 port={port} user=naively dbname=postgres"
        finally:
            _run(user, folder, "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _owner(folder):
    """Who may run the server: not root, so root becomes the package's own user."""
    if os.geteuid() != 0:
        return getpass.getuser()
    shutil.chown(folder, "postgres")
    return "postgres"


def _run(user, folder, program, *args):
    change = ["runuser", "-u", user, "--"] if os.geteuid() == 0 else []
    command = [*change, binaries() / program, *args]
    with (folder / "output").open("w+") as output:  # a pipe would stay open with the server
        done = subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        output.seek(0)
        assert done.returncode == 0, output.read()


def _free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
