"""What is read from every file to label its rows, and what is written about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines.columns import choose, find, is_text
from naively.engines.files.cells import is_number, plain
from naively.engines.files.mixing import columns_of, mixed_rows
from naively.engines.files.opening import reading
from naively.engines.files.pieces import Reader
from naively.engines.files.plan import FORMS, READ_AS, named, type_of, with_partitions
from naively.engines.files.sources import File
from naively.engines.files.work import raise_not_finite
from naively.exceptions import NaivelyError
from naively.labels import quoted
from naively.summary import Summary

__all__ = ["Opened", "Scoring"]

pa = need("pyarrow", "reading files", extra="files")


class Opened(NamedTuple):
    """A file that is open, and the columns that its path holds."""

    file: File
    reader: Reader
    constants: dict[str, Any]

    @property
    def where(self) -> str:
        """Name the file at the end of a message."""
        return f" in {self.file.name!r}"


@dataclass(frozen=True)
class Scoring:
    """How rows are labelled.

    Attributes
    ----------
    model : estimator
        What labels them, on one thread.
    columns : dict
        For each column of the model that it knows something of, what its categories are; None
        where it holds numbers.
    flags : frozenset of str
        Those columns of numbers of a CSV file that hold true and false.
    kept : tuple of str
        The columns that are copied.
    proba : bool
        Whether probabilities are wanted.
    schema : pyarrow.Schema
        What is written.
    """

    model: Any
    columns: dict[str, str | None]
    flags: frozenset[str]
    kept: tuple[str, ...]
    proba: bool
    schema: Any

    @classmethod
    def of(
        cls,
        model: Any,
        first: Opened,
        proba: bool,
        kept: tuple[str, ...],
        columns: Sequence[str] | None,
    ) -> Scoring:
        """Decide by the first file."""
        model = model._snapshot()
        model.n_jobs = 1  # batches are what threads share
        model.model_.kernel  # noqa: B018 - it is read once, before they do
        _check_model(model)
        with reading(first.file):
            sample = with_partitions(first.reader.sample(), first.constants)
        names = _columns(model, sample, kept, columns, first.where)
        kinds = dict(zip(sample.column_names, sample.schema.types, strict=True))
        flags = frozenset(n for n in names if n in kinds and pa.types.is_boolean(kinds[n]))
        all_text = first.file.format == "csv"
        copied = [
            (name, pa.string() if all_text else (kinds[find(name, list(kinds), first.where)]))
            for name in kept
        ]
        fields = [*copied, ("prediction", pa.array(_answers(model)).type)]
        fields += [(f"p_{label}", pa.float64()) for label in model.classes_.tolist() if proba]
        twice = [n for i, (n, _) in enumerate(fields) if n in [m for m, _ in fields[:i]]]
        if twice:
            raise NaivelyError(f"columns of the output must differ; {twice[0]!r} is there twice.")
        undecided = model.summary_.schema.undecided  # nothing is known of them, nothing is read
        listed = enumerate(zip(names, _forms(model.summary_), strict=True))
        forms = {name: form for j, (name, form) in listed if j not in undecided}
        return cls(model, forms, flags, kept, proba, pa.schema(fields))

    def types(self, its: Opened) -> dict[str, Any]:
        """Return the columns to read from a file, or raise where one is missing or will not do."""
        kinds = {**its.reader.types, **{n: type_of(v) for n, v in its.constants.items()}}
        for name in (*self.columns, *self.kept):
            kind = kinds[find(name, list(kinds), its.where)]
            if name in self.columns and kind is not None:
                self._check(name, kind, its.where)
        types = dict.fromkeys(self.kept, pa.string()) | {
            name: READ_AS[form] if form else pa.bool_() if name in self.flags else pa.float64()
            for name, form in self.columns.items()
        }
        return {name: kind for name, kind in types.items() if name not in its.constants}

    def table(self, batch: Any, constants: Mapping[str, Any]) -> Any:
        """Return what is written about the rows of a batch."""
        if not batch.num_rows:
            return self.schema.empty_table()
        columns = [self._kept(name, batch, constants) for name in self.kept]
        answer = self._numbers if _decides_by_probability(self.model) else self._mixed
        labels, probabilities = answer(batch, constants)
        columns.append(labels)
        if probabilities is not None:
            columns += [pa.array(column) for column in np.ascontiguousarray(probabilities.T)]
        arrays = [
            column.cast(kind) for column, kind in zip(columns, self.schema.types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    # --- inside -------------------------------------------------------------------------------

    def _numbers(self, batch: Any, constants: Mapping[str, Any]) -> tuple[Any, Any]:
        """Label rows of numbers: the short way to the kernel."""
        kernel, classes = self.model.model_.kernel, self.model.classes_
        names, n_rows = list(self.columns), batch.num_rows
        X, at = columns_of(batch, names, constants), np.empty(n_rows, dtype=np.int64)
        if not kernel.labels(X, at):
            raise_not_finite(X, names, 0)
        labels = pa.array(classes).take(pa.array(at))
        if not self.proba:
            return labels, None
        out = np.empty((n_rows, classes.size))
        kernel.proba(X, out)
        return labels, out

    def _mixed(self, batch: Any, constants: Mapping[str, Any]) -> tuple[Any, Any]:
        """Label rows of any columns."""
        rows = mixed_rows(batch, self.columns, constants)
        names = [name for name, form in self.columns.items() if form is None]
        columns = rows.numbers[:]
        if any(np.isinf(column).any() for column in columns):
            raise_not_finite(columns, names, 0)
        labels = pa.array(self.model.predict(rows))
        return labels, self.model.predict_proba(rows) if self.proba else None

    def _kept(self, name: str, batch: Any, constants: Mapping[str, Any]) -> Any:
        if name in constants:
            return pa.array([constants[name]] * batch.num_rows)
        column = batch.column(name)
        is_plain = isinstance(column, np.ndarray)  # of a CSV file, and also the model's
        return pa.array(column, from_pandas=True) if is_plain else column

    def _check(self, name: str, kind: Any, where: str) -> None:
        """Raise where a column cannot hold what the model's holds."""
        form = self.columns[name]
        if form == "str" and not (is_text(plain(kind)) or pa.types.is_null(kind)):
            known = self.model.summary_.categories[self._place(name)]
            if known.size:
                raise NaivelyError(
                    f"column {name!r} must hold text as the model's does ({quoted(known)}); "
                    f"got {kind}{where}."
                )
        elif form != "str" and not is_number(kind):
            raise NaivelyError(f"column {name!r} must hold numbers; got {kind}{where}.")

    def _place(self, name: str) -> int:
        return [n for n, form in self.columns.items() if form].index(name)


