r"""Why rows get their answers: what each term adds to each class, and to the odds of two of them.

.. math:: \log \frac{p(a \mid x)}{p(b \mid x)} = \log \frac{p(a)}{p(b)} + (b_a - b_b)
          + \sum_t (v_{at}(x) - v_{bt}(x))

where :math:`v_{kt}` is what term t adds to class k. The differences are what a reader needs: what
all classes share cancels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import TEXT
from naively.data.labels import quoted
from naively.data.rows import Rows
from naively.data.sparse import SparseRows
from naively.data.types import Floats
from naively.engines import FILES, SQL, engine_of
from naively.engines.memory.frames import frame_library
from naively.errors import NaivelyError
from naively.estimators.answers import labels_of, values_of
from naively.estimators.estimator import SummaryClassifier
from naively.families.forms import WordLines
from naively.model.model import Contributions, Model
from naively.tabular import Drawn, PrintedTable, Tabular, figure, frame, plain

_MAX_TERMS, _MAX_ROWS, _MAX_STRONGEST = 20, 20, 3  # that are printed
_MAX_FILE_ROWS = 100_000  # of files that are explained
_MAX_WORDS = 6  # of a text that are shown
_MAX_WHOLE = 1e15  # below which whole numbers are written with all their digits


def explain(estimator: SummaryClassifier, X: Any) -> Explanation:
    """Return why rows get their answers, by the estimator as it is now."""
    model = estimator.model_  # raises where there is none, before rows are looked at
    library = frame_library(X)
    engine = engine_of([X] if isinstance(X, str) else X)  # a single text may be no file
    X = _read_files(estimator, X) if engine in (FILES, SQL) else X
    checked = estimator.rows_for(X)
    return Explanation(
        model=type(estimator).__name__,
        classes=model.classes,
        contributions=model.contributions(checked.table, n_jobs=estimator.n_jobs),
        probabilities=values_of(estimator, "proba", checked),
        predicted=labels_of(estimator, checked),
        rows=np.arange(len(checked.table)),
        read=model,
        table=checked.table,
        library=library,
    )


def _read_files(estimator: SummaryClassifier, files: Any) -> Any:
    """Return the rows of files, as `predict` takes them."""
    from naively.engines.files import read_some

    table = read_some(estimator, files, range(_MAX_FILE_ROWS + 1), at_most=True)
    if len(table) > _MAX_FILE_ROWS:
        raise NaivelyError(
            f"files that are explained must have at most {_MAX_FILE_ROWS:,} rows; got more. "
            "Read some of them, and explain those."
        )
    return table


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


class RowTerm(NamedTuple):
    """A term of a row: what it adds to the class, to the other class, and to their log-odds."""

    name: str
    cell: str | None
    of: float
    against: float
    log_odds: float
    words: tuple[RowTerm, ...] = ()

    @property
    def label(self) -> str:
        """Name and cell."""
        return self.name if self.cell is None else f"{self.name} = {self.cell}"


class RowTerms(NamedTuple):
    """The terms of one row, as they are shown.

    Attributes
    ----------
    row : int
        Its number.
    predicted, of, against : labels
        The answer, and the two classes that are compared.
    p_of, p_against : float
        Their probabilities.
    terms : tuple of RowTerm
        Columns and interactions, the strongest first; the last may be all others together.
    constants : tuple of RowTerm
        The prior, and the bias where there is one.
    total : RowTerm
        The sum of all.
    """

    row: int
    predicted: Any
    of: Any
    against: Any
    p_of: float
    p_against: float
    terms: tuple[RowTerm, ...]
    constants: tuple[RowTerm, ...]
    total: RowTerm

    @property
    def title(self) -> str:
        """What the row is, and how sure that is."""
        odds = f"{self.of!r} ({self.p_of:.4f}) rather than {self.against!r} ({self.p_against:.4f})"
        answer = "" if self.of == self.predicted else f"{self.predicted!r}; here "
        return f"row {self.row}: {answer}{odds}, log-odds {self.total.log_odds:.4f}"


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
    >>> explanation = GaussianNB().fit(X, y).explain([[7.5]])
    >>> print(explanation[0])
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
    read: Model
    table: Rows  # as the estimator reads them: categories may be others than the model's
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
            at = [self._checked(int(at))]
        rows: Any = at if isinstance(at, slice) else np.asarray(at)
        return replace(
            self,
            contributions=replace(self.contributions, values=self.values[rows]),
            probabilities=self.probabilities[rows],
            predicted=self.predicted[rows],
            rows=self.rows[rows],
            table=self.table[np.arange(len(self))[rows]],
        )

    def numbered(self, rows: Sequence[int]) -> Explanation:
        """Return the same with other numbers of the rows, where they are some of a larger table."""
        return replace(self, rows=np.asarray(rows))

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
        values = _difference(self.values[every, a], self.values[every, b])
        prior = _difference(self.log_prior[a], self.log_prior[b])
        bias = self.bias[a] - self.bias[b]
        with np.errstate(divide="ignore", invalid="ignore"):  # of impossible terms on both sides
            total = prior + bias + values.sum(axis=1)
            p = self.probabilities.astype(np.float64)
            total = np.where(np.isnan(total), np.log(p[every, a]) - np.log(p[every, b]), total)
        return LogOdds(a, b, prior, bias, values, total)

    def row_terms(
        self, row: int, *, of: Any = None, against: Any = None, max_terms: int | None = None
    ) -> RowTerms:
        """Return the terms of a row, the strongest first; those beyond a number are one term."""
        one = self[row]
        odds = one.log_odds(of, against)
        a, b = int(odds.of[0]), int(odds.against[0])
        figures = np.stack([one.values[0, a], one.values[0, b], odds.values[0]])
        order = np.argsort(-np.abs(figures[2]), kind="stable")
        kept, rest = order[:max_terms], order[max_terms or order.size :]
        if rest.size == 1:  # it is as long as what would stand for it
            kept, rest = order, rest[:0]
        cells, texts = one.cells(0), set(one.read.schema.texts)
        terms = []
        for t in kept.tolist():
            is_text = int(one.contributions.columns[t]) in texts
            words = one._strongest_words(one.names[t], a, b) if is_text else ()
            terms.append(_term(one.names[t], cells[t], figures[:, t], words))
        if rest.size:
            sums = [part[rest].sum() for part in figures]
            terms.append(_term(f"{rest.size:,} other terms", None, sums))

        def constant(name: str, each: Floats, log_odds: Floats) -> RowTerm:
            return _term(name, None, (each[a], each[b], log_odds[0]))

        constants = [constant("prior", one.log_prior, odds.prior)]
        constants += [constant("bias", one.bias, odds.bias)] if one.bias.any() else []
        labels, p = one.classes.tolist(), one.probabilities[0]
        return RowTerms(
            row=int(one.rows[0]),
            predicted=one.predicted.tolist()[0],
            of=labels[a],
            against=labels[b],
            p_of=float(p[a]),
            p_against=float(p[b]),
            terms=tuple(terms),
            constants=tuple(constants),
            total=constant("sum", one.joint[0], odds.total),
        )

    def words(self, row: int, column: str | None = None) -> dict[str, Floats]:
        """Return what each word of a text adds to the classes; all add up to the column.

        Parameters
        ----------
        row : int
            Which of these rows.
        column : str, default=None
            The column of text; None where there is one.
        """
        schema = self.read.schema
        texts = {str(schema.names_or_places[j]): j for j in schema.texts}
        if column is None and len(texts) == 1:
            column = next(iter(texts))
        if column not in texts:
            known = quoted(np.array([*texts], dtype=object)) if texts else "none"
            raise NaivelyError(f"column must name a column of text ({known}); got {column!r}.")
        row, at = self._checked(row), schema.texts.index(texts[column])
        (term,) = (t for t in self.read.terms if t.family.kind is TEXT and t.at == at)
        form: Any = term.form
        assert isinstance(form, WordLines)
        one = _text_of(self.read, self.table[row : row + 1], at)
        tidy = one.tidy()
        counts = np.ones(tidy.n_cells) if form.presence else tidy.values.astype(np.float64)
        added = form.B[tidy.places] * (counts * form.scale(one))[:, np.newaxis]
        word = self.read.words[at].word
        return dict(zip(map(word, tidy.places.tolist()), added, strict=True))

    def cells(self, row: int) -> list[str | None]:
        """Return the cell of each term in a row, as text; None for terms of several columns."""
        row = self._checked(row)
        cells = cells_of(self.read, self.table[row : row + 1])
        places = self.contributions.columns.tolist()
        return [None if j < 0 else shown(cells.get(j, 0.0)) for j in places]

    def to_frame(self) -> Any:
        """Return a frame with a line for each row, class and term.

        It has the columns ``row``, ``class``, ``term``, ``value`` (the cell, as text) and
        ``contribution``; within a row and class the contributions add up to the joint
        log-probability. It is of the library that the rows came in, and else of pandas.
        """
        n, n_classes, n_terms = self.values.shape
        names = ["prior", "bias", *self.names]
        values = np.empty((n, n_classes, 2 + n_terms))
        values[:, :, 0], values[:, :, 1], values[:, :, 2:] = self.log_prior, self.bias, self.values
        cells = [["", "", *(cell or "" for cell in self.cells(i))] for i in range(n)]
        columns = {
            "row": np.repeat(self.rows, n_classes * len(names)),
            "class": self.classes.take(
                np.tile(np.arange(n_classes).repeat(len(names)), n)
            ).tolist(),
            "term": names * (n * n_classes),
            "value": [cell for row in cells for cell in row * n_classes],
            "contribution": values.ravel(),
        }
        return frame(columns, self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it, row by row; what is infinite is None."""
        rows = []
        for i, joint in enumerate(self.joint):
            terms = zip(self.names, self.cells(i), self.values[i].T, strict=True)
            rows.append(
                {
                    "row": self.rows[i],
                    "predicted": self.predicted[i],
                    "probabilities": self.probabilities[i],
                    "prior": self.log_prior,
                    "bias": self.bias,
                    "terms": [{"term": n, "value": c, "contributions": v} for n, c, v in terms],
                    "joint": joint,
                }
            )
        written: dict[str, Any] = plain(
            {"model": self.model, "classes": self.classes, "rows": rows}
        )
        return written

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the terms of a single row, or a line for each of several."""
        if len(self) != 1:
            return [self._table_of_rows()]
        if self.classes.size < 2:
            return [self._table_of_one_class()]
        terms = self.row_terms(0, max_terms=_MAX_TERMS)
        header = ("", "value", f"for {terms.of}", f"for {terms.against}", "log-odds")
        lines = [line for term in terms.terms for line in _lines(term)]
        lines += [_line(term) for term in (*terms.constants, terms.total)]
        return [PrintedTable(terms.title, header, tuple(lines))]

    def _table_of_rows(self) -> PrintedTable:
        n_rows, shown_rows = len(self), range(min(len(self), _MAX_ROWS))
        title = f"{self.model}: {n_rows:,} rows, {len(self.names):,} terms"
        lines: list[tuple[str, ...]]
        if self.classes.size < 2 or not n_rows:
            lines = [(str(self.rows[i]), str(self.predicted[i])) for i in shown_rows]
            return PrintedTable(title, ("row", "answer"), tuple(lines))
        header = ("row", "answer", "p", "rather than", "log-odds", "strongest terms")
        lines = [
            (
                str(one.row),
                str(one.predicted),
                figure(one.p_of),
                str(one.against),
                figure(one.total.log_odds),
                ", ".join(f"{t.name} {t.log_odds:+.2f}" for t in one.terms[:_MAX_STRONGEST]),
            )
            for one in (self.row_terms(i) for i in shown_rows)
        ]
        if n_rows > _MAX_ROWS:
            lines.append((f"... {n_rows - _MAX_ROWS:,} more", *[""] * 5))
        return PrintedTable(title, header, tuple(lines))

    def _table_of_one_class(self) -> PrintedTable:
        """Return what the terms add to the only class that there is."""
        label = self.classes.tolist()[0]
        terms = zip(self.names, self.cells(0), self.values[0, 0].tolist(), strict=True)
        lines = [(name, cell or "", figure(value)) for name, cell, value in terms][:_MAX_TERMS]
        title = f"row {self.rows[0]}: {label!r}, the only class"
        return PrintedTable(title, ("", "value", f"for {label}"), tuple(lines))

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
        labels = self.classes.tolist()
        if label not in labels:
            raise NaivelyError(f"a class must be one of {quoted(self.classes)}; got {label!r}.")
        return int(labels.index(label))

    def _checked(self, row: int) -> int:
        if not -len(self) <= row < len(self):
            raise NaivelyError(f"row must be below {len(self):,}, the number of rows; got {row}.")
        return row % len(self)

    def _strongest_words(self, column: str, a: int, b: int) -> tuple[RowTerm, ...]:
        """Return the words of the only row's text that speak most, one way or the other."""
        words = self.words(0, column).items()
        each = [_term(word, None, (v[a], v[b], v[a] - v[b])) for word, v in words]
        return tuple(sorted(each, key=lambda word: -abs(word.log_odds))[:_MAX_WORDS])


