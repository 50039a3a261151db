"""The cliffs: work of extreme sizes, with bars for time and memory.

Each function makes its data and returns the work, or the work and that of scikit-learn.
Add a function, and a row to `CLIFFS`.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from sklearn import naive_bayes

from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NaivelyError,
    summarize,
)

__all__ = ["CLIFFS", "Cliff"]

Work: TypeAlias = Callable[[], Any]


class Cliff(NamedTuple):
    """Work, and its bars: seconds, times the time of the peer, bytes beyond the data."""

    name: str
    works: Callable[[], Work | tuple[Work, Work]]
    seconds: float | None = None
    times: float | None = None
    memory: float | None = None


def _many_classes() -> Work:
    rng = np.random.default_rng(0)
    y = rng.integers(10_000, size=50_000)
    X = rng.normal(size=(10_000, 5))[y] + rng.normal(size=(50_000, 5))
    return lambda: NaiveBayes().fit(X, y)


def _many_columns(n_rows: int, n_columns: int) -> Work:
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, n_columns))
    X[:, ::10] += 0.5 * y[:, np.newaxis]
    return lambda: NaiveBayes().fit(X, y)


def _wide_frame(library: str) -> tuple[Work, Work]:
    y = np.arange(100) % 3
    columns = {
        f"c{j}": x for j, x in enumerate(np.random.default_rng(0).normal(size=(20_000, 100)))
    }
    frame = getattr(import_module(library), "table" if library == "pyarrow" else "DataFrame")(
        columns
    )
    return lambda: GaussianNB().fit(frame, y), lambda: naive_bayes.GaussianNB().fit(frame, y)


def _streamed_classes(kind: Any) -> Work:
    def work() -> None:
        model = kind()
        for i in range(100_000):
            model.learn_one([1.0, 2.0], f"class {i * 7919 % 100_000}")
        model.predict_one([1.0, 2.0])

    return work


def _new_classes(estimator: Any, n_columns: int = 5) -> Work:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1, n_columns))

    def learn() -> None:
        model = estimator()
        for k in range(2000):
            model.partial_fit(X[k], [k])

    return learn


_ROWS = 2_000_000


def _csv(*parts: str) -> Path:
    """Write a file that goes with the process."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    path = Path(folder) / "rows.csv"
    path.write_text("".join(parts), newline="")
    return path


def _csv_rows(newline: str, *parts: str) -> Work:
    """Read rows of CSV whose third column is not learned from."""
    path = _csv(f"x,y,note{newline}", f"1.5,a,q{newline}2.5,b,r{newline}" * (_ROWS // 2), *parts)
    return lambda: summarize(path, target="y", columns=["x"])


def _new_keys(n_rows: int) -> Work:
    """Read JSON lines each of which has a key of its own."""
    lines = (f'{{"y": {i % 2}, "x": {i % 7}, "key {i}": {i}.5}}\n' for i in range(n_rows))
    path = _csv(*lines).rename(Path(tempfile.mkdtemp()) / "rows.jsonl")
    atexit.register(shutil.rmtree, path.parent)
    return lambda: summarize(path, target="y")


def _open_quote() -> Work:
    path = _csv("x,note,y\n", "1.5,q,a\n" * 1000, '2.5,r,"b\n', "1.5,q,a\n" * _ROWS)

    def told() -> str:
        try:
            summarize(path, target="y", columns=["x"])
        except NaivelyError as error:
            return str(error)
        return "nothing"

    assert "the record that begins in line 1002" in told()
    return told


def _long_text() -> list[str]:
    """Return one text of 100 kB among 20,000 short ones."""
    return [f"t{i}" for i in range(20_000)] + ["x" * 100_000]


def _long_label() -> Work:
    X, y = np.arange(20_001.0)[:, np.newaxis], _long_text()

    def learn() -> None:
        model = GaussianNB().fit(X, y)
        model.partial_fit(X[-2:], y[-2:])
        model.predict(X[:1000])

    return learn


def _long_category() -> Work:
    frame = pd.DataFrame({"c": _long_text(), "x": np.arange(20_001.0)})
    y = np.arange(20_001) % 2

    def learn() -> None:
        model = NaiveBayes().fit(frame, y)
        model.partial_fit(frame[-2:], y[-2:])
        model.predict(frame)

    return learn


def _frames_of_one_row() -> Work:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("abcd"))
    frame["town"] = rng.choice(["Ulm", "Bonn", "Jena"], 1000)
    y = (frame.a > 0).to_numpy()
    model = NaiveBayes().fit(frame, y)
    rows = [(frame[i : i + 1], y[i : i + 1]) for i in range(100)]

    def learn() -> None:
        for X, label in rows:
            model.partial_fit(X, label)

    return learn


CLIFFS = [
    *(
        Cliff(f"GaussianNB, fit, 100 rows x 20,000 columns, {name}",
              partial(_wide_frame, name), times=10)
        for name in ("pandas", "polars", "pyarrow")
    ),
    Cliff("NaiveBayes, fit, 10,000 classes x 50,000 rows x 5 columns", _many_classes, 10),
    Cliff("NaiveBayes, fit, 50,000 columns x 200 rows", lambda: _many_columns(200, 50_000), 20),
    Cliff("NaiveBayes, fit, 5,000 columns x 500 rows", lambda: _many_columns(500, 5_000), 5),
    Cliff("GaussianNB, partial_fit, 2,000 new classes one by one",
          lambda: _new_classes(lambda: GaussianNB(open_classes=True)), 1),
    Cliff("GaussianNB, partial_fit, 2,000 new classes one by one, 50 columns",
          lambda: _new_classes(lambda: GaussianNB(open_classes=True), 50), 4),  # 3.2 GB are copied
    Cliff("NaiveBayes(calibration=None), partial_fit, 2,000 new classes one by one",
          lambda: _new_classes(lambda: NaiveBayes(calibration=None, open_classes=True)), 1),
    *(
        Cliff(f"{kind.__name__}, learn_one, 100,000 new classes",
              partial(_streamed_classes, kind), 5)
        for kind in (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)
    ),
    Cliff("CSV of 16 MB, a quote that is never closed", _open_quote, 0.5),
    Cliff("CSV of 16 MB, bare CR", lambda: _csv_rows("\r"), 1),
    Cliff("CSV of 16 MB, and a record of 100 MB",
          lambda: _csv_rows("\n", '3.5,a,"', "q,\n" * 33_000_000, '"\n'), 2),
    Cliff("CSV of 16 MB, and 20 quoted cells of 5 MB",
          lambda: _csv_rows("\n", *(['3.5,a,"' + "q,\n" * 1_700_000 + '"\n'] * 20)), 2),
    Cliff("CSV of 16 MB, and 5,000,000 doubled quotes",
          lambda: _csv_rows("\n", '3.5,a,"' + '""' * 5_000_000 + '"\n'), 1),
    Cliff("JSON lines, 4,000 with a new key each", lambda: _new_keys(4000), 4),
    Cliff("GaussianNB, a label of 100 kB among 20,001", _long_label, 2, memory=100e6),
    Cliff("NaiveBayes, a category of 100 kB among 20,001", _long_category, 2, memory=100e6),
    Cliff("NaiveBayes, partial_fit, 100 pandas frames of one row", _frames_of_one_row, 0.04),
]  # fmt: skip
