"""Any table as a matrix of numbers, for classifiers that read nothing else.

What columns hold is decided as naively decides it. For linear models and neighbours, missing
numbers become the median, numbers are scaled, categories become columns of 0 and 1, and words of
text are weighted by tf-idf. For trees, missing numbers stay missing, categories become codes, and
text a few directions.

>>> from naively.engines.memory.tables import schema_of
>>> rows = [[1.0, "Ulm"], [3.0, "Bonn"], [None, "Ulm"]]
>>> TableMatrix(schema_of(rows), for_trees=True).fit_transform(rows)
array([[ 1.,  0.],
       [ 3.,  1.],
       [nan,  0.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.data.sparse import SparseRows
from naively.engines.memory.tables import code_columns, known, read, text_column

MOST_CATEGORIES = 254  # of a column: the most frequent; the others are one
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
        rows = known(rows, self.categories_, self.schema, self.words_)
        self.ranks_ = [
            _ranks(codes, categories.size)
            for codes, categories in zip(code_columns(rows), rows.categories, strict=True)
        ]
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        numbers = numbers_of(rows)
        if numbers.shape[1]:
            self.numbers_ = make_pipeline(fill, StandardScaler()).fit(numbers)
        self.texts_ = [self._of_text(words).fit(words) for words in _words(rows)]
        return self

    def transform(self, X: Any) -> Any:
        """Return the matrix; sparse where there are categories or words that trees do not read."""
        if self.schema is None:
            return X
        rows = known(self._read(X), self.categories_, self.schema, self.words_)
        numbers = numbers_of(rows)
        places = [rank[codes] for rank, codes in zip(self.ranks_, code_columns(rows), strict=True)]
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
        column = text_column(X, self.schema)
        return read(X if column is None else column, self.schema, getattr(self, "words_", None))

    def _of_text(self, words: csr_matrix) -> Any:
        few = min(_DIRECTIONS, words.shape[1] - 1)
        if not self.for_trees or few < 1:
            return TfidfTransformer()
        return make_pipeline(TfidfTransformer(), TruncatedSVD(few, random_state=0))


def numbers_of(rows: Rows) -> NDArray[np.float64]:
    """Return the columns of numbers as one array; missing cells are NaN."""
    cells: Any = rows.numbers[slice(None)]
    if isinstance(cells, SparseRows):
        return cells.dense()
    array = np.column_stack(cells) if isinstance(cells, list) else cells
    return np.asarray(array, dtype=np.float64).reshape(rows.shape[0], -1)


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
    rank[frequent] = np.minimum(np.arange(size), MOST_CATEGORIES)
    return rank


def _one_hot(places: NDArray[np.intp], rank: NDArray[np.intp]) -> csr_matrix:
    rows = np.flatnonzero(places >= 0)
    shape = places.size, max(int(rank.max()) + 1, 1)
    return csr_matrix((np.ones(rows.size), (rows, places[rows])), shape)
