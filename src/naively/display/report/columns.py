"""The columns of a page, each as a plain dict, the most important first.

Of numbers it holds the range, mean and variance by class, a histogram and a slider; of categories
the names and counts of the most frequent ones (the model knows them all); of text the words that
speak most, and what they add: the page cuts text into words as Python does, for words and n-grams
of them, so a column of hashed words, or of n-grams of characters, has no box to type into.

>>> slider(1.0, 6.9, whole=False)
{'low': 0.5, 'high': 7.4, 'step': 0.02, 'digits': 2}
>>> slider(0.0, 1.0, whole=True)
{'low': 0, 'high': 1, 'step': 1, 'digits': 0}
>>> slider(0.0, 0.0, whole=True)
{'low': -0.575, 'high': 0.575, 'step': 0.005, 'digits': 3}
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import are_booleans, is_missing
from naively.data.rows import Rows
from naively.data.types import Floats
from naively.display.plots.overlap import bin_shares, rebinned
from naively.display.plots.reading import drawn_rows, gaussians_of
from naively.display.report.forms import Described, PageInteractions, terms_of
from naively.display.report.inputs import Given, Ranges, blocks
from naively.engines.memory.frames import cells_of
from naively.engines.memory.tables import columns_of
from naively.families.forms import WordLines
from naively.families.text import Text
from naively.model.column_losses import ColumnLosses
from naively.model.terms import top_words
from naively.tabular import plain

_MAX_COLUMNS = 100
_MAX_CURVES = 1500  # columns times classes
_MAX_TEXT = 2000  # letters of a text in a row
_MAX_LETTERS = 190_000  # of the terms and histograms of all columns together
_MAX_NAMED, _MIN_NAMED = 40, 8  # categories of a column
_MAX_SHARES = 1000  # categories times classes
_MAX_CELLS_COUNTED = 100_000  # of a column, in which distinct ones are counted
_MAX_WORD_VALUES = 6000  # words times classes that a page holds of a column
_MAX_TOP_WORDS = 12  # of a class that are listed
_WORD_DECIMALS = 12  # which no probability shows
_BINS = 24
_LARGEST = sys.float_info.max
_TOO_FAR = -1e299  # a term that has nearly overflowed, where forms cut it


# --- numbers --------------------------------------------------------------------------------------


def _histograms(given: Given, places: list[int], ranges: Ranges) -> list[Described]:
    """Count the cells of each class in bins of equal width, for some columns of numbers.

    A column of few whole numbers has a bin for each, and the number in its middle.
    """
    edges, n_classes = [_edges(ranges, i) for i in places], given.n_classes
    counts = [np.zeros((n_classes, n), dtype=np.int64) for _, _, n in edges]
    for rows, block in blocks(given.table):
        for i, (low, high, n), count in zip(places, edges, counts, strict=True):
            x = block[:, i]
            present = ~np.isnan(x)
            at = np.clip((x[present] - low) / (high - low) * n, 0, n - 1).astype(np.int64)
            cells = np.bincount(given.codes[rows][present] * n + at, minlength=n_classes * n)
            count += cells.reshape(n_classes, n)
    return [
        {"edges": [low, high], "counts": count.tolist()}
        for (low, high, _), count in zip(edges, counts, strict=True)
    ]


def _edges(ranges: Ranges, i: int) -> tuple[float, float, int]:
    least, most = float(ranges.least[i]), float(ranges.most[i])
    if math.isnan(least):
        return 0.0, 1.0, 1
    has_halves = max(-least, most) < 2.0**52  # from there on, there is no number between whole ones
    if ranges.whole[i] and has_halves and most - least < 2 * _BINS:
        return least - 0.5, most + 0.5, int(most - least) + 1
    margin = 0.0 if most > least else abs(least) * 0.01 or 0.5
    return max(least - margin, -_LARGEST), min(most + margin, _LARGEST), _BINS


def slider(least: float, most: float, *, whole: bool) -> dict[str, float]:
    """Return a round range that holds a column's and some room, a round step, its decimals.

    The room is for what is beyond the data, as curves are, but it never crosses zero: what is
    never negative stays so. Whole numbers of a short range need no room, and a column without a
    cell has 0 to 1.
    """
    if math.isnan(least):
        return {"low": 0, "high": 1, "step": 0.01, "digits": 2}
    if whole and 0 < most - least <= 100:
        return {"low": int(least), "high": int(most), "step": 1, "digits": 0}
    reach = (most - least) / 2 if most > least else abs(least) / 2 or 0.5
    middle = least / 2 + most / 2
    power = 10.0 ** math.floor(math.log10(reach / 60))
    step = float(power * max(m for m in (1, 2, 5) if m * power <= reach / 60 * (1 + 1e-9)))
    low = 5 * math.floor((middle - 1.15 * reach) / step / 5)
    high = 5 * math.ceil((middle + 1.15 * reach) / step / 5)
    if least < most or least != 0:  # a column of zeros alone has room on both sides
        low, high = max(low, 0) if least >= 0 else low, min(high, 0) if most <= 0 else high
    digits = max(0, -math.floor(math.log10(step)))
    return {
        "low": round(low * step, digits),
        "high": round(high * step, digits),
        "step": round(step, digits),
        "digits": digits,
    }


# --- categories -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Categories:
    """A column of categories, as far as a page names them."""

    # the categories that are named, the most frequent first: their codes in the model
    named: NDArray[np.intp]
    described: Described

    @classmethod
    def of(cls, given: Given, j: int, needed: NDArray[np.intp]) -> Categories:
        """Count a column; the categories of the rows that are needed are named in any case."""
        place, n_classes = given.schema.categories.index(j), given.n_classes
        known, cells = given.fitted.summary_.categories[place], given.codes_of_column(place)
        width = known.size + 1  # one more stands for all others
        if given.whole is not None:
            counts = given.seen.tally(place).astype(np.int64)
        else:
            here = cells >= 0
            at = given.codes[here] * width + cells[here]
            counts = np.bincount(at, minlength=n_classes * width).reshape(n_classes, width)
        total, counts = counts.sum(axis=1), counts[:, : known.size]
        order = np.argsort(-counts.sum(axis=0), kind="stable")
        commons = counts.argmax(axis=1) if known.size else []
        wanted = np.isin(order, cells[needed]) | np.isin(order, commons)
        wanted[: max(_MIN_NAMED, min(_MAX_NAMED, _MAX_SHARES // n_classes))] = True
        named = order[wanted]
        counts = counts[:, named]
        described = {
            "categories": [_category(value) for value in known[named].tolist()],
            "n_categories": known.size,
            "counts": counts,
            "others": total - counts.sum(axis=1),
            "missing": given.n_rows - int(total.sum()),
            "common": int(counts.sum(axis=0).argmax()) if named.size else None,
            "commons": counts.argmax(axis=1) if named.size else [None] * n_classes,
        }
        return cls(named, described)

    def places(self, cells: NDArray[np.int32]) -> list[int | None]:
        """Return places among those named; after them for all others, None where missing."""
        place_of = {int(code): place for place, code in enumerate(self.named)}
        return [None if c < 0 else place_of.get(c, self.named.size) for c in cells.tolist()]


def _category(value: Any) -> str:
    """Write a category.

    >>> _category("Ulm"), _category(True), _category(3.0), _category(0.5), _category(" ")
    ('Ulm', 'True', '3', '0.5', "' '")
    """
    return visible(f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value))


def visible(text: str) -> str:
    """Put quotes around a text of nothing but spaces."""
    return text if text.strip() else repr(text)


def shortened(text: str, most: int) -> str:
    """Cut a text that is too long.

    >>> shortened("a long text", 6)
    'a lon…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


