"""``naively update`` and ``naively forget``: add rows to a saved model, and remove them."""

from __future__ import annotations

from naively.cli import console
from naively.cli.options import Files, InPlace, Labels, Reading, Saved
from naively.cli.outputs import tell_written


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
    from naively.cli.data import rows_for, save_changed
    from naively.cli.model_lock import hold
    from naively.data.labels import contained, quoted
    from naively.estimators.loading import load_classifier

    output = output or model
    with hold(output, "update"):
        estimator = load_classifier(model)
        rows = rows_for(estimator, files, reading, labels, output)
        before = estimator.summary_
        changed = save_changed(estimator, before + rows, output)
        new = rows.classes[~contained(rows.classes, before.classes)]
        if new.size:
            console.note(f"new classes: {quoted(new)}.")
        tell_written(
            output,
            f"{rows.weight:,.10g} rows added, {changed.summary_.weight:,.10g} in all, "
            f"{changed.classes_.size:,} classes",
        )


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
    from naively.cli.data import rows_for, save_changed
    from naively.cli.model_lock import hold
    from naively.estimators.loading import load_classifier

    output = output or model
    with hold(output, "forget"):
        estimator = load_classifier(model)
        rows = rows_for(estimator, files, reading, labels, output)
        changed = save_changed(estimator, estimator.summary_ - rows, output)
        tell_written(
            output,
            f"{rows.weight:,.10g} rows removed, {changed.summary_.weight:,.10g} left, "
            f"{changed.classes_.size:,} classes",
        )
