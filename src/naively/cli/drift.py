"""``naively drift``: whether new rows still look like those that a model has seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from naively.cli import console
from naively.cli.options import AsJson, Files, Labels, Page, Saved
from naively.cli.outputs import check_output, file_at, is_standard, tell_written
from naively.data.remote import shown
from naively.data.whole_files import write_atomically
from naively.errors import NaivelyError

_DRIFTED = 3  # the exit code


def drift(
    model: Saved,
    files: Files,
    labels: Labels,
    fail_above: Annotated[
        float | None,
        typer.Option(
            metavar="DISTANCE",
            help="Exit with code 3 if the greatest drift, from 0 to 1, is above this.",
        ),
    ] = None,
    output: Page = None,
    as_json: AsJson = False,
) -> None:
    """Compare new rows with those that a model has seen, column by column.

    Where the files have labels, classes are compared too: in --target, or
    in the one other column if it holds the model's classes. Instead of
    files there may be another model. The drift of a column is its
    Jensen-Shannon distance beyond chance; what chance explains is no drift.

    For example:

      naively drift model.safetensors new.parquet
      naively drift model.safetensors new.parquet --fail-above 0.2
      naively drift model.safetensors 'may/*.csv' -t species -o drift.html
      naively drift april.safetensors may.safetensors --json
    """
    from naively.display.pages import page
    from naively.estimators.loading import load
    from naively.inspection.drifts.compare import compare
    from naively.inspection.inputs import Inspected

    if fail_above is not None and not 0 <= fail_above <= 1:
        raise NaivelyError(f"--fail-above must be from 0 to 1; got {fail_above}.")
    if as_json and is_standard(output):
        raise NaivelyError("choose --json or a page on standard output; got both.")
    before = load(model)
    after, inputs = _after(before, files, labels)
    if output is not None:
        check_output(output, model, *inputs)
    found = compare(Inspected(before.summary_, model=before), after)
    if output is not None:
        title = f"Drift from {Path(shown(model)).name} to {Path(shown(files[0])).name}"
        with file_at(output) as path:
            write_atomically(path, page(found, title).encode())
    if as_json:
        console.show_json(found.to_dict())
    elif output is not None:
        tell_written(output, repr(found))
    else:
        console.show(found)
    if fail_above is not None and found.greatest > fail_above:
        console.note(f"the greatest drift is {found.greatest:.4f}, above {fail_above:g}.")
        raise typer.Exit(_DRIFTED)


def _after(before: Any, files: list[str], labels: Labels) -> tuple[Any, tuple[Path, ...]]:
    """Return what is compared, and the files that it was read from."""
    from naively.cli.data import look, summary_for
    from naively.estimators.loading import load
    from naively.inspection.inputs import Inspected

    if len(files) == 1 and files[0].endswith(".safetensors"):
        return Inspected(load(files[0]).summary_), (Path(files[0]),)
    source = look(files, labels)
    target = labels.target or _target(before, source, labels.weight)
    summary = summary_for(before, source, labels, target)
    return Inspected(summary, target is not None), source.inputs


def _target(before: Any, source: Any, weight: str | None) -> str | None:
    """Return the one column beside the model's, if its first cells are classes of the model."""
    from naively.cli.data import tell_target

    others = source.others(before.summary_.schema.inputs, weight)
    cells = source.first.cells(others[0]) if len(others) == 1 else []
    known = set(map(str, before.classes_.tolist()))
    return tell_target(others[0]) if cells and known.issuperset(map(str, cells)) else None
