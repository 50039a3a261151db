r"""A classifier beside any number of others, by cross-validation on the same folds.

Differences are tested on the same rows. *Loss.* With :math:`d_f` the mean difference of the rows'
losses in fold f of k, and :math:`s^2` the variance of these,

.. math:: t = \frac{\bar d}{\sqrt{(1/k + n_\text{test} / n_\text{train}) \, s^2}}

has a t distribution with k - 1 degrees of freedom. Models of different folds learn from nearly
the same rows, so that :math:`d_f` are not independent; :math:`n_\text{test} / n_\text{train}` makes
up for it (Nadeau and Bengio).

*Accuracy.* Of the rows on which only one of the two is right, each is as often the one as the other
if they are equally good: McNemar's test, by the exact binomial distribution.

References
----------
C. Nadeau, Y. Bengio (2003), Inference for the generalization error. Q. McNemar (1947), Note on the
sampling error of the difference between correlated proportions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from numbers import Integral
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from naively.errors import NaivelyError
from naively.evaluation.evaluate import evaluate
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.inputs import Truth
from naively.tabular import PrintedTable, Tabular, figure, plain

LEAST = float(np.log(np.finfo(np.float64).eps))  # log-probabilities are cut here, as in log_loss


class PairedDifference(NamedTuple):
    """The first classifier less the other: negative losses and positive accuracies favour it.

    Attributes
    ----------
    loss, loss_low, loss_high : float
        The difference of the losses, and its 95 % interval.
    loss_p : float
        How probable so large a difference of losses is if there is none.
    accuracy : float
        The difference of the accuracies.
    only_first, only_other : int
        Rows on which only one of the two is right.
    accuracy_p : float
        How probable so large a difference of these is if there is none.
    """

    loss: float
    loss_low: float
    loss_high: float
    loss_p: float
    accuracy: float
    only_first: int
    only_other: int
    accuracy_p: float


def corrected_t(by_fold: NDArray[np.float64], ratio: float) -> tuple[float, float, float]:
    """Return the p-value of folds' differences, and the ends of the 95 % interval of their mean.

    The ratio is that of test rows to training rows.
    """
    from scipy.stats import t

    k, mean = by_fold.size, float(by_fold.mean())
    error = sqrt((1 / k + ratio) * by_fold.var(ddof=1))
    if not error > 0:
        return (1.0 if mean == 0 else 0.0), mean, mean
    half = float(t.ppf(0.975, k - 1)) * error
    return float(2 * t.sf(abs(mean) / error, k - 1)), mean - half, mean + half


def mcnemar(only_first: int, only_other: int) -> float:
    """Return the p-value of the rows on which one of two classifiers is right.

    >>> mcnemar(1, 5)
    0.21875
    """
    from scipy.stats import binomtest

    n = only_first + only_other
    return float(binomtest(only_first, n, 0.5).pvalue) if n else 1.0


def paired_difference(
    losses: tuple[NDArray[np.float64], NDArray[np.float64]],
    right: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    fold: NDArray[np.int32],
) -> PairedDifference:
    """Compare the losses and the right answers of two classifiers, row by row."""
    rows = np.bincount(fold)
    gap = losses[0] - losses[1]
    by_fold = np.bincount(fold, weights=gap) / rows
    ratio = float(np.mean(rows / (fold.size - rows)))
    p, low, high = corrected_t(by_fold, ratio)
    first, other = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    return PairedDifference(
        loss=float(by_fold.mean()),
        loss_low=low,
        loss_high=high,
        loss_p=p,
        accuracy=(first - other) / fold.size,
        only_first=first,
        only_other=other,
        accuracy_p=mcnemar(first, other),
    )


@dataclass(frozen=True, eq=False, repr=False)
class PeerComparison(Tabular):
    """A classifier and others, each evaluated on the same folds.

    It prints as tables (`print`, rich, a notebook); `to_dict` gives plain numbers.

    Attributes
    ----------
    names : tuple of str
        What the classifiers are called, the first one first.
    evaluations : tuple of Evaluation
        All metrics of each.
    seconds : tuple of float
        What the cross-validation of each took.
    differences : tuple of PairedDifference
        The first one less each of the others, with tests of the difference.
    """

    names: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    seconds: tuple[float, ...]
    differences: tuple[PairedDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it; what is NaN or infinite is None."""
        return {
            "names": list(self.names),
            "seconds": list(self.seconds),
            "differences": plain([difference._asdict() for difference in self.differences]),
            "evaluations": [judged.to_dict() for judged in self.evaluations],
        }

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the metrics of each, and the differences from the first."""
        return [self._metrics(), self._differences()]

    def __repr__(self) -> str:
        losses = (f"{name} {_loss(e):.4f}" for name, e in zip(*self._both(), strict=True))
        return f"<PeerComparison of {self.evaluations[0].n_rows} rows, loss: {', '.join(losses)}>"

    def _both(self) -> tuple[tuple[str, ...], tuple[Evaluation, ...]]:
        return self.names, self.evaluations

    def _metrics(self) -> PrintedTable:
        rows = tuple(
            (name, *map(figure, (e.accuracy, e.roc_auc, _loss(e), e.brier)), f"{seconds:.3g} s")
            for name, e, seconds in zip(*self._both(), self.seconds, strict=True)
        )
        first = self.evaluations[0]
        title = f"{first.method}: {first.n_rows:,} rows, {first.classes.size} classes"
        return PrintedTable(title, ("", "accuracy", "ROC AUC", "loss", "Brier score", "time"), rows)

    def _differences(self) -> PrintedTable:
        rows = tuple(
            (
                name,
                figure(d.loss),
                f"{figure(d.loss_low)} to {figure(d.loss_high)}",
                _p(d.loss_p),
                figure(d.accuracy),
                f"{d.only_first} : {d.only_other}",
                _p(d.accuracy_p),
            )
            for name, d in zip(self.names[1:], self.differences, strict=True)
        )
        header = ("", "loss", "95 % interval", "p", "accuracy", "only one right", "p")
        return PrintedTable(f"{self.names[0]} less the other", header, rows)


def compare_with_peers(
    model: Any, against: Any, X: Any, y: Any, *, folds: int, random_state: Any
) -> PeerComparison:
    """Cross-validate a classifier and others on the same folds; see `naively.compare`."""
    from naively.evaluation.classifiers import classifier  # takes long to import

    others = [against] if isinstance(against, str) or hasattr(against, "predict") else [*against]
    if not others:
        raise NaivelyError("against must name at least one classifier; got none.")
    models = [model, *(classifier(other, X) for other in others)]
    truth = Truth.of(X, y)
    truth.need_two_classes()
    splits, fold = _folds(truth, folds, random_state)
    evaluations, seconds = [], []
    for each in models:
        start = perf_counter()
        evaluations.append(evaluate(each, X, y, folds=splits))
        seconds.append(perf_counter() - start)
    judged = [(_losses(e), e.rows.truth == e.rows.predicted) for e in evaluations]
    first, *rest = judged
    differences = [paired_difference((first[0], o[0]), (first[1], o[1]), fold) for o in rest]
    names = _names([model, *others])
    return PeerComparison(names, tuple(evaluations), tuple(seconds), tuple(differences))


def _folds(truth: Truth, folds: int, seed: Any) -> tuple[list[Any], NDArray[np.int32]]:
    """Return stratified splits, each with every class to learn from, and each row's fold."""
    rows = np.bincount(truth.codes)
    least = int(rows.argmin())
    if not isinstance(folds, Integral) or not 2 <= folds <= rows[least]:
        raise NaivelyError(
            f"folds must be a number, at least 2 and at most the rows of the smallest class "
            f"({rows[least]} of {truth.classes.item(least)!r}); got {folds!r}."
        )
    splitter = StratifiedKFold(int(folds), shuffle=seed is not None, random_state=seed)
    splits = list(splitter.split(np.zeros(truth.codes.size), truth.codes))
    fold = np.empty(truth.codes.size, dtype=np.int32)
    for f, (_, test) in enumerate(splits):
        fold[test] = f
    return splits, fold


def _losses(judged: Evaluation) -> NDArray[np.float64]:
    return -np.maximum(judged.rows.log_truth, LEAST)


def _loss(judged: Evaluation) -> float:
    """Return the loss with probabilities cut as in scikit-learn's log_loss, so never infinite."""
    return float(_losses(judged).mean())


def _names(models: Sequence[Any]) -> tuple[str, ...]:
    """Name classifiers by what they were asked for, or by their class; equal ones are numbered."""
    names: list[str] = []
    for model in models:
        name = model if isinstance(model, str) else type(model).__name__
        if name in names:
            name = f"{name} {sum(other.partition(' ')[0] == name for other in names) + 1}"
        names.append(name)
    return tuple(names)


def _p(value: float) -> str:
    return "-" if np.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.4f}"