def cells_of(model: Model, row: Rows) -> dict[int, Any]:
    """Return the cells of a table of one row by the place of their column; None where missing.

    Sparse rows have those that they hold. A text is as many words as it has.
    """
    schema = model.schema
    if isinstance(row.numbers, SparseRows):
        held = row.numbers.tidy()
        numbers: Iterable[tuple[int, float]] = zip(
            held.places.tolist(), held.values.tolist(), strict=True
        )
    else:
        numbers = zip(schema.numbers, row.array()[0].tolist(), strict=True)
    cells: dict[int, Any] = {j: None if np.isnan(value) else float(value) for j, value in numbers}
    if not row.is_sparse:
        for at, (j, (code,)) in enumerate(zip(schema.categories, row.code_columns, strict=True)):
            missing = np.isnan(code) or code < 0
            labels = row.categories[at] if row.categories else None  # None: codes themselves
            cells[j] = None if missing else int(code) if labels is None else labels.item(int(code))
        for at, j in enumerate(schema.texts):
            n = _text_of(model, row, at).tidy().n_cells
            cells[j] = f"{n} word{'' if n == 1 else 's'}"
    return cells


def _text_of(model: Model, row: Rows, at: int) -> SparseRows:
    """Return the words of a text that the model knows, in its places."""
    assert row.texts is not None
    text, own, known = row.texts.columns[at], row.words[at], model.words[at]
    return text if own == known else text.moved(own.positions(known).astype(np.intp), known.size)


