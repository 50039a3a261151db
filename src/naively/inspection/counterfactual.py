"""What would have to change for another answer: the smallest change of one cell.

A change of a number is measured in standard deviations of its column, one of a count in counts, and
another category is a distance of 1.

The cells that are tried are other categories, whole numbers, or a grid that reaches ten standard
deviations of the column to either side of its mean. It has the knots of straight pieces and the
means of the classes among its points, and gets ever finer towards an end of the support, so that
what happens between two points is smooth. Where the terms of a column are polynomials of degree 2,
a point lies between any two cells at which two classes are equally probable: no interval is too
narrow to be found. The nearest cell of each side that changes the answer is then moved towards the
present one by halving, until the next float64 would not change it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import quoted
from naively.data.rows import Rows
from naively.data.sparse import is_sparse
from naively.data.types import Floats
from naively.engines.memory import frames
from naively.engines.memory.arrays import check_in_memory
from naively.engines.memory.columns import find
from naively.engines.memory.frames import frame_library, is_frame
from naively.errors import NaivelyError
from naively.estimators.answers import labels_of, values_of
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.measurement import Checked
from naively.families.forms import Lines, Pieces, Quadratics
from naively.inspection.explanations import cells_of, shown
from naively.statistics.summary import Summary
from naively.tabular import PrintedTable, Tabular, figure, frame, plain

_MAX_COLUMNS = 500  # that are changed
_MAX_CELLS = 1 << 21  # of changed rows that are scored together
_GRID_DEVIATIONS, _GRID_STEPS = 10, 40  # the reach of a grid, and its steps in one of them
_MAX_COUNT_STEPS = 20  # of a count, to either side, that are all tried
_EVER_NEARER = 2.0 ** -np.arange(0.0, 100.0, 0.5)  # to an end, where densities change fastest
_MAX_HALVINGS = 100


class Change(NamedTuple):
    """A cell that is changed: from what, to what, and how far that is."""

    column: str
    before: Any
    after: Any
    distance: float


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Tabular):
    """The smallest change of a row that changes its answer; it is false where there is none.

    Attributes
    ----------
    predicted, becomes : labels
        The answers before and after; the same where no change of one cell suffices.
    changes : tuple of Change
        One cell; none where that does not suffice.
    distance : float
        How far it is changed; infinite where there is none.
    row : dict or list
        The changed row, as `predict_one` takes it.
    classes, before, after : ndarray of shape (n_classes,)
        Labels, and their probabilities before and after.
    """

    predicted: Any
    becomes: Any
    changes: tuple[Change, ...]
    distance: float
    row: dict[str, Any] | list[Any]
    classes: NDArray[Any]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    library: str | None = None

    def __bool__(self) -> bool:
        return bool(self.changes)

    def to_frame(self) -> Any:
        """Return a frame with a line for each change: column, before, after, distance."""
        columns: dict[str, Any] = {
            "column": [change.column for change in self.changes],
            "before": [shown(change.before) for change in self.changes],
            "after": [shown(change.after) for change in self.changes],
            "distance": np.array([change.distance for change in self.changes], np.float64),
        }
        return frame(columns, self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        names = ("predicted", "becomes", "distance", "row", "classes", "before", "after")
        written: dict[str, Any] = plain({name: getattr(self, name) for name in names})
        return {**written, "changes": [plain(change._asdict()) for change in self.changes]}

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the change, and what it does to the answer."""
        if not self:
            title = f"{self.predicted!r}: no change of one cell changes the answer"
            return [PrintedTable(title, ("",), ())]
        title = (
            f"{self.predicted!r} ({self._p(self.before, self.predicted)}) becomes "
            f"{self.becomes!r} ({self._p(self.after, self.becomes)}) by"
        )
        lines = [
            (change.column, shown(change.before), shown(change.after), figure(change.distance))
            for change in self.changes
        ]
        return [PrintedTable(title, ("", "before", "after", "distance"), tuple(lines))]

    def __str__(self) -> str:
        return super().__str__().rstrip()  # there is no header where there is no change

    def __repr__(self) -> str:
        changes = [f"{c.column}: {shown(c.before)} -> {shown(c.after)}" for c in self.changes]
        return f"<Counterfactual of {self.predicted!r}: {', '.join(changes) or 'none'}>"

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self else f"<p>{escape(str(self))}</p>"

    def _p(self, p: NDArray[np.float64], label: Any) -> str:
        labels = self.classes.tolist()
        return f"{p[labels.index(label)]:.4f}" if label in labels else "refused"


