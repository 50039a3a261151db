"""What is read from every file to label its rows, and what is written about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naively.data.kinds import TEXT
from naively.data.labels import quoted
from naively.engines.files import arrow_arrays
from naively.engines.files.batches import ArrayBatch, number_columns, raise_not_finite, rows_of
from naively.engines.files.cells import is_number, plain
from naively.engines.files.plan import FORMS, named, source_of, type_of_form
from naively.engines.files.readers import FirstRows, OpenFile
from naively.engines.memory.columns import choose, find, is_text
from naively.engines.memory.native.arrow import held_by_type
from naively.errors import NaivelyError, need
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.state import snapshot
from naively.statistics.summary import Summary

pa = need("pyarrow", "reading files", extra="files")


@dataclass(frozen=True)
class FileAnswers:
    """What a model answers for rows of files."""

    model: SummaryClassifier  # what answers, on one thread
    # for each column of the model that it knows something of, what its categories are; None where
    # it holds numbers
    columns: dict[str, str | None]
    flags: frozenset[str]  # those columns of numbers of a CSV file that hold true and false
    kept: tuple[str, ...]  # the columns that are copied
    proba: bool  # whether probabilities are wanted
    schema: Any  # what is written
    # the columns of dates that are read by their parts, and whether they have times of day
    dates: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        model: SummaryClassifier,
        first: FirstRows,
        proba: bool,
        kept: tuple[str, ...],
        columns: Sequence[str] | None,
    ) -> FileAnswers:
        """Decide by the first file."""
        model = snapshot(model)
        model.n_jobs = 1  # batches are what threads share
        model.model_.kernel  # noqa: B018 - it is read once, before they do
        _check_model(model)
        opened: Any = first.file
        names = _columns(model, first, kept, columns)
        types = dict(zip(first.names, first.table.schema.types, strict=True))
        flags = frozenset(n for n in names if n in types and pa.types.is_boolean(types[n]))
        all_text = opened.file.format == "csv"
        copied = [
            (
                name,
                pa.string() if all_text else _copied(types[find(name, first.names, first.where)]),
            )
            for name in kept
        ]
        undecided = model.summary_.schema.undecided  # nothing is known of them, nothing is read
        listed = enumerate(zip(names, _forms(model.summary_), strict=True))
        forms = {name: form for j, (name, form) in listed if j not in undecided}
        dates = dict.fromkeys(model.summary_.schema.dates, True)
        return cls(model, forms, flags, kept, proba, _schema(model, copied, proba), dates)

    @property
    def types(self) -> dict[str, Any]:
        """As what each column of a CSV file is read."""
        return dict.fromkeys(self.kept, pa.string()) | {
            name: type_of_form(form) if form else pa.bool_() if name in self.flags else pa.float64()
            for name, form in self.columns.items()
        }

    def columns_of(self, opened: OpenFile) -> dict[str, Any]:
        """Return the columns to read from a file, or raise where one is missing or will not do."""
        kinds = opened.types
        may_lack = opened.file.format == "json" and not kinds.keys().isdisjoint(self.columns)
        for name in (*self.columns, *self.kept):
            if name not in kinds and (may_lack or name in self.dates):
                continue  # a key that is not there is a missing cell; dates are behind their parts
            if name not in kinds:
                find(source_of(name, self.dates), list(kinds), opened.where)
            kind = kinds[name]
            if name in self.columns and kind is not None:
                self._check(name, kind, opened.where)
        return self.types

    def table(self, batch: Any, constants: Mapping[str, Any]) -> Any:
        """Return what is written about the rows of a batch."""
        if not batch.num_rows:
            return arrow_arrays.empty_table(self.schema)
        columns = [self._kept(name, batch, constants) for name in self.kept]
        answer = self._numbers if _takes_most_probable(self.model) else self._mixed
        labels, probabilities = answer(batch, constants)
        columns.append(labels)
        if probabilities is not None:
            columns += [
                arrow_arrays.numbers(column) for column in np.ascontiguousarray(probabilities.T)
            ]
        arrays = list(map(_as_first, columns, self.schema))
        return pa.Table.from_arrays(arrays, schema=self.schema)

    # --- inside -------------------------------------------------------------------------------

    def _numbers(self, batch: Any, constants: Mapping[str, Any]) -> tuple[Any, Any]:
        """Label rows of numbers: the short way to the kernel."""
        kernel, classes = self.model.model_.kernel, self.model.classes_
        names, n_rows = list(self.columns), batch.num_rows
        X, at = number_columns(batch, names, constants), np.empty(n_rows, dtype=np.int64)
        if not kernel.labels(X, at):
            raise_not_finite(X, names, 0)
        labels = arrow_arrays.of_labels(classes).take(arrow_arrays.numbers(at))
        if not self.proba:
            return labels, None
        out = np.empty((n_rows, classes.size))
        kernel.proba(X, out)
        return labels, out

    def _mixed(self, batch: Any, constants: Mapping[str, Any]) -> tuple[Any, Any]:
        """Label rows of any columns."""
        summary = self.model.summary_
        rows = rows_of(batch, self.columns, constants, summary.schema, summary.words)
        names = [name for name, form in self.columns.items() if form is None]
        columns = rows.numbers[:]
        if any(np.isinf(column).any() for column in columns):
            raise_not_finite(columns, names, 0)
        labels = arrow_arrays.labels(self.model.predict(rows), _answers(self.model))
        return labels, self.model.predict_proba(rows) if self.proba else None

    def _kept(self, name: str, batch: Any, constants: Mapping[str, Any]) -> Any:
        if name in constants:
            return pa.array([constants[name]] * batch.num_rows)
        is_copy = isinstance(batch, ArrayBatch) and copy_of(name) in batch.columns
        column = batch.column(copy_of(name) if is_copy else name)
        is_plain = isinstance(column, np.ndarray)  # of a CSV file, and also the model's
        return pa.array(column, from_pandas=True) if is_plain else column

    def _check(self, name: str, kind: Any, where: str) -> None:
        """Raise where a column cannot hold what the model's holds."""
        form = self.columns[name]
        if form == "text":
            TEXT.check(held_by_type(kind), f"column {name!r}{where}")
        elif form == "str" and not (is_text(plain(kind)) or pa.types.is_null(kind)):
            known = self.model.summary_.categories[self._place(name)]
            if known.size:
                raise NaivelyError(
                    f"column {name!r} must hold text as the model's does ({quoted(known)}); "
                    f"got {kind}{where}."
                )
        elif form != "str" and not is_number(kind):
            raise NaivelyError(f"column {name!r} must hold numbers; got {kind}{where}.")

    def _place(self, name: str) -> int:
        return [n for n, form in self.columns.items() if form not in (None, "text")].index(name)