def shown(cell: Any) -> str:
    """Write a cell as a table shows it.

    >>> shown(0.1 + 0.2), shown(1234567.0), shown("Ulm"), shown(None)
    ('0.3', '1234567', 'Ulm', 'missing')
    """
    if cell is None:
        return "missing"
    if isinstance(cell, float):
        return f"{cell:.0f}" if cell.is_integer() and abs(cell) < _MAX_WHOLE else f"{cell:.6g}"
    return str(cell)


def _term(
    name: str, cell: str | None, figures: Iterable[Any], words: tuple[RowTerm, ...] = ()
) -> RowTerm:
    of, against, log_odds = map(float, figures)
    return RowTerm(name, cell, of, against, log_odds, words)


def _lines(term: RowTerm) -> Iterable[tuple[str, ...]]:
    yield _line(term)
    for word in term.words:
        yield _line(word._replace(name=f"  {word.name}"))


def _line(term: RowTerm) -> tuple[str, ...]:
    return (term.name, term.cell or "", *map(figure, (term.of, term.against, term.log_odds)))


def _difference(a: Floats, b: Floats) -> Floats:
    """Return a - b; 0 where both are minus infinity."""
    both = (a == -np.inf) & (b == -np.inf)
    return np.where(both, 0.0, a) - np.where(both, 0.0, b)
