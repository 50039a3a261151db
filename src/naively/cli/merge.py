"""``naively merge``: one model of what several have seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from naively.cli import console
from naively.cli.options import check_there
from naively.cli.outputs import check_output, tell_written
from naively.data.remote import address_of, shown
from naively.errors import NaivelyError


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
    from naively.cli.data import save_changed
    from naively.cli.model_lock import hold
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
        changed = save_changed(first, summary, output)
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
