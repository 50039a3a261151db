"""The works, and the bars that each must pass: how many times as fast as a peer, at least.

A bar below one allows to be slower: ``2x its own time`` is a bar of 0.5.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sklearn.datasets import load_iris

from benchmarks import contests
from benchmarks.contests import SUM, WITHOUT, Contest
from benchmarks.tables import Columns, Options, mark, seconds
from benchmarks.timing import race
from benchmarks.workloads import Data, clouds, formed

__all__ = ["BRIEF", "COLUMNS", "WORKS", "Work", "measure", "records"]


SKLEARN = "scikit-learn"


class Work(NamedTuple):
    """A contest on some rows; ``bars`` names the peers, and None stands for no bar."""

    name: str
    contest: Callable[..., Contest]
    data: Callable[[], Data]
    bars: dict[str, float | None]
    options: Mapping[str, Any] = MappingProxyType({})


def _million(form: str = "float64") -> Data:
    return formed(form, clouds(1_000_000, 50, 10))


def _iris() -> Data:
    return Data(*load_iris(return_X_y=True))


def _fit(form: str, **options: float) -> Work:
    name = f"fit, same, {form}"
    return Work(name, contests.fit, lambda: _million(form), {SKLEARN: 25}, options)


# fmt: off
WORKS = [
    Work("fit, 1,000,000 x 50 float64, 10 classes", contests.fit, _million,
         {SKLEARN: 40, "mlpack": 4}),
    _fit("float32", rtol=1e-3),  # scikit-learn sums float32 in float32
    _fit("Fortran order"),
    _fit("pandas frame"),
    _fit("polars frame"),
    Work("fit, same, 10 % NaN", contests.fit_missing, _million, {WITHOUT: 1 / 2}),
    Work("predict, same, 10 % NaN", contests.predict_missing, _million, {WITHOUT: 1 / 2}),
    Work("predict, same", contests.predict, _million, {SKLEARN: 150, "mlpack": None}),
    Work("predict_proba, same", contests.predict_proba, _million, {SKLEARN: 60}),
    Work("fit, same, beside reading", contests.fit, _million, {SUM: 1 / 1.3}),
    Work("predict, same, beside reading", contests.predict, _million, {SUM: 1 / 1.8}),
    Work("predict_proba, same, beside reading", contests.predict_proba, _million, {SUM: 1 / 3}),
    Work("predict, 200,000 x 100, 100 classes", contests.predict,
         lambda: clouds(200_000, 100, 100), {SKLEARN: 150}),
    Work("fit, 200,000 x 100, 1,000 classes", contests.fit,
         lambda: clouds(200_000, 100, 1_000), {SKLEARN: 20}),
    Work("fit, 20,000 x 5,000, 10 classes", contests.fit,
         lambda: clouds(20_000, 5_000, 10), {SKLEARN: 20, "mlpack": None}),
    Work("fit, Iris", contests.fit, _iris, {SKLEARN: 1 / 0.15}),
    Work("predict, one row of Iris", contests.predict, _iris, {SKLEARN: 1 / 0.15}, {"rows": 1}),
    Work("predict_one, a row of Iris", contests.predict_one, _iris, {SKLEARN: 1 / 0.05}),
    Work("partial_fit, 20 columns, 20,000 rows one by one", contests.stream,
         lambda: clouds(100_000, 20, 5), {SKLEARN: 5, "river": None}),
]
# fmt: on


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Hold every contest, and yield one record for each peer in it."""
    for work in WORKS:
        if options.only in work.name:
            yield from _held(work, options)
            gc.collect()


def _held(work: Work, options: Options) -> Iterator[dict[str, Any]]:
    peers, data = [name for name in work.bars if name not in (SUM, WITHOUT)], work.data()
    contest = work.contest(data, *peers, **work.options)
    if SUM in work.bars:
        contest = contests.beside_sum(contest, data.X)
    yield from records(work.name, contest, work.bars, options)


def records(
    name: str, contest: Contest, bars: Mapping[str, float | None], options: Options
) -> Iterator[dict[str, Any]]:
    """Hold a contest, and yield one record for each peer in it."""
    times = race(*contest[:2], rounds=options.rounds, patience=options.patience)
    ours = times.pop("naively")
    for peer, theirs in times.items():
        ratio, bar = theirs.median / ours.median, bars[peer]
        yield {
            "work": name,
            "bytes": contest.bytes,
            "peer": peer,
            "ours": ours._asdict(),
            "theirs": theirs._asdict(),
            "ratio": ratio,
            "ratio_of_best": theirs.best / ours.best,
            "bar": bar,
            "met": None if bar is None else ratio >= bar,
        }


COLUMNS: Columns = {
    "work": lambda r: r["work"],
    "naively": lambda r: seconds(r["ours"]["median"]),
    "GB/s": lambda r: f"{r['bytes'] / r['ours']['median'] / 1e9:.2f}",
    "compared with": lambda r: r["peer"],
    "its time": lambda r: seconds(r["theirs"]["median"]),
    "times as fast": lambda r: f"{r['ratio']:.3g}",
    "by best runs": lambda r: f"{r['ratio_of_best']:.3g}",
    "goal": lambda r: "" if r["bar"] is None else f"{r['bar']:.3g}",
    "met": lambda r: mark(r["met"]),
}
BRIEF: Columns = {
    "task": lambda r: r["work"].replace("same", "same rows"),
    "naively": COLUMNS["naively"],
    "scikit-learn": COLUMNS["its time"],
    "times as fast": lambda r: f"{r['ratio']:.0f}",
}
