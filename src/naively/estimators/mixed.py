"""Naive Bayes for tables of numbers, categories and text: what `NaiveBayes` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from naively.data import labels
from naively.data.dates import split_name
from naively.data.functions import ColumnFunction, function_values
from naively.data.kinds import CATEGORY, DATES, NUMBER, TEXT, Kind, held_by_objects, kind_of
from naively.data.labels import are_booleans, is_missing
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.tokens import Words
from naively.engines.memory import single_row
from naively.engines.memory.frames import names_of
from naively.engines.memory.tables import flagged, only_name, read, schema_of, text_column
from naively.errors import NaivelyError, warn
from naively.estimators import choice
from naively.estimators.choice import (
    BEST,
    by_column,
    check_columns,
    choose,
    interaction_kinds,
    kind_of_families,
    with_options,
)
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.measurement import Checked, Measured, check_cells, check_labels
from naively.estimators.parameters import by_name, check_costs, check_reject
from naively.estimators.plain_rows import number_cell
from naively.families import CANDIDATES
from naively.families.edges import edges
from naively.families.family import Family
from naively.families.text import Text
from naively.model.families_for import COUNT, FamilyChoice, choose_families
from naively.model.interactions import MOST_CLASSES, MOST_FEATURES
from naively.model.model import SAMPLE, Model
from naively.model.terms import places_of
from naively.statistics import Bins, Sample
from naively.statistics.measure import measure, measure_sample
from naively.statistics.sample import EVERYTHING
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.engines.files import SchemaFromFirstRows

_MAX_QUIET_CATEGORIES = 100_000  # categories that are worth a warning


_PLAIN = {str: "text", bool: "boolean", int: "number", float: "number"}


class NaiveBayesClassifier(SummaryClassifier):
    """The families that suit each column, calibrated, with interactions of columns.

    What columns hold is decided by their types and by the first cells of text, unless families say
    otherwise; the edges of histograms are fixed by a sample of the first rows.
    """

    public_name = "NaiveBayes"

    @by_name()
    def __init__(
        self,
        *,
        families: Mapping[Any, Any] | Literal["best"] | None = None,
        priors: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        calibration: Literal["weights", "temperature"] | None = "weights",
        interactions: Literal["auto"] | tuple[str, ...] | None = "auto",
        costs: ArrayLike | None = None,
        reject: tuple[float, Any] | None = None,
        decay: float = 1.0,
        window: int | None = None,
        open_classes: bool = False,
        n_jobs: int | None = None,
    ) -> None: ...

    @property
    def families_(self) -> dict[Any, tuple[Family, ...]]:
        """The families of each column."""
        schema = self.summary_.schema
        families = self._families(schema)
        for j in self._free(schema):
            families[j] = tuple(term.family for term, _ in self.model_.by_column[j])
        return dict(zip(schema.names_or_places, families, strict=True))

    @property
    def family_scores_(self) -> dict[Any, dict[str, float]]:
        """The mean log density of unseen rows, by column and family; the best family is first."""
        summary = self.summary_
        choices, columns = self._choices(summary), summary.schema.names_or_places
        return {columns[j]: choice.table() for j, choice in choices.items()}

    @property
    def weights_(self) -> dict[Any, NDArray[np.float64]]:
        """For each column, the weight of each of its families' terms in each class."""
        model = self.model_
        terms = zip(model.schema.names_or_places, model.by_column, strict=True)
        return {name: np.array([term.weight[:, i] for term, i in of_it]) for name, of_it in terms}

    @property
    def interactions_(self) -> list[dict[str, Any]]:
        """What columns say together, term by term.

        Each has its ``kind``, its ``columns``, and ``weights`` of shape (n_families, n_classes). A
        direction is described by two families, as a column is; its ``loadings`` are how much a
        standard deviation of each column counts.
        """
        model = self.model_
        names = model.schema.names_or_places
        return [] if model.interactions is None else model.interactions.table(model.schema, names)

    # --- parameters -------------------------------------------------------------------------------

    def _families_as_text(self) -> dict[str, Any]:
        return {"families": choice.as_list(self.families)} if by_column(self.families) else {}

    @classmethod
    def _from_text(cls, summary: Summary, params: dict[str, Any], dtype: np.dtype[Any]) -> Self:
        families, kinds = params.get("families"), params.get("interactions")
        params = {**params, "interactions": tuple(kinds) if isinstance(kinds, list) else kinds}
        if isinstance(families, list):
            params["families"] = choice.from_list(families)
        return super()._from_text(summary, params, dtype)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "families": choice.plain(self.families)}

    def __setstate__(self, content: dict[str, Any]) -> None:
        super().__setstate__({**content, "families": choice.from_plain(content.get("families"))})

    # --- what is measured -------------------------------------------------------------------------

    def measured(
        self, X: Any, y: Any, sample_weight: Any = None, known: Schema | None = None
    ) -> Measured:
        """Summarize rows; a single row of a stream the short way, if it can be taken."""
        if known is not None and sample_weight is None and self.decay:  # 0 forgets all categories
            learned = self.summary_
            row = single_row.read(X, known, learned.categories)
            if row is not None:
                classes, _ = labels.encode(check_labels(self, y, 1))
                summary = single_row.measure(row, classes, learned, _bound(learned.sample))
                if summary is not None:
                    return summary, np.dtype(np.float64)
        return super().measured(X, y, sample_weight, known)

    def row_for(self, row: Any) -> Rows:
        """Return a table of one row."""
        summary = self.summary_
        schema, categories = summary.schema, summary.categories
        if isinstance(row, str) and schema.held in ((TEXT,), (CATEGORY,)):
            row = [row]  # of a column, which `fit` takes as it is too
        row = self._cells(row)
        if type(row) is list and (plain := single_row.read([row], schema, categories)) is not None:
            places = np.array([plain.places], dtype=np.int32)
            return Rows((1, schema.n_columns), plain.numbers, places, categories)
        scalar = isinstance(row, str | bytes) or not isinstance(row, Sized)
        if scalar or getattr(row, "ndim", 1) == 0:
            raise NaivelyError(f"a row must be a list or a dict of cells; got {row!r}.")
        if len(row) != schema.n_columns:
            raise NaivelyError(f"a row must have {schema.n_columns} cells; got {len(row)} of them.")
        cells = np.empty((1, len(row)), dtype=object)
        cells[0] = list(row)
        return read(cells, schema, summary.words)

    def rows_for(self, X: Any) -> Checked:
        """Return rows that the model is asked about, with the words that it knows."""
        summary = self.summary_
        return self.check_rows(X, summary.schema, summary.words)

    def check_rows(
        self, X: Any, known: Schema | None = None, words: tuple[Words, ...] | None = None
    ) -> Checked:
        """Return rows as the kernel reads them, with these words or with all of them."""
        if isinstance(X, Rows):
            return Checked(X, known or Schema(X.shape[1]))
        column = text_column(X, known)
        X = check_cells(self, X if column is None else column, known)
        if known is None:
            given = self.fixed_kinds()
            schema = schema_of(X, given=given if column is None else {only_name(X): TEXT} | given)
            check_columns(given, schema)
            schema = with_options(schema, self.families)
            return Checked(read(X, schema, n_jobs=self.n_jobs), schema)
        _warn_of_more(X, known)
        learned = self.summary_
        seen = zip(learned.schema.categories, learned.categories, strict=True)
        flags = {j for j, categories in seen if are_booleans(categories)}
        return Checked(flagged(read(X, known, words, self.n_jobs), flags, known), known)

    def _decided(self, X: Any, known: Schema) -> Schema:
        return schema_of(X, known)

    def fixed_kinds(self) -> dict[Any, Kind]:
        """Return what columns must hold for the families that are given for them."""
        given = by_column(self.families)
        return {column: kind_of_families(wanted, column) for column, wanted in given.items()}

    def files_schema(self) -> SchemaFromFirstRows:
        """Return what is measured of files, which depends on their first rows."""
        from naively.engines.files import SchemaFromFirstRows

        given = self.fixed_kinds()

        def complete(first: Summary) -> Schema:
            check_columns(given, first.schema)
            schema = with_options(first.schema, self.families)
            return self.settled(schema, lambda size: first.sample)

        return SchemaFromFirstRows(given, complete, SAMPLE)

    def _families(self, schema: Schema) -> list[tuple[Family, ...]]:
        """Return the families of each column: all candidates, where rows are to choose the best."""
        columns = schema.names_or_places
        stacked = self.calibration == "weights" and schema.edges is not None
        families = [
            choose(column, kind, self.families, stacked=stacked)
            for column, kind in zip(columns, schema.held, strict=True)
        ]
        for j, options in zip(schema.texts, schema.options, strict=True):
            if columns[j] not in by_column(self.families):
                families[j] = (Text.of(options),)
        if self.calibration is None:
            return [tuple(family.uncalibrated() for family in column) for column in families]
        return families

    def _free(self, schema: Schema) -> list[int]:
        """Return the columns whose family rows choose."""
        columns, given = schema.names_or_places, self.families
        return [j for j in schema.numbers if choose(columns[j], NUMBER, given) is CANDIDATES]

    def _choices(self, summary: Summary) -> dict[int, FamilyChoice]:
        """Return what rows choose for these columns."""
        return choose_families(summary, self._free(summary.schema))

    def _columns_of(
        self, schema: Schema, choices: Mapping[int, FamilyChoice]
    ) -> dict[Family, list[int]]:
        """Return the columns that each family describes."""
        columns: dict[Family, list[int]] = {}
        for j, families in enumerate(self._families(schema)):
            for family in (choices[j].best,) if j in choices else families:
                columns.setdefault(family, []).append(j)
        return columns

    def sample_size(self) -> int:
        """How many rows a summary is to keep: for calibration, or for families that read them."""
        given = by_column(self.families)
        several = [choose(column, NUMBER, given) for column in given]
        sampled = any(family.reads is Sample for families in several for family in families)
        chosen = self.families == BEST or any(families is CANDIDATES for families in several)
        return SAMPLE if sampled or chosen else super().sample_size()

    def _kinds_of_empty(self, schema: Schema) -> list[Kind]:
        given, kinds = self.fixed_kinds(), zip(schema.names_or_places, schema.held, strict=True)
        return [given.get(column, kind) for column, kind in kinds]

    def measure_rows(
        self, table: Rows, schema: Schema, targets: Targets, sample: Sample | None = None
    ) -> Summary:
        """Measure rows that are readable; the first ones decide what must be fixed before."""
        learned = self.summary_ if self.__sklearn_is_fitted__() else None
        if learned is not None and schema is learned.schema:
            bound = _bound(learned.sample)
            return measure(table, targets, schema, n_jobs=self.n_jobs, bound=bound)
        self.warn_of(table, schema)
        if schema.sample or schema.edges or schema.functions:
            return measure(table, targets, schema, n_jobs=self.n_jobs, sample=sample)
        size = self.sample_size() or SAMPLE  # drawn once, for the edges too
        size *= 2 if schema.texts else 1

        def first(n_rows: int) -> Sample:
            nonlocal sample
            wanted = replace(schema, sample=size)
            sample = measure_sample(table, targets, wanted, n_jobs=self.n_jobs)
            return sample.least(n_rows)

        schema = self.settled(schema, first)
        return measure(table, targets, schema, n_jobs=self.n_jobs, sample=sample)

    def warn_of(self, seen: Rows | Summary, schema: Schema) -> None:
        """Warn of columns that have very many categories."""
        for j, categories in zip(schema.categories, seen.categories, strict=True):
            if categories.size > _MAX_QUIET_CATEGORIES:
                warn(
                    f"{schema.name(j)} has {categories.size:,} categories. Is it an identifier, or "
                    "a number? Then leave it out, or give it a family of numbers.",
                )

    def settled(self, schema: Schema, first: Callable[[int], Any]) -> Schema:
        """Fix the edges of histograms, and centres, by a sample of rows, if they are needed."""
        schema = replace(schema, sample=self.sample_size() * (2 if schema.texts else 1))
        needed = self._families(replace(schema, edges=((),), knots=((),)))
        free = set(self._free(schema))
        sample = first(SAMPLE) if free else None
        schema = replace(schema, functions=_functions(needed, schema, free, sample))
        bins = any(family.reads is Bins for families in needed for family in families)
        kinds = interaction_kinds(self.interactions) if self.calibration == "weights" else ()
        few = 0 < len(schema.numbers) <= MOST_FEATURES
        products = few and bool({"canonical", "quadratic"} & {*kinds})
        if not (bins or products):
            return schema
        sample = first(SAMPLE) if sample is None else sample
        if products and np.unique(sample.codes).size <= MOST_CLASSES:
            schema = replace(schema, centres=_centres(sample))
        if not bins:
            return schema
        parts = edges(sample.numbers, weight=sample.weight)
        cuts, knots = (tuple(map(tuple, part.tolist())) for part in parts)
        return replace(schema, edges=cuts, knots=knots)

    def _check_summary(self, summary: Summary) -> None:
        super()._check_summary(summary)
        schema = summary.schema
        check_columns(self.families, schema)
        free = set(self._free(schema))
        for family, columns in self._columns_of(schema, {}).items():
            places_of(family, schema, [j for j in columns if j not in free])

    # --- the model --------------------------------------------------------------------------------

    def _read(self, summary: Summary) -> Model:
        check_costs(self.costs, summary.classes)
        check_reject(self.reject, summary.classes)
        return Model.read(
            summary,
            self._columns_of(summary.schema, self._choices(summary)),
            priors=self._prior(summary),
            calibration=self.calibration,
            interactions=interaction_kinds(self.interactions),
        )

    # --- single rows ------------------------------------------------------------------------------

    def _cell(self, cell: Any, name: str) -> Any:
        """Return a cell as it is; None where it is missing."""
        if is_missing(cell):
            return None
        if type(cell) not in _PLAIN and self._held_by(cell) not in DATES:
            kind_of(held_by_objects([cell]), name)
        if self._held_by(cell) == "number":
            number_cell(cell, name)
        return cell

    def _held_by(self, cell: Any) -> str:
        """Return what a cell is: all of a column are the same."""
        return _PLAIN.get(type(cell)) or held_by_objects([cell]).what

    def _measure_cells(
        self, cells: list[list[Any]], targets: Targets, columns: Schema, known: Schema | None
    ) -> Summary:
        table = np.empty((len(cells), columns.n_columns), dtype=object)
        for i, row in enumerate(cells):
            table[i] = row
        if known is not None:
            schema = schema_of(table, known)
            return measure(read(table, schema, n_jobs=self.n_jobs), targets, schema)
        given, names = self.fixed_kinds(), columns.names or ()
        sources = {(split_name(name) or ("",))[0] for name in names}
        for j, name in enumerate(names):  # beside a column of the name of its part, text is text
            if name in sources and schema_of(table[:, [j]]).dates:
                given = {name: CATEGORY, **given}
        schema = with_options(schema_of(table, given=given, names=columns.names), self.families)
        return self.measure_rows(read(table, schema, n_jobs=self.n_jobs), schema, targets)


