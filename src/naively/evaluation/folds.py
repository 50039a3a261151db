r"""Folds: which one holds each row out, their summaries, and the models that judge their rows.

Any splitter of scikit-learn's decides, or the content of the rows.

*In memory*, folds are stratified: every class is spread evenly over them, as scikit-learn's are.
Rows sorted by class are dealt out like cards, position p to fold :math:`p \bmod F`, so fold f gets

.. math::

    a_{fk} = u_f(e_k) - u_f(b_k), \qquad u_f(p) = \left\lceil \frac{p - f}{F} \right\rceil

rows of class k, which stand at :math:`b_k \le p < e_k`. They are the next :math:`a_{fk}` rows of
the class in the order of the data, or any where folds are shuffled. Classes come in the order in
which they first appear.

>>> stratified_folds(np.array([0, 1, 0, 1, 0, 0], dtype=np.int32), 2)
array([0, 0, 0, 1, 1, 1], dtype=int32)

*Of files*, what a row holds decides its fold, by the hash of its cells,

.. math:: f(x) = h(x) \bmod F

where h is the hash of `naively.statistics.sample`. Rows of the same cells are in one fold,
whatever their order, the file format, the threads and the number of rows; labels have no part in
it. A seed mixes the hash anew.

>>> hashes = np.array([3, 14, 15, 3], np.uint64)
>>> ContentFolds(10).of(hashes).tolist()
[3, 4, 5, 3]

*Summaries of folds* are all measured in one pass, and added all but one.

.. math:: S_{-f} = S_1 + \dots + S_{f-1} + S_{f+1} + \dots + S_F

where :math:`S_f` is the summary of fold f. The model that judges fold f is read off
:math:`S_{-f}`, calibration included, so that all folds together cost one pass to measure and one to
predict.

What a schema fixes before measuring is shared by the folds, since only summaries of one schema add:
the kinds of columns, and the edges of histograms, which are quantiles of a sample of all rows. They
are read off cells alone and never off labels, so no label of a fold reaches the model that judges
it. Everything else is that of a model fitted on the other folds.

>>> list(all_but_one([1, 10, 100]))
[110, 101, 11]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache, reduce
from itertools import islice
from math import ceil
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from naively.data import labels
from naively.data.rows import Rows, Targets, recode
from naively.data.schema import Schema
from naively.data.threads import block_slices, map_blocks
from naively.data.types import Floats, Hashes
from naively.errors import NaivelyError
from naively.estimators.answers import decide
from naively.estimators.estimator import SummaryClassifier
from naively.evaluation.inputs import FOLDS, Truth
from naively.evaluation.judgement import Judgement
from naively.model.model import Model
from naively.model.scorer import Answer
from naively.statistics import Sample
from naively.statistics.measure import measure_sample
from naively.statistics.sample import EVERYTHING, distinct_rows, hash_rows, hashes_of
from naively.statistics.summary import Summary

T = TypeVar("T")

ONE_OUT = "leave-one-out"
Splits = Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]


def splitter_of(folds: Any, seed: Any, truth: Truth) -> Any:
    """Return a splitter: stratified folds for a number of them, which none given decides."""
    if folds is None:
        folds = max(2, min(FOLDS, int(np.bincount(truth.codes).min())))
    if isinstance(folds, int | np.integer):
        most = np.bincount(truth.codes).max()
        if isinstance(folds, bool) or not 2 <= folds <= most:
            raise NaivelyError(
                f"folds must be at least 2, and at most the rows of the largest class ({most}); "
                f"got {folds!r}."
            )
        shuffle = seed is not None
        return StratifiedKFold(int(folds), shuffle=shuffle, random_state=seed)
    known = isinstance(folds, Iterable) or hasattr(folds, "split")
    if isinstance(folds, str) or not known:
        raise NaivelyError(f"folds must be a number, a splitter or {ONE_OUT!r}; got {folds!r}.")
    return check_cv(folds)


def folds_by(splitter: Any, X: Any, truth: Truth) -> NDArray[np.int32] | None:
    """Return the fold that holds each row out, or None where there is no such thing."""
    codes = truth.codes
    ordinary = type(splitter) is StratifiedKFold
    if ordinary and splitter.n_splits <= np.bincount(codes).min():  # nothing to warn of
        return stratified_folds(
            codes,
            splitter.n_splits,
            shuffle=splitter.shuffle,
            random_state=splitter.random_state,
        )
    return fold_of_each_row(splitter.split(X, codes), codes.size)


def fold_of_each_row(splits: Splits, n_rows: int) -> NDArray[np.int32] | None:
    """Return the fold that holds each row out.

    None where there is no such thing: rows are held out twice or never, or a model does not
    learn from all the others.
    """
    fold = np.full(n_rows, -1, dtype=np.int32)
    held_out = 0
    for f, (train, test) in enumerate(splits):
        there = np.zeros(n_rows, dtype=np.bool_)
        there[train] = there[test] = True
        if not there.all() or len(train) + len(test) != n_rows or len(test) == 0:
            return None
        fold[test] = f
        held_out += len(test)
    return fold if held_out == n_rows and fold.min() >= 0 else None


def stratified_folds(
    codes: NDArray[np.int32], n_folds: int, *, shuffle: bool = False, random_state: Any = None
) -> NDArray[np.int32]:
    """Return the fold of each row, in one sort: those of scikit-learn's `StratifiedKFold`.

    It takes a twelfth of the time of `StratifiedKFold.split`, which makes two arrays of row numbers
    for each fold: 50 ms against 650 ms for a million rows, a third of a whole evaluation. Each
    class must have as many rows as there are folds, at least.
    """
    count = np.bincount(codes)
    order = np.argsort(codes.astype(np.min_scalar_type(count.size)), kind="stable")  # by radix
    members = np.split(order, np.cumsum(count)[:-1])
    appearance = np.argsort([rows[0] for rows in members])
    end = np.cumsum(count[appearance])
    begin = end - count[appearance]
    f = np.arange(n_folds)[:, np.newaxis]
    dealt = _up_to(end, f, n_folds) - _up_to(begin, f, n_folds)
    rng = check_random_state(random_state)
    fold = np.empty(codes.size, dtype=np.int32)
    for at, k in enumerate(appearance):
        folds = np.arange(n_folds).repeat(dealt[:, at])
        if shuffle:
            rng.shuffle(folds)
        fold[members[k]] = folds
    return fold


def _up_to(p: NDArray[np.intp], f: NDArray[np.intp], n_folds: int) -> NDArray[np.intp]:
    """Return how many of the positions before p go to fold f."""
    return (p - f + n_folds - 1) // n_folds


_STEP, *_FACTORS = (
    np.array([value], np.uint64)
    for value in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(frozen=True)
class ContentFolds:
    """How the content of rows decides their folds.

    Attributes
    ----------
    n_folds : int
        How many folds there are.
    seed : int or None
        Of the mixed hash; None for the hash itself.
    test_share : float or None
        The share of rows that is in fold 0, the test rows, of two folds; None for equal folds.
    """

    n_folds: int
    seed: int | None = None
    test_share: float | None = None

    def of(self, hashes: Hashes) -> NDArray[np.int32]:
        """Return the fold of each row."""
        if self.test_share is not None:
            limit = np.uint64(min(int(self.test_share * 2.0**64), 2**64 - 1))
            return (mixed(hashes, self.seed or 0) >= limit).astype(np.int32)
        if self.seed is not None:
            hashes = mixed(hashes, self.seed)
        return (hashes % np.uint64(self.n_folds)).astype(np.int32)

    @property
    def learned_share(self) -> float:
        """About the least share of all rows that a model learns from."""
        if self.test_share is not None:
            return 1 - self.test_share
        return 1 - 1 / self.n_folds if self.n_folds > 1 else 1.0


def content_hashes(rows: Rows, numbers: Sequence[int] | None = None) -> Hashes:
    """Return the hash of each row's cells: of all columns, or of some of those of numbers."""
    rows = rows[:]
    if isinstance(rows.numbers, list) and numbers is not None:
        cells = [rows.numbers[i] for i in numbers] or np.empty((len(rows), 0))
        rows = replace(rows, numbers=cells)
    return hash_rows(rows, [*map(hashes_of, rows.categories)])


