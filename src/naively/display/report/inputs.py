"""What a report is given: a model, rows and labels; and what was learned from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from naively.data import labels
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.sparse import SparseRows, is_sparse
from naively.data.types import Floats
from naively.display.plots.reading import codes_of
from naively.engines.memory.frames import names_of
from naively.errors import NaivelyError
from naively.estimators.counts import CountClassifier
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.measurement import check_labels
from naively.estimators.naive_bayes import NaiveBayes
from naively.estimators.state import snapshot
from naively.evaluation.inputs import is_fitted
from naively.statistics.measure import measure
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.engines.files.labelled_rows import LabelledRows

_MAX_CLASSES = 100
_MAX_CELLS = 10**9
_BLOCK_CELLS = 1 << 22  # 32 MB


class WholeFile(NamedTuple):
    """What is known of all rows of files, beside what was learned from them."""

    n_rows: int
    at: NDArray[np.int64]  # the numbers of the rows of the sample


class Given(NamedTuple):
    """What was given, and what was learned from it."""

    model: SummaryClassifier  # as it was given
    fitted: SummaryClassifier  # the one that is explored, in float64
    # X and y: rows and labels, as they were given
    X: Any
    y: NDArray[Any]
    table: Rows  # the rows; of categories, one more than the model knows stands for all others
    codes: NDArray[np.int32]  # (n_rows,): of the labels, among the fitted model's classes
    seen: Summary  # of these rows, which a fitted model may not have learned from
    target: str | None  # what the labels are called
    whole: WholeFile | None = None  # all rows of files, of which the table holds a sample

    @classmethod
    def of_files(
        cls,
        model: SummaryClassifier,
        learned: Summary,
        sample: LabelledRows,
        whole: WholeFile,
        target: str,
    ) -> Given:
        """Put together what was learned from files, and a sample of their rows."""
        explored = type(model).from_summary(learned, **model.get_params(deep=False))
        table = explored.model_.known(_read(explored, sample.X))
        codes = codes_of(sample.y, explored.classes_, len(table)).astype(np.int32)
        rows = sample.X, sample.y, table, codes
        return cls(model, explored, *rows, learned, target, whole)

    @classmethod
    def of(cls, model: Any, X: Any, y: Any) -> Given:
        """Fit what is not fitted, and measure the rows."""
        X = _dense(X) if is_sparse(X) else X
        model, target = snapshot(model), getattr(y, "name", None)
        fitted = is_fitted(model)
        source = model if fitted else clone(model).fit(X, y)
        learned = source.summary_
        explored = type(model).from_summary(learned, **model.get_params(deep=False))
        table = _read(source, X)
        y = check_labels(model, y, table.shape[0])
        seen = learned
        if fitted:  # what the page shows of these rows: neither bins nor a sample
            s = learned.schema
            plain = Schema(s.n_columns, s.names, s.kinds, options=s.options, dates=s.dates)
            seen = measure(table, Targets(*labels.encode(y)), plain)
        codes = codes_of(y, explored.classes_, len(table)).astype(np.int32)
        check_classes(explored.classes_)
        table = explored.model_.known(table)
        target = target if isinstance(target, str) and target else None
        return cls(model, explored, X, y, table, codes, seen, target)

    @property
    def schema(self) -> Schema:
        """The columns of the fitted model."""
        return self.fitted.summary_.schema

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        names = self.schema.names or names_of(self.X)
        return [f"column {j}" for j in range(self.schema.n_columns)] if names is None else [*names]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.codes.size if self.whole is None else self.whole.n_rows

    @property
    def n_classes(self) -> int:
        """How many classes the fitted model knows."""
        return int(self.fitted.classes_.size)

    @property
    def class_rows(self) -> NDArray[np.int64]:
        """How many rows each class of the fitted model has."""
        if self.whole is None:
            return np.bincount(self.codes, minlength=self.n_classes)
        return self.seen.class_weight.astype(np.int64)

    @property
    def learned_from_rows(self) -> bool:
        """Whether the model has learned from just these rows, as far as the statistics tell."""
        learned, seen = self.fitted.summary_, self.seen
        if learned is seen:
            return True
        a, b = learned.moments.pooled(), seen.moments.pooled()
        same = [np.isclose(learned.weight, seen.weight), np.array_equal(a.weight, b.weight)]
        same += [np.allclose(a.mean, b.mean, equal_nan=True), np.allclose(a.m2, b.m2)]
        return bool(all(same)) and all(map(np.array_equal, learned.categories, seen.categories))

    def codes_of_column(self, place: int) -> NDArray[np.int32]:
        """Return the codes of a column of categories, by its place among those."""
        return self.table.code_columns[place].astype(np.int32, copy=False)


@dataclass(frozen=True)
class Ranges:
    """The least and the largest cell of each column of numbers, and which cells are missing."""

    # least and most, (n_columns,): NaN for a column without a cell
    least: Floats
    most: Floats
    missing: NDArray[np.int64]  # cells that are missing
    whole: NDArray[np.bool_]  # whether all cells are whole numbers
    missing_others: int = 0  # cells that are missing in columns of categories and texts

    @classmethod
    def of(cls, rows: Rows) -> Ranges:
        """Look at every cell once."""
        others = [codes < 0 for codes in rows.code_columns]
        others += [] if rows.texts is None else [rows.texts.hashes == 0]
        d = rows[:0].array().shape[1]
        unknown = np.full(d, np.nan)
        nothing, whole = np.zeros(d, dtype=np.int64), np.ones(d, dtype=bool)
        found = cls(unknown, unknown, nothing, whole, sum(int(one.sum()) for one in others))
        for _, block in blocks(rows):
            absent = np.isnan(block)
            found += cls(
                np.fmin.reduce(block, axis=0),
                np.fmax.reduce(block, axis=0),
                absent.sum(axis=0),
                (absent | (block == np.rint(block))).all(axis=0),
            )
        return found

    def __add__(self, other: Ranges) -> Ranges:
        """Return the ranges of the rows of both."""
        return Ranges(
            np.fmin(self.least, other.least),
            np.fmax(self.most, other.most),
            self.missing + other.missing,
            self.whole & other.whole,
            self.missing_others + other.missing_others,
        )


def blocks(rows: Rows) -> Iterator[tuple[slice, Floats]]:
    """Give the numbers of rows as arrays of some rows each."""
    step = max(1, _BLOCK_CELLS // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        at = slice(start, min(start + step, len(rows)))
        yield at, rows[at].array()


def check_model(model: Any) -> None:
    """Raise where a report cannot explore a model."""
    if isinstance(model, GaussianNB | NaiveBayes):
        return
    if isinstance(model, CountClassifier):
        raise NaivelyError(
            f"a report explores naively's GaussianNB and NaiveBayes; got {type(model).__name__}. "
            "Give the texts themselves to NaiveBayes, whose report shows the words of each class: "
            "report(NaiveBayes(), texts, y). For counts, use model.explain(X) and naively.evaluate."
        )
    raise NaivelyError(
        f"a report explores naively's GaussianNB and NaiveBayes; got {type(model).__name__}. "
        "Use naively.evaluate and naively.compare for other classifiers."
    )


def _dense(X: Any) -> NDArray[Any]:
    """Return a sparse matrix as an array, if that is no larger than a report can use."""
    if X.shape[0] * X.shape[1] > _MAX_CELLS:
        raise NaivelyError(
            f"a report needs up to {_MAX_CELLS:,} cells; got a sparse matrix of "
            f"{' x '.join(map(str, X.shape))}. Take some of its rows or columns."
        )
    return SparseRows.of(X).dense_as_held()


def _read(source: SummaryClassifier, X: Any) -> Rows:
    return source.check_rows(X, source.summary_.schema).table


def check_classes(classes: NDArray[Any]) -> None:
    """Raise where a page has no room for so many classes, or none for their kind."""
    if classes.dtype.kind in "MS":
        raise NaivelyError(
            f"a report needs labels that are text, numbers or booleans; got {classes.dtype}. Make "
            "them text."
        )
    if not 2 <= classes.size <= _MAX_CLASSES:
        got = f"{classes.size:,}: {labels.quoted(classes)}"
        hint = " Is the target a number rather than a class?" if classes.size > 2 else ""
        raise NaivelyError(f"a report needs 2 to {_MAX_CLASSES} classes; got {got}.{hint}")
