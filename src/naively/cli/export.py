"""``naively export``: a saved model for other machines."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from naively.cli.options import Saved
from naively.cli.outputs import check_output, file_at, tell_written
from naively.data.whole_files import write_atomically
from naively.errors import NaivelyError

_onnx = partial(typer.Option, rich_help_panel="ONNX")
_sql = partial(typer.Option, rich_help_panel="SQL")


def export(
    model: Saved,
    to: Annotated[
        Literal["onnx", "sql"],
        typer.Option("--to", help="An ONNX graph, or a SQL query.", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; SQL goes to standard output by default."),
    ] = None,
    dtype: Annotated[
        Literal["float32", "float64"] | None, _onnx(help="Type of the input; float32 by default.")
    ] = None,
    table: Annotated[str | None, _sql(metavar="NAME", help="The table to score.")] = None,
    dialect: Annotated[
        str | None,
        _sql(
            metavar="NAME",
            help="duckdb (by default), postgres, sqlite, bigquery, snowflake, spark, databricks.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, _sql(metavar="NAMES", help="Columns of the table to keep, such as a key.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        _sql(metavar="NAMES", help="What the table calls the model's columns, in order."),
    ] = None,
) -> None:
    """Write a saved model as an ONNX graph, or as one SELECT for a database.

    For example:

      naively export model.safetensors --to onnx -o model.onnx
      naively export model.safetensors --to sql --table t --dialect postgres
      naively export model.safetensors --to sql --table t --keep id -o t.sql
    """
    from naively.estimators.loading import load_classifier
    from naively.export import to_onnx, to_sql

    if to == "onnx":
        _check_none_of(to, table=table, dialect=dialect, keep=keep, columns=columns)
    else:
        _check_none_of(to, dtype=dtype)
    if output is not None:
        check_output(output, model, binary="a graph" if to == "onnx" else None)
    elif to == "onnx":
        raise NaivelyError("a graph must go to a file; name it: --output model.onnx.")
    if to == "sql" and table is None:
        raise NaivelyError("the query must read a table; name it: --table.")
    estimator = load_classifier(model)
    if to == "onnx":
        content = to_onnx(estimator, dtype=dtype or "float32")
    else:
        query = to_sql(
            estimator,
            table or "",
            dialect=dialect or "duckdb",
            columns=_split(columns) or None,
            keep=_split(keep),
        )
        content = f"{query.rstrip()}\n".encode()
    output = output or Path("-")
    with file_at(output) as path:
        write_atomically(path, content)
    tell_written(output, f"{len(content):,} bytes of {to.upper()}")


def _check_none_of(to: str, **given: object) -> None:
    for option, value in given.items():
        if value:
            raise NaivelyError(f"--{option} has no meaning with --to {to}.")


def _split(values: list[str] | None) -> list[str]:
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]
