"""What would have to change for another answer: the smallest change of one cell, or of two.

A change of a number is measured in standard deviations of its column, one of a count in counts, and
another category is a distance of 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import quoted
from naively.engines.memory.columns import find
from naively.engines.memory.native import is_frame
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.inspection.explanations.candidates import Candidates, candidates_of, spreads_of
from naively.inspection.explanations.evaluators import ChangedRow
from naively.inspection.explanations.explained_rows import shown
from naively.inspection.explanations.given_row import GivenRow
from naively.inspection.explanations.search import Found, Tests, nearest_one, nearest_two
from naively.tabular import PrintedTable, Tabular, figure, frame, plain

_MOST_COLUMNS = 500  # of which single cells are changed
_MOST_OF_PAIRS = {True: 40, False: 16}  # of which pairs are: of sums over columns, of other models


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
        The answers before and after; the same where no change of two cells suffices.
    changes : tuple of Change
        One or two cells; none where these do not suffice.
    distance : float
        The sum of how far they are changed; infinite where there are none.
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
        found: dict[str, Any] = plain({name: getattr(self, name) for name in names})
        return {**found, "changes": [plain(change._asdict()) for change in self.changes]}

    def tables(self) -> list[PrintedTable]:
        """Return what is printed: the changes, and what they do to the answer."""
        if not self:
            title = f"{self.predicted!r}: no change of one or two cells changes the answer"
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
        changes = ", ".join(
            f"{c.column}: {shown(c.before)} -> {shown(c.after)}" for c in self.changes
        )
        return f"<Counterfactual of {self.predicted!r}: {changes or 'none'}>"

    def _repr_html_(self) -> str:
        return super()._repr_html_() if self else f"<p>{escape(str(self))}</p>"

    def _p(self, p: NDArray[np.float64], label: Any) -> str:
        at = [k for k, one in enumerate(self.classes.tolist()) if one == label]
        return f"{p[at[0]]:.4f}" if at else "refused"


def counterfactual(
    estimator: SummaryClassifier,
    row: Any,
    *,
    to: Any = None,
    columns: Iterable[Any] | None = None,
) -> Counterfactual:
    """Return the smallest change of a row that changes its answer, by the estimator as it is."""
    model = estimator.model_
    given = GivenRow.read(estimator, row)
    changed = ChangedRow(estimator, given.table)
    predicted = changed.predicted({}).tolist()[0]
    _check_wanted(to, predicted, estimator)
    _, spread = spreads_of(estimator.summary_)
    allowed = changed.promising(_columns(estimator, columns), spread, _MOST_COLUMNS)
    every = candidates_of(model, estimator.summary_, changed.cells, allowed)

    def wanted(answers: NDArray[Any]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = answers != predicted if to is None else answers == to
        return found

    tests = Tests(
        quick=lambda changes: wanted(changed.answers(changed.joint(changes))),
        sure=lambda changes: wanted(changed.predicted(changes)),
    )
    found = _search(changed, every, tests, to)
    cells = {} if found is None else found.cells
    lines = {j: np.array([cell]) for j, cell in cells.items()}
    spreads = {one.column: one for one in every}
    changes = tuple(
        Change(
            given.names[j], given.cell(j), _value(model, j, cell), float(spreads[j].distance(cell))
        )
        for j, cell in cells.items()
    )
    return Counterfactual(
        predicted=predicted,
        becomes=changed.predicted(lines).tolist()[0],
        changes=changes,
        distance=np.inf if found is None else found.distance,
        row=given.changed({j: _value(model, j, cell) for j, cell in cells.items()}),
        classes=model.classes,
        before=changed.probabilities({})[0],
        after=changed.probabilities(lines)[0],
        library=type(row).__module__.partition(".")[0] if is_frame(row) else None,
    )


def _search(changed: ChangedRow, every: list[Candidates], tests: Tests, to: Any) -> Found | None:
    """Search among single cells, then among pairs."""
    present = _place(changed, None)
    k = present if to is None else _place(changed, to)
    gain = {one.column: _gain(changed, one, present, None if to is None else k) for one in every}
    every = sorted(every, key=lambda one: -gain[one.column])
    dense = [_with_roots(changed, one, k) for one in every]
    found = nearest_one(dense, tests)
    if found is None:
        found = nearest_two(dense[: _MOST_OF_PAIRS[changed.is_sum]], tests)
    return found


def _with_roots(changed: ChangedRow, one: Candidates, k: int) -> Candidates:
    """Return candidates with one in every interval that a formula knows of."""
    if not one.is_grid:
        return one
    more = changed.between_roots(one.column, one.spread, k)
    more = more[(more > one.cells[0]) & (more < one.cells[-1]) & (more != one.before)]
    cells = np.unique(np.concatenate([one.cells, more]))
    return Candidates(one.column, cells, one.before, one.spread, True)


def _gain(changed: ChangedRow, one: Candidates, present: int, to: int | None) -> float:
    """Return how far a change of one cell can move the odds from the present class."""
    coarse = one.coarse()
    if not coarse.cells.size or changed.model.classes.size < 2:
        return 0.0
    joint = changed.joint({one.column: np.append(coarse.cells, one.before)})
    odds = joint - joint[:, [present]]
    odds = np.delete(odds, present, axis=1) if to is None else odds[:, [to]]
    best = odds.max(axis=1, initial=-np.inf)
    now, then = float(best[-1]), float(best[:-1].max())
    return then - now if np.isfinite(now) else then  # of a class that is impossible now


def _place(changed: ChangedRow, label: Any) -> int:
    """Return the place of a class; of the most probable one where it is None."""
    if label is None:
        return int(np.argmax(changed.probabilities({})))
    return int(changed.model.classes.tolist().index(label))


def _value(model: Any, j: int, cell: float) -> Any:
    """Return a cell as a reader knows it: a category, or a number."""
    if j not in model.schema.categories:
        return cell
    return model.vocabularies[model.schema.categories.index(j)].item(int(cell))


def _columns(estimator: SummaryClassifier, columns: Iterable[Any] | None) -> list[int]:
    schema = estimator.summary_.schema
    if columns is None:
        return list(range(schema.n_columns))
    names = list(schema.names or ())
    found = []
    wanted: Iterable[Any] = [columns] if isinstance(columns, str) else columns
    for column in wanted:
        is_place = isinstance(column, int | np.integer) and not isinstance(column, bool)
        if is_place and not 0 <= column < schema.n_columns:
            raise NaivelyError(f"no column {column}; the model has {schema.n_columns}, from 0.")
        parts = [] if is_place else schema.parts(str(column))  # of a date, whose name is none
        found += parts or [int(column) if is_place else names.index(find(str(column), names))]
    return found


def _check_wanted(to: Any, predicted: Any, estimator: SummaryClassifier) -> None:
    if to is None:
        return
    if to not in estimator.classes_.tolist():
        raise NaivelyError(f"to must be a class ({quoted(estimator.classes_)}); got {to!r}.")
    if to == predicted:
        raise NaivelyError(f"to must be another class than the answer; the row is {to!r} already.")
