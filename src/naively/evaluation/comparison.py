"""Two classifiers side by side: what they say, how well, and how fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from naively.evaluation.evaluation import Evaluation
from naively.evaluation.metrics import Confidence
from naively.tabular import PrintedTable, Tabular, figure, plain


@dataclass(frozen=True)
class Timing:
    """Seconds of one call, over so many runs: median and quartiles, mean and standard deviation.

    The median is what is shown: a neighbour on the machine slows down a few runs by far, which
    moves the mean.

    >>> print(Timing.of([0.0123, 0.0121, 0.0127, 0.0122, 0.0913]))
    12.3 ms (12.2 to 12.7)
    """

    median: float
    quartiles: tuple[float, float]
    mean: float
    std: float  # NaN of one run
    runs: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Timing:
        """Return the timing of runs that took so many seconds."""
        lower, median, upper = map(float, np.quantile(seconds, (0.25, 0.5, 0.75)))
        std = float(np.std(seconds, ddof=1)) if len(seconds) > 1 else float("nan")
        return cls(median, (lower, upper), float(np.mean(seconds)), std, len(seconds))

    def __str__(self) -> str:
        units = {"s": 1.0, "ms": 1e3, "µs": 1e6}
        unit = next((unit for unit in units if self.median * units[unit] >= 1), "µs")
        median, lower, upper = (t * units[unit] for t in (self.median, *self.quartiles))
        digits = 2 if median < 10 else 1 if median < 100 else 0
        spread = f" ({lower:.{digits}f} to {upper:.{digits}f})" if self.runs > 1 else ""
        return f"{median:.{digits}f} {unit}{spread}"


class Difference(NamedTuple):
    """By how much probabilities differ, over all rows and classes."""

    max: float
    mean: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabular):
    """Two classifiers a and b, fitted on the same rows and evaluated on the same test rows.

    It prints as tables (`print`, rich, a notebook); `to_dict` gives plain numbers. Pairs are in
    the order a, b.

    Attributes
    ----------
    names : pair of str
        What the two are called.
    agreement : float
        Share of test rows for which both predict the same class.
    train_accuracy, test_accuracy : pair of float
        Share of rows whose predicted class is the true one.
    accuracy_difference : float
        That of a less that of b, on the test rows.
    confidence : pair of Confidence
        Mean of the largest probability of each test row.
    probability_difference : Difference
        Largest and mean difference of their probabilities on the test rows; NaN where one of
        them has none.
    fit_seconds, predict_seconds : pair of Timing
        Of fitting the training rows, and of predicting the test rows.
    fit_ratio, predict_ratio : float
        How many times as fast a is: the median time of b over that of a.
    evaluations : pair of Evaluation
        All other figures, of the test rows; those of the training rows are in their ``train``.

    Examples
    --------
    >>> from naively import GaussianNB, compare
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> found = compare(GaussianNB(), GaussianNB(variance="shared"), X, y, test_size=2, repeats=1)
    >>> found.agreement
    1.0
    """

    names: tuple[str, str]
    agreement: float
    train_accuracy: tuple[float, float]
    test_accuracy: tuple[float, float]
    accuracy_difference: float
    confidence: tuple[Confidence, Confidence]
    probability_difference: Difference
    fit_seconds: tuple[Timing, Timing]
    predict_seconds: tuple[Timing, Timing]
    fit_ratio: float
    predict_ratio: float
    evaluations: tuple[Evaluation, Evaluation]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it; what is NaN or infinite is None."""
        figures = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "evaluations"}
        figures["probability_difference"] = self.probability_difference._asdict()
        for name in ("confidence", "fit_seconds", "predict_seconds"):
            figures[name] = [asdict(value) for value in figures[name]]
        return {**plain(figures), "evaluations": [e.to_dict() for e in self.evaluations]}

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: figures of both, and how alike they are."""
        return [self._figures(), self._likeness()]

    def __repr__(self) -> str:
        return (
            f"<Comparison of {self.names[0]} and {self.names[1]}: agreement {self.agreement:.4f}, "
            f"fit {self.fit_ratio:.3g}x, predict {self.predict_ratio:.3g}x>"
        )

    def _figures(self) -> PrintedTable:
        a, b = self.confidence
        pairs = {
            "test accuracy": self.test_accuracy,
            "train accuracy": self.train_accuracy,
            "confidence": (a.overall, b.overall),
            "confidence where right": (a.correct, b.correct),
            "confidence where wrong": (a.wrong, b.wrong),
            "loss": (self.evaluations[0].loss, self.evaluations[1].loss),
        }
        rows: list[tuple[str, ...]] = [
            (name, figure(a), figure(b), figure(0.0 if a == b else a - b))
            for name, (a, b) in pairs.items()
        ]
        rows.append(("fit", *map(str, self.fit_seconds), f"{self.fit_ratio:.3g}x"))
        rows.append(("predict", *map(str, self.predict_seconds), f"{self.predict_ratio:.3g}x"))
        judged = self.evaluations[0]
        title = f"{judged.method}: {judged.n_rows:,} rows, {judged.classes.size} classes"
        return PrintedTable(title, ("", *self.names, "difference"), tuple(rows))

    def _likeness(self) -> PrintedTable:
        largest, mean = self.probability_difference
        rows = (
            ("same prediction", figure(self.agreement)),
            ("largest difference of a probability", f"{largest:.2g}"),
            ("mean difference of a probability", f"{mean:.2g}"),
        )
        return PrintedTable("how alike they are", ("", "value"), rows)