# --- columns of any kind --------------------------------------------------------------------------


@dataclass(frozen=True)
class PageColumns:
    """The columns of a page."""

    described: list[Described]  # one each, as the page holds it
    at: list[int]  # their places in the model
    categories: dict[int, Categories]  # those of categories, by place
    interactions: PageInteractions  # what they say together

    def of_rows(self, given: Given, rows: NDArray[np.intp]) -> list[Described]:
        """Return some rows as the page holds them, and what it cannot compute of them.

        ``rest`` is what columns and interactions add that are not in the page, unless that is too
        far away; ``hidden`` is what such columns bring to interactions; ``texts`` is what texts
        add, of which the page may not know all words. All are by class.
        """
        schema, some, model = given.schema, given.table[rows], given.fitted.model_
        codes = np.array(some.code_columns, np.int32).reshape(len(schema.categories), rows.size)
        cells = np.array(some.array()), np.ascontiguousarray(codes.T)
        added = model.contributions(some)
        away = (added.columns >= 0) & ~np.isin(added.columns, self.at)
        rest = added.values[:, :, away].sum(axis=2)
        rest += self.interactions.rest(*cells, given.n_classes)
        described = self.interactions.described
        is_whole = not (away.any() or (described and described["left_out"]))
        texts = {
            str(place): added.values[:, :, np.flatnonzero(added.columns == j)[0]]
            for place, j in enumerate(self.at)
            if j in schema.texts
        }
        found: list[Described] = []
        hidden = self.interactions.hidden(*cells)
        for i, values in enumerate(self._cells(given, rows)):
            row: Described = {"values": values}
            if not is_whole and rest[i].max() > _TOO_FAR:
                row["rest"] = rest[i]
            if hidden is not None:
                row["hidden"] = hidden[i]
            if texts:
                row["texts"] = {j: value[i] - value[i].mean() for j, value in texts.items()}
            found.append(row)
        return found

    def _cells(self, given: Given, rows: NDArray[np.intp]) -> list[list[float | int | str | None]]:
        """Return numbers, places among categories, and texts."""
        schema, numbers = given.schema, given.table[rows].array().T.tolist()
        found: dict[int, list[Any]] = {j: [None] * rows.size for j in schema.undecided}
        found |= {j: _texts(given, j, rows) for j in self.at if j in schema.texts}
        found |= dict(zip(schema.numbers, numbers, strict=True))
        for j, column in self.categories.items():
            place = schema.categories.index(j)
            found[j] = column.places(given.codes_of_column(place)[rows])
        return [list(row) for row in zip(*(found[j] for j in self.at), strict=True)]


