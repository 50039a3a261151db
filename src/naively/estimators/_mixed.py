"""How tables of numbers, categories and text are read and measured for `NaiveBayes`.

What columns hold is decided by their types and by the first cells of text, unless families say
otherwise; the edges of histograms are fixed by a sample of the first rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from naively import labels
from naively.engines import single_row
from naively.engines.tables import flagged, names_of, only_name, read, schema_of, text_column
from naively.estimators._base import SummaryClassifier
from naively.estimators._prediction import numbers_of_row, row_of_dict
from naively.estimators._validation import Checked, check_cells, check_labels
from naively.estimators.choice import (
    BEST,
    by_column,
    check_columns,
    choose,
    is_best,
    kind_of,
    with_options,
)
from naively.exceptions import NaivelyError, warn
from naively.families.edges import edges
from naively.families.family import Family
from naively.families.text import Text
from naively.family_choice import CANDIDATES, COUNT, FamilyChoice, choose_families
from naively.functions import ColumnFunction, function_values
from naively.interactions import MOST_CLASSES
from naively.measure import measure, measure_sample
from naively.model import SAMPLE
from naively.rows import Rows, Targets
from naively.schema import Kind, Schema
from naively.sparse import is_sparse
from naively.statistics import Sample
from naively.statistics.sample import EVERYTHING
from naively.summary import Summary
from naively.term import places_of
from naively.words import Words

if TYPE_CHECKING:
    from naively.engines.files import SchemaFromFirstRows

__all__ = ["MixedClassifier"]

_MANY = 100_000  # categories that are worth a warning


class MixedClassifier(SummaryClassifier):
    """A classifier whose columns hold numbers, categories or text, each described by families."""

    families: Mapping[Any, Any] | Literal["best"] | None
    calibration: Literal["weights", "temperature"] | None

    def _measured(
        self, X: Any, y: Any, sample_weight: Any, known: Schema | None
    ) -> tuple[Summary, np.dtype[Any]]:
        measured = None
        if known is not None and sample_weight is None and self.decay:  # 0 forgets all categories
            measured = self._single(X, y, known)
        if measured is None:
            return super()._measured(X, y, sample_weight, known)
        return measured, np.dtype(np.float64)

    def _single(self, X: Any, y: Any, known: Schema) -> Summary | None:
        """Summarize a single row of a stream the short way, if it can be taken."""
        learned = self.summary_
        row = single_row.read(X, known, learned.categories)
        if row is None:
            return None
        classes, _ = labels.encode(check_labels(self, y, 1))
        return single_row.measure(row, classes, learned, _bound(learned.sample))

    def _one(self, row: Any) -> Rows:
        """Return a table of one row."""
        summary = self.summary_
        schema, categories = summary.schema, summary.categories
        if schema.dates and isinstance(row, list | tuple) and len(row) == len(schema.inputs or ()):
            row = dict(zip(schema.inputs or (), row, strict=True))
        if isinstance(row, dict):
            row = row_of_dict(row, schema)
        elif is_sparse(row):
            row = numbers_of_row(row, schema)
        elif isinstance(row, str) and schema.held in (("text",), ("category",)):
            row = [row]  # of a column, which `fit` takes as it is too
        if type(row) is list and (plain := single_row.read([row], schema, categories)) is not None:
            places = np.array([plain.places], dtype=np.int32)
            return Rows((1, schema.n_columns), plain.numbers, places, categories)
        scalar = isinstance(row, str | bytes) or not isinstance(row, Sized)
        if scalar or getattr(row, "ndim", 1) == 0:
            raise NaivelyError(f"a row must be a list or a dict of cells; got {row!r}.")
        cells = np.empty((1, len(row)), dtype=object)
        cells[0] = list(row)
        if cells.shape[1] != schema.n_columns:
            raise NaivelyError(
                f"a row must have {schema.n_columns} cells; got {cells.shape[1]} of them."
            )
        return read(cells, schema, summary.words)

    def _check_new(self, X: Any, learned: Summary) -> Checked:
        return self._check(X, learned.schema, learned.words)

    def _check(
        self, X: Any, known: Schema | None, words: tuple[Words, ...] | None = None
    ) -> Checked:
        if isinstance(X, Rows):
            return Checked(X, None, np.dtype(np.float64), known or Schema(X.shape[1]))
        column = text_column(X, known)
        X = check_cells(self, X if column is None else column, known)
        if known is None:
            schema = self._schema_of(X, {} if column is None else {only_name(X): "text"})
            table = read(X, schema, n_jobs=self.n_jobs)
            return Checked(table, schema.names, np.dtype(np.float64), schema)
        _warn_of_more(X, known)
        table = flagged(read(X, known, words, self.n_jobs), self._flags(), known)
        return Checked(table, known.names, np.dtype(np.float64), known)

    def _flags(self) -> set[int]:
        """Return the columns of booleans, which come in several spellings."""
        summary = self.summary_
        seen = zip(summary.schema.categories, summary.categories, strict=True)
        return {j for j, categories in seen if categories.dtype.kind == "b"}

    def _decided(self, X: Any, known: Schema) -> Schema:
        return schema_of(X, known)

    def _schema_of(self, X: Any, given: Mapping[Any, Kind]) -> Schema:
        """Return the columns and what they hold, by type unless it is given by families or so."""
        given = {**given, **self._kinds()}
        schema = schema_of(X, given=given)
        check_columns(given, schema)
        return with_options(schema, self.families)

    def _kinds(self) -> dict[Any, Kind]:
        """Return what columns must hold for the families that are given for them."""
        given = by_column(self.families)
        return {column: kind_of(wanted, column) for column, wanted in given.items()}

    def _schema_of_files(self) -> SchemaFromFirstRows:
        """Return what is measured of files, which depends on their first rows."""
        from naively.engines.files import SchemaFromFirstRows

        given = self._kinds()

        def complete(first: Summary) -> Schema:
            check_columns(given, first.schema)
            return self._cut(with_options(first.schema, self.families), lambda: first.sample)

        return SchemaFromFirstRows(given, complete, SAMPLE)

    def _families(self, schema: Schema) -> list[tuple[Family, ...]]:
        """Return the families of each column: all candidates, where rows are to choose the best."""
        columns = schema.names or range(schema.n_columns)
        kinds = schema.kinds or ("number",) * schema.n_columns
        stacked = self.calibration == "weights" and schema.edges is not None
        found = [
            choose(column, kind, self.families, stacked=stacked)
            for column, kind in zip(columns, kinds, strict=True)
        ]
        for j, options in zip(schema.texts, schema.options, strict=True):
            if columns[j] not in by_column(self.families):
                found[j] = (Text.of(options),)
        if self.calibration is None:
            return [tuple(family.uncalibrated() for family in its) for its in found]
        return found

    def _choices(self, summary: Summary) -> dict[int, FamilyChoice]:
        """Return how the rows have chosen, of the columns whose family they choose."""
        return choose_families(summary, self._free(summary.schema))

    def _free(self, schema: Schema) -> list[int]:
        """Return the columns whose family rows choose."""
        held = zip(schema.names or range(schema.n_columns), schema.held, strict=True)
        best = [is_best(column, kind, self.families) for column, kind in held]
        return [j for j in schema.numbers if best[j]]

    def _columns_of(
        self, schema: Schema, choices: Mapping[int, FamilyChoice]
    ) -> dict[Family, list[int]]:
        """Return the columns that each family describes."""
        found: dict[Family, list[int]] = {}
        for j, families in enumerate(self._families(schema)):
            for family in (choices[j].best,) if j in choices else families:
                found.setdefault(family, []).append(j)
        return found

    def _sample_size(self) -> int:
        """How many rows a summary is to keep: for calibration, or for families that read them."""
        given = by_column(self.families)
        several = [choose(column, "number", given) for column in given]
        sampled = any(family.reads == "sample" for its in several for family in its)
        chosen = self.families == BEST or any(its is CANDIDATES for its in several)
        return SAMPLE if sampled or chosen else super()._sample_size()

    def _decide(self, summary: Summary) -> Summary:
        """Return a summary in which empty columns hold what their families read, if given."""
        schema, given = summary.schema, self._kinds()
        columns = zip(schema.names or range(schema.n_columns), schema.held, strict=True)
        return summary.decided([given.get(name, kind) for name, kind in columns])

    def _measure(
        self, table: Rows, schema: Schema, targets: Targets, sample: Sample | None = None
    ) -> Summary:
        learned = self.summary_ if self.__sklearn_is_fitted__() else None
        if learned is not None and schema is learned.schema:
            bound = _bound(learned.sample)
            return measure(table, targets, schema, n_jobs=self.n_jobs, bound=bound)
        self._warn_of(table, schema)
        if schema.sample or schema.edges or schema.functions:
            return measure(table, targets, schema, n_jobs=self.n_jobs, sample=sample)
        size = self._sample_size() or SAMPLE  # drawn once, for the edges too
        size *= 2 if schema.texts else 1

        def first() -> Sample:
            nonlocal sample
            wanted = replace(schema, sample=size)
            sample = measure_sample(table, targets, wanted, n_jobs=self.n_jobs)
            return sample.least(SAMPLE)

        schema = self._cut(schema, first)
        return measure(table, targets, schema, n_jobs=self.n_jobs, sample=sample)

    def _warn_of(self, seen: Rows | Summary, schema: Schema) -> None:
        for j, categories in zip(schema.categories, seen.categories, strict=True):
            if categories.size > _MANY:
                warn(
                    f"{schema.name(j)} has {categories.size:,} categories. Is it an identifier, or "
                    "a number? Then leave it out, or give it a family of numbers.",
                )

    def _settled(self, schema: Schema, first: Callable[[int], Any]) -> Schema:
        return self._cut(schema, lambda: first(SAMPLE))

    def _reads_products(self, schema: Schema) -> bool:
        """Whether the model is to be read off the products of columns, too."""
        return False

    def _cut(self, schema: Schema, sample: Callable[[], Any]) -> Schema:
        """Fix the edges of histograms, and centres, by a sample of rows, if they are needed."""
        schema = replace(schema, sample=self._sample_size() * (2 if schema.texts else 1))
        needed = self._families(replace(schema, edges=((),)))
        free = set(self._free(schema))
        first = sample() if free else None
        schema = replace(schema, functions=_functions(needed, schema, free, first))
        bins = any(family.reads == "bins" for families in needed for family in families)
        products = self._reads_products(schema)
        if not (bins or products):
            return schema
        first = sample() if first is None else first
        if products and np.unique(first.codes).size <= MOST_CLASSES:
            schema = replace(schema, centres=_centres(first))
        if not bins:
            return schema
        found = edges(first.numbers, weight=first.weight)
        cuts, knots = (tuple(map(tuple, part.tolist())) for part in found)
        return replace(schema, edges=cuts, knots=knots)

    def _check_summary(self, summary: Summary) -> None:
        super()._check_summary(summary)
        schema = summary.schema
        check_columns(self.families, schema)
        free = set(self._free(schema))
        every = self._columns_of(schema, {})
        named = {family: [j for j in its if j not in free] for family, its in every.items()}
        for family, columns in named.items():
            places_of(family, schema, columns)
            if isinstance(family, Text):
                for j in columns:
                    _check_options(family, schema, j)


def _functions(
    families: list[tuple[Family, ...]], schema: Schema, free: set[int], first: Any
) -> tuple[ColumnFunction, ...]:
    """Return the functions of columns that their families read.

    Of a column whose family rows choose, and whether it holds counts, only functions that have a
    value in all of the first rows.
    """
    found = [
        ColumnFunction(j, *f)
        for j, its in enumerate(families)
        for one in its
        for f in one.functions
    ]
    found += [ColumnFunction(j, *COUNT) for j in sorted(free)]
    place = {j: i for i, j in enumerate(schema.numbers)}

    def has_values(function: ColumnFunction) -> bool:
        cells = first.numbers[:, place[function.column]]
        values = function_values(function.name, cells, function.period)
        return not np.isnan(values[~np.isnan(cells)]).any()

    kept = (f for f in dict.fromkeys(found) if f.column not in free or has_values(f))
    return tuple(sorted(kept))


def _centres(first: Sample) -> tuple[float, ...]:
    """Return the means of the columns of some rows; 0 for one without cells."""
    seen = ~np.isnan(first.numbers)
    weight = (first.weight / first.weight.max(initial=1e-300))[:, np.newaxis] * seen
    total = weight.sum(axis=0)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return tuple(np.where(seen, first.numbers * share, 0.0).sum(axis=0).tolist())


def _check_options(family: Text, schema: Schema, j: int) -> None:
    """Raise where a summary does not read words as a family of text does."""
    options = schema.options[schema.texts.index(j)]
    if replace(options, unicode=family.options.unicode) != family.options:
        raise NaivelyError(
            f"the family of {schema.name(j)} must read words as the summary does, by "
            f"{options}; got {family}. Give the column another family, or measure it again."
        )


def _bound(sample: Sample | None) -> int:
    """Return below which hash rows of a batch matter to a sample that it is added to."""
    return EVERYTHING if sample is None or sample.drawn else sample.bound


def _warn_of_more(X: Any, schema: Schema) -> None:
    names = names_of(X)
    if not names or not schema.names or names == schema.names:
        return
    known = {*schema.names, *(schema.inputs or ())}
    more = [name for name in names if name not in known]
    if more:
        shown = ", ".join(map(repr, more[:5])) + (", ..." if len(more) > 5 else "")
        warn(
            f"the table has columns that the model was not fitted on, and ignores: {shown}.",
        )
