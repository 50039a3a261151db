"""scikit-learn's classifiers by short names, ready for any table.

What columns hold is decided as naively decides it. For linear models and neighbours, missing
numbers become the median, numbers are scaled, categories become columns of 0 and 1, and words of
text are weighted by tf-idf. For trees, missing numbers stay missing, categories become codes, and
text a few directions.

>>> classifier("logistic", [[1.0, "Ulm"], [2.0, "Bonn"]])[-1]
LogisticRegression(max_iter=2000)
>>> rows = [[1.0, "Ulm"], [3.0, "Bonn"], [None, "Ulm"]]
>>> TableMatrix(schema_of(rows), for_trees=True).fit_transform(rows)
array([[ 1.,  0.],
       [ 3.,  1.],
       [nan,  0.]])
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn import naive_bayes
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.sparse import is_sparse
from naively.engines.memory.tables import read, schema_of
from naively.errors import NaivelyError
from naively.evaluation.inputs import check_classifier

MAX_CATEGORIES = 254  # of a column: the most frequent; the others are one
_DIRECTIONS = 32  # of text, for trees


class TableMatrix(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Makes a matrix of a table: numbers first, then categories, then text.

    Parameters
    ----------
    schema : Schema or None
        What the columns hold; None for a sparse matrix, which stays as it is.
    for_trees : bool, default=False
        Whether trees are to read it.
    """

    def __init__(self, schema: Schema | None, *, for_trees: bool = False) -> None:
        self.schema = schema
        self.for_trees = for_trees

    def fit(self, X: Any, y: Any = None) -> TableMatrix:
        """Learn categories, words, medians and scales."""
        if self.schema is None:
            return self
        rows = self._read(X)
        self.categories_, self.words_ = tuple(map(np.sort, rows.categories)), rows.words
        rows = rows.known(self.categories_, self.schema, self.words_)
        self.ranks_ = [
            _ranks(codes, categories.size)
            for codes, categories in zip(rows.code_columns, rows.categories, strict=True)
        ]
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        numbers = rows.array()
        if numbers.shape[1]:
            self.numbers_ = make_pipeline(fill, StandardScaler()).fit(numbers)
        self.texts_ = [self._of_text(words).fit(words) for words in _words(rows)]
        return self

    def transform(self, X: Any) -> Any:
        """Return the matrix; sparse where there are categories or words that trees do not read."""
        if self.schema is None:
            return X
        rows = self._read(X).known(self.categories_, self.schema, self.words_)
        numbers = rows.array()
        places = [rank[codes] for rank, codes in zip(self.ranks_, rows.code_columns, strict=True)]
        texts = [t.transform(words) for t, words in zip(self.texts_, _words(rows), strict=True)]
        if self.for_trees:
            coded = [np.where(at < 0, np.nan, at)[:, np.newaxis] for at in places]
            return np.hstack([numbers, *coded, *texts])
        parts = [self.numbers_.transform(numbers)] if numbers.shape[1] else []
        parts += [_one_hot(at, rank) for at, rank in zip(places, self.ranks_, strict=True)]
        parts += texts
        return parts[0] if len(parts) == 1 else hstack(parts, format="csr")

    def _read(self, X: Any) -> Rows:
        assert self.schema is not None
        return read(X, self.schema, getattr(self, "words_", None))

    def _of_text(self, words: csr_matrix) -> Any:
        few = min(_DIRECTIONS, words.shape[1] - 1)
        if not self.for_trees or few < 1:
            return TfidfTransformer()
        return make_pipeline(TfidfTransformer(), TruncatedSVD(few, random_state=0))


def _words(rows: Rows) -> list[csr_matrix]:
    columns = () if rows.texts is None else rows.texts.columns
    shape = rows.shape[0]
    return [
        csr_matrix((c.values.astype(np.float64), c.places, c.starts), (shape, c.n_columns))
        for c in columns
    ]