def counterfactual(
    estimator: SummaryClassifier,
    row: Any,
    *,
    to: Any = None,
    columns: Iterable[Any] | None = None,
) -> Counterfactual:
    """Return the smallest change of a row that changes its answer, by the estimator as it is.

    Of changes of the same size, it is that of the first column.
    """
    model, schema = estimator.model_, estimator.summary_.schema
    cells, is_table = _cells_in(row)
    table = estimator.rows_for(row).table if is_table else estimator.row_for(row)
    labels = cells_of(model, table)
    if schema.dates and isinstance(cells, list):  # a date is not changed, but its parts
        cells = [labels.get(j) for j in range(schema.n_columns)]
    changed = _ChangedRow(estimator, model.known(table))
    predicted = changed.answers().tolist()[0]
    _check_wanted(to, predicted, estimator)
    before = changed.probabilities()
    k = int(before.argmax()) if to is None else estimator.classes_.tolist().index(to)
    options = _options(changed, _places(estimator, columns), k)

    def is_wanted(j: int, cells: Any) -> NDArray[np.bool_]:
        answers = changed.answers(j, np.atleast_1d(cells))
        wanted: NDArray[np.bool_] = answers != predicted if to is None else answers == to
        return wanted

    nearest = _nearest(options, is_wanted)
    changes: tuple[Change, ...] = ()
    after, becomes = before, predicted
    if nearest is not None:
        option, cell = nearest
        name = schema.names[option.j] if schema.names else f"column {option.j}"
        value = changed.label(option.j, cell)
        distance = float(option.distance(cell))
        # Sparse rows have 0 where they hold nothing.
        changes = (Change(str(name), labels.get(option.j, 0.0), value, distance),)
        at: Any = name if isinstance(cells, dict) else option.j
        cells[at] = value
        after = changed.probabilities(option.j, cell)
        becomes = changed.answers(option.j, np.array([cell])).tolist()[0]
    return Counterfactual(
        predicted=predicted,
        becomes=becomes,
        changes=changes,
        distance=changes[0].distance if changes else np.inf,
        row=cells,
        classes=model.classes,
        before=before,
        after=after,
        library=frame_library(row),
    )


# --- the row and what may be in its cells ---------------------------------------------------------


