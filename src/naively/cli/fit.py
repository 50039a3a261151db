"""``naively fit``: learn a model from files and save it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively.cli import console
from naively.cli.model_lock import hold
from naively.cli.options import Data, Files, Weight
from naively.cli.outputs import check_output, file_at, is_standard, tell_written
from naively.cli.parameters import ModelOptions
from naively.errors import NaivelyError

if TYPE_CHECKING:
    from naively.cli.data import CommandFiles
    from naively.engines.files.summary_pass import Scan


def fit(
    files: Files,
    data: Data,
    model: ModelOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="The model's file.")] = Path(
        "model.safetensors"
    ),
    weight: Weight = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save progress here, and continue from it."),
    ] = None,
    skip_bad_files: Annotated[
        bool, typer.Option("--skip-bad-files", help="Leave out files that cannot be read.")
    ] = False,
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Use the columns and parameters of this model, so that both can be merged.",
        ),
    ] = None,
) -> None:
    """Learn a model from files of any size and save it.

    The files are read once, piece by piece. With --checkpoint, the same
    command continues where it was interrupted, and gives the same model.

    For example:

      naively fit iris.csv --target species -o iris.safetensors
      naively fit people.csv -t sick --family age=poisson
      naively fit 'data/*.parquet' -t y --checkpoint so-far --skip-bad-files
      naively fit sick.csv -t sick --exclude id --priors 'yes=0.01,no=0.99'
      zcat log.csv.gz | naively fit - -t kind --columns size,time
    """
    from naively.cli.data import look, tell_bad_files, tell_counting, tell_unlabelled
    from naively.estimators.loading import load_classifier

    if like is None:
        model.check()
    source, other = look(files, data), None
    if like is not None:
        model.check_none_of(None, "--like, which takes it from that model")
        other = load_classifier(like)
    check_output(output, *source.inputs, *([] if like is None else [like]), binary="a model")
    if checkpoint is not None:
        _check_checkpoint(checkpoint, output, source.inputs)
    how: dict[str, Any] = {"checkpoint": checkpoint, "skip_bad_files": skip_bad_files}
    with hold(output, "fit"):
        try:
            with console.streaming(f"measuring {source.title}") as progress:
                found = _scan(source, data, weight, other or model, progress=progress, **how)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_what_is_left(checkpoint)) from None
        summary = found.summary
        tell_bad_files(found.bad_files)
        tell_unlabelled(found.unlabelled)
        if not summary.classes.size:
            raise NaivelyError("there must be rows to learn from; got none.")
        fresh = other or model.classifier(summary.classes)
        fitted = type(fresh).from_summary(summary, **fresh.get_params())
        with file_at(output) as path:
            fitted.save(path)
    if weight is None:
        tell_counting(summary)
    if summary.classes.size == 1:
        console.note(f"there is one class, {summary.classes.item(0)!r}: merge or update it.")
    tell_written(
        output,
        f"{fitted.public_name} of {found.rows:,} rows, {summary.schema.n_columns:,} columns, "
        f"{summary.classes.size:,} classes",
    )


def _scan(source: CommandFiles, data: Data, weight: str | None, model: Any, **options: Any) -> Scan:
    """Summarize files by the options of a model, or like another; tell of their columns."""
    from naively.cli.data import tell_first_rows
    from naively.engines.files.plan import LABEL_TYPES, types_of
    from naively.engines.files.summary_pass import scan, scan_planned

    if isinstance(model, ModelOptions):
        plan, measured = source.plan(data, model.kinds, weight), model.measured()
        complete = measured.complete
        if complete is not None and weight is None:
            measured = replace(measured, complete=lambda first: complete(tell_first_rows(first)))
        return scan_planned(source.first, plan, measured, **options)
    summary = model.summary_
    options |= {"schema": summary.schema, "types": types_of(summary), "weight": weight}
    form = LABEL_TYPES[summary.classes.dtype.kind]
    return scan(source.first, **source.asked(data), label_type=form, **options)


def _check_checkpoint(checkpoint: Path, output: Path, inputs: tuple[Path, ...]) -> None:
    if is_standard(checkpoint):
        raise NaivelyError("a checkpoint must be a file, to go on from; got standard output.")
    check_output(checkpoint, *inputs)
    if checkpoint.resolve() == output.resolve():
        raise NaivelyError(
            f"the checkpoint must be another file than the output; got {str(output)!r}."
        )


def _what_is_left(checkpoint: Path | None) -> str:
    if checkpoint is not None and checkpoint.exists():
        return f"{str(checkpoint)!r} holds what was read; the same command goes on from there."
    return "no model was written. With --checkpoint, what was read is kept."
