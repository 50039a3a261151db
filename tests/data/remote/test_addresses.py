"""Which paths are remote, and what of them is shown."""

import subprocess
import sys
from pathlib import Path

import pytest

from naively.data import remote

SECRET = "s3cr3t-signature"
REMOTE = {
    "s3://bucket/a.csv": "s3://bucket/a.csv",
    "S3://bucket/a.csv": "S3://bucket/a.csv",
    "hf://datasets/ada/iris/a.csv": "hf://datasets/ada/iris/a.csv",
    "memory://a.csv": "memory://a.csv",
    Path("s3://bucket/a.csv"): "s3://bucket/a.csv",
    Path("https://example.org/a.csv"): "https://example.org/a.csv",
}
LOCAL = [
    "a.csv",
    "/tmp/a.csv",
    "-",
    "c:/a.csv",
    "C:\\a.csv",
    "year=2024/a.csv",
    "",
    "a:b/c",
    "s3:a",
]
SHOWN = {
    f"https://ada:{SECRET}@example.org/a.csv": "https://***@example.org/a.csv",
    f"https://{SECRET}@example.org/a.csv": "https://***@example.org/a.csv",
    f"https://example.org/a.csv?X-Amz-Signature={SECRET}&part=7": (
        "https://example.org/a.csv?X-Amz-Signature=***&part=***"
    ),
    f"https://acc.blob.core.windows.net/c/a.csv?sv=1&sig={SECRET}": (
        "https://acc.blob.core.windows.net/c/a.csv?sv=***&sig=***"
    ),
    f"s3://key:{SECRET}@bucket/a.csv": "s3://***@bucket/a.csv",
    f"s3://key:{SECRET}/x@bucket/a.csv": "s3://***@bucket/a.csv",
    "http://example.org:8080/a@b.csv": "http://example.org:8080/a@b.csv",
    "s3://anonymous@bucket/a.csv": "s3://anonymous@bucket/a.csv",
    "s3://bucket/year=2024/a@b.csv": "s3://bucket/year=2024/a@b.csv",
    "abfs://box@acc.dfs.core.windows.net/a.csv": "abfs://box@acc.dfs.core.windows.net/a.csv",
    f"abfs://box:{SECRET}@acc.dfs.core.windows.net/a.csv": (
        "abfs://***@acc.dfs.core.windows.net/a.csv"
    ),
}


@pytest.mark.parametrize("path", REMOTE)
def test_a_path_with_a_scheme_is_remote(path):
    assert remote.address_of(path) == REMOTE[path]
    assert remote.is_remote(path)


@pytest.mark.parametrize("path", LOCAL)
def test_other_paths_are_files_of_this_machine(path):
    assert not remote.is_remote(path)
    assert remote.shown(path) == path


@pytest.mark.parametrize("address", SHOWN)
def test_what_is_shown_of_an_address_holds_no_secret(address):
    assert SECRET not in remote.shown(address)
    assert remote.shown(address) == SHOWN[address]
    assert remote.shown(Path(address)) == SHOWN[address] or address.startswith("abfs")
    text = "cannot read '{}': it is no file."
    assert remote.hidden(text.format(address)) == text.format(SHOWN[address])


def test_secrets_of_the_environment_are_hidden_in_every_text(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalr/XUtn+FEMI")
    monkeypatch.setenv("HF_TOKEN", "hf_abcdefgh")
    monkeypatch.setenv("KEY", "a")  # too short to be one
    text = "the key wJalr/XUtn+FEMI and the token hf_abcdefgh are wrong"
    assert remote.hidden(text) == "the key *** and the token *** are wrong"


def test_nothing_heavy_is_imported_for_files_of_this_machine(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    code = (
        "import sys, naively; naively.summarize(sys.argv[1], target='y'); "
        "print(*{'fsspec', 'urllib.request', 'naively.data.remote.stores'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, tmp_path / "a.csv"]
    assert not subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
