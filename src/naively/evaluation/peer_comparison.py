"""A classifier beside any number of others, by cross-validation on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from naively.errors import NaivelyError
from naively.evaluation.evaluate import evaluate
from naively.evaluation.evaluation import Evaluation
from naively.evaluation.inputs import Truth
from naively.evaluation.paired_tests import LEAST, PairedDifference, paired_difference
from naively.tabular import PrintedTable, Tabular, figure, plain


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
