"""``naively evaluate``: how good a model is on rows it has not seen."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from naively.cli import bars, console
from naively.cli.options import AsJson, Data, Files, Seed
from naively.cli.parameters import ModelOptions
from naively.exceptions import NaivelyError

__all__ = ["evaluate"]

_FOLDS, _SEED = 10, 42


def evaluate(
    files: Files,
    data: Data,
    model: ModelOptions,
    folds: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="Cross-validate; 10 folds by default.")
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Hold this share of the rows out, such as 0.3."),
    ] = None,
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Judge each row by all the others.")
    ] = False,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Judge a model on rows it has not seen: by folds or a test split.

    For example:

      naively evaluate iris.csv --target species
      naively evaluate iris.csv -t species --test-size 0.3 --seed 7
      naively evaluate iris.csv -t species --leave-one-out --json
      naively evaluate people.csv -t sick --calibration none
    """
    if (folds is not None) + (test_size is not None) + leave_one_out > 1:
        raise NaivelyError("choose one of --folds, --test-size and --leave-one-out; got several.")
    from naively import evaluation
    from naively.cli.data import decide, look, read_labelled
    from naively.cli.splits import check_folds, check_test_size, user_errors

    how: dict[str, Any] = {"random_state": seed}
    if test_size is not None:
        how["test_size"] = check_test_size(test_size)
        how["random_state"] = _SEED if seed is None else seed
    model.check()
    source = look(files, data)
    model = decide(model, source, data)
    table = read_labelled(source, data, model.kinds)
    if test_size is None:
        how["folds"] = "leave-one-out" if leave_one_out else check_folds(folds or _FOLDS, table.y)
    with bars.working("evaluating"), user_errors():
        result = evaluation.evaluate(model.estimator(table.classes), table.X, table.y, **how)
    console.show_json(result.to_dict()) if as_json else console.show(result)