def mixed(hashes: Hashes, seed: int) -> Hashes:
    """Return other hashes: the steps of SplitMix64 (Steele, Lea and Flood, 2014).

    >>> mixed(np.zeros(1, np.uint64), 0)
    array([16294208416658607535], dtype=uint64)
    """
    start = np.array([seed % 2**64], np.uint64)
    with np.errstate(over="ignore"):
        h = hashes + _STEP * (start + np.uint64(1))
        h = (h ^ (h >> np.uint64(30))) * _FACTORS[0]
        h = (h ^ (h >> np.uint64(27))) * _FACTORS[1]
    return h ^ (h >> np.uint64(31))


# --- summaries of folds ---------------------------------------------------------------------------

MAX_BYTES = 1 << 29  # that the summaries of all folds may take
_MODELS_AT_ONCE = 16  # models that are read together


@dataclass(frozen=True, eq=False)
class FoldSummaries:
    """The summaries of all folds in one: for the kernel, a class of a fold is a class."""

    whole: Summary  # by fold and class; the number of class k of fold f is f * n_classes + k
    classes: NDArray[Any]
    size: int  # how many rows the sample of a sum has
    others: Summary | None = None  # rows in no fold: every model has seen them. It has no sample

    def rests(self) -> Iterator[Summary]:
        """Yield for each fold the summary of all others.

        Samples are not added but taken from the one of all folds, which gives the same in less
        time.
        """
        fold, _ = self._places
        for f, rest in enumerate(all_but_one(self.parts(), self.others)):
            yield self._sampled(rest, fold != f)

    def models(
        self, model: SummaryClassifier, rests: Iterator[Summary] | None = None
    ) -> list[Model]:
        """Read models like one off sums of folds: for each fold, off all the others.

        A class that no other fold has is left out, unless a parameter such as the priors has an
        entry for it. Models with calibration, which are slow, are read in threads.
        """
        params, by_class, slow = model.get_params(), needs_every_class(model), self.size > 0

        def read(rest: Summary) -> Model:
            # Words stay where the rows have them: those that a fold lacks contribute nothing.
            rest = rest.ordered(empty_classes=by_class, all_words=True)
            return type(model).from_summary(rest, **params).model_

        rests, models = self.rests() if rests is None else rests, list[Model]()
        with threadpool_limits(1, "blas") if slow else nullcontext():  # threads of threads are slow
            while batch := list(islice(rests, _MODELS_AT_ONCE)):
                models += map_blocks(read, batch, model.n_jobs if slow else 1)
        return models

    def total(self) -> Summary:
        """Return the sum of all folds."""
        parts = self.parts() if self.others is None else [self.others, *self.parts()]
        return self._sampled(reduce(add, parts), np.ones(self._places[0].size, np.bool_))

    @property
    def _places(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The folds and the classes of the sample's rows."""
        sample = self.whole.sample
        codes = np.empty(0, np.int32) if sample is None else sample.codes
        fold, k = np.divmod(codes, np.int32(self.classes.size))
        return fold, k

    def parts(self) -> list[Summary]:
        """Return the summaries of the folds, without samples."""
        whole, n_classes = without_sample(self.whole), self.classes.size
        places = np.split(np.arange(whole.classes.size), whole.classes.size // n_classes)
        return [whole.with_classes(part).relabelled(self.classes) for part in places]

    def _sampled(self, summary: Summary, kept: NDArray[np.bool_]) -> Summary:
        """Give a sum its sample: some of the rows of the sample of all folds."""
        sample = self.whole.sample
        if sample is None or not self.size:
            return summary
        rows = replace(sample[kept], codes=self._places[1][kept]).merged().least(self.size)
        schema = replace(summary.schema, sample=self.size)
        return Summary.of(schema, summary.axes, *summary.statistics.values(), rows)


def without_sample(summary: Summary) -> Summary:
    """Return the same without the rows of its sample."""
    schema = replace(summary.schema, sample=0)
    kept = (part for kind, part in summary.statistics.items() if kind is not Sample)
    return summary if summary.sample is None else Summary.of(schema, summary.axes, *kept)


def measure_folds(
    models: Sequence[SummaryClassifier],
    rows: Rows,
    schema: Schema,
    truth: Truth,
    fold: NDArray[np.int32],
) -> FoldSummaries | None:
    """Measure all folds in one pass, so that any of several models can be read off their sums.

    The models read columns as the first does. None where the summaries of so many folds would take
    too much memory.
    """
    model = models[0]
    n_summarized = truth.classes.size * (int(fold.max()) + 1)
    if n_summarized * _bytes(schema, rows) > MAX_BYTES:
        return None
    by_fold = Targets(np.arange(n_summarized), fold * np.int32(truth.classes.size) + truth.codes)
    size = max(one.sample_size() for one in models)
    size *= 2 if schema.texts else 1  # as it is measured
    sample = _sample(rows, by_fold, fold, replace(schema, sample=size), model.n_jobs)

    @cache
    def first(few: int) -> Sample:
        return _unlabelled_sample(rows, sample, replace(schema, sample=few), model.n_jobs)

    # Edges and centres are read off the same rows, so those of one are those of all.
    schema = reduce(Schema.widened, [one.settled(schema, first) for one in models])
    if n_summarized * _bytes(schema, rows) > MAX_BYTES:  # with histograms, now
        return None
    if sample is not None:
        schema = replace(schema, sample=sample.size)
    whole = model.measure_rows(rows, schema, by_fold, sample)
    return FoldSummaries(whole, truth.classes, size)


def all_but_one(parts: list[T], others: T | None = None) -> Iterator[T]:
    r"""Yield, for each of several parts, the sum of all the others.

    Each half of the parts is handed the sum of the other half: about :math:`\log_2 n` additions for
    each of n parts, and as many sums in memory at a time.
    """
    if len(parts) == 1 and others is not None:
        yield others
        return
    halves = parts[: len(parts) // 2], parts[len(parts) // 2 :]
    for kept, left in (halves, halves[::-1]):
        yield from all_but_one(kept, reduce(add, left if others is None else [others, *left]))


def _sample(
    rows: Rows, by_fold: Targets, fold: NDArray[np.int32], schema: Schema, n_jobs: int | None
) -> Sample | None:
    """Draw a sample so large that as many rows as the schema asks for are outside of any fold."""
    if not schema.sample:
        return None
    rows_of = np.bincount(fold)
    size = ceil(1.1 * schema.sample * fold.size / (fold.size - rows_of.max()))
    while True:
        sample = measure_sample(rows, by_fold, replace(schema, sample=size), n_jobs=n_jobs)
        if _is_enough(sample, schema.sample, rows_of.size, by_fold.classes.size // rows_of.size):
            return sample
        size *= 4


def _unlabelled_sample(
    rows: Rows, sample: Sample | None, schema: Schema, n_jobs: int | None
) -> Sample:
    """Return a sample of all rows as if they were of one class, from one that is there if it does.

    What is read off it is shared by the folds, so labels must not decide which rows are in it.
    """
    if sample is not None:
        merged = without_labels(sample)
        if len(merged) >= schema.sample or sample.bound == EVERYTHING:
            return merged.least(schema.sample)
    alone = Targets(np.zeros(1), np.zeros(rows.shape[0], np.int32))
    return measure_sample(rows, alone, schema, n_jobs=n_jobs)


def without_labels(sample: Sample) -> Sample:
    """Return a sample as if its rows were of one class; rows of the same cells become one."""
    return replace(sample, codes=np.zeros_like(sample.codes)).merged()


def _is_enough(sample: Sample, size: int, n_folds: int, n_classes: int) -> bool:
    """Whether a sample holds a sample of some size of the rows outside of any fold."""
    if sample.bound == EVERYTHING:
        return True
    fold, k = np.divmod(sample.codes, n_classes)
    outside = ((sample.hashes[fold != f], k[fold != f]) for f in range(n_folds))
    return all(len(distinct_rows(*rows)[0]) >= size for rows in outside)


def _bytes(schema: Schema, rows: Rows) -> int:
    """Return about how much memory the statistics of a class take."""
    categories = sum(column.size for column in rows.categories)
    categories += 2 * sum(words.size for words in rows.words)
    if not rows.categories and rows.code_columns:  # codes are the categories
        categories = int(np.nan_to_num(np.fmax.reduce(rows.codes, axis=0)).sum())
    p = len(schema.numbers)
    products = 0 if schema.centres is None else p * (p + 3) // 2
    return 8 * (p * (4 + schema.n_bins) + categories + products)


_BY_CLASS = ("priors", "class_prior", "costs")  # parameters with an entry for each class


def needs_every_class(model: SummaryClassifier) -> bool:
    """Whether a parameter of a model has an entry for each class."""
    given = any(getattr(model, name, None) is not None for name in _BY_CLASS)
    return given or isinstance(model.class_weight, dict)


# --- rows that are judged by models of other folds ------------------------------------------------

_MAX_BLOCKS = 1 << 10


def judge_rows(
    table: Rows,
    truth: Truth,
    fold: NDArray[np.int32],
    models: Sequence[Model],
    costs: Any = None,
    *,
    n_jobs: int | None = None,
) -> Judgement:
    """Judge each row by the model of its fold; where there are costs, the cheapest class wins."""
    table = _recoded(table, fold, models)
    judged = Judgement.room(truth.codes, truth.classes.size)
    p = judged.probabilities
    assert p is not None

    def score(want: Answer, rows: Rows, folds: NDArray[np.int32], out: Floats) -> None:
        """Score rows by the models of their folds: copies of a block, not of the table."""
        for at in _members(folds):
            model = models[folds[at[0]]]
            if at.size == folds.size and model.classes.size == out.shape[1]:
                model.scorer.write(want, rows, out)
                return
            scores = np.empty((at.size, model.classes.size))
            model.scorer.write(want, rows[at], scores)
            if model.classes.size == out.shape[1]:
                out[at] = scores
                continue
            out[at] = 0.0 if want == "proba" else -np.inf  # of classes that the model lacks
            out[at[:, np.newaxis], labels.positions(model.classes, truth.classes)] = scores

    def judge(rows: slice) -> None:
        block, folds, codes = table[rows], fold[rows], truth.codes[rows]
        score("proba", block, folds, p[rows])
        unlikely = judged.settle(rows)
        if unlikely.size:
            log_p = np.empty((unlikely.size, truth.classes.size))
            score("log_proba", block[unlikely], folds[unlikely], log_p)
            judged.log_truth[rows][unlikely] = log_p[np.arange(unlikely.size), codes[unlikely]]

    map_blocks(judge, block_slices(*table.shape[:2], most=_MAX_BLOCKS), n_jobs)
    if costs is None:
        return judged
    return replace(
        judged, predicted=labels.positions(decide(p, truth.classes, costs), truth.classes)
    )


def _recoded(table: Rows, fold: NDArray[np.int32], models: Sequence[Model]) -> Rows:
    """Return the rows with the codes of the models that judge them: unseen categories come last."""
    if not table.categories:  # or codes are the categories
        return table
    members = _members(fold)
    columns = []
    for j, column in enumerate(table.code_columns):
        own, categories = np.empty(column.size, np.int32), table.categories[j]
        for at in members:
            known = models[fold[at[0]]].vocabularies[j]
            own[at] = recode(column[at], categories, known)
        columns.append(own)
    return replace(table, codes=columns)


def _members(folds: NDArray[np.int32]) -> list[NDArray[np.intp]]:
    """Return the rows of each fold that has some."""
    if (folds == folds[0]).all():  # as most blocks are where rows were not shuffled
        return [np.arange(folds.size)]
    order = np.argsort(folds, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(folds[order])) + 1)
