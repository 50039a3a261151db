r"""What was true and what was answered, row by row, and how sure a figure of these rows is.

A metric m depends on the share :math:`u_i` that each row has of all, 1/n without weights. Its
influence function :math:`\psi_i` is its derivative as row i gets more weight at the expense of all,
and

.. math:: \widehat{\mathrm{se}}(m)^2 = \sum_i u_i^2 \psi_i^2

is the variance of m over samples of rows: the infinitesimal jackknife. For the area under the ROC
curve it is DeLong's variance. One sort or one sum, no resampling, no chance.

A sample of few rows may lack what is rare: a wrong answer, a row of a small class. Intervals are
therefore computed from the rows and a few more, the *doubts*: :math:`z^2` of them, which is four
for an interval of 95 %; the same number of each class, one half answered right and the other half
wrong. For accuracy that is Agresti and Coull's interval, for the balanced accuracy of two classes
Agresti and Caffo's. The losses and Brier scores of the doubts are root mean squares: over the right
rows, or the wrong ones, and over those that a model which is too sure by a factor of four expects:
:math:`p_{ik}^{1/4}` rows of each class k with the loss :math:`-\log p_{ik}`.

Rows of files stream by (`TotalJudgement`): every figure that is a sum is exact, however many rows
there are, and some rows are kept. Ranks need more. The log odds of each class fall into bins of
equal width w, :math:`w = 1/2048` for up to 8 classes, and rows of one bin count as ties. The area
under the ROC curve that is read off the bins differs from that of all rows by at most

.. math:: \frac12 \sum_b \frac{P_b}{P} \frac{N_b}{N}

where :math:`P_b` and :math:`N_b` are the rows of the class and of the rest in bin b: half of the
pairs that share a bin.

References
----------
L. A. Jaeckel (1972), The infinitesimal jackknife. E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson
(1988), Comparing the areas under two or more correlated ROC curves. A. Agresti, B. A. Coull (1998),
Approximate is better than "exact" for interval estimation of binomial proportions. A. Agresti,
B. Caffo (2000), Simple and effective confidence intervals for proportions and differences of
proportions result from adding two successes and two failures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from math import inf
from threading import Lock
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from naively.data.types import Floats
from naively.engines.memory.arrays import summarize
from naively.evaluation.curves import ClassCurve
from naively.statistics import Moments

N_BINS = 10


class Influence(NamedTuple):
    """A metric's value, and its derivative in the share of each row."""

    value: float
    of_rows: Floats | None = None  # None where the metric is not defined, or has no interval


UNDEFINED = Influence(float("nan"))


@dataclass(frozen=True)
class Metric:
    """A figure of judged rows; `naively.evaluation.METRICS` holds all of them.

    Attributes
    ----------
    title : str
        What it is called in tables.
    of : callable
        Takes a `Judgement`; returns an `Influence`: the value, and each row's part in it, which
        intervals are computed from.
    bounds : pair of float
        The least and the largest value that it may have.
    greater_is_better : bool
        Otherwise it is a loss.
    reads : {"rows", "labels", "losses", "ranks", "bins", "curves"}
        What it depends on. Of files whose rows are not all kept, all but ``"rows"`` are counted
        over all rows, and such a metric is exact; one of ``"rows"`` is that of the rows kept.
    """

    title: str
    of: Callable[[Judgement], Influence]
    bounds: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool = True
    reads: Literal["rows", "labels", "losses", "ranks", "bins", "curves"] = "rows"


