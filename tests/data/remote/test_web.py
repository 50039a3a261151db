"""Files of web servers: with and without ranges, busy, broken off, behind a password."""

import gzip
import pickle
import traceback

import pyarrow.parquet as pq
import pytest

import naively
from naively import GaussianNB, NaivelyError
from naively.data import remote
from naively.data.remote import web
from naively.engines import files
from naively.engines.files import predict
from tests.servers import web_server
from tests.written import read, rows, scan_numbers, small_pieces, summarize_numbers, write

__all__ = ["small_pieces"]  # a fixture

ENDINGS = [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".feather", ".arrow", ".arrows"]
MOODS = {
    "ranges": {},
    "no ranges": {"ranges": False},
    "busy at first": {"busy": 3},
    "breaking off at first": {"breaks": 3},
    "breaking off without ranges": {"ranges": False, "breaks": 2},
}
USER, SIGNED = "ada:s3cr3t@", "?X-Amz-Signature=s3cr3t&X-Amz-Expires=900"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait less before requests are made again, and fetch little at once."""
    monkeypatch.setattr(web, "WAIT", 0.001)
    monkeypatch.setattr(remote, "BLOCK", 10_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows in every format."""
    folder = tmp_path_factory.mktemp("web")
    for ending in ENDINGS:
        write(rows(), folder / f"a{ending}")
    return folder


def content(folder):
    return {f"/{path.name}": path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("mood", MOODS)
@pytest.mark.usefixtures("small_pieces")
def test_a_file_of_a_web_server_gives_the_bits_of_the_same_file_here(folder, ending, mood):
    here = summarize_numbers(folder / f"a{ending}", target="label")
    with web_server(content(folder), **MOODS[mood]) as server:
        there = summarize_numbers(server.at(f"/a{ending}"), target="label")
        assert server.busy == server.breaks == 0
    assert there == here


def test_parquet_is_not_fetched_whole_where_few_columns_are_read(tmp_path):
    table = rows(20_000)
    for i in range(20):
        table = table.append_column(f"more {i}", table["ratio"])
    pq.write_table(table, tmp_path / "a.parquet", compression="none", use_dictionary=False)
    whole = (tmp_path / "a.parquet").read_bytes()
    with web_server({"/a.parquet": whole}) as server:
        files.summarize(server.at("/a.parquet"), target="label", columns=["count"])
        spans = [span.removeprefix("bytes=").split("-") for _, span in server.requests]
    fetched = sum(int(stop) + 1 - int(start) for start, stop in spans)
    assert fetched < len(whole) / 3


def test_predictions_and_rows_in_memory_read_from_a_web_server(folder, tmp_path):
    model = GaussianNB.from_files(folder / "a.csv", target="label", exclude=["name", "flag"])
    with web_server(content(folder), busy=2) as server:
        there = server.at("/a.csv")
        predict(model, there, tmp_path / "there.csv", proba=True, id=["name"])
        table = read(there, target="label", columns=["count"])
    predict(model, folder / "a.csv", tmp_path / "here.csv", proba=True, id=["name"])
    assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    assert table.X.equals(read(folder / "a.csv", target="label", columns=["count"]).X)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".arrow"])
def test_a_model_is_evaluated_on_a_web_server(folder, ending):
    how = {"folds": 3, "exclude": ["name", "flag"]}
    with web_server(content(folder), busy=2, breaks=1) as server:
        there = naively.evaluate(GaussianNB(), server.at(f"/a{ending}"), "label", **how)
    here = naively.evaluate(GaussianNB(), folder / f"a{ending}", "label", **how)
    assert there.to_dict() == here.to_dict()


def test_a_model_is_loaded_from_a_web_server(tmp_path):
    model = GaussianNB().fit([[0.0], [2.0]], ["a", "b"])
    model.save(tmp_path / "m.safetensors")
    with web_server({"/m.safetensors": (tmp_path / "m.safetensors").read_bytes()}) as server:
        assert naively.load(server.at("/m.safetensors")).summary_ == model.summary_
        with pytest.raises(
            NaivelyError, match=r"cannot read 'http:.*no.such': there is no such fi"
        ):
            naively.load(server.at("/no.such"))


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
@pytest.mark.parametrize("lie", ["length", "total"])
def test_a_server_that_lies_about_a_size_takes_no_memory(tmp_path, lie, ranges):
    model = GaussianNB().fit([[0.0], [2.0]], ["a", "b"])
    model.save(tmp_path / "m.safetensors")
    content = (tmp_path / "m.safetensors").read_bytes()
    with web_server({"/m.safetensors": content}, lie=lie, ranges=ranges) as server:
        address = server.at("/m.safetensors")
        if (lie == "length") == ranges:  # the bytes that were asked for have come all the same
            assert naively.load(address).summary_ == model.summary_
            return
        with pytest.raises(NaivelyError, match=r"other bytes than|broke off|ended early"):
            naively.load(address)


@pytest.mark.parametrize("to", ["ftp://127.0.0.1:9/m.csv", "file:///etc/passwd", "data:,x%0A1"])
def test_a_web_server_leads_to_web_servers_alone(to):
    with web_server({"/a.csv": b"x,y\n1,a\n2,b\n"}) as server:
        server.redirects = {"/led.csv": to, "/twice.csv": server.at("/led.csv")}
        for path in ("/led.csv", "/twice.csv"):
            with pytest.raises(NaivelyError, match=r"cannot read .* the server answers 302"):
                files.summarize(server.at(path), target="y")
        server.redirects = {"/led.csv": "/a.csv"}
        assert files.summarize(server.at("/led.csv"), target="y").weight == 2