def _check_model(model: Any) -> None:
    if model.summary_.schema.categories and not hasattr(model, "families"):
        raise NaivelyError(
            f"files are labelled by GaussianNB or NaiveBayes; got {type(model).__name__}. "
            "Read the rows into memory."
        )


def _decides_by_probability(model: Any) -> bool:
    """Whether a model reads numbers alone, and the most probable class is what it answers."""
    plain = all(getattr(model, name, None) is None for name in ("reject", "costs"))
    return plain and not model.summary_.schema.categories


def _answers(model: Any) -> NDArray[Any]:
    """Return all that a model may answer: its labels, and the one for rows that it rejects."""
    reject = getattr(model, "reject", None)
    return model.classes_ if reject is None else np.append(model.classes_, reject[1])


def _forms(summary: Summary) -> list[str | None]:
    """Return what the categories of each column are; None where it holds numbers."""
    schema = summary.schema
    forms: list[str | None] = [None] * schema.n_columns
    for j, found in zip(schema.categories, summary.categories, strict=True):
        forms[j] = FORMS[found.dtype.kind]
    return forms


def _columns(
    model: Any, sample: Any, kept: Sequence[str], columns: Sequence[str] | None, where: str
) -> tuple[str, ...]:
    """Return the model's columns by name, or by place where it has no names."""
    schema = model.summary_.schema
    if schema.names is not None:
        return tuple(schema.names)
    chosen = None if columns is None else named(columns)
    kinds: dict[str, Any] | None = {} if schema.categories else None
    exclude = () if chosen else kept
    found = choose(
        sample, columns=chosen, exclude=exclude, kinds=kinds, skip_columns=True, where=where
    ).names
    if len(found) != schema.n_columns:
        what = "columns" if schema.categories else "numeric columns"
        raise NaivelyError(
            f"the model has no column names and takes {schema.n_columns} {what}; "
            f"got {len(found)}{where}. Choose the columns."
        )
    return found