class MetricValue(NamedTuple):
    """The value of a metric, and its standard error; NaN where it has none."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Judgement:
    """What was true and what was answered, row by row.

    Attributes
    ----------
    truth, predicted : ndarray of shape (n_rows,)
        Indices of the true and of the predicted class.
    n_classes : int
        How many classes there are; not all of them need have rows.
    log_truth, squared_error : ndarray of shape (n_rows,)
        Log-probability of the true class, and the Brier score of each row.
    probabilities : ndarray of shape (n_rows, n_classes) or None
        Of every class.
    weight : ndarray of shape (n_rows,) or None
        Of the rows; None for one each.
    source : ndarray of shape (n_rows,) or None
        Which row of the table each is, where one may be judged several times.
    size : ndarray of shape (n_sources,) or None
        How many rows of the table each of those is; None for one each.
    given_rank : ndarray of shape (n_rows,) or None
        The ``rank`` of rows whose probabilities are not known.
    """

    truth: NDArray[np.intp]
    predicted: NDArray[np.intp]
    n_classes: int
    log_truth: Floats
    squared_error: Floats
    probabilities: Floats | None
    weight: Floats | None = None
    source: NDArray[np.intp] | None = None
    size: Floats | None = None
    given_rank: NDArray[np.intp] | None = None

    @classmethod
    def room(cls, truth: NDArray[Any], n_classes: int, **more: Any) -> Self:
        """Return rows of which only the truth is known, with room for all else; see `settle`."""
        log_truth, squared_error = np.empty((2, truth.size))
        predicted, p = np.empty(truth.size, np.intp), np.empty((truth.size, n_classes))
        return cls(truth.astype(np.intp), predicted, n_classes, log_truth, squared_error, p, **more)

    def settle(self, rows: slice) -> NDArray[np.intp]:
        """Read the rest off the probabilities of some rows; their classes are the likeliest.

        Returns the rows, counted from the first, whose truth is too improbable for a float:
        their ``log_truth`` is left to be filled in.
        """
        assert self.probabilities is not None
        p, truth = self.probabilities[rows], self.truth[rows]
        cells, true = p.reshape(-1), np.arange(0, p.size, p.shape[1]) + truth
        likelihood = cells.take(true)
        self.predicted[rows] = truth
        unsure = np.flatnonzero(likelihood <= 0.5)  # above, there is nothing likelier
        self.predicted[rows][unsure] = p[unsure].argmax(axis=1)
        cells[true] = likelihood - 1  # for a moment, p is p_k - [k = y]
        np.einsum("ik,ik->i", p, p, out=self.squared_error[rows])
        cells[true] = likelihood
        with np.errstate(divide="ignore"):
            np.log(likelihood, out=self.log_truth[rows])
        return np.flatnonzero(likelihood == 0)

    @classmethod
    def of_joint(cls, truth: NDArray[Any], joint: Floats, **more: Any) -> Self:
        """Judge rows by their joint log-probabilities (n, K), of which a constant may be missing.

        The largest is taken out first, so that probabilities sum to 1 even where the joint is so
        large that its rounding is felt.
        """
        behind = joint - joint.max(axis=1, keepdims=True)
        p = np.exp(behind)
        total = p.sum(axis=1, keepdims=True)
        rows = cls.room(truth, joint.shape[1], **more)
        np.divide(p, total, out=rows.probabilities)
        rows.settle(slice(None))
        np.subtract(behind[np.arange(len(p)), rows.truth], np.log(total[:, 0]), out=rows.log_truth)
        return rows

    # --- rows ---------------------------------------------------------------------------------

    def __getitem__(self, at: NDArray[Any]) -> Judgement:
        """Return some of the rows, in any order."""
        rows: dict[str, Any] = {name: column[at] for name, column in self._columns().items()}
        return replace(self, **rows)

    @classmethod
    def joined(cls, parts: Sequence[Judgement]) -> Judgement:
        """Put parts one after the other; either all have probabilities, or none."""
        columns = [part._columns() for part in parts]
        each: dict[str, Any] = {
            name: np.concatenate([own[name] for own in columns]) for name in columns[0]
        }
        return replace(parts[0], **each)

    def _columns(self) -> dict[str, NDArray[Any]]:
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in own.items() if isinstance(column, np.ndarray)}

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether each answer is right."""
        return self.truth == self.predicted

    @cached_property
    def confidence(self) -> Floats:
        """The largest probability of each row."""
        p = self.probabilities
        return np.full(self.truth.size, np.nan) if p is None else p.max(axis=1)

    @cached_property
    def rank(self) -> NDArray[np.intp]:
        """How many classes are more probable than the true one; ties as in scikit-learn."""
        if self.given_rank is not None:
            return self.given_rank
        assert self.probabilities is not None
        p = self.probabilities
        own = p[np.arange(len(p)), self.truth][:, np.newaxis]
        later = np.arange(self.n_classes) > self.truth[:, np.newaxis]
        return ((p > own) | ((p == own) & later)).sum(axis=1)

    @cached_property
    def share(self) -> Floats:
        """The part of all weight that each row has."""
        weight = np.ones(self.truth.size) if self.weight is None else self.weight
        return weight / weight.sum()

    # --- sums of rows, which a `TotalJudgement` has of more rows than it keeps -----------------

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Rows by true class (down) and predicted class (across)."""
        at = self.truth * self.n_classes + self.predicted
        return np.bincount(at, minlength=self.n_classes**2).reshape(-1, self.n_classes)

    @cached_property
    def class_share(self) -> Floats:
        """The part of all weight that each class has."""
        return sums(self.truth, self.share, self.n_classes)

    @cached_property
    def confidence_bins(self) -> Floats:
        """By bin of the confidence: the weight of rows, of right ones, and of the confidence.

        Rows without probabilities are in no bin.
        """
        at = bins(self.confidence)
        at[np.isnan(self.confidence)] = N_BINS
        w = np.ones(at.size) if self.weight is None else self.weight
        parts = (w, w * self.right, w * self.confidence)
        return np.array([sums(at, part, N_BINS + 1)[:N_BINS] for part in parts])

    @cached_property
    def sure(self) -> Floats:
        """The sums of the confidence of wrong and of right rows."""
        return sums(self.right.astype(np.intp), self.confidence, 2)

    @cached_property
    def class_bins(self) -> Floats:
        """By class and bin of its probability: the weight of rows, and the sum of p - truth."""
        assert self.probabilities is not None
        w = np.ones(self.truth.size) if self.weight is None else self.weight
        found = np.empty((2, self.n_classes, N_BINS))
        for k, p in enumerate(np.ascontiguousarray(self.probabilities.T)):
            at = bins(p)
            found[:, k] = sums(at, w, N_BINS), sums(at, w * (p - (self.truth == k)), N_BINS)
        return found

    @cached_property
    def answer_squares(self) -> Floats:
        """What right answers and wrong ones, below, cost: those that were seen and are expected.

        For each, their share, and the sums of the squares of their losses and Brier scores.
        """
        p, rows = self.probabilities, np.arange(self.truth.size)
        if p is None:
            return np.zeros((2, 3))
        wrong = ~self.right
        with np.errstate(divide="ignore"):
            loss = np.where(p > 0, np.log(p), 0.0)
        score = 1 + np.einsum("ik,ik->i", p, p)[:, np.newaxis] - 2 * p
        found = []
        for of_class, own in ((1.0, 1.0), (loss, self.log_truth), (score, self.squared_error)):
            expected, seen = np.sqrt(np.sqrt(p)) * np.square(of_class), np.square(own)
            of_right = expected[rows, self.predicted] + np.where(wrong, 0.0, seen)
            expected[rows, self.predicted] = 0.0
            of_wrong = expected.sum(axis=1) + np.where(wrong, seen, 0.0)
            found.append([self.share @ of_right, self.share @ of_wrong])
        return np.array(found).T

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest."""
        assert self.probabilities is not None
        return ClassCurve.of(self.truth == k, self.probabilities[:, k], self.weight)

    def of_class(self, k: int) -> Judgement:
        """Return what is known of one class, the second of two, against the rest."""
        assert self.probabilities is not None
        p = self.probabilities[:, k]
        return replace(
            self,
            truth=(self.truth == k).astype(np.intp),
            predicted=(self.predicted == k).astype(np.intp),
            n_classes=2,
            probabilities=np.column_stack([1 - p, p]),
        )

    def roc_auc_bound(self) -> float:
        """Return a bound of the error of the ROC area: 0, since it is computed from all rows."""
        return 0.0

    # --- metrics ------------------------------------------------------------------------------

    def measure(self, metric: Metric) -> MetricValue:
        """Return a metric of all rows, and its standard error."""
        found = metric.of(self)
        return MetricValue(found.value, self.error(found))

    def mean(self, values: Floats) -> Influence:
        """Return the mean of a number that each row has by itself."""
        w = self.weight
        value = float(values.mean() if w is None else w @ values / w.sum())
        if np.isnan(value):
            return UNDEFINED
        return Influence(value, values - value if np.isfinite(value) else None)

    def error(self, found: Influence) -> float:
        """Return the standard error of a metric; NaN where it has none."""
        if found.of_rows is None:
            return float("nan")
        return float(np.sqrt(self._squares(self.share * found.of_rows)))

    def _squares(self, parts: Floats) -> float:
        if self.source is not None:  # add up what a row of the table has each time it is judged
            parts = sums(self.source, parts, int(self.source.max()) + 1)
        return float(np.sum(parts**2 if self.size is None else parts**2 / self.size))

    # --- doubts -------------------------------------------------------------------------------

    def doubted(self, n_doubts: float) -> Judgement:
        """Return these rows and so many doubts: what intervals are computed from."""
        return self.with_doubts(doubts_of(n_doubts, self.class_share, self.answer_squares))

    def with_doubts(self, doubts: Judgement) -> Judgement:
        """Return these rows and the doubts, each row of its own source."""
        source = np.arange(self.truth.size) if self.source is None else self.source
        n_sources = int(source.max()) + 1
        assert doubts.size is not None

        def both(name: str) -> Any:
            own = getattr(self, name)
            return None if own is None else np.concatenate([own, getattr(doubts, name)])

        columns = ("truth", "predicted", "log_truth", "squared_error", "probabilities")
        of_equal_weight = 1 / self._squares(self.share)  # so many rows say as much as these
        return Judgement(
            **{name: both(name) for name in columns},
            n_classes=self.n_classes,
            weight=np.concatenate([self.share * of_equal_weight, doubts.size]),
            source=np.concatenate([source, n_sources + np.arange(doubts.truth.size)]),
            size=np.append(np.ones(n_sources) if self.size is None else self.size, doubts.size),
            given_rank=None
            if self.given_rank is None
            else np.concatenate([self.given_rank, doubts.rank]),
        )


