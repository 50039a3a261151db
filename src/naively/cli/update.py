"""``naively update``, ``forget`` and ``merge``: saved models of more rows, or of fewer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, sub
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from naively.cli import console
from naively.cli.model_lock import hold
from naively.cli.options import Files, InPlace, Labels, Saved, check_there
from naively.cli.outputs import check_output, file_at, tell_written
from naively.data.remote import address_of, shown
from naively.errors import NaivelyError

if TYPE_CHECKING:
    from naively.statistics.summary import Summary


def update(
    model: Saved,
    files: Files,
    labels: Labels,
    output: InPlace = None,
) -> None:
    """Add the rows of files to a saved model, as if it had seen them at first.

    New classes may come, unless the model's priors are fixed. The file is
    replaced only when all rows are read; on an error it does not change.
    While another command writes the model, this one waits; while a stream
    learns into it, that is an error.

    For example:

      naively update model.safetensors new.csv --target species
      naively update model.safetensors 'may/*.parquet' -t y -o may.safetensors
    """
    _change("update", add, "added, {:,.10g} in all", model, files, labels, output)


def forget(
    model: Saved,
    files: Files,
    labels: Labels,
    output: InPlace = None,
) -> None:
    """Remove the rows of files from a saved model, as if it had never seen them.

    The rows must be among those it was fitted on. The file is replaced
    only when all rows are read; on an error it does not change. While
    another command writes the model, this one waits; while a stream learns
    into it, that is an error.

    For example:

      naively forget model.safetensors rows.csv --target species
      naively forget model.safetensors rows.csv -t y -o less.safetensors
    """
    _change("forget", sub, "removed, {:,.10g} left", model, files, labels, output)


def _change(
    command: str,
    how: Callable[[Summary, Summary], Summary],
    done: str,
    model: Path,
    files: list[str],
    labels: Labels,
    output: Path | None,
) -> None:
    """Save the model of other rows: the summary of its own and of those of files."""
    from naively.cli.data import rows_for
    from naively.data.labels import contained, quoted
    from naively.estimators.loading import load_classifier

    output = output or model
    with hold(output, command):
        estimator = load_classifier(model)
        rows = rows_for(estimator, files, labels, output)
        before = estimator.summary_
        changed = _save(estimator, how(before, rows), output)
        new = rows.classes[~contained(rows.classes, before.classes)]
        if new.size:
            console.note(f"new classes: {quoted(new)}.")
        what = done.format(changed.summary_.weight)
        n_classes = changed.classes_.size
        tell_written(output, f"{rows.weight:,.10g} rows {what}, {n_classes:,} classes")


def merge(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="Two or more model files.", show_default=False),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The merged model.", show_default=False)
    ],
) -> None:
    """Add up models: the result is that of all their rows together.

    They must have the same columns, in any order; the result has the classes
    of all. The parameters (priors, smoothing, ...) are those of the first
    model; a note says so if another model has other parameters. Models of --model naive-bayes must
    have been fitted alike: 'naively fit --like'.

    For example:

      naively merge north.safetensors south.safetensors -o all.safetensors
      naively merge sites/*.safetensors -o all.safetensors
    """
    check_there(models)
    from naively.estimators.loading import load_classifier

    _check_distinct(models)
    check_output(output, *models, binary="a model")
    with hold(output, "merge"):
        first, *others = [load_classifier(path) for path in models]
        summary = first.summary_
        for path, other in zip(models[1:], others, strict=True):
            _tell_parameters(first, other, path)
            try:
                summary = summary + _in_order(other.summary_, summary.schema.names)
            except NaivelyError as error:
                hint = f" Fit it with --like {models[0]}." if hasattr(first, "families") else ""
                raise NaivelyError(f"cannot add {str(path)!r}: {error}{hint}") from None
        changed = _save(first, summary, output)
        tell_written(
            output,
            f"{len(models):,} models, {summary.weight:,.10g} rows, "
            f"{summary.schema.n_columns:,} columns, {changed.classes_.size:,} classes",
        )


def _check_distinct(models: Sequence[Path]) -> None:
    """Raise where there is nothing to add, or rows would count twice."""
    if len(models) < 2:
        raise NaivelyError("there must be two models or more to merge; got one.")
    for i, path in enumerate(models):
        if address_of(path) is not None and address_of(path) in map(address_of, models[:i]):
            raise NaivelyError(f"each model counts once; got {shown(path)!r} twice.")
        if path.exists() and any(path.samefile(other) for other in models[:i] if other.exists()):
            raise NaivelyError(f"each model counts once; got {str(path)!r} twice.")


def _tell_parameters(first: Any, other: Any, path: Path) -> None:
    if type(other) is not type(first):
        raise NaivelyError(
            f"cannot add {str(path)!r}: it is a {other.public_name}, "
            f"and the first model is a {first.public_name}."
        )
    ours, theirs = first.get_params(), other.get_params()
    differing = [name for name in ours if ours[name] != theirs[name]]
    if differing:
        listed = ", ".join(f"{name}={ours[name]!r}" for name in differing)
        console.note(f"{str(path)!r} has other parameters; the first model's are used: {listed}.")


def _in_order(summary: Any, names: Sequence[str] | None) -> Any:
    """Return a summary of numbers with its columns in the order of these names, if it has all."""
    own = summary.schema.names
    if names is None or own is None or own == names or sorted(own) != sorted(names):
        return summary
    if summary.sample is not None:  # the hashes of its rows know the order
        return summary
    return summary.with_columns([own.index(name) for name in names])


def _save(estimator: Any, summary: Summary, output: Path) -> Any:
    """Read the model off another summary by the same parameters, and save it."""
    from naively.estimators.state import adopt, learned

    changed = type(estimator).from_summary(summary, **estimator.get_params())
    with file_at(output) as path:
        adopt(changed, changed.summary_, dtype=learned(estimator).dtype).save(path)
    return changed
