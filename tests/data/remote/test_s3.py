"""Objects of a store that speaks like S3, and what fsspec knows."""

import gzip
import subprocess
import sys
import traceback

import fsspec
import pytest

import naively
from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.engines import files
from naively.engines.files import predict
from naively.engines.files.sources import resolve
from naively.errors import install
from tests.commands import fails, run_well
from tests.servers import BUCKET, SECRETS, bucket, s3_endpoint
from tests.written import rows, small_pieces, summarize_numbers, write

__all__ = ["bucket", "s3_endpoint", "small_pieces"]  # fixtures

ENDINGS = [".csv", ".csv.gz", ".csv.zst", ".jsonl", ".parquet", ".feather", ".arrow", ".arrows"]


@pytest.fixture
def copied(tmp_path, bucket):
    """The same rows in every format: in a folder, and below a key."""
    for ending in ENDINGS:
        path = write(rows(), tmp_path / f"a{ending}")
        bucket.put(f"here/{path.name}", path.read_bytes())
    return tmp_path


@pytest.mark.usefixtures("small_pieces")
def test_an_object_gives_the_bits_of_the_same_file_here(copied):
    for ending in ENDINGS:
        there = summarize_numbers(f"s3://{BUCKET}/here/a{ending}", target="label")
        assert there == summarize_numbers(copied / f"a{ending}", target="label"), ending


def test_folders_and_globs_find_what_they_find_here(tmp_path, bucket):
    names = ["year=1/a.csv", "year=1/b.csv", "year=2/a.csv", "c.csv", "_SUCCESS", "year=2/.a.crc"]
    for i, name in enumerate(names):
        content = f"x,y\n{i},a\n{2 * i},b\n" if name.endswith(".csv") else ""
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
        bucket.put(f"t/{name}", content)
    for found in ("year=*/a.csv", "year=?/[ab].csv", "**/a.csv", "*.csv", "year=[!1]/*"):
        here = resolve(str(tmp_path / found))
        there = resolve(f"s3://{BUCKET}/t/{found}")
        assert [(f.partitions, f.size) for f in there] == [(f.partitions, f.size) for f in here]
    for folder in ("year=1", "year=2", "year=1/"):
        there = files.summarize(f"s3://{BUCKET}/t/{folder}", target="y")
        assert there == files.summarize(tmp_path / folder, target="y")
    with pytest.raises(NaivelyError, match=r"a file that matches 's3://data/t/\*.tsv'; got none"):
        files.summarize(f"s3://{BUCKET}/t/*.tsv", target="y")


def test_a_model_is_saved_and_loaded_where_it_is(bucket):
    model = NaiveBayes().fit([["a", 1.0], ["b", 2.0]] * 20, ["x", "y"] * 20)
    model.save(f"s3://{BUCKET}/models/m.safetensors")
    assert naively.load(f"s3://{BUCKET}/models/m.safetensors").summary_ == model.summary_
    bucket.put("models/n.safetensors", b"nonsense")
    with pytest.raises(NaivelyError, match=r"'s3://data/models/n.safetensors' is not a valid mod"):
        naively.load(f"s3://{BUCKET}/models/n.safetensors")


def test_predictions_are_written_whole_or_not_at_all(copied, bucket):
    model = GaussianNB.from_files(copied / "a.csv", target="label", exclude=["name"])
    for ending in (".csv", ".parquet", ".arrow"):
        predict(model, f"s3://{BUCKET}/here/a.csv", f"s3://{BUCKET}/p{ending}", proba=True)
        predict(model, copied / "a.csv", copied / f"p{ending}", proba=True)
        assert bucket.get(f"p{ending}") == (copied / f"p{ending}").read_bytes()
    bucket.put("broken.csv", b"ratio,count,short,flag\n" + b"1,2,3,true\n" * 9000 + b"1,2\n")
    before = bucket.keys()
    with pytest.raises(NaivelyError, match=r"cannot read 's3://data/broken.csv'"):
        predict(model, f"s3://{BUCKET}/broken.csv", f"s3://{BUCKET}/q.csv")
    assert bucket.keys() == before


