"""``naively predict``: label the rows of files with a saved model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from naively.cli import bars, console
from naively.cli.options import Files, Reading, Saved, check_output

__all__ = ["predict"]


def predict(
    model: Saved,
    files: Files,
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A .parquet, .csv, .arrow or .feather file; CSV on standard output by default.",
        ),
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
    """Label the rows of files of any size with a saved model.

    The result has the rows' order. The model's columns are found by name;
    others may be there. An empty cell is missing: its term is left out.

    For example:

      naively predict iris.safetensors new.csv
      naively predict iris.safetensors new.csv --id name --proba -o p.csv
      naively predict model.safetensors 'big/*.parquet' -o p.parquet
    """
    from naively.cli.data import look
    from naively.estimators.classifiers import load_classifier
    from naively.scoring import files as scoring

    estimator, source = load_classifier(model), look(files, reading)
    if output is not None:
        check_output(output, model, *source.inputs)
    hidden = output is None and sys.stdout.isatty()
    with bars.streaming(f"scoring {source.title}", hidden=hidden) as progress:
        rows = scoring.predict(
            estimator,
            source.first,
            "-" if output is None else output,
            proba=proba,
            id=source.split(keep),
            columns=source.split(columns) or None,
            progress=progress,
            **reading.dialect,
        )
    if output is not None:
        console.show(f"{output}: {rows:,} predictions")