def _texts(given: Given, j: int, rows: NDArray[np.intp]) -> list[str | None]:
    column = columns_of(given.X, given.schema)[j]
    cells = [cells_of(column[row : row + 1])[0] for row in rows.tolist()]
    return [None if is_missing(cell) else shortened(str(cell), _MAX_TEXT) for cell in cells]


def describe(
    given: Given,
    ranges: Ranges,
    importance: ColumnLosses,
    needed: NDArray[np.intp],
    *,
    show_rows: bool,
) -> PageColumns:
    """Describe the most important columns, as many as a page has room for.

    The rows that are needed are those that the page will show. Where rows are not to be shown,
    neither is a number of a row.
    """
    schema, n_shown = given.schema, max(2, min(_MAX_COLUMNS, _MAX_CURVES // given.n_classes))
    at: list[int] = np.argsort(-importance.increase, kind="stable")[:n_shown].tolist()
    categories = {j: Categories.of(given, j, needed) for j in at if j in schema.categories}
    found = _numbers(given, [j for j in at if j in schema.numbers], ranges)
    found |= {j: _of_nothing(given) for j in at if j in schema.undecided}
    found |= {j: column.described for j, column in categories.items()}
    _add_terms(given, found, categories)
    found |= {j: _of_text(given, j) for j in at if j in schema.texts}
    names = [visible(name) for name in given.names]
    described = [
        {
            "index": j,
            "name": names[j],
            "importance": importance.increase[j],
            "importance_error": float(f"{importance.error[j]:.3g}"),
            **found[j],
        }
        for j in at
    ]
    room = _fitting(described)
    at, described = at[:room], described[:room]
    some = given.table[counted_rows(given)]
    numbers = some.array()
    for j, column in zip(at, described, strict=True):
        column |= _counted(given, ranges, j, some, numbers, show_value=show_rows)
    kept = {j: categories[j] for j in at if j in categories}
    places = {j: column.named for j, column in kept.items()}
    together = PageInteractions(given.fitted.model_, at, places, names)
    return PageColumns(described, at, kept, together)


def _fitting(described: list[Described]) -> int:
    """Return how many columns fit into a page; the textbook's Gaussians are small, and all do."""
    if "terms" not in described[0]:
        return len(described)
    letters = np.cumsum([len(json.dumps(plain(column))) for column in described])
    return max(2, int(np.searchsorted(letters, _MAX_LETTERS, side="right")))


def _numbers(given: Given, at: list[int], ranges: Ranges) -> dict[int, Described]:
    read = gaussians_of(given.fitted)
    whole = given.seen.moments.pooled()
    places = [given.schema.numbers.index(j) for j in at]
    found = {}
    for j, i, histogram in zip(at, places, _histograms(given, places, ranges), strict=True):
        seen = whole.weight[i] > 0
        least, most = float(ranges.least[i]), float(ranges.most[i])
        found[j] = {
            "average": whole.mean[i] if seen else np.nan,
            "spread": np.sqrt(whole.m2[i] / whole.weight[i]) if seen else np.nan,
            "least": least,
            "most": most,
            "missing": ranges.missing[i],
            "mean": read.mean[:, i],
            "variance": read.variance[:, i],
            "slider": slider(least, most, whole=bool(ranges.whole[i])),
            "histogram": histogram,
        }
    return found


def _of_nothing(given: Given) -> Described:
    """Describe a column in which the model has seen no cell, as one of numbers without any."""
    return {
        **_unknown(given),
        "missing": given.n_rows,
        "slider": slider(np.nan, np.nan, whole=False),
        "histogram": {"edges": [0.0, 1.0], "counts": [[0]] * given.n_classes},
        "terms": [],
    }


def _unknown(given: Given) -> Described:
    """Return the figures of a column that has no numbers."""
    names = ("average", "spread", "least", "most")
    by_class = dict.fromkeys(("mean", "variance"), np.full(given.n_classes, np.nan))
    return dict.fromkeys(names, np.nan) | by_class


def _of_text(given: Given, j: int) -> Described:
    model, texts = given.fitted.model_, given.table.texts
    term = model.by_column[j][0][0]
    family, form, words = term.family, term.form, model.words[term.at]
    assert isinstance(family, Text)
    assert isinstance(form, WordLines)
    assert texts is not None
    centred, seen = form.B - form.B.mean(axis=1, keepdims=True), term.parameters.total
    order = np.argsort(-np.abs(centred).max(axis=1) * seen, kind="stable")
    kept = np.sort(order[: max(1, _MAX_WORD_VALUES // given.n_classes)])
    kept = kept[seen[kept] > 0]
    has_box = family.analyzer == "word" and family.hashed is None
    listed = top_words(term, words, 0 if words.width else _MAX_TOP_WORDS)
    return {
        **_unknown(given),
        "missing": round(float((texts.hashes[:, term.at] == 0).mean()) * given.n_rows),
        "words": [words.word(at) for at in kept.tolist()] if has_box else [],
        "values": centred[kept].round(_WORD_DECIMALS) if has_box else [],
        "n_words": int((seen > 0).sum()),
        "lowercase": family.lowercase,
        "ngram_range": family.ngram_range,
        "presence": family.presence,
        "top": [[[one.word, one.contribution] for one in of_class] for of_class in listed],
        "terms": [{"family": family.name, "weight": term.weight.ravel()}],
    }


def _add_terms(
    given: Given, found: dict[int, Described], categories: dict[int, Categories]
) -> None:
    sliders = {j: column["slider"] for j, column in found.items() if j not in categories}
    within = {j: (one["low"], one["high"]) for j, one in sliders.items()}
    for j, of_column in (terms_of(given.fitted.model_, list(found), within) or {}).items():
        for term in of_column:
            if term.get("form") == "table":
                kept = [*categories[j].named, term["values"].shape[1] - 1]
                term["values"] = term["values"][:, kept]
            elif term["family"] == "histogram" and term.get("form") == "pieces":
                term["steps"] = _steps(given, j, found[j]["histogram"], term)
        found[j]["terms"] = of_column


def _steps(given: Given, j: int, histogram: Described, term: Described) -> Any:
    """Return the density that the bins say, by class, in the bins of the drawing."""
    schema, i = given.schema, given.schema.numbers.index(j)
    assert schema.edges is not None
    assert schema.knots is not None
    weight = given.fitted.summary_.bins.values[:, i].sum(axis=0)
    knots = np.array(schema.knots[i])
    ratio = np.array([np.interp(knots, term["knots"], values) for values in term["values"]])
    low, high = histogram["edges"]
    edges = np.linspace(low, high, len(histogram["counts"][0]) + 1)
    density = rebinned(np.array(schema.edges[i]), bin_shares(weight, ratio), edges)
    return [[float(f"{height:.3g}") for height in row] for row in density]


# --- the columns at a glance ----------------------------------------------------------------------


def counted_rows(given: Given) -> NDArray[np.intp]:
    """Return the rows in which distinct cells are counted: all, or some drawn at random."""
    return drawn_rows(np.arange(given.codes.size), _MAX_CELLS_COUNTED)


def _counted(
    given: Given, ranges: Ranges, j: int, rows: Rows, numbers: Floats, *, show_value: bool
) -> Described:
    """Return the kind of a column, how many cells are distinct, and the most frequent number.

    That is one that occurs twice at least.
    """
    schema = given.schema
    if j in schema.numbers:
        i = schema.numbers.index(j)
        whole = ranges.whole[i] and not np.isnan(ranges.least[i])
        values, times = np.unique(numbers[~np.isnan(numbers[:, i]), i], return_counts=True)
        found: Described = {"kind": "whole number" if whole else "number", "distinct": values.size}
        if show_value and times.size and times.max() > 1:
            most = int(times.argmax())
            found |= {"frequent": float(values[most]), "share": float(times[most] / times.sum())}
        return found
    kind, present = "empty", np.empty(0)
    if j in schema.categories:
        place = schema.categories.index(j)
        known, codes = given.fitted.summary_.categories[place], rows.code_columns[place]
        kind, present = "boolean" if are_booleans(known) else "category", codes[codes >= 0]
    elif j in schema.texts and rows.texts is not None:
        hashes = rows.texts.hashes[:, schema.texts.index(j)]
        kind, present = "text", hashes[hashes != 0]
    return {"kind": kind, "distinct": int(np.unique(present).size)}
