"""``naively explain``: why rows of files get their answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from naively.cli import console
from naively.cli.options import AsJson, Columns, Files, Page, Reading, Saved
from naively.cli.outputs import check_output, file_at, tell_written
from naively.data.remote import shown
from naively.data.whole_files import write_atomically


def explain(
    model: Saved,
    files: Files,
    reading: Reading,
    row: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", help="Row number, from 0; may be given several times. Default: 0 to 9."
        ),
    ] = None,
    change: Annotated[
        bool,
        typer.Option("--change", help="Also show the smallest change that changes the prediction."),
    ] = False,
    output: Page = None,
    columns: Columns = None,
    as_json: AsJson = False,
) -> None:
    """Show why rows get their answers: what every column adds.

    The terms add up to the log-probability of a class. Several rows are shown
    in a line each; a single row is shown with all its terms, compared with
    the next most probable class.

    For example:

      naively explain iris.safetensors iris.csv --row 3
      naively explain iris.safetensors iris.csv --row 3 --change
      naively explain iris.safetensors iris.csv -o why.html
      naively explain iris.safetensors iris.csv --row 3 --row 7 --json
    """
    from naively.cli.data import look
    from naively.display.pages import page
    from naively.engines.files import read_some
    from naively.estimators.loading import load

    estimator, source = load(model), look(files, reading)
    if output is not None:
        check_output(output, model, *source.inputs)
    rows = row or list(range(_DEFAULT_ROWS))
    named = source.split(columns) or None
    table = read_some(estimator, source.first, rows, row is None, columns=named)
    numbers = rows[: table.shape[0]]
    found = estimator.explain(table).numbered(numbers)
    changes = [estimator.counterfactual(_row(table, i)) for i in range(len(found) * change)]
    if as_json:
        result: dict[str, Any] = found.to_dict()
        for one, other in zip(result["rows"], changes, strict=False):
            one["change"] = other.to_dict()
        console.show_json(result)
    elif output is not None:
        title = f"Why {Path(shown(model)).name} answers as it does"
        with file_at(output) as path:
            write_atomically(path, page(found, title, changes).encode())
        tell_written(output, f"{len(found):,} row{'s' * (len(found) != 1)} explained")
    else:
        console.show(found)
        for number, one in zip(numbers, changes, strict=False):
            console.show(*([f"row {number}:"] if len(found) > 1 else []), one if one else str(one))


_DEFAULT_ROWS = 10  # rows that are explained by default


def _row(table: Any, i: int) -> Any:
    """Return a table of one row."""
    return table[i : i + 1] if not hasattr(table, "slice") else table.slice(i, 1)
