"""``naively update`` and ``naively forget``: add rows to a saved model, and remove them."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, sub
from pathlib import Path
from typing import TYPE_CHECKING

from naively.cli import console
from naively.cli.options import Files, InPlace, Labels, Reading, Saved
from naively.cli.outputs import tell_written

if TYPE_CHECKING:
    from naively.statistics.summary import Summary


def update(
    model: Saved,
    files: Files,
    reading: Reading,
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
    _change("update", add, "added, {:,.10g} in all", model, files, reading, labels, output)


def forget(
    model: Saved,
    files: Files,
    reading: Reading,
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
    _change("forget", sub, "removed, {:,.10g} left", model, files, reading, labels, output)


def _change(
    command: str,
    how: Callable[[Summary, Summary], Summary],
    done: str,
    model: Path,
    files: list[str],
    reading: Reading,
    labels: Labels,
    output: Path | None,
) -> None:
    """Save the model of other rows: the summary of its own and of those of files."""
    from naively.cli.data import rows_for, save_changed
    from naively.cli.model_lock import hold
    from naively.data.labels import contained, quoted
    from naively.estimators.loading import load_classifier

    output = output or model
    with hold(output, command):
        estimator = load_classifier(model)
        rows = rows_for(estimator, files, reading, labels, output)
        before = estimator.summary_
        changed = save_changed(estimator, how(before, rows), output)
        new = rows.classes[~contained(rows.classes, before.classes)]
        if new.size:
            console.note(f"new classes: {quoted(new)}.")
        what = done.format(changed.summary_.weight)
        n_classes = changed.classes_.size
        tell_written(output, f"{rows.weight:,.10g} rows {what}, {n_classes:,} classes")
