r"""Why rows get their answers: what each term adds to each class, and to the odds of two of them.

.. math:: \log \frac{p(a \mid x)}{p(b \mid x)} = \log \frac{p(a)}{p(b)} + (b_a - b_b)
          + \sum_t (v_{at}(x) - v_{bt}(x))

where :math:`v_{kt}` is what term t adds to class k. The differences are what a reader needs: what
all classes share cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import quoted
from naively.data.types import Floats
from naively.errors import NaivelyError
from naively.inspection.explanations import tables
from naively.inspection.explanations.explained_rows import ExplainedRows, shown
from naively.model.model import Contributions
from naively.tabular import Drawn, PrintedTable, Tabular, plain


class LogOdds(NamedTuple):
    """What speaks for one class and against another, in each row.

    Attributes
    ----------
    of, against : ndarray of int of shape (n_rows,)
        The places of the classes.
    prior, bias : ndarray of shape (n_rows,)
        What is the same whatever the cells are.
    values : ndarray of shape (n_rows, n_terms)
        What each term adds; a term that is impossible in both classes adds nothing.
    total : ndarray of shape (n_rows,)
        The sum of all; by the probabilities where terms are impossible in either class.
    """

    of: NDArray[np.intp]
    against: NDArray[np.intp]
    prior: Floats
    bias: Floats
    values: Floats
    total: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Drawn, Tabular):
    """Explanations of predictions: what each term contributes to each class.

    It prints as a table; ``explanation[3]`` is that of one row, ``explanation[:5]`` of some.

    Attributes
    ----------
    model : str
        The name of the estimator's class.
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    contributions : Contributions
        Log prior, bias, and the contribution of each term to each class.
    probabilities : ndarray of shape (n_rows, n_classes)
        Of every row and class.
    predicted : ndarray of shape (n_rows,)
        The answers.
    rows : ndarray of int of shape (n_rows,)
        The numbers of the rows in their table.

    Examples
    --------
    >>> from naively import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> found = GaussianNB().fit(X, y).explain([[7.5]])
    >>> print(found[0])
    row 0: 'b' (1.0000) rather than 'a' (0.0000), log-odds 31.5000
              value    for b     for a  log-odds
    column 0    7.5  -0.9037  -32.4037   31.5000
    prior            -0.6931   -0.6931    0.0000
    sum              -1.5969  -33.0969   31.5000
    """

    model: str
    classes: NDArray[Any]
    contributions: Contributions
    probabilities: NDArray[Any]
    predicted: NDArray[Any]
    rows: NDArray[np.intp]
    source: ExplainedRows
    library: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The terms: columns, then interactions."""
        return self.contributions.names

    @property
    def values(self) -> Floats:
        """What each term adds to each class, of shape (n_rows, n_classes, n_terms)."""
        return self.contributions.values

    @property
    def log_prior(self) -> Floats:
        """The logarithm of each class's probability before any cell is known."""
        return self.contributions.log_prior

    @property
    def bias(self) -> Floats:
        """What calibration adds to each class."""
        return self.contributions.bias

    @property
    def joint(self) -> Floats:
        """The joint log-probability of each row and class: the sum of all."""
        return self.contributions.joint

    def __len__(self) -> int:
        return self.rows.size

    def __getitem__(self, at: int | slice | Sequence[int]) -> Explanation:
        """Return the explanation of one row or of some, by number."""
        if isinstance(at, int | np.integer):
            at = [_checked(int(at), len(self))]
        values = self.contributions.values[at]
        return replace(
            self,
            contributions=replace(self.contributions, values=values),
            probabilities=self.probabilities[at],
            predicted=self.predicted[at],
            rows=self.rows[at],
            source=self.source[at],
        )

    def log_odds(self, of: Any = None, against: Any = None) -> LogOdds:
        """Return what speaks for one class and against another, in each row.

        Parameters
        ----------
        of : label, default=None
            The class; None for the answer of each row, or the most probable class where the
            answer is none of them.
        against : label, default=None
            The other class; None for the most probable one beside it.
        """
        if self.classes.size < 2:
            raise NaivelyError("log-odds need two classes; the model has one.")
        every = np.arange(len(self))
        a = self._answer() if of is None else np.full(len(self), self._place(of))
        rest = np.array(self.probabilities, dtype=np.float64)
        rest[every, a] = -1.0
        b = rest.argmax(axis=1) if against is None else np.full(len(self), self._place(against))
        if against is not None and (a == b).any():
            at = int(np.argmax(a == b))
            raise NaivelyError(
                f"of and against must be two classes; got {self.classes.item(a[at])!r} for both "
                f"in row {self.rows[at]}."
            )
        parts = self.contributions
        values = _difference(parts.values[every, a], parts.values[every, b])
        prior = _difference(parts.log_prior[a], parts.log_prior[b])
        bias = parts.bias[a] - parts.bias[b]
        with np.errstate(divide="ignore", invalid="ignore"):  # of impossible terms on both sides
            total = prior + bias + values.sum(axis=1)
            p = self.probabilities.astype(np.float64)
            total = np.where(np.isnan(total), np.log(p[every, a]) - np.log(p[every, b]), total)
        return LogOdds(a, b, prior, bias, values, total)

    def words(self, row: int, column: str | None = None) -> dict[str, Floats]:
        """Return what each word of a text adds to the classes, by word.

        Parameters
        ----------
        row : int
            Which of these rows.
        column : str, default=None
            The column of text; None where there is one.
        """
        schema = self.source.model.schema
        texts = {str((schema.names or range(schema.n_columns))[j]): j for j in schema.texts}
        if column is None and len(texts) == 1:
            column = next(iter(texts))
        if column not in texts:
            known = quoted(np.array([*texts], dtype=object)) if texts else "none"
            raise NaivelyError(f"column must name a column of text ({known}); got {column!r}.")
        return self.source.words(_checked(row, len(self)), texts[column])

    def to_frame(self) -> Any:
        """Return a frame with a line for each row, class and term.

        It has the columns ``row``, ``class``, ``term``, ``value`` (the cell, as text) and
        ``contribution``; within a row and class the contributions add up to the joint
        log-probability. It is of the library that the rows came in, and else of pandas.
        """
        return tables.frame_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, row by row; what is infinite is None."""
        found = {"model": self.model, "classes": self.classes, "rows": tables.dicts_of(self)}
        rows: dict[str, Any] = plain(found)
        return rows

    def numbered(self, rows: Sequence[int]) -> Explanation:
        """Return the same with other numbers of the rows, where they are some of a larger table."""
        return replace(self, rows=np.asarray(rows))

    def cells(self, row: int) -> list[str | None]:
        """Return the cell of each term in a row, as text; None for terms of several columns."""
        cells = self.source.cells(_checked(row, len(self)))
        places = self.contributions.columns.tolist()
        return [None if j < 0 else shown(cells.get(j, 0.0)) for j in places]

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the terms of a single row, or a line for each of several."""
        return [tables.of_row(self)] if len(self) == 1 else [tables.of_rows(self)]

    def __repr__(self) -> str:
        return (
            f"<Explanation of {len(self)} rows by {self.model}: {self.classes.size} classes, "
            f"{len(self.names)} terms>"
        )

    def _answer(self) -> NDArray[np.intp]:
        """Return the place of each answer; of the most probable class where it is no class."""
        place = {label: k for k, label in enumerate(self.classes.tolist())}
        most = self.probabilities.argmax(axis=1).tolist()
        pairs = zip(self.predicted.tolist(), most, strict=True)
        return np.array([place.get(label, k) for label, k in pairs], dtype=np.intp)

    def _place(self, label: Any) -> int:
        found = [k for k, one in enumerate(self.classes.tolist()) if one == label]
        if not found:
            raise NaivelyError(f"a class must be one of {quoted(self.classes)}; got {label!r}.")
        return found[0]


def _checked(row: int, n_rows: int) -> int:
    if not -n_rows <= row < n_rows:
        raise NaivelyError(f"row must be below {n_rows:,}, the number of rows; got {row}.")
    return row % n_rows


def _difference(a: Floats, b: Floats) -> Floats:
    """Return a - b; 0 where both are minus infinity."""
    both = (a == -np.inf) & (b == -np.inf)
    return np.where(both, 0.0, a) - np.where(both, 0.0, b)
