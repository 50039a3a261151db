"""``naively evaluate``: how good a model is on rows it has not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively.cli import console
from naively.cli.options import AsJson, Data, Files, Folds, Seed
from naively.cli.parameters import ModelOptions
from naively.errors import NaivelyError

if TYPE_CHECKING:
    from naively.cli.data import CommandFiles
    from naively.evaluation import Evaluation


def evaluate(
    files: Files,
    data: Data,
    model: ModelOptions,
    folds: Folds = None,
    test_size: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Hold this share of the rows out, such as 0.3."),
    ] = None,
    leave_one_out: Annotated[
        bool, typer.Option("--leave-one-out", help="Predict each row by a model of all others.")
    ] = False,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Evaluate a model on rows it has not seen: by folds or a test split.

    Files may be larger than memory: they are read twice. The content of a
    row decides its fold: equal rows are in one fold, in any order.

    For example:

      naively evaluate iris.csv --target species
      naively evaluate iris.csv -t species --test-size 0.3 --seed 7
      naively evaluate iris.csv -t species --leave-one-out --json
      naively evaluate people.csv -t sick --calibration none
    """
    if (folds is not None) + (test_size is not None) + leave_one_out > 1:
        raise NaivelyError("choose one of --folds, --test-size and --leave-one-out; got several.")
    from naively.cli.data import check_test_size, look

    if test_size is not None:
        check_test_size(test_size)
    model.check()
    source = look(files, data)
    if leave_one_out:
        result = _leaving_one_out(source, data, model)
    else:
        n_folds = 2 if test_size is not None else folds
        result = _by_folds(source, data, model, n_folds, seed, test_size)
    console.result(result, as_json)


def _by_folds(
    source: CommandFiles, data: Data, model: ModelOptions, n_folds: int | None, *how: Any
) -> Evaluation:
    """Judge each row by a model of other folds, or of the rows that are not held out."""
    from naively.cli.data import files_to_judge, tell_counting, tell_unlabelled, user_errors
    from naively.evaluation.files import judge_files
    from naively.evaluation.folds import ContentFolds
    from naively.evaluation.inputs import FOLDS

    judging = files_to_judge(source, data, model)
    with user_errors():
        judged = judge_files(judging, ContentFolds(n_folds or FOLDS, *how))
    tell_unlabelled(judging.plan.n_unlabelled())
    tell_counting(judged.measured.folds.total())
    return judged.evaluation


def _leaving_one_out(source: CommandFiles, data: Data, model: ModelOptions) -> Evaluation:
    """Judge each row by all the others, in memory."""
    from naively import evaluation
    from naively.cli.data import read_labelled, user_errors

    table = read_labelled(source, data, model.kinds)
    with console.working("evaluating"), user_errors():
        estimator = model.estimator(table.classes)
        return evaluation.evaluate(estimator, table.X, table.y, folds="leave-one-out")