class _ChangedRow:
    """A row with the codes and words of the model, and the answers once one cell is another."""

    def __init__(self, estimator: SummaryClassifier, row: Rows) -> None:
        self.estimator, self.model, self.texts = estimator, estimator.model_, row.texts
        schema = self.model.schema
        self.numbers = row.array()[0]
        self.codes = np.array([column[0] for column in row.code_columns], np.float64)
        self.numbers_at = {j: i for i, j in enumerate(schema.numbers)}
        self.codes_at = {j: i for i, j in enumerate(schema.categories)}

    def cell(self, j: int) -> float:
        """Return the number or code of a column; NaN where it is missing, or a text."""
        if j in self.numbers_at:
            return float(self.numbers[self.numbers_at[j]])
        code = self.codes[self.codes_at[j]] if j in self.codes_at else -1
        return float(code) if code >= 0 else np.nan

    def label(self, j: int, cell: float) -> Any:
        """Return a cell as a reader knows it: a category, or a number."""
        at = self.codes_at.get(j)
        return cell if at is None else self.model.vocabularies[at].item(int(cell))

    def rows(self, j: int | None = None, cells: Any = (0.0,)) -> Rows:
        """Return the row once for each of some cells of a column; as it is without a column."""
        numbers, codes = (np.tile(one, (len(cells), 1)) for one in (self.numbers, self.codes))
        if j in self.numbers_at:
            numbers[:, self.numbers_at[j]] = cells
        elif j is not None:
            codes[:, self.codes_at[j]] = cells
        return self.table(numbers, codes)

    def table(self, numbers: Floats, codes: Floats) -> Rows:
        """Return rows of these numbers and codes, each with the texts of the row."""
        model, n = self.model, len(numbers)
        texts = None if self.texts is None else self.texts[np.zeros(n, np.intp)]
        categories = () if model.coded else model.vocabularies
        shape = n, model.schema.n_columns
        return Rows(shape, numbers, codes.astype(np.int32), categories, texts, model.words)

    def answers(self, j: int | None = None, cells: Any = (0.0,)) -> NDArray[Any]:
        """Return what the estimator answers, for each cell."""
        step = max(1, _MAX_CELLS // max(1, self.model.schema.n_columns))
        parts = [cells[start : start + step] for start in range(0, len(cells), step)]
        answers = [labels_of(self.estimator, self._checked(self.rows(j, part))) for part in parts]
        return np.concatenate(answers)

    def probabilities(self, j: int | None = None, cell: float = 0.0) -> Floats:
        """Return the probabilities of the classes."""
        checked = self._checked(self.rows(j, (cell,)))
        return np.asarray(values_of(self.estimator, "proba", checked)[0], np.float64)

    def _checked(self, rows: Rows) -> Checked:
        return Checked(rows, self.model.schema)


class _Option(NamedTuple):
    """The cells that a column may have instead of the one it has.

    Attributes
    ----------
    j : int
        The place of the column in the schema.
    before : float
        The present cell.
    cells : ndarray
        Numbers, or codes of categories; ascending, and without the present one.
    spread : float
        What a distance of 1 is; 0 for categories, of which each is as far as any other.
    between : {None, "whole", "any"}
        Which cells between these are allowed, too: none, whole numbers, or all.
    """

    j: int
    before: float
    cells: Floats
    spread: float = 0.0
    between: str | None = None

    def distance(self, cell: float) -> float:
        """Return how far a cell is from the present one."""
        return abs(cell - self.before) / self.spread if self.spread else float(cell != self.before)

    def inner(self, cell: float) -> float:
        """Return the one before a cell, on the way from the present cell to it."""
        on_the_way = self.cells[(self.cells - cell) * (self.cells - self.before) < 0]
        if not on_the_way.size:
            return self.before
        return float(on_the_way[np.argmin(np.abs(on_the_way - cell))])


def _options(changed: _ChangedRow, columns: list[int], k: int) -> list[_Option]:
    """Return what the cells of some columns may become.

    Columns of text, of constants and of missing cells stay as they are.
    """
    model = changed.model
    mean, spread = _spreads(changed.estimator.summary_)
    options = []
    for j in _promising(changed, columns, spread):
        before = changed.cell(j)
        if np.isnan(before) or not model.by_column[j]:
            continue
        if j in changed.codes_at:
            codes = np.arange(model.vocabularies[changed.codes_at[j]].size, dtype=np.float64)
            options.append(_Option(j, before, codes[codes != before]))
        elif spread[i := changed.numbers_at[j]] > 0:
            options.append(_of_numbers(changed, j, float(mean[i]), float(spread[i]), k))
    return [option for option in options if option.cells.size]


def _of_numbers(changed: _ChangedRow, j: int, mean: float, spread: float, k: int) -> _Option:
    """Return the numbers that a column may hold: whole ones, or a grid."""
    terms, before = changed.model.by_column[j], changed.cell(j)
    low = max(term.family.support[0] for term, _ in terms)
    high = min(term.family.support[1] for term, _ in terms)
    half = _GRID_DEVIATIONS * _GRID_STEPS
    grid = mean + spread / _GRID_STEPS * np.arange(-half, half + 1)
    between: str | None = "any"
    if all(getattr(term.family, "discrete", False) for term, _ in terms):
        near = np.arange(-_MAX_COUNT_STEPS, _MAX_COUNT_STEPS + 1.0)
        cells, between = np.append(np.round(grid), np.round(before) + near), "whole"
        form: Any = terms[0][0].form
        if isinstance(form, Lines) and form.step is not None:  # presence: below a step, or above
            cells, between = np.array([0.0, np.floor(form.step) + 1]), None
            low, high = 0.0, np.inf
    else:
        ends = [end + (mean - end) * _EVER_NEARER for end in (low, high) if np.isfinite(end)]
        marks = [_marks(term, i) for term, i in terms]
        cells = np.concatenate([grid, *ends, *marks])
        low, high = max(low, cells.min()), min(high, cells.max())
        cells = np.append(cells, _between_roots(changed, j, spread, k))
    cells = np.unique(cells[(cells >= low) & (cells <= high) & (cells != before)])
    return _Option(j, before, cells, spread, between)


def _marks(term: Any, i: int) -> Floats:
    """Return the knots of straight pieces, or the means of the classes."""
    if isinstance(term.form, Pieces):
        return np.asarray(term.form.knots[i])
    mu = getattr(term.form, "mu", None)
    return np.empty(0) if mu is None else mu[i][np.isfinite(mu[i])]


def _between_roots(changed: _ChangedRow, j: int, spread: float, k: int) -> Floats:
    """Return a number between any two where class k and another are equally probable.

    By formula, for columns whose terms are quadratic or straight; there are none for others.
    """
    model = changed.model
    if model.interactions is not None or not all(
        isinstance(form := term.form, Quadratics)
        or (isinstance(form, Lines) and form.step is None and form.lowest == -np.inf)
        for term, _ in model.by_column[j]
    ):
        return np.empty(0)
    x = changed.cell(j)
    f = model.score(changed.rows(j, x + spread * np.array([-1.0, 0.0, 1.0])))
    with np.errstate(all="ignore"):  # of classes that are impossible, and of no root
        a, b, c = (f[0] + f[2]) / 2 - f[1], (f[2] - f[0]) / 2, f[1]
        a, b, c = a - a[k], b - b[k], c - c[k]
        root = np.sqrt(b * b - 4 * a * c)
        q = -0.5 * (b + np.copysign(root, b))
        roots = x + spread * np.concatenate([q / a, c / q])
    roots = np.unique(roots[np.isfinite(roots)])
    return np.asarray((roots[1:] + roots[:-1]) / 2)


def _promising(changed: _ChangedRow, columns: list[int], spread: Floats) -> list[int]:
    """Return those columns whose terms move the odds of classes most, at most so many.

    Numbers are moved by their spread to either side; columns of categories come first.
    """
    if len(columns) <= _MAX_COLUMNS:
        return columns
    model, x = changed.model, changed.numbers
    low = x - spread if model.schema.counted is None else np.maximum(x - spread, 0.0)
    moved = changed.table(np.stack([x, low, x + spread]), np.tile(changed.codes, (3, 1)))
    values = model.contributions(moved).values
    odds = (values[1:] - values[0])[:, :, : model.schema.n_columns]
    gain = np.nan_to_num(np.ptp(odds, axis=1).max(axis=0))
    gain[list(model.schema.categories)] = np.inf
    return sorted(columns, key=lambda j: -gain[j])[:_MAX_COLUMNS]


def _spreads(summary: Summary) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the columns of numbers; 0 and 1 of counts."""
    n = len(summary.schema.numbers)
    if summary.schema.counted is not None:
        return np.zeros(n), np.ones(n)
    whole = summary.moments.pooled()
    weight = np.where(whole.weight > 0, whole.weight, np.inf)
    return whole.mean, np.sqrt(whole.m2 / weight)


# --- the search -----------------------------------------------------------------------------------


def _nearest(options: list[_Option], is_wanted: Any) -> tuple[_Option, float] | None:
    """Return the column and the cell of the smallest change; None where there is none."""
    tried = []
    for option in options:
        hits = option.cells[is_wanted(option.j, option.cells)]
        sides = (hits[hits < option.before][-1:], hits[hits > option.before][:1])
        for cell in (np.concatenate(sides) if option.spread else hits[:1]).tolist():
            bound = option.inner(cell) if option.between else cell
            tried.append((option.distance(bound), option, cell))
    nearest, smallest = None, np.inf
    for lower_bound, option, cell in sorted(tried, key=lambda one: one[0]):
        if lower_bound >= smallest:
            break
        near = _halved(option, cell, is_wanted) if option.between else cell
        if option.distance(near) < smallest:
            nearest, smallest = (option, near), option.distance(near)
    return nearest


def _halved(option: _Option, cell: float, is_wanted: Any) -> float:
    """Return the cell nearest to the candidate before, that still changes the answer."""
    outside, inside = option.inner(cell), cell
    for _ in range(_MAX_HALVINGS):
        middle = 0.5 * outside + 0.5 * inside
        middle = float(np.floor(middle)) if option.between == "whole" else middle
        if middle in (outside, inside):
            break
        if is_wanted(option.j, middle)[0]:
            inside = middle
        else:
            outside = middle
    return inside


# --- what is given --------------------------------------------------------------------------------


def _cells_in(row: Any) -> tuple[dict[str, Any] | list[Any], bool]:
    """Return the cells of a row, by name or in order, and whether it is a table of one."""
    if isinstance(row, dict):
        return dict(row), False
    check_in_memory(row)
    if is_sparse(row):
        dense = np.atleast_2d(row.toarray())
        _check_one(dense.shape[0])
        return dense[0].tolist(), row.ndim == 2
    if is_frame(row):
        _check_one(row.shape[0])
        cells = [frames.cells_of(column)[0] for column in frames.columns_of(row)]
        names = frames.names_of(row)
        return (cells if names is None else dict(zip(names, cells, strict=True))), True
    if isinstance(row, str) or np.ndim(np.asarray(row, dtype=object)) != 2:
        return ([row] if isinstance(row, str) or not np.iterable(row) else list(row)), False
    _check_one(len(row))
    return list(row[0]), True


def _check_one(n_rows: int) -> None:
    if n_rows != 1:
        raise NaivelyError(f"a counterfactual is of one row; got a table of {n_rows:,} rows.")


def _places(estimator: SummaryClassifier, columns: Iterable[Any] | None) -> list[int]:
    """Return the places of columns, given by name or place; of all, in their order."""
    schema = estimator.summary_.schema
    if columns is None:
        return list(range(schema.n_columns))
    names, places = list(schema.names or ()), []
    is_one = isinstance(columns, str) or not isinstance(columns, Iterable)
    for column in [columns] if is_one else columns:
        if isinstance(column, int | np.integer) and not isinstance(column, bool):
            if not 0 <= column < schema.n_columns:
                raise NaivelyError(f"no column {column}; the model has {schema.n_columns}, from 0.")
            places.append(int(column))
        else:  # the name of a date is that of its parts
            places += schema.parts(str(column)) or [names.index(find(str(column), names))]
    return places


def _check_wanted(to: Any, predicted: Any, estimator: SummaryClassifier) -> None:
    if to is None:
        return
    if to not in estimator.classes_.tolist():
        raise NaivelyError(f"to must be a class ({quoted(estimator.classes_)}); got {to!r}.")
    if to == predicted:
        raise NaivelyError(f"to must be another class than the answer; the row is {to!r} already.")
