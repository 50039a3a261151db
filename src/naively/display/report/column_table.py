"""The columns of a page, each as a plain dict, the most important first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import is_missing
from naively.data.rows import Rows
from naively.display.plots.separation import bin_shares, rebinned
from naively.display.report.categories import Categories, shortened, visible
from naively.display.report.columns import Ranges, histograms, slider
from naively.display.report.inputs import Given
from naively.display.report.interactions import PageInteractions
from naively.display.report.terms import gaussians_of, terms_of
from naively.display.report.texts import describe_text
from naively.engines.memory.frames import cells_of
from naively.engines.memory.tables import columns_of, names_of
from naively.families import gaussian
from naively.model.column_losses import ColumnLosses
from naively.tabular import plain

Described = dict[str, Any]

_MOST_COLUMNS = 100
_MOST_CURVES = 1500  # columns times classes
_MOST_TEXT = 2000  # letters of a text in a row
_MOST_LETTERS = 190_000  # of the terms and histograms of all columns together


@dataclass(frozen=True)
class PageColumns:
    """The columns of a page."""

    described: list[Described]  # one each, as the page holds it
    at: list[int]  # their places in the model
    categories: dict[int, Categories]  # those of categories, by place
    interactions: PageInteractions  # what they say together

    def rest(self, given: Given, rows: NDArray[np.intp]) -> list[NDArray[np.float64] | None]:
        """Return what the columns that are not in the page add to each class, row by row.

        With it comes what interactions add that are not in the page. None where there is nothing to
        add, or where it overflows.
        """
        left = self.interactions.described and self.interactions.described["left_out"]
        if len(self.at) == given.schema.n_columns and not left:
            return [None] * rows.size
        rest = _added(given, rows, self.at)
        rest += self.interactions.rest(*_cells(given, rows), given.n_classes)
        return [row if row.max() > -np.inf else None for row in rest]

    def said(self, given: Given, rows: NDArray[np.intp]) -> list[Described]:
        """Return what texts add to each class, row by row: by place in the page.

        The page may not know all of their words, or how they are cut.
        """
        found: list[Described] = [{} for _ in rows]
        for place, j in enumerate(self.at):
            if j in given.schema.texts:
                others = [i for i in range(given.schema.n_columns) if i != j]
                for row, values in zip(found, _added(given, rows, others), strict=True):
                    row[str(place)] = values - values.mean()
        return found

    def hidden(self, given: Given, rows: NDArray[np.intp]) -> list[Described | None]:
        """Return what columns that are not in the page bring to interactions, row by row."""
        return self.interactions.hidden(*_cells(given, rows))

    def cells(self, given: Given, rows: NDArray[np.intp]) -> list[list[float | int | str | None]]:
        """Return some rows, as the page holds them: numbers, places among categories, and texts."""
        schema, table = given.schema, given.table
        numbers = [j for j in self.at if j in schema.numbers]
        found: dict[int, list[Any]] = {j: [None] * rows.size for j in schema.undecided}
        found |= {j: _texts(given, j, rows) for j in self.at if j in schema.texts}
        values = table[rows].array()[:, [schema.numbers.index(j) for j in numbers]]
        found.update(zip(numbers, values.T.tolist(), strict=True))
        for j, column in self.categories.items():
            found[j] = column.places(_codes(given, j)[rows])
        return [list(row) for row in zip(*(found[j] for j in self.at), strict=True)]


def _cells(given: Given, rows: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the numbers and the codes of some rows."""
    some = given.table[rows]
    codes = np.empty((rows.size, len(some.code_columns)), np.int32)
    for i, column in enumerate(some.code_columns):
        codes[:, i] = column
    return np.array(some.array()), codes


def _texts(given: Given, j: int, rows: NDArray[np.intp]) -> list[str | None]:
    column = columns_of(given.X, given.schema)[j]
    cells = [cells_of(column[row : row + 1])[0] for row in rows.tolist()]
    return [None if is_missing(cell) else shortened(str(cell), _MOST_TEXT) for cell in cells]


def _added(given: Given, rows: NDArray[np.intp], columns: Sequence[int]) -> NDArray[np.float64]:
    """Return what all but some columns add to each class, without interactions.

    Those columns are made missing, and the prior and the bias are taken from what the model says.
    """
    model = replace(given.fitted.model_, interactions=None)
    joint = model.score(_without(given, rows, columns))
    possible = np.broadcast_to(model.constant > -np.inf, joint.shape)
    return np.subtract(joint, model.constant, out=np.zeros_like(joint), where=possible)


def _without(given: Given, rows: NDArray[np.intp], columns: Sequence[int]) -> Rows:
    """Return some rows, as a model scores them, in which some columns are missing."""
    schema, table = given.schema, given.table
    numbers, codes = _cells(given, rows)
    numbers[:, [schema.numbers.index(j) for j in columns if j in schema.numbers]] = np.nan
    codes[:, [schema.categories.index(j) for j in columns if j in schema.categories]] = -1
    texts = None
    if table.texts is not None:
        kept = [i for i, j in enumerate(schema.texts) if j not in columns]
        sizes = [column.n_columns for column in table.texts.columns]
        texts = table.texts[rows].with_columns(kept, kept, sizes)
    return Rows((rows.size, schema.n_columns), numbers, codes, table.categories, texts, table.words)


