"""``naively tune``: try parameters, in one pass over files."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from naively.cli import console
from naively.cli.model_lock import hold
from naively.cli.options import AsJson, Data, Files, Folds
from naively.cli.outputs import check_output, file_at, is_standard
from naively.cli.parameters import ModelOptions
from naively.errors import NaivelyError


def _scorings() -> list[str]:
    from naively.evaluation.metrics import scorings

    return scorings()


def tune(
    files: Files,
    data: Data,
    model: ModelOptions,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="Values of a parameter to try, 'var_smoothing=1e-9,1e-3'; may be given "
            "several times. By default, a grid of common choices.",
        ),
    ] = None,
    folds: Folds = None,
    scoring: Annotated[
        str,
        typer.Option(
            metavar="METRIC",
            help="The metric to optimise: log_loss, accuracy, brier, balanced_accuracy, f1, "
            "roc_auc, mcc, kappa, ...",
            autocompletion=_scorings,
        ),
    ] = "log_loss",
    rows: Annotated[
        int, typer.Option(min=10, metavar="N", help="Maximum number of rows to score on.")
    ] = 20_000,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save the best model.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try parameters on rows that a model has not seen.

    Files are read once. Every candidate is read off the same summaries of
    folds, and scored on a sample of rows; the best is fitted on all rows.

    For example:

      naively tune iris.csv --target species
      naively tune iris.csv -t species -o best.safetensors
      naively tune iris.csv -t species --model gaussian --grid variance=class,shared
      naively tune people.csv -t sick --scoring accuracy
    """
    if as_json and is_standard(output):
        raise NaivelyError("choose --json or a model on standard output; got both.")
    from naively.cli.data import look, tell_unlabelled
    from naively.engines.files.summary_pass import scan_planned
    from naively.evaluation.candidates import check_grid, schema_of_files
    from naively.evaluation.metrics import scoring_of
    from naively.evaluation.tune import tune_summary

    model.check()
    scoring_of(scoring)
    source = look(files, data)
    if output is not None:
        check_output(output, *source.inputs, binary="a model")
    with nullcontext() if output is None else hold(output, "tune"):
        values = _grid(grid or []) or None
        if values is not None:
            check_grid(model.estimator(), values)
        schema = schema_of_files(model.estimator(), values, rows)
        plan = source.plan(data, model.kinds)
        with console.streaming(f"measuring {source.title}") as progress:
            summary = scan_planned(source.first, plan, schema, progress=progress).summary
        tell_unlabelled(plan.n_unlabelled())
        estimator = model.estimator(summary.classes)
        with console.working("tuning"):
            found = tune_summary(estimator, summary, values, folds, scoring)
        if output is not None:
            with file_at(output) as path:
                found.best_model.save(path)
    if is_standard(output):
        return
    console.result(found, as_json)
    if output is not None and not as_json:
        console.show(f"{output}: the best candidate, fitted on {summary.weight:,.0f} rows")


def _grid(given: list[str]) -> dict[str, list[Any]]:
    """Read 'ddof=0,1': numbers, texts, and none.

    >>> _grid(["var_smoothing=1e-9,0.1", "calibration=none,weights", "ddof=0,1"])
    {'var_smoothing': [1e-09, 0.1], 'calibration': [None, 'weights'], 'ddof': [0, 1]}
    """
    found: dict[str, list[Any]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise NaivelyError(f"--grid must be like 'var_smoothing=1e-9,1e-3'; got {text!r}.")
        found.setdefault(name.strip().replace("-", "_"), []).extend(map(_value, values.split(",")))
    return found


def _value(text: str) -> Any:
    plain = text.strip()
    for read in (int, float):
        try:
            return read(plain)
        except ValueError:
            continue
    return None if plain.lower() == "none" else plain