def doubts_of(n_doubts: float, class_share: Floats, squares: Floats) -> Judgement:
    """Return the doubts, of which each class has as many right as wrong, below.

    The wrong answer is the class of the most rows, and for that class the next one. Where there is
    no wrong answer, and none is expected, the loss of one is infinite.
    """
    n_classes = class_share.size
    largest = np.argsort(-class_share, kind="stable")
    every, wrong = np.arange(n_classes), np.full(n_classes, largest[0])
    wrong[largest[0]] = largest[min(1, n_classes - 1)]
    own = np.eye(n_classes)
    none = np.array([[0.0, 0.0], [np.inf, 4.0]])
    rows = squares[:, :1]
    means = np.divide(squares[:, 1:], rows, out=none, where=rows > 0)
    loss, score = np.repeat(np.sqrt(means), n_classes, axis=0).T
    return Judgement(
        truth=np.tile(every, 2),
        predicted=np.append(every, wrong),
        n_classes=n_classes,
        log_truth=-loss,
        squared_error=score,
        probabilities=np.concatenate([own, (1 - own) / max(n_classes - 1, 1)]),
        size=np.full(2 * n_classes, n_doubts / (2 * n_classes)),
    )


def bins(p: Floats) -> NDArray[np.intp]:
    """Return the bin of each probability: ten of equal width, each with its upper edge."""
    edges = np.linspace(0.0, 1.0, N_BINS + 1)
    below = ((p > edge).view(np.int8) for edge in edges[1:-1])
    return reduce(np.add, below).astype(np.intp)  # quicker than a search


