"""``naively inspect``: what a saved model holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from naively.cli import console
from naively.cli.options import AsJson, Saved

_MOST_CLASSES, _MOST_COLUMNS = 6, 40  # that a table shows; --json has them all


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
    from naively.cli.column_table import as_dict, rows_of
    from naively.estimators.loading import load

    estimator = load(model)
    if as_json:
        console.show_json(as_dict(estimator))
        return
    console.show(*_drawn(model, estimator, rows_of(estimator, _MOST_COLUMNS)))


def _drawn(path: Path, estimator: Any, rows: Any) -> list[Any]:
    from rich import box
    from rich.table import Table

    from naively.cli.column_table import importance_of, interactions_of, spark

    summary = estimator.summary_
    n_classes, n_columns = summary.classes.size, summary.schema.n_columns
    table = Table("", box=box.SIMPLE_HEAD, pad_edge=False)
    for label in summary.classes[:_MOST_CLASSES].tolist():
        table.add_column(str(label), justify="right")
    table.add_column("by class")
    for name in rows.more:
        table.add_column(name)
    count, prior = estimator.class_count_, estimator.class_prior_
    table.add_row("rows", *(f"{weight:,.10g}" for weight in _few(count)), spark(count))
    table.add_row("prior", *(f"{p:.4f}" for p in _few(prior)), spark(prior), end_section=True)
    for row in rows.rows:
        table.add_row(row.name, *_few(row.cells), row.spark, *row.more)
    hidden = [
        f"{count - most:,} more {what}"
        for count, most, what in (
            (n_classes, _MOST_CLASSES, "classes"),
            (n_columns, _MOST_COLUMNS, "columns"),
        )
        if count > most
    ]
    head = (
        f"{path}: {estimator!r} of {summary.weight:,.10g} rows, "
        f"{n_columns:,} columns, {n_classes:,} classes\n{rows.title}"
    )
    more = [f"and {' and '.join(hidden)}: --json has all."] if hidden else []
    found = importance_of(estimator)
    return [head, table, *more, *interactions_of(estimator), *([] if found is None else [found])]


def _few(values: Any) -> Any:
    return values[:_MOST_CLASSES]
