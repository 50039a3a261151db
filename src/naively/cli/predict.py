"""``naively predict``: label the rows of a table with a saved model."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from naively._atomic import write_atomically
from naively._optional import need
from naively.cli import console
from naively.cli.options import File, Reading, Saved, check_output
from naively.exceptions import NaivelyError

__all__ = ["predict"]

_ROWS = 1 << 16  # at a time, between two movements of the bar


def predict(
    model: Saved,
    file: File,
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here instead of standard output."),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Also one column of probabilities per class.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--id", metavar="NAMES", help="Columns to copy beside the predictions."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="The columns, for a model fitted without names."),
    ] = None,
) -> None:
    """Label the rows of a table with a saved model.

    The result is CSV, in the table's order. The model's columns are found by
    name; others may be there. An empty cell is missing: its term is left out.

    For example:

      naively predict iris.safetensors new.csv
      naively predict iris.safetensors new.csv --id name --proba -o p.csv
    """
    from naively.cli.data import read_table, split_names
    from naively.engines.columns import find, numbers
    from naively.estimators.loading import load

    if output is not None:
        check_output(output, model, file)
    estimator, where = load(model), f" in {file.name}"
    table = read_table(file, reading)
    present = table.column_names
    kept = [find(name, present, where) for name in split_names(keep, present)]
    wanted = _columns(estimator, table, split_names(columns, present), where)
    X = numbers(table, wanted, where)
    content = _as_csv(_predictions(estimator, X, table.select(kept), proba))
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    write_atomically(output, content)
    console.show(f"{output}: {table.num_rows:,} predictions")


def _columns(estimator: Any, table: Any, chosen: list[str], where: str) -> list[str]:
    """Return the model's columns by name, or by place where it has no names."""
    from naively.engines.columns import choose

    names = estimator.summary_.schema.names
    if names is not None:
        return list(names)
    found = list(choose(table, columns=chosen or None, where=where).names)
    if len(found) != estimator.n_features_in_:
        raise NaivelyError(
            f"the model has no column names and takes {estimator.n_features_in_} numeric columns; "
            f"got {len(found)}{where}. Choose them with --columns."
        )
    return found


def _predictions(estimator: Any, X: Any, kept: Any, proba: bool) -> Any:
    """Return the kept columns, the label of each row and, if wanted, its probabilities."""
    from naively.engines.columns import as_array

    pyarrow = need("pyarrow", "writing CSV", extra="files")
    names = [*kept.column_names, "prediction"]
    names += [f"p_{label}" for label in estimator.classes_.tolist()] if proba else []
    named, blocks = estimator.summary_.schema.names is not None, []
    with console.progress("predicting", X.num_rows, "rows") as advance:
        for start in range(0, X.num_rows, _ROWS):
            rows = X.slice(start, _ROWS) if named else as_array(X.slice(start, _ROWS))
            columns = [*kept.slice(start, _ROWS).columns, pyarrow.array(estimator.predict(rows))]
            columns += [*map(pyarrow.array, estimator.predict_proba(rows).T)] if proba else []
            blocks.append(pyarrow.table(columns, names=names))
            advance(blocks[-1].num_rows)
    return pyarrow.concat_tables(blocks)


def _as_csv(table: Any) -> bytes:
    """Return the bytes of a CSV file, with quotes only where a text needs them."""
    arrow = need("pyarrow.csv", "writing CSV", extra="files")
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(table.column_names)
    for quotes in ("none", "needed"):
        sink = io.BytesIO(header.getvalue().encode())
        sink.seek(0, io.SEEK_END)
        try:
            options = arrow.WriteOptions(include_header=False, quoting_style=quotes)
            arrow.write_csv(table, sink, options)
        except ValueError:
            continue  # some text holds a comma or a quote
        break
    return sink.getvalue()