def test_nothing_is_written_to_a_web_server(tmp_path):
    model = GaussianNB().fit([[0.0], [2.0]], ["a", "b"])
    with web_server({}) as server, pytest.raises(NaivelyError, match="web server are only read"):
        model.save(server.at("/m.safetensors"))


WRONG = {
    "missing": ("/none.csv", {}, r"there is no such file \(404\)"),
    "busy for ever": ("/a.csv", {"busy": 999}, "the server answers 503"),
    "behind a password": ("/a.csv", {"password": "ada:other"}, r"permission denied \(401\)"),
    "breaking off for ever": ("/a.csv", {"breaks": 999}, "broke off or gave no answer"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_with_a_web_server_is_told_without_secrets(kind):
    path, mood, message = WRONG[kind]
    served = {"/a.csv": b"x,y\n1,a\n2,b\n"}
    with web_server(served, **mood) as server, pytest.raises(NaivelyError, match=message) as caught:
        files.summarize(server.at(path, USER) + SIGNED, target="y")
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert "s3cr3t" not in told
    assert "://***@127.0.0.1" in told


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(
        NaivelyError, match=r"'http://127.0.0.1:9/a.csv': its server broke off or ga"
    ):
        files.summarize("http://127.0.0.1:9/a.csv", target="y")
    wrong = "http:///a.csv", "http://a b/c.csv", "http://[::1/a.csv", f"http://{'a' * 99}/a.csv"
    for address in wrong:
        with pytest.raises(NaivelyError, match=r"no address of a web server|no host given"):
            files.summarize(address, target="y")


def test_a_server_that_is_silent_is_given_up(monkeypatch):
    import socket

    monkeypatch.setattr(web, "TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/a.csv"
        with pytest.raises(NaivelyError, match=r"gave no answer for 0.05 seconds"):
            files.summarize(address, target="y")


def test_a_password_is_sent_to_its_own_server_alone():
    rows = {"/a.csv": b"x,y\n1,a\n2,b\n"}
    with web_server(rows, password="ada:s3cr3t") as own, web_server(rows) as other:
        assert files.summarize(own.at("/a.csv", "ada:s3cr3t@"), target="y").weight == 2
        own.redirects["/led.csv"] = other.at("/a.csv")
        assert files.summarize(own.at("/led.csv", "ada:s3cr3t@"), target="y").weight == 2
        assert other.requests
        assert not any(other.authorized)


def test_addresses_that_differ_in_secrets_alone_are_two_files():
    with web_server({"/a.csv": b"x,y\n1,a\n2,b\n"}) as server:
        paths = [server.at("/a.csv?part=1"), server.at("/a.csv?part=2"), server.at("/a.csv?part=2")]
        found = files.scan(paths, target="y")
    assert found.rows == 4


def test_a_file_that_changes_while_it_is_read_is_told(monkeypatch):
    content = {"/a.csv": b"x,y\n" + b"1,a\n2,b\n" * 5000}
    with web_server(content) as server:

        def change(*_):
            content["/a.csv"] = b"x,y\n" + b"3,a\n2,b\n" * 5000

        with pytest.raises(NaivelyError, match="it changed while it was read"):
            files.scan(server.at("/a.csv"), target="y", progress=change)


def test_an_empty_file_is_told():
    for ranges in (True, False):
        with (
            web_server({"/a.csv": b""}, ranges=ranges) as server,
            pytest.raises(NaivelyError, match="it is empty"),
        ):
            files.summarize(server.at("/a.csv"), target="y")


def test_the_format_is_told_by_the_path_or_by_the_content(folder):
    whole = content(folder)
    served = {
        "/rows": gzip.compress(whole["/a.jsonl"]),
        "/b.csv": whole["/a.csv.gz"],
        "/kind=z/c.csv": b"x,y\n1,a\n2,b\n",
    }
    with web_server(served) as server:
        assert scan_numbers(server.at("/rows"), target="label").rows == 3000
        assert scan_numbers(server.at("/b.csv?download=a/b.parquet"), target="label").rows == 3000
        found = files.scan(server.at("/kind=z/c.csv"), target="y").summary
    assert found.schema.names == ("x", "kind")


@pytest.mark.usefixtures("small_pieces")
def test_a_pass_over_remote_files_goes_on_and_its_checkpoint_holds_no_secret(folder, tmp_path):
    def stop(rows, *_):
        if rows > 1000:
            raise KeyboardInterrupt

    with web_server(content(folder)) as server:
        there = server.at("/a.csv")
        how = {"target": "label", "checkpoint": tmp_path / "so-far"}
        with pytest.raises(KeyboardInterrupt):
            summarize_numbers(there + SIGNED, progress=stop, **how)
        assert b"s3cr3t" not in (tmp_path / "so-far").read_bytes()
        found = summarize_numbers(there + SIGNED.replace("s3cr3t", "another"), **how)
    assert found == summarize_numbers(folder / "a.csv", target="label")


def test_an_error_about_a_remote_file_can_be_pickled():
    with web_server({}) as server, pytest.raises(NaivelyError) as caught:
        files.summarize(server.at("/a.csv"), target="y")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
