"""Files become a summary, in one pass, bounded memory, and on all cores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naively.engines.columns import LeftOut
from naively.engines.files.cells import settled, typed
from naively.engines.files.csv import Dialect
from naively.engines.files.folding import Fold, Progress, is_text
from naively.engines.files.plan import Undecided, Wish, named
from naively.engines.files.sources import resolve
from naively.exceptions import NaivelyError
from naively.schema import Kind, Schema
from naively.summary import Summary

__all__ = ["Progress", "Scan", "scan", "summarize"]


@dataclass(frozen=True)
class Scan:
    """What a pass over files has found.

    Attributes
    ----------
    summary : Summary
        Of all rows.
    left_out : tuple of LeftOut
        The columns that were not learned from, and why.
    bad_files : tuple of (str, str)
        The files that were skipped, and why.
    rows, bytes : int
        How much was read.
    """

    summary: Summary
    left_out: tuple[LeftOut, ...]
    bad_files: tuple[tuple[str, str], ...]
    rows: int
    bytes: int


def summarize(source: Any, *, target: str, **options: Any) -> Summary:
    """Summarize files by their labels; `scan` says what the options are, and returns more."""
    return scan(source, target=target, **options).summary


def scan(
    source: Any,
    *,
    target: str,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    weight: str | None = None,
    schema: Schema | Undecided | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_bad_files: bool = False,
    skip_columns: bool = False,
    progress: Progress | None = None,
    n_jobs: int | None = None,
    label_type: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = (),
) -> Scan:
    r"""Summarize files by their labels, in one pass and little memory.

    Parameters
    ----------
    source : str, path-like, list of those, or an Arrow stream
        Files of CSV (also .gz, .zst, .bz2), Parquet or Arrow: a path, a folder, a glob, "-" for
        standard input. What a path says, as in ``year=2024/a.parquet``, is a column. Or an
        object with ``__arrow_c_stream__``: a data frame, a relation of DuckDB, a reader.
    target : str
        The column of labels.
    columns : sequence of str, optional
        The columns to learn from; None for all, but those without a name.
    exclude : sequence of str
        Not from these.
    weight : str, optional
        A column of weights, finite and >= 0.
    schema : Schema, optional
        What is measured, such as that of a summary to which this one will be added: its columns
        are found by name. None: what the types say. It may be `Undecided`. A CSV file has no types:
        what its first rows look like counts, and dates are text.
    checkpoint : path-like, optional
        A file to which the state of the pass is saved every few seconds. If it is there, the
        pass goes on from it, and the result has the bits of an uninterrupted pass.
    skip_bad_files : bool, default=False
        Leave out files that cannot be read to their end, wholly, instead of stopping there.
    skip_columns : bool, default=False
        Leave out columns that cannot be learned from, such as dates, and those that are empty in
        the first rows, instead of raising; `Scan.left_out` names them.
    progress : callable, optional
        Called with the numbers of rows and bytes so far, and of all bytes (None if unknown).
    n_jobs : int, optional
        Threads; None for all cores. It does not change a bit.
    label_type : {"str", "int", "float", "bool"}, optional
        What the labels of CSV files are; None for what all of them look like.
    types : mapping, optional
        The same for columns of categories, by name; otherwise, what their first rows look like.
    separator, decimal, missing
        How CSV is written: the character between cells (None: a tab in .tsv, else a comma), the
        one before a fraction, and further texts that mean a missing cell.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("height,name,sex\n1.7,Ada,f\n1.8,Bob,m\n,Cleo,f\n")
    >>> found = scan(path, target="sex")
    >>> found.summary
    <Summary of weight 3: 2 columns, 2 classes ('f', 'm')>
    >>> found.summary.schema.kinds
    ('number', 'category')
    """
    for kind in (label_type, *(types or {}).values()):
        if kind not in (None, "str", "int", "float", "bool"):
            raise NaivelyError(f"label_type must be str, int, float or bool; got {kind!r}.")
    chosen = _columns(schema, columns, exclude)
    wish = Wish(target, *chosen, weight, _kinds(schema), dict(types or {}), skip_columns)
    dialect = Dialect(separator, decimal, tuple(missing))
    files = resolve(source)
    if checkpoint is not None and any(file.size is None for file in files):
        raise NaivelyError("a checkpoint needs files, which can be read again; got a stream.")
    fold = Fold(files, wish, dialect, skip_bad_files, checkpoint, progress, schema)
    state = fold.run(n_jobs)
    summary = typed(state.summary, label_type) if is_text(files, wish) else settled(state.summary)
    n_bytes = sum(file.size or 0 for file in files)
    return Scan(summary, fold.plan.left_out, state.bad, state.rows, n_bytes)


def _columns(
    schema: Schema | Undecided | None, columns: Sequence[str] | None, exclude: Sequence[str]
) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return the columns to learn from, and those not to."""
    if not isinstance(schema, Schema) or schema.names is None:
        return None if columns is None else named(columns), named(exclude)
    if columns is not None or exclude:
        raise NaivelyError("columns are chosen by the schema, or by columns and exclude; got both.")
    return schema.names, ()


def _kinds(schema: Schema | Undecided | None) -> dict[str, Kind] | None:
    """Return what the columns hold, as far as it is known; None where all hold numbers."""
    if isinstance(schema, Undecided):
        return None if schema.kinds is None else dict(schema.kinds)
    if schema is None or schema.kinds is None:
        return {} if schema is None else None
    held = zip(schema.names or (), schema.kinds, strict=False)
    return {name: kind for name, kind in held if kind != "undecided"}