def _functions(
    families: list[tuple[Family, ...]], schema: Schema, free: set[int], first: Any
) -> tuple[ColumnFunction, ...]:
    """Return the functions of columns that their families read.

    Of a column whose family rows choose, and whether it holds counts, only functions that have a
    value in all of the first rows.
    """
    functions = [
        ColumnFunction(j, *function)
        for j, several in enumerate(families)
        for family in several
        for function in family.functions
    ]
    functions += [ColumnFunction(j, *COUNT) for j in sorted(free)]
    place = {j: i for i, j in enumerate(schema.numbers)}

    def has_values(function: ColumnFunction) -> bool:
        cells = first.numbers[:, place[function.column]]
        values = function_values(function.name, cells, function.period)
        return not np.isnan(values[~np.isnan(cells)]).any()

    kept = (f for f in dict.fromkeys(functions) if f.column not in free or has_values(f))
    return tuple(sorted(kept))


def _centres(first: Sample) -> tuple[float, ...]:
    """Return the means of the columns of some rows; 0 for one without cells."""
    seen = ~np.isnan(first.numbers)
    weight = (first.weight / first.weight.max(initial=1e-300))[:, np.newaxis] * seen
    total = weight.sum(axis=0)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return tuple(np.where(seen, first.numbers * share, 0.0).sum(axis=0).tolist())


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
