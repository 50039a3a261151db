"""What is read from every file to label its rows, and what is written about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively._optional import need
from naively.engines.columns import choose, find
from naively.engines.files.cells import is_number
from naively.engines.files.opening import reading
from naively.engines.files.pieces import Reader
from naively.engines.files.plan import named, type_of, with_partitions
from naively.engines.files.sources import File
from naively.engines.files.work import columns_of, raise_not_finite
from naively.exceptions import NaivelyError

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
    kernel : GaussianModel
        What scores them.
    classes : ndarray
        The labels.
    names, kept : tuple of str
        The columns of the model, and those that are copied.
    flags : frozenset of str
        Those of a CSV file that hold true and false.
    proba : bool
        Whether probabilities are wanted.
    schema : pyarrow.Schema
        What is written.
    """

    kernel: Any
    classes: NDArray[Any]
    names: tuple[str, ...]
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
        with reading(first.file):
            sample = with_partitions(first.reader.sample(), first.constants)
        names = _columns(model, sample, kept, columns, first.where)
        kinds = dict(zip(sample.column_names, sample.schema.types, strict=True))
        flags = frozenset(n for n in names if n in kinds and pa.types.is_boolean(kinds[n]))
        is_text = first.file.format == "csv"
        copied = [
            (name, pa.string() if is_text else (kinds[find(name, list(kinds), first.where)]))
            for name in kept
        ]
        classes = model.classes_
        fields = [*copied, ("prediction", pa.array(classes).type)]
        fields += [(f"p_{label}", pa.float64()) for label in classes.tolist() if proba]
        twice = [n for i, (n, _) in enumerate(fields) if n in [m for m, _ in fields[:i]]]
        if twice:
            raise NaivelyError(f"columns of the output must differ; {twice[0]!r} is there twice.")
        return cls(model._model().kernel, classes, names, flags, kept, proba, pa.schema(fields))

    def types(self, its: Opened) -> dict[str, Any]:
        """Return the columns to read from a file, or raise where one is missing or is text."""
        kinds = {**its.reader.types, **{n: type_of(v) for n, v in its.constants.items()}}
        for name in (*self.names, *self.kept):
            kind = kinds[find(name, list(kinds), its.where)]
            if name in self.names and kind is not None and not is_number(kind):
                raise NaivelyError(f"column {name!r} must hold numbers; got {kind}{its.where}.")
        types = {n: pa.bool_() if n in self.flags else pa.float64() for n in self.names}
        types = dict.fromkeys(self.kept, pa.string()) | types
        return {name: kind for name, kind in types.items() if name not in its.constants}

    def table(self, batch: Any, constants: Mapping[str, Any]) -> Any:
        """Return what is written about the rows of a batch."""
        if not batch.num_rows:
            return self.schema.empty_table()
        n_rows, X = batch.num_rows, columns_of(batch, self.names, constants)
        at = np.empty(n_rows, dtype=np.int64)
        if not self.kernel.labels(X, at):
            raise_not_finite(X, self.names, 0)
        columns = [self._kept(name, batch, constants) for name in self.kept]
        columns.append(pa.array(self.classes).take(pa.array(at)))
        if self.proba:
            out = np.empty((n_rows, self.classes.size))
            self.kernel.proba(X, out)
            columns += [pa.array(column) for column in np.ascontiguousarray(out.T)]
        arrays = [
            column.cast(kind) for column, kind in zip(columns, self.schema.types, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _kept(self, name: str, batch: Any, constants: Mapping[str, Any]) -> Any:
        if name in constants:
            return pa.array([constants[name]] * batch.num_rows)
        column = batch.column(name)
        is_plain = isinstance(column, np.ndarray)  # of a CSV file, and also the model's
        return pa.array(column, from_pandas=True) if is_plain else column


def _columns(
    model: Any, sample: Any, kept: Sequence[str], columns: Sequence[str] | None, where: str
) -> tuple[str, ...]:
    """Return the model's columns by name, or by place where it has no names."""
    names = model.summary_.schema.names
    if names is not None:
        return tuple(names)
    chosen = None if columns is None else named(columns)
    found = choose(sample, columns=chosen, exclude=() if chosen else kept, where=where).names
    if len(found) != model.n_features_in_:
        raise NaivelyError(
            f"the model has no column names and takes {model.n_features_in_} numeric columns; "
            f"got {len(found)}{where}. Choose the columns."
        )
    return found