WRONG = {
    "no such object": ("s3://data/none.csv", "there is no such file"),
    "no such bucket": ("s3://nowhere-at-all/a.csv", "there is no bucket 'nowhere-at-all'"),
    "no such folder": ("s3://data/none/", "there is no such file"),
    "a password": ("s3://key:s3cr3t/and/more@data/a.csv", "must hold no password. Credentials are"),
    "a scheme that nobody knows": ("klingon://data/a.csv", "Protocol not known: klingon"),
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.usefixtures("bucket")
def test_what_is_wrong_with_an_address_is_told(kind):
    address, message = WRONG[kind]
    for use in (lambda: files.summarize(address, target="y"), lambda: naively.load(address)):
        with pytest.raises(NaivelyError, match=message) as caught:
            use()
        assert "s3cr3t" not in "".join(traceback.format_exception(caught.value))


def test_a_model_is_not_saved_to_a_bucket_that_is_not_there(bucket):
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(NaivelyError, match=r"cannot write .*nowhere/m.*there is no such bucket"):
        model.save("s3://nowhere/m.safetensors")


def test_a_store_that_is_not_there_is_told_without_secrets(bucket, monkeypatch):
    from naively.data.remote import stores

    monkeypatch.setattr(stores, "_ATTEMPTS", 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(
        NaivelyError, match=r"'s3://data/a.csv': its server does not answer"
    ) as caught:
        files.summarize("s3://data/a.csv", target="y")
    told = "".join(traceback.format_exception(caught.value))
    assert not any(secret in told for secret in SECRETS.values())


def test_the_command_line_reads_and_writes_where_files_are(tmp_path, copied, bucket, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there, model = f"s3://{BUCKET}/here/a.csv", f"s3://{BUCKET}/m.safetensors"
    learn = "-t", "label", "--exclude", "name"
    fitted = run_well("fit", there, *learn, "-o", model)
    assert f"{model}: NaiveBayes of 3,000 rows" in fitted.output
    run_well("fit", copied / "a.csv", *learn, "-o", tmp_path / "m.safetensors")
    assert bucket.get("m.safetensors") == (tmp_path / "m.safetensors").read_bytes()
    out = f"s3://{BUCKET}/p.csv"
    assert f"{out}: 3,000 predictions" in run_well("predict", model, there, "-o", out).output
    assert bucket.get("p.csv").count(b"\n") == 3001
    assert "accuracy" in run_well("evaluate", there, *learn, "--folds", "2").output.lower()
    assert "row" in run_well("explain", model, there, "--row", "3").output
    run_well("drift", model, there, "-o", f"s3://{BUCKET}/drift.html")
    assert bucket.get("drift.html").startswith(b"<!")
    run_well("update", model, there, "-t", "label")
    assert naively.load(model).summary_.weight == 6000
    assert "another file than the input" in fails("predict", model, there, "-o", there)
    assert "each model counts once" in fails("merge", model, model, "-o", out)
    assert "there is no bucket 'nowhere'" in fails("fit", there, *learn, "-o", "s3://nowhere/m")
    far = fails("fit", there, *learn, "--checkpoint", f"s3://{BUCKET}/so-far")
    assert "a checkpoint must be a file of this machine" in far


def test_what_fsspec_knows_is_read_and_written():
    memory = fsspec.filesystem("memory")
    memory.pipe("/data/a.csv", b"x,y\n1,a\n2,b\n")
    memory.pipe("/data/b.csv.gz", gzip.compress(b"x,y\n3,a\n4,b\n"))
    for source in ("memory://data", "memory://data/*.csv*", "memory:///data"):
        assert files.scan(source, target="y").rows == 4
    GaussianNB.from_files("memory://data/a.csv", target="y").save("memory://m.safetensors")
    assert naively.load("memory://m.safetensors").summary_.weight == 2
    with pytest.raises(
        NaivelyError, match=r"cannot read 'memory://none.csv': there is no such file"
    ):
        files.scan("memory://none.csv", target="y")


def test_a_file_may_be_called_by_its_address(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    address = (tmp_path / "a.csv").as_uri()
    assert files.summarize(address, target="y") == files.summarize(tmp_path / "a.csv", target="y")


def test_a_package_that_is_not_there_is_named_with_its_extra():
    code = (
        "import sys; sys.modules['fsspec'] = None; import naively; "
        "naively.summarize('hf://datasets/a/b.csv', target='y')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    needed = f"reading hf:// needs the package fsspec: {install('remote')}."
    assert run.stderr.strip().endswith(needed)
