"""Random tables of every kind of column, and models that take them, for `tests.fuzz.routes`.

What is drawn are names and a seed, so that a case is small to print and to shrink.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

TOWNS = ["Ulm", "Bonn", "Köln", "日本", "it's"]
ODD = [
    "",
    " a",
    "a ",
    "1",
    "01",
    "1.0",
    "true",
    "NaN",
    "None",
    "a,b",
    'a"b',
    "x\ny",
    "é",
    "e\u0301",
]
WORDS = ["the", "red", "green", "big", "small", "fox", "dog", "runs", "jumps", "sleeps", "river"]


def prices(rng, codes, n):
    cells = [Decimal(int(cell)) / 100 for cell in rng.integers(0, 9999, n)]
    return pa.array(cells, pa.decimal128(9, 2))


def times(kind):
    def drawn(rng, codes, n):
        minutes = [timedelta(minutes=int(m)) for m in rng.integers(-(10**7), 10**7, n)]
        zone = UTC if getattr(kind, "tz", None) else None
        return pa.array([datetime(1970, 1, 1, tzinfo=zone) + m for m in minutes]).cast(
            kind, safe=False
        )

    return drawn


NUMBERS = {  # of a generator, the codes of the classes, and the number of rows
    "normal": lambda rng, codes, n: rng.normal(codes),
    "far": lambda rng, codes, n: 1e8 + rng.normal(codes),
    "huge": lambda rng, codes, n: 1e100 * rng.normal(codes),
    "tiny": lambda rng, codes, n: 1e-100 * rng.normal(codes),
    "skewed": lambda rng, codes, n: rng.lognormal(codes, 3.0),
    "share": lambda rng, codes, n: rng.beta(2, 2 + codes),
    "rounded": lambda rng, codes, n: rng.normal(codes).round(1),
    "constant": lambda rng, codes, n: np.full(n, 0.1),
    "short": lambda rng, codes, n: rng.normal(codes).astype(np.float32),
    "powers": lambda rng, codes, n: rng.integers(-9, 9, n) * 10.0**codes,
    "integer": lambda rng, codes, n: rng.integers(-(2**40), 2**40, n),
    "large": lambda rng, codes, n: rng.integers(2**53, 2**62, n),
    "price": prices,
    "nothing": lambda rng, codes, n: pa.nulls(n),
}
COUNTS = {
    "count": lambda rng, codes, n: rng.poisson(1.0 + codes),
    "code": lambda rng, codes, n: rng.integers(0, 3, n).astype(np.int16),
    "flag": lambda rng, codes, n: rng.random(n) < 0.3 + 0.1 * codes,
}
OTHERS = {
    "town": lambda rng, codes, n: rng.choice(TOWNS, n),
    "odd": lambda rng, codes, n: rng.choice(ODD, n),
    "text": lambda rng, codes, n: [" ".join(rng.choice(WORDS, 5)) for _ in range(n)],
    "day": times(pa.date32()),
    "time": times(pa.timestamp("us")),
    "instant": times(pa.timestamp("us", "UTC")),
}
COLUMNS = NUMBERS | COUNTS | OTHERS
LABELS = {
    "text": ["a", "b", "ü", "d e"],
    "odd text": ["1", "01", "true", "a,b"],
    "integers": [-2, 0, 7, 10],
    "64 bits": [-(2**62), 2**53, 2**53 + 1, 2**63 - 1],
    "booleans": [False, True],
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "fractions": lambda rng, n: rng.choice([0.0, 0.1, 0.5, 1.0, 3.7], n),
}


@dataclass(frozen=True)
class Rows:
    """A table with its labels and weights."""

    table: pa.Table
    y: Any
    w: Any

    @classmethod
    def drawn(cls, rng, case, n):
        labels = LABELS[case["labels"]][: case["classes"]]
        codes = rng.integers(0, len(labels), n)
        made = {f"c{j}": column(rng, codes, *its) for j, its in enumerate(case["columns"])}
        return cls(pa.table(made), np.array(labels)[codes], WEIGHTS[case["weights"]](rng, n))

    def take(self, at):
        return Rows(self.table.take(at), self.y[at], None if self.w is None else self.w[at])

    def parts(self, rng):
        """Return all rows in some parts; the first has the heaviest row."""
        part = rng.integers(0, 3, len(self.y))
        part[0 if self.w is None else self.w.argmax()] = 0
        return [self.take(np.flatnonzero(part == i)) for i in np.unique(part)]


def column(rng, codes, name, holes):
    made = pa.array(COLUMNS[name](rng, codes, len(codes)))
    missing = rng.random(len(codes)) < holes
    missing[0] = False  # text files could not know the type of nothing
    return pc.if_else(pa.array(missing), pa.scalar(None, made.type), made)


FAMILIES = ["gaussian", "student_t", "histogram", "categorical", "best", "poisson", "log_normal"]
FAMILIES += ["gamma", "exponential", "kernel_density", ("gaussian", "histogram")]
CALIBRATED = {"calibration": [None, None, "temperature", "weights"]}
SMOOTHED = {"alpha": [1.0, 0.1, 0.0], "force_alpha": [True], "fit_prior": [True, False]}
ESTIMATORS = {  # the columns that they take, and their options
    "NaiveBayes": (
        COLUMNS,
        CALIBRATED
        | {
            "families": [None, None, "best", *({"c0": family} for family in FAMILIES)],
            "interactions": ["auto", None],
        },
    ),
    "GaussianNB": (
        NUMBERS | COUNTS,
        CALIBRATED
        | {
            "var_smoothing": [1e-9, 0.0, 0.1],
            "variance": ["class", "shared"],
            "ddof": [0, 1],
            "smoothing": ["global", "column"],
        },
    ),
    "MultinomialNB": (COUNTS, SMOOTHED),
    "ComplementNB": (COUNTS, SMOOTHED | {"norm": [False, True]}),
    "BernoulliNB": (COUNTS, SMOOTHED | {"binarize": [0.0, 1.0]}),
    "CategoricalNB": (COUNTS, SMOOTHED),
}


def cases(name, **routes):
    """Draw tables for an estimator, its options, and some routes of each list."""
    columns, options = ESTIMATORS[name]
    options = options | {"class_weight": [None, "balanced"]}
    columns = st.tuples(st.sampled_from(list(columns)), st.sampled_from([0.0, 0.2, 0.9]))
    some = {
        key: st.lists(st.sampled_from(list(its)), min_size=1, max_size=3, unique=True)
        for key, its in routes.items()
    }
    return st.fixed_dictionaries(
        {
            "estimator": st.just(name),
            "options": st.fixed_dictionaries({k: st.sampled_from(v) for k, v in options.items()}),
            "columns": st.lists(columns, min_size=1, max_size=6),
            "n": st.integers(1, 30) | st.integers(30, 300),
            "labels": st.sampled_from(list(LABELS)),
            "classes": st.integers(1, 4),
            "weights": st.sampled_from(list(WEIGHTS)),
            "seed": st.integers(0, 10**6),
            **some,
        }
    )