def _ranks(codes: NDArray[Any], size: int) -> NDArray[np.intp]:
    """Return the place of each code by frequency; of unknown ones, and of missing ones, -1.

    Codes go from 0; the number after the last is an unknown category, -1 a missing one.
    """
    frequent = np.argsort(-np.bincount(codes[codes >= 0], minlength=size), kind="stable")
    rank = np.full(size + 2, -1, dtype=np.intp)
    rank[frequent] = np.minimum(np.arange(size), MAX_CATEGORIES)
    return rank


def _one_hot(places: NDArray[np.intp], rank: NDArray[np.intp]) -> csr_matrix:
    rows = np.flatnonzero(places >= 0)
    shape = places.size, max(int(rank.max()) + 1, 1)
    return csr_matrix((np.ones(rows.size), (rows, places[rows])), shape)


class GaussianNB(naive_bayes.GaussianNB):  # type: ignore[misc]
    """It reads the columns of numbers, and means of the training rows where cells are missing."""

    def fit(self, X: Any, y: ArrayLike) -> GaussianNB:
        """Learn from rows and their labels."""
        self.schema_ = schema_of(X)
        if not self.schema_.numbers:
            raise NaivelyError(
                "scikit-learn's GaussianNB takes numbers, and there is no such column."
            )
        table = read(X, self.schema_).array()
        present = ~np.isnan(table)
        sums = np.where(present, table, 0.0).sum(axis=0)
        self.means_ = sums / np.maximum(present.sum(axis=0), 1)
        super().fit(self._filled(table), y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return super().predict(self._filled(read(X, self.schema_).array()))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log p(k | x) of each row and class; `predict_proba` is its exponential."""
        return super().predict_log_proba(self._filled(read(X, self.schema_).array()))

    def _filled(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.isnan(table), self.means_, table)


def _sklearn(module: str, name: str, **params: Any) -> Any:
    """Return one of scikit-learn's estimators; many of its modules take long to import."""
    return getattr(import_module(f"sklearn.{module}"), name)(**params)


def _linear(*name: str, **params: Any) -> Callable[[Schema | None], Any]:
    return lambda schema: make_pipeline(TableMatrix(schema), _sklearn(*name, **params))


def _trees(*name: str, **params: Any) -> Callable[[Schema | None], Any]:
    return lambda schema: make_pipeline(
        TableMatrix(schema, for_trees=True), _sklearn(*name, random_state=0, **params)
    )


def _boosting(schema: Schema | None) -> Any:
    boosting = _sklearn("ensemble", "HistGradientBoostingClassifier", random_state=0)
    if schema is None:
        return make_pipeline(FunctionTransformer(_dense, accept_sparse=True), boosting)
    first = len(schema.numbers)
    boosting.set_params(categorical_features=list(range(first, first + len(schema.categories))))
    return make_pipeline(TableMatrix(schema, for_trees=True), boosting)


CLASSIFIERS: dict[str, Callable[[Schema | None], Any]] = {
    "logistic": _linear("linear_model", "LogisticRegression", max_iter=2000),
    "hgb": _boosting,
    "forest": _trees("ensemble", "RandomForestClassifier", n_estimators=200),
    "tree": _trees("tree", "DecisionTreeClassifier"),
    "knn": _linear("neighbors", "KNeighborsClassifier"),
    "gaussian": lambda schema: GaussianNB(),
    "dummy": lambda schema: _sklearn("dummy", "DummyClassifier", strategy="prior"),
}


def classifier(wanted: Any, X: Any) -> Any:
    """Return a classifier, given as one or by its name, that reads such a table."""
    if not isinstance(wanted, str):
        check_classifier(wanted)
        return wanted
    if wanted not in CLASSIFIERS:
        close = get_close_matches(wanted, CLASSIFIERS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise NaivelyError(
            f"a classifier must be one of {', '.join(CLASSIFIERS)}, or an object of "
            f"scikit-learn's; got {wanted!r}.{hint}"
        )
    return CLASSIFIERS[wanted](None if is_sparse(X) else schema_of(X))


def _dense(X: Any) -> Any:
    return X.toarray()
