"""What tuning found: every candidate with its scores, and the best model.

>>> from sklearn.datasets import load_iris
>>> from naively import GaussianNB, tune
>>> X, y = load_iris(return_X_y=True)
>>> print(tune(GaussianNB(), X, y, grid={"variance": ["class", "shared"]}, folds=5))
GaussianNB, 5 folds: 2 candidates, 150 rows, by log loss (lower is better)
rank                   log loss     std
1     variance=class     0.1354  0.0775
2     variance=shared    0.1490  0.0835
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.evaluation.candidates import COLUMNS
from naively.evaluation.judgement import Metric
from naively.evaluation.metrics import scoring_of
from naively.tabular import Drawn, PrintedTable, Tabular, figure, frame, plain

_MAX_SHOWN = 20  # candidates in a table
_TIE_RATIO = 1e-12  # scores that differ by less, in relation to their size, tie


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Drawn, Tabular):
    """Candidates, how they score on rows that they have not seen, and the best of them.

    It prints as a table (`print`, rich, a notebook); `to_dict` gives plain values, `to_frame` a
    frame, `plot` a picture.

    Attributes
    ----------
    model : str
        The name of the estimator's class.
    params : tuple of dict
        The parameters of each candidate, in the order of the grid.
    scores : ndarray of shape (n_candidates, n_folds)
        What each scored in each fold.
    scoring : str
        What was scored, such as ``"log_loss"``.
    best_model : estimator
        The best candidate, fitted on all rows.
    n_rows : int
        Number of rows that the candidates were scored on.
    method : str
        How, such as ``"5 folds"``.
    library : str or None
        The library of the frames that `to_frame` returns; None for pandas.

    Examples
    --------
    >>> from naively import GaussianNB, tune
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> found = tune(GaussianNB(), X, y, grid={"variance": ["class", "shared"]}, folds=3)
    >>> found.best_params
    {'variance': 'class'}
    """

    model: str
    params: tuple[dict[str, Any], ...]
    scores: NDArray[np.float64]
    scoring: str
    best_model: Any
    n_rows: int
    method: str
    library: str | None = None

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean score of each candidate over the folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def std(self) -> NDArray[np.float64]:
        """The standard deviation of each candidate's score over the folds."""
        return np.asarray(self.scores.std(axis=1))

    @property
    def rank(self) -> NDArray[np.int64]:
        """The rank of each candidate: 1 for the best, and for all that tie with it."""
        return ranks(self.mean, self._scoring)

    @property
    def best_index(self) -> int:
        """The best candidate's place; of those that tie, the fewest columns, then the first."""
        return best_of(self.mean, self.params, self._scoring)

    @property
    def best_params(self) -> dict[str, Any]:
        """The parameters of the best candidate."""
        return self.params[self.best_index]

    @property
    def best_score(self) -> float:
        """The mean score of the best candidate."""
        return float(self.mean[self.best_index])

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The same by scikit-learn's names. A greater score is better: losses are negative.

        ``params``, ``param_...``, ``split0_test_score``, ..., ``mean_test_score``,
        ``std_test_score`` and ``rank_test_score``.
        """
        sign = 1 if self._scoring.greater_is_better else -1
        found: dict[str, Any] = {"params": list(self.params)}
        found |= {f"param_{name}": values for name, values in self._values().items()}
        for f, column in enumerate(self.scores.T):
            found[f"split{f}_test_score"] = sign * column
        found |= {"mean_test_score": sign * self.mean, "std_test_score": self.std}
        return found | {"rank_test_score": self.rank}

    @property
    def varied(self) -> list[str]:
        """The parameters that candidates differ in."""
        return list(dict.fromkeys(name for params in self.params for name in params))

    def to_frame(self) -> Any:
        """Return a frame with a line for each candidate, the best first.

        It has the columns ``rank``, ``mean``, ``std``, one for each parameter, as text where it is
        no number, and ``fold 0``, ``fold 1``, ... It is of the library that the rows came in, and
        else of pandas.
        """
        order = self.order
        columns: dict[str, Any] = {
            "rank": self.rank[order],
            "mean": self.mean[order],
            "std": self.std[order],
        }
        for name, values in self._values().items():
            columns[name] = _column([values[i] for i in order])
        columns |= {f"fold {f}": self.scores[order, f] for f in range(self.scores.shape[1])}
        return frame(columns, self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as JSON can hold it; what is infinite is None."""
        lines = zip(self.params, self.mean, self.std, self.rank, self.scores, strict=True)
        names = ("params", "mean", "std", "rank", "scores")
        found = {
            "model": self.model,
            "method": self.method,
            "rows": self.n_rows,
            "scoring": self.scoring,
            "best_params": _plain_params(self.best_params),
            "best_score": self.best_score,
            "candidates": [
                dict(zip(names, (_plain_params(params), *rest), strict=True))
                for params, *rest in lines
            ],
        }
        return dict(plain(found))

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the best candidates."""
        scoring, folds = self._scoring, self.method
        better = "higher" if scoring.greater_is_better else "lower"
        title = (
            f"{self.model}, {folds}: {len(self.params):,} candidates, {self.n_rows:,} rows, by "
            f"{scoring.title} ({better} is better)"
        )
        rank, mean, std = self.rank, self.mean, self.std
        rows = [
            (str(rank[i]), described(self.params[i]), figure(mean[i]), figure(std[i]))
            for i in self.order[:_MAX_SHOWN]
        ]
        if len(self.params) > _MAX_SHOWN:
            rows.append(("", f"... {len(self.params) - _MAX_SHOWN:,} more", "", ""))
        width = max(len(row[1]) for row in rows)
        lines = tuple((rank, text.ljust(width), mean, std) for rank, text, mean, std in rows)
        return [PrintedTable(title, ("rank", "", scoring.title, "std"), lines)]

    def __repr__(self) -> str:
        best = described(self.best_params)
        return (
            f"<Tuning of {self.model}, {len(self.params)} candidates, {self.method}: "
            f"{self._scoring.title} {self.best_score:.4f} by {best}>"
        )

    @property
    def order(self) -> list[int]:
        """The places of the candidates, the best first."""
        best = self.best_index
        order = np.argsort(self.rank, kind="stable").tolist()
        return [best, *(i for i in order if i != best)]

    @property
    def _scoring(self) -> Metric:
        return scoring_of(self.scoring)

    def _values(self) -> dict[str, list[Any]]:
        """Return the values of each parameter that varies; None where a candidate leaves it."""
        return {name: [params.get(name) for params in self.params] for name in self.varied}


def ranks(mean: NDArray[np.float64], scoring: Metric) -> NDArray[np.int64]:
    """Return ranks from 1: one more than there are better candidates. Nearly equal scores tie."""
    loss = -mean if scoring.greater_is_better else mean
    loss = np.where(np.isnan(loss), np.inf, loss)
    order = np.sort(loss)
    least = loss - _TIE_RATIO * np.abs(np.where(np.isinf(loss), 0.0, loss))
    return np.searchsorted(order, least) + 1


def best_of(mean: NDArray[np.float64], params: Sequence[dict[str, Any]], scoring: Metric) -> int:
    """Return the place of the best candidate: of those that tie, the fewest columns, the first."""
    best = np.flatnonzero(ranks(mean, scoring) == 1).tolist()
    return min(best, key=lambda i: len(params[i].get(COLUMNS) or ()) or np.inf)


def described(params: dict[str, Any]) -> str:
    """Return parameters as text.

    >>> described({"var_smoothing": 1e-09, "columns": ["a", "b"]}), described({})
    ('var_smoothing=1e-09, columns: a, b', 'as given')
    """
    parts = [f"{name}={_text(value)}" for name, value in params.items() if name != COLUMNS]
    columns = params.get(COLUMNS)
    if columns is not None:
        shown = ", ".join(map(str, columns[:8])) + (", ..." if len(columns) > 8 else "")
        number = f"{len(columns)} columns: " if len(columns) > 8 else "columns: "
        parts.append(number + shown)
    return ", ".join(parts) or "as given"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        several = {str(one) for one in value.values()}
        return several.pop() if len(several) == 1 else str(value)
    return str(np.asarray(value).tolist()) if isinstance(value, np.ndarray) else str(value)


def _column(values: list[Any]) -> list[Any]:
    """Return values that a frame can hold: numbers as they are, and others as text."""
    numbers = all(isinstance(value, int | float) or value is None for value in values)
    flags = any(isinstance(value, bool) for value in values)
    if numbers and not flags:
        return [np.nan if value is None else float(value) for value in values]
    return [None if value is None else _text(value) for value in values]


def _plain_params(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON can hold them: families as text."""

    def written(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(name): str(one) for name, one in value.items()}
        holds = isinstance(value, list | tuple | np.ndarray | str | int | float)
        return value if holds or value is None else str(value)

    return {name: written(value) for name, value in params.items()}
