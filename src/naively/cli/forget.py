"""``naively forget``: remove rows from a saved model."""

from __future__ import annotations

from naively.cli.options import Files, InPlace, Labels, Reading, Saved
from naively.cli.outputs import tell_written


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
    from naively.cli.model_lock import hold
    from naively.cli.rows import rows_for, save_changed
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