def describe(
    given: Given,
    ranges: Ranges,
    importance: ColumnLosses,
    needed: NDArray[np.intp],
) -> PageColumns:
    """Describe the most important columns, as many as a page has room for.

    The rows that are needed are those that the page will show.
    """
    n_shown = max(2, min(_MOST_COLUMNS, _MOST_CURVES // given.n_classes))
    at: list[int] = np.argsort(-importance.increase, kind="stable")[:n_shown].tolist()
    categories = {j: _categories(given, j, needed) for j in at if j in given.schema.categories}
    found = _numbers(given, [j for j in at if j in given.schema.numbers], ranges)
    found |= {j: _of_nothing(given) for j in at if j in given.schema.undecided}
    found |= {j: _of_categories(column, given.n_classes) for j, column in categories.items()}
    texts = {j: describe_text(given, j) for j in at if j in given.schema.texts}
    _add_terms(given, found, categories)
    names = given.schema.names or names_of(given.X)
    described = [
        {
            "index": j,
            "name": f"column {j}" if names is None else visible(names[j]),
            "importance": importance.increase[j],
            "importance_error": float(f"{importance.error[j]:.3g}"),
            **(found | texts)[j],
        }
        for j in at
    ]
    room = _fitting(described)
    at = at[:room]
    kept = {j: categories[j] for j in at if j in categories}
    called = [f"column {j}" for j in range(given.schema.n_columns)]
    called = called if names is None else [visible(name) for name in names]
    together = PageInteractions(given.fitted.model_, at, kept, called)
    return PageColumns(described[:room], at, kept, together)


def _fitting(described: list[Described]) -> int:
    """Return how many columns fit into a page; the textbook's Gaussians are small, and all do."""
    if "terms" not in described[0]:
        return len(described)
    letters = np.cumsum([len(json.dumps(plain(column))) for column in described])
    return max(2, int(np.searchsorted(letters, _MOST_LETTERS, side="right")))


def _numbers(given: Given, at: list[int], ranges: Ranges) -> dict[int, Described]:
    schema, summary = given.schema, given.fitted.summary_
    read = gaussians_of(given.fitted.model_)
    read = gaussian.parameters(summary.moments, var_smoothing=0.0) if read is None else read
    mean, variance = read.mean, read.variance
    whole = given.seen.moments.pooled()
    places = [schema.numbers.index(j) for j in at]
    counts = histograms(given.table, given.codes, given.n_classes, places, ranges)

    def described(i: int, histogram: Described) -> Described:
        empty = not whole.weight[i] > 0
        least, most = float(ranges.least[i]), float(ranges.most[i])
        return {
            "average": np.nan if empty else whole.mean[i],
            "spread": np.nan if empty else np.sqrt(whole.m2[i] / whole.weight[i]),
            "least": least,
            "most": most,
            "missing": ranges.missing[i],
            "mean": mean[:, i],
            "variance": variance[:, i],
            "slider": slider(least, most, whole=bool(ranges.whole[i])),
            "histogram": histogram,
        }

    columns = zip(at, places, counts, strict=True)
    return {j: described(i, histogram) for j, i, histogram in columns}


def _of_nothing(given: Given) -> Described:
    """Describe a column in which the model has seen no cell, as one of numbers without any."""
    unknown = np.full(given.n_classes, np.nan)
    return {
        **dict.fromkeys(("average", "spread", "least", "most"), np.nan),
        "missing": given.n_rows,
        "mean": unknown,
        "variance": unknown,
        "slider": slider(np.nan, np.nan, whole=False),
        "histogram": {"edges": [0.0, 1.0], "counts": [[0]] * given.n_classes},
        "terms": [],
    }


def _categories(given: Given, j: int, needed: NDArray[np.intp]) -> Categories:
    place = given.schema.categories.index(j)
    known, cells = given.fitted.summary_.categories[place], _codes(given, j)
    if given.whole is not None:
        counts = given.seen.tally(place).astype(np.int64)
        return Categories.counted(counts, given.n_rows, known, cells[needed])
    return Categories.of(cells, known, given.codes, given.n_classes, needed)


def _of_categories(column: Categories, n_classes: int) -> Described:
    counts = column.counts
    named = counts.shape[1] > 0
    return {
        "categories": column.labels,
        "n_categories": column.n_known,
        "counts": counts,
        "others": column.others,
        "missing": column.missing,
        "common": int(counts.sum(axis=0).argmax()) if named else None,
        "commons": counts.argmax(axis=1) if named else [None] * n_classes,
    }


def _codes(given: Given, j: int) -> NDArray[np.int32]:
    place = given.schema.categories.index(j)
    return given.table.code_columns[place].astype(np.int32, copy=False)


def _add_terms(
    given: Given, found: dict[int, Described], categories: dict[int, Categories]
) -> None:
    within = {
        j: (column["slider"]["low"], column["slider"]["high"])
        for j, column in found.items()
        if j not in categories
    }
    terms = terms_of(given.fitted.model_, list(found), within)
    for j, of_column in ({} if terms is None else terms).items():
        for term in of_column:
            if term.get("form") == "table":
                kept = [*categories[j].named, term["values"].shape[1] - 1]
                term["values"] = term["values"][:, kept]
            elif term["family"] == "histogram" and term.get("form") == "pieces":
                term["steps"] = _steps(given, j, found[j]["histogram"], term)
        found[j]["terms"] = of_column


def _steps(given: Given, j: int, histogram: Described, term: Described) -> Any:
    """Return the density that the bins say, by class, in the bins of the drawing."""
    summary, i = given.fitted.summary_, given.schema.numbers.index(j)
    assert given.schema.edges is not None
    assert given.schema.knots is not None
    weight, knots = summary.bins.values[:, i].sum(axis=0), np.array(given.schema.knots[i])
    ratio = np.array([np.interp(knots, term["knots"], values) for values in term["values"]])
    low, high = histogram["edges"]
    edges = np.linspace(low, high, len(histogram["counts"][0]) + 1)
    density = rebinned(np.array(given.schema.edges[i]), bin_shares(weight, ratio), edges)
    return [[float(f"{height:.3g}") for height in row] for row in density]
