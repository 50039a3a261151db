"""``naively compare``: our GaussianNB beside scikit-learn's."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from naively.cli import bars, console
from naively.cli.options import AsJson, Data, Files, Seed
from naively.exceptions import NaivelyError

__all__ = ["compare"]


def compare(
    files: Files,
    data: Data,
    test_size: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of rows to hold out.")
    ] = 0.3,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Runs to take times from.")] = 10,
    seed: Seed = 42,
    as_json: AsJson = False,
) -> None:
    """Compare with scikit-learn's GaussianNB: accuracy, confidence, time.

    For example:

      naively compare iris.csv --target species
      naively compare iris.csv -t species --repeats 100 --json
    """
    from naively import evaluation
    from naively.cli.data import look, read_labelled
    from naively.cli.judging import check_test_size, user_errors
    from naively.engines.columns import as_array

    check_test_size(test_size)
    table = read_labelled(look(files, data), data)
    _check_no_missing(table.X)
    with bars.working("comparing"), user_errors():
        result = evaluation.compare(
            as_array(table.X), table.y, test_size=test_size, random_state=seed, repeats=repeats
        )
    console.show_json(result.to_dict()) if as_json else console.show(result)


def _check_no_missing(X: Any) -> None:
    """Raise what scikit-learn would, with the column's name."""
    for name, column in zip(X.column_names, X.columns, strict=True):
        if column.null_count or column.is_null(nan_is_null=True).to_numpy().any():
            raise NaivelyError(
                f"scikit-learn's GaussianNB takes no missing cells, and column {name!r} has some; "
                "--exclude it to compare the rest. 'naively evaluate' takes them."
            )
