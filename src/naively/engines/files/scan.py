"""Files become a summary, in one pass, bounded memory, and on all cores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naively.engines.columns import LeftOut
from naively.engines.files.cells import settled, typed
from naively.engines.files.column_plan import ColumnPlan
from naively.engines.files.csv import CsvDialect
from naively.engines.files.first_rows import FirstRows
from naively.engines.files.read_ahead import Progress
from naively.engines.files.request import Request, SchemaFromFirstRows, check_form
from naively.engines.files.sources import are_text
from naively.engines.files.summary_pass import SummaryPass
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["Progress", "Scan", "scan", "scan_planned", "summarize"]


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
    unlabelled : int
        How many rows of this pass were left out, since they have no label.
    """

    summary: Summary
    left_out: tuple[LeftOut, ...]
    bad_files: tuple[tuple[str, str], ...]
    rows: int
    bytes: int
    unlabelled: int = 0


def summarize(source: Any, *, target: str, **options: Any) -> Summary:
    """Summarize files by their labels; `scan` says what the options are, and returns more."""
    return scan(source, target=target, **options).summary


def scan(
    source: Any,
    *,
    target: str | None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    weight: str | None = None,
    schema: Schema | SchemaFromFirstRows | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_bad_files: bool = False,
    skip_columns: bool = False,
    drop_missing_target: bool = False,
    progress: Progress | None = None,
    n_jobs: int | None = None,
    label_type: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = (),
    encoding: str | None = None,
) -> Scan:
    r"""Summarize files by their labels, in one pass and little memory.

    Parameters
    ----------
    source : str, path-like, list of those, an Arrow stream, or FirstRows
        Files of CSV or JSON lines (also compressed: gzip, zstd, bz2, xz, lz4), Parquet or Arrow: a
        path, a folder, a glob, here or remote ("s3://bucket/a.csv"), "-" for standard input. What a
        path says, as in ``year=2024/a.parquet``, is a column. Or an object with
        ``__arrow_c_stream__``: a data frame, a relation of DuckDB, a reader. Or files that have
        been looked at already.
    target : str or None
        The column of labels; None where there is none: then all rows are of one class.
    columns : sequence of str, optional
        The columns to learn from; None for all, but those without a name.
    exclude : sequence of str
        Not from these.
    weight : str, optional
        A column of weights, finite and >= 0.
    schema : Schema, optional
        What is measured, such as that of a summary to which this one will be added: its columns
        are found by name. None: what the types say. It may be `SchemaFromFirstRows`. A CSV file has
        no types: what its first rows look like counts.
    checkpoint : path-like, optional
        A file to which the state of the pass is saved every few seconds. If it is there, the
        pass goes on from it, and the result has the bits of an uninterrupted pass.
    skip_bad_files : bool, default=False
        Leave out files that cannot be read to their end, wholly, instead of stopping there.
    skip_columns : bool, default=False
        Leave out columns that cannot be learned from, such as lists, and those that are empty in
        the first rows, instead of raising; `Scan.left_out` names them.
    drop_missing_target : bool, default=False
        Leave out rows without a label, instead of raising; `Scan.unlabelled` counts them.
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
    encoding : str, optional
        How CSV and JSON lines are encoded, as Python calls it: "latin-1", "cp1252", "utf-16". None:
        UTF-8, or what a byte-order mark says.

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
    check_form(label_type)
    request = Request.of(
        target,
        schema,
        columns=columns,
        exclude=exclude,
        weight=weight,
        types=types,
        skip_columns=skip_columns,
        drop_missing_target=drop_missing_target,
    )
    first = FirstRows.of(source, CsvDialect(separator, decimal, tuple(missing), encoding))
    how: dict[str, Any] = {"skip_bad_files": skip_bad_files, "checkpoint": checkpoint}
    passing = SummaryPass(first, request, schema, progress=progress, **how)
    return _scanned(passing, n_jobs, label_type)


def scan_planned(
    first: FirstRows, plan: ColumnPlan, schema: Schema | SchemaFromFirstRows | None, **options: Any
) -> Scan:
    """Summarize files whose columns have been chosen; `scan` says what the options are."""
    return _scanned(SummaryPass(first, plan.request, schema, plan=plan, **options))


def _scanned(
    passing: SummaryPass, n_jobs: int | None = None, label_type: str | None = None
) -> Scan:
    state, files = passing.run(n_jobs), passing.first.files
    is_text = are_text(files, passing.request.target)
    summary = typed(state.summary, label_type) if is_text else settled(state.summary)
    n_bytes = sum(file.size or 0 for file in files)
    unlabelled = passing.plan.n_unlabelled([name for name, _ in state.bad])
    return Scan(summary, passing.plan.left_out, state.bad, state.rows, n_bytes, unlabelled)