def copy_of(name: str) -> str:
    """Return the name of a column as it is written, beside the same one as the model reads it."""
    return f"\0{name}"


def _check_model(model: SummaryClassifier) -> None:
    if model.model_.coded:
        raise NaivelyError(
            f"files are labelled by GaussianNB or NaiveBayes; got {type(model).__name__}. "
            "Read the rows into memory."
        )


def _takes_most_probable(model: SummaryClassifier) -> bool:
    """Whether a model reads numbers alone, and the most probable class is what it answers."""
    if model.summary_.schema.kinds is not None:
        return False
    return getattr(model, "reject", None) is None and getattr(model, "costs", None) is None


def _answers(model: SummaryClassifier) -> Any:
    """Return all labels that may be answered, sorted."""
    reject = getattr(model, "reject", None)
    return model.classes_ if reject is None else np.unique(np.append(model.classes_, reject[1]))


def _schema(model: SummaryClassifier, copied: Sequence[tuple[str, Any]], proba: bool) -> Any:
    """Return the columns that are written."""
    fields = [*copied, ("prediction", arrow_arrays.of_labels(_answers(model)).type)]
    fields += [(f"p_{label}", pa.float64()) for label in model.classes_.tolist() if proba]
    twice = [n for i, (n, _) in enumerate(fields) if n in [m for m, _ in fields[:i]]]
    if twice:
        raise NaivelyError(f"columns of the output must differ; {twice[0]!r} is there twice.")
    return pa.schema(fields)


def _forms(summary: Summary) -> list[str | None]:
    """Return what the categories of each column are; None where it holds numbers."""
    schema = summary.schema
    forms: list[str | None] = [None] * schema.n_columns
    for j, found in zip(schema.categories, summary.categories, strict=True):
        forms[j] = FORMS[found.dtype.kind]
    for j in schema.texts:
        forms[j] = "text"
    return forms


def _copied(kind: Any) -> Any:
    """Return the type of a column that is copied; what is empty so far may hold text later."""
    return pa.string() if pa.types.is_null(kind) else kind


def _as_first(column: Any, field: Any) -> Any:
    """Return a column that is written, in the type that the first rows have."""
    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise NaivelyError(
            f"column {field.name!r} must hold {field.type}, as the first rows do: {error}. Write "
            "it as text, or do not copy it."
        ) from None


def _columns(
    model: SummaryClassifier, first: FirstRows, kept: Sequence[str], columns: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the model's columns by name, or by place where it has no names."""
    schema = model.summary_.schema
    if schema.names is not None:
        return schema.names
    found = choose(
        first.table,
        columns=None if columns is None else named(columns),
        exclude=() if columns else kept,
        kinds={} if schema.kinds else None,
        skip_columns=True,
        where=first.where,
    ).names
    if len(found) != schema.n_columns:
        what = "columns" if schema.kinds else "numeric columns"
        raise NaivelyError(
            f"the model has no column names and takes {schema.n_columns} {what}; "
            f"got {len(found)}{first.where}. Choose the columns."
        )
    return found
