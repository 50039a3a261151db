"""``naively fit``: learn a model from a table and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naively.cli import console
from naively.cli.options import Data, File, Model, check_output

__all__ = ["fit"]


def fit(
    file: File,
    data: Data,
    model: Model,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model's file.")] = Path(
        "model.safetensors"
    ),
) -> None:
    """Learn a model from a table and save it.

    For example:

      naively fit iris.csv --target species -o iris.safetensors
      naively fit iris.csv -t species --columns 'petal length,petal width' --ddof 1
      naively fit sick.csv -t sick --exclude id --priors 'yes=0.01,no=0.99'
    """
    from naively.cli.data import read_labelled

    check_output(output, file)
    table = read_labelled(file, data)
    with console.progress("fitting"):
        estimator = model.estimator(table.classes).fit(table.X, table.y)
    estimator.save(output)
    console.show(
        f"{output}: {table.y.size:,} rows, {len(table.X.column_names)} columns, "
        f"{table.classes.size} classes"
    )