def sums(at: NDArray[np.intp], values: Floats, size: int) -> Floats:
    """Return the sum of the values at each place."""
    found: Any = np.bincount(at, values, size)
    return found


# --- rows that stream by: sums of all of them, and some that are kept -----------------------------

_SMALL, _LARGE = -745.0, 40.0  # log odds: of the least float64, and beyond those of 1 - 2**-53
_MIDDLE = -40.0  # below, bins are sixteen times as wide
_BINS_PER_UNIT, _FINE_CLASSES = 2048, 8  # bins for a unit of log odds, of so many classes
_INFINITE_LOSS = 1e140  # nats: squares of such losses cannot be added


class ScoreBins:
    """How many rows of each class, and of the rest, have which log odds of the class.

    Threads share one: sums of whole numbers do not depend on their order. Of two classes, only the
    second is counted.
    """

    def __init__(self, n_classes: int) -> None:
        self.classes = range(1, 2) if n_classes == 2 else range(n_classes)
        self._fine = max(8, _BINS_PER_UNIT * _FINE_CLASSES // max(n_classes, _FINE_CLASSES))
        self._coarse = int((_MIDDLE - _SMALL) * self._fine / 16)  # how many bins are wide
        self.n_bins = self._coarse + int((_LARGE - _MIDDLE) * self._fine) + 1
        self.count = np.zeros((len(self.classes), 2, self.n_bins), np.int64)
        self._lock = Lock()

    def add(self, truth: NDArray[Any], probabilities: Floats) -> None:
        """Count rows."""
        for i, k in enumerate(self.classes):
            at = self._bins(probabilities[:, k]) + self.n_bins * (truth == k)
            with self._lock:
                np.add.at(self.count[i].reshape(-1), at, 1)

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of a class against the rest: a threshold for each bin with rows."""
        return ClassCurve.of(*self.groups(k))

    def groups(self, k: int) -> tuple[NDArray[np.bool_], Floats, Floats]:
        """Return groups of rows: whether they are of a class, their probability, and their number.

        The probability is the least that rows of the bin may have.
        """
        flip = k not in self.classes  # the first of two classes
        others, own = self.count[0 if flip else self.classes.index(k)]
        others, own, score = (own, others, -1.0) if flip else (others, own, 1.0)
        rows = np.concatenate([np.flatnonzero(own), np.flatnonzero(others)])
        positive = np.arange(rows.size) < np.count_nonzero(own)
        weight = np.where(positive, own[rows], others[rows]).astype(np.float64)
        p = _probability(score * self._lower(rows + flip))
        p[rows == (self.n_bins - 1 if flip else 0)] = 0.0  # whose bin has no lower end
        return positive, p, weight

    def roc_auc_bound(self, k: int) -> float:
        """Return by how much the area under the ROC curve may differ from that of all rows."""
        others, own = self.count[self.classes.index(k) if k in self.classes else 0]
        pairs = float(own.sum()) * float(others.sum())
        return float(own.astype(np.float64) @ others) / pairs / 2 if pairs else float("nan")

    def _bins(self, p: Floats) -> NDArray[np.intp]:
        with np.errstate(divide="ignore"):
            odds = np.log(p) - np.log1p(-p)
        odds = np.clip(odds, _SMALL, _LARGE)
        low = (odds - _SMALL) * (self._fine / 16)
        high = self._coarse + (odds - _MIDDLE) * self._fine
        return np.where(odds < _MIDDLE, np.minimum(low, self._coarse - 1), high).astype(np.intp)

    def _lower(self, at: NDArray[np.intp]) -> Floats:
        """Return the lower ends of bins."""
        low = _SMALL + at * (16 / self._fine)
        return np.where(at < self._coarse, low, _MIDDLE + (at - self._coarse) / self._fine)


def _probability(odds: Floats) -> Floats:
    e = np.exp(-np.abs(odds))
    return np.where(odds < 0, e, 1.0) / (1 + e)


@dataclass
class Totals:
    """The sums of judged rows.

    Law: the totals of two parts, added, are those of all rows, up to rounding.
    """

    confusion: NDArray[np.int64]  # (n_classes, n_classes): rows by true and predicted class
    ranks: NDArray[np.int64]  # (n_classes,): rows by how many classes are likelier than the truth
    by_fold: NDArray[np.int64]  # (n_folds, 2): wrong and right rows
    losses: Moments  # of finite losses, and of Brier scores
    confidence_bins: Floats  # these and the next, as a `Judgement` has them
    sure: Floats
    class_bins: Floats
    answer_squares: Floats  # times the number of rows

    @classmethod
    def of(cls, rows: Judgement, fold: NDArray[Any], n_folds: int) -> Totals:
        """Add up some rows."""
        losses = np.column_stack([-rows.log_truth, rows.squared_error])
        losses[losses > _INFINITE_LOSS] = np.nan
        return cls(
            rows.confusion,
            np.bincount(rows.rank, minlength=rows.n_classes),
            np.bincount(2 * fold + rows.right, minlength=2 * n_folds).reshape(n_folds, 2),
            summarize(losses, np.zeros(len(losses), np.int64)).moments[0],
            rows.confidence_bins,
            rows.sure,
            rows.class_bins,
            rows.truth.size * rows.answer_squares,
        )

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def n_rows(self) -> int:
        """How many rows were judged."""
        return int(self.confusion.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class TotalJudgement(Judgement):
    """What was judged of all rows, as totals, and row by row of a random sample.

    A metric is computed from groups of equal rows, which all rows are divided into by what the
    metric reads: values are those of all rows. ROC areas and average precision are read off fine
    bins of the log odds. Standard errors are exact, too, but for the ROC area and the average
    precision of more than two classes, which are those of the sample; and so is all of a metric
    that reads rows.
    """

    totals: Totals
    scores: ScoreBins
    doubts: Judgement | None = None

    @classmethod
    def of(cls, kept: Judgement, totals: Totals, scores: ScoreBins) -> TotalJudgement:
        """Put together what was kept and what was added up."""
        rows = {field.name: getattr(kept, field.name) for field in fields(Judgement)}
        return cls(**rows, totals=totals, scores=scores)

    def __post_init__(self) -> None:
        totals = self.totals
        for name in ("confusion", "confidence_bins", "sure", "class_bins"):
            self.__dict__[name] = getattr(totals, name)
        self.__dict__["class_share"] = totals.confusion.sum(axis=1) / totals.n_rows
        self.__dict__["answer_squares"] = totals.answer_squares / totals.n_rows

    def with_doubts(self, doubts: Judgement) -> Judgement:
        """Return all rows and the doubts, which each group of rows is measured with."""
        return replace(self, doubts=doubts)

    def measure(self, metric: Metric) -> MetricValue:
        """Return a metric of all rows, and its standard error."""
        if metric.reads == "bins":
            return super().measure(metric)  # the sums below are those of all rows
        if metric.reads != "curves" or self.n_classes == 2:
            return self._with_doubts(getattr(self, f"_{metric.reads}")).measure(metric)
        there = np.flatnonzero(self.class_share > 0).tolist()
        each = [metric.of(self.of_class(k)).value for k in there]
        value, error = self._with_doubts(self._rows).measure(metric)
        value += float(self.class_share[there] @ each) - metric.of(self._rows).value
        return MetricValue(value, error)

    def _with_doubts(self, groups: Judgement) -> Judgement:
        return groups if self.doubts is None else groups.with_doubts(self.doubts)

    def curve(self, k: int) -> ClassCurve:
        """Return the curve of one class against the rest, over bins of its log odds."""
        return self.scores.curve(k)

    def of_class(self, k: int) -> Judgement:
        """Return what is known of one class, the second of two, against the rest, by bins."""
        positive, p, weight = self.scores.groups(k)
        true, nothing = positive.astype(np.intp), np.zeros(p.size)
        both = np.column_stack([1 - p, p])
        return Judgement(true, true, 2, nothing, nothing, both, weight, size=weight)

    def roc_auc_bound(self) -> float:
        """Return by how much the area under the ROC curve may differ from that of all rows."""
        there = [k for k in self.scores.classes if self.class_share[k] > 0]
        bounds = np.array([self.scores.roc_auc_bound(k) for k in there])
        share = self.class_share[there]
        return float(bounds @ share / share.sum())

    # --- groups of equal rows, by what a metric reads ---------------------------------------------

    @cached_property
    def _labels(self) -> Judgement:
        """The cells of the confusion matrix."""
        true, predicted = np.nonzero(self.confusion)
        weight = self.confusion[true, predicted].astype(np.float64)
        return self._groups(weight, true, predicted)

    @cached_property
    def _ranks(self) -> Judgement:
        weight = self.totals.ranks.astype(np.float64)
        there = np.flatnonzero(weight)
        return replace(self._groups(weight[there]), given_rank=there)

    @cached_property
    def _losses(self) -> Judgement:
        """Two groups whose losses have the mean and the variance of all."""
        n_rows, sums = self.totals.n_rows, self.totals.losses
        apart = np.sqrt(sums.m2 / np.maximum(sums.weight, 1))
        loss, score = np.where(sums.weight == n_rows, [sums.mean - apart, sums.mean + apart], inf).T
        half = np.full(2, n_rows / 2)
        return replace(self._groups(half), log_truth=-loss, squared_error=score)

    @property
    def _curves(self) -> Judgement:
        return self.of_class(1)

    @cached_property
    def _rows(self) -> Judgement:
        """The rows that were kept, each for as many."""
        rows = self.truth, self.predicted, self.n_classes, self.log_truth, self.squared_error
        each = np.full(self.truth.size, self.totals.n_rows / self.truth.size)
        return Judgement(*rows, self.probabilities, each, size=each)

    def _groups(self, size: Floats, truth: Any = None, predicted: Any = None) -> Judgement:
        nothing = np.zeros(size.size)
        truth, predicted = (nothing.astype(np.intp) if k is None else k for k in (truth, predicted))
        return Judgement(truth, predicted, self.n_classes, nothing, nothing, None, size, size=size)
