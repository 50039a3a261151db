"""``naively predict``: label the rows of files with a saved model."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Literal

import typer

from naively.cli import console
from naively.cli.options import Columns, Files, Reading, Saved
from naively.cli.outputs import check_output, file_at, is_standard, tell_written
from naively.errors import NaivelyError


def predict(
    model: Saved,
    files: Files,
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .parquet, .csv, .arrow or .feather file; by default standard output, or -.",
        ),
    ] = None,
    form: Annotated[
        Literal["csv", "parquet", "arrow"],
        typer.Option("--format", help="What is written to standard output."),
    ] = "csv",
    proba: Annotated[
        bool, typer.Option("--proba", help="Also one column of probabilities per class.")
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--id", metavar="NAMES", help="Columns to copy beside the predictions."),
    ] = None,
    columns: Columns = None,
) -> None:
    """Label the rows of files of any size with a saved model.

    The output keeps the order of the rows. The model's columns are found by
    name; other columns are ignored. An empty cell is missing: its term is
    left out.

    For example:

      naively predict iris.safetensors new.csv
      naively predict iris.safetensors new.csv --id name --proba -o p.csv
      naively predict model.safetensors 'big/*.parquet' -o p.parquet
      cat new.csv | naively predict iris.safetensors - | head -n 3
    """
    from naively.cli.data import look
    from naively.engines import files as scoring
    from naively.estimators.loading import load_classifier

    estimator, source = load_classifier(model), look(files, reading)
    output = output or Path("-")
    if not is_standard(output) and form != "csv":
        raise NaivelyError("--format is for standard output; the ending of a file says its own.")
    check_output(output, model, *source.inputs, binary=None if form == "csv" else form.title())
    hidden = is_standard(output) and sys.stdout.isatty()
    streamed = is_standard(output) and form == "csv"
    with (
        console.streaming(f"scoring {source.title}", hidden=hidden) as progress,
        nullcontext("-") if streamed else file_at(output, f".{form}") as path,
    ):
        rows = scoring.predict(
            estimator,
            source.first,
            path,
            proba=proba,
            id=source.split(keep),
            columns=source.split(columns) or None,
            progress=progress,
        )
    tell_written(output, f"{rows:,} predictions")
