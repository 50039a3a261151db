"""``naively inspect``: what a saved model holds."""

from __future__ import annotations

from naively.cli import console
from naively.cli.options import AsJson, Saved


def inspect(
    model: Saved,
    as_json: AsJson = False,
) -> None:
    """Show what a saved model holds: classes, counts, and each column with its importance.

    Numbers are shown by means and standard deviations, categories by counts. The importance of a
    column is the increase of the log loss of unseen rows without it, if the model keeps a sample.

    For example:

      naively inspect iris.safetensors
      naively inspect iris.safetensors --json
    """
    from naively.cli.column_table import as_dict, printed
    from naively.estimators.loading import load

    estimator = load(model)
    if as_json:
        console.show_json(as_dict(estimator))
    else:
        console.show(*printed(model, estimator))
