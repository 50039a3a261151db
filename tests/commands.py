"""How the tests run the command line: within their process, as a program, on a terminal."""

import array
import fcntl
import os
import pty
import select
import shutil
import subprocess
import sys
import termios
import time
from contextlib import ExitStack, chdir, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread

import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from naively.cli import app
from naively.cli.program import program

IRIS = "iris.csv", "-t", "species", "--model", "gaussian"  # whose figures are the textbook's
PROGRAM = [sys.executable, "-m", "naively"]
IMPATIENT = "from naively.cli import app, console; console.PATIENCE = 0; app()"  # bars at once


@pytest.fixture(scope="module")
def iris():
    bunch = load_iris(as_frame=True)
    return bunch.data.assign(species=bunch.target_names[bunch.target])


@pytest.fixture
def folder(tmp_path, monkeypatch, iris):
    """A folder to work in, with iris.csv in it."""
    iris.to_csv(tmp_path / "iris.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def fitted_once(tmp_path_factory, iris):
    """The file of a model of iris.csv."""
    home = tmp_path_factory.mktemp("fitted")
    iris.to_csv(home / "iris.csv", index=False)
    run_well("fit", home / "iris.csv", "-t", "species", "-o", home / "m")
    return home / "m"


@pytest.fixture
def fitted(folder, fitted_once):
    """The same folder, with a model of iris.csv, called m."""
    shutil.copy(fitted_once, folder / "m")
    return folder


def run(*args):
    """Run a command within this process."""
    result = CliRunner().invoke(program, [str(arg) for arg in args], prog_name="naively")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run_well(*args):
    result = run(*args)
    assert result.exit_code == 0, result.stderr
    return result


def run_program(*args, stdin="", cwd=".", stdout=None, text=True):
    """Run a command as the shell does, its streams in a pipe and in files, in this process."""
    encode = str.encode if isinstance(stdin, str) else bytes
    reader, writer = os.pipe()
    feeder = Thread(target=_feed, args=(writer, encode(stdin)))
    feeder.start()
    with chdir(cwd), TemporaryFile() as written, TemporaryFile() as told, ExitStack() as stack:
        for number, file in enumerate((reader, stdout or written, told)):
            stack.enter_context(_in_place_of(number, file))
        os.close(reader)
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(sys, "argv", ["naively", *args])
        with pytest.raises(SystemExit) as end:
            app()
        stack.close()
        feeder.join()
        streams = [file.seek(0) or file.read() for file in (written, told)]
    if text:
        streams = [content.decode() for content in streams]
    return subprocess.CompletedProcess(args, end.value.code, *streams)


def _feed(pipe, content):
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        file.write(content)


@contextmanager
def _in_place_of(number, file):
    """Let a standard stream be that of a file meanwhile."""
    name, kept = ("stdin", "stdout", "stderr")[number], os.dup(number)
    before = getattr(sys, name)
    os.dup2(file if isinstance(file, int) else file.fileno(), number)
    stream = os.fdopen(number, "w" if number else "r", closefd=False, encoding="utf-8")
    setattr(sys, name, stream)
    try:
        yield
    finally:
        with suppress(OSError):
            stream.close()
        setattr(sys, name, before)
        os.dup2(kept, number)
        os.close(kept)


def run_on_terminal(*args, cwd, until=None, send=None):
    """Run the real program on a terminal; return its exit code and all it wrote there."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-c", IMPATIENT, *args]
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, cwd=cwd, env=environment
    )
    os.close(slave)
    written, deadline = b"", time.monotonic() + 600
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        written += piece
        if until is not None and until in written:
            os.kill(process.pid, send)
            until = None
    os.close(master)
    return process.wait(timeout=300), written.decode()


def wait_until_read(pipe):
    """Wait until a program has read all that was written into its standard input."""
    unread = array.array("i", [1])
    while unread[0]:
        time.sleep(0.05)
        fcntl.ioctl(pipe, termios.FIONREAD, unread)
    time.sleep(0.2)  # and until it waits for more


def fails(*args):
    """Run a command that must fail, and return the one line that says why."""
    before = {path: path.stat().st_mtime_ns for path in Path.cwd().rglob("*")}
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("error: ")
    assert all(line.startswith("note: ") for line in lines[:-1])
    after = {path: path.stat().st_mtime_ns for path in Path.cwd().rglob("*")}
    assert after == before, "something was written"
    return lines[-1].removeprefix("error: ")
