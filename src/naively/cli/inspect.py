"""``naively inspect``: what a saved model holds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from naively.cli import console
from naively.cli.options import AsJson, Saved

__all__ = ["inspect"]

_MOST_CLASSES, _MOST_COLUMNS = 6, 40  # that a table shows; --json has them all
_MOST_BARS = 40  # that a sparkline has
_BARS = "▁▂▃▄▅▆▇█"


def inspect(
    model: Saved,
    as_json: AsJson = False,
) -> None:
    """Show what a saved model holds: classes, counts, means and deviations.

    For example:

      naively inspect iris.safetensors
      naively inspect iris.safetensors --json
    """
    from naively.estimators.loading import load

    estimator = load(model)
    if as_json:
        console.show_json(_as_dict(estimator))
        return
    console.show(*_drawn(model, estimator))


def _as_dict(estimator: Any) -> dict[str, Any]:
    classes = zip(
        estimator.classes_.tolist(),
        estimator.class_count_.tolist(),
        estimator.class_prior_.tolist(),
        estimator.theta_.tolist(),
        estimator.var_.tolist(),
        strict=True,
    )
    names = estimator.summary_.schema.names
    return {
        "estimator": type(estimator).__name__,
        "params": estimator.get_params(),
        "weight": estimator.summary_.weight,
        "columns": None if names is None else list(names),
        "n_columns": estimator.n_features_in_,
        "classes": [
            {"label": label, "weight": weight, "prior": prior, "mean": mean, "variance": variance}
            for label, weight, prior, mean, variance in classes
        ],
    }


def _drawn(path: Path, estimator: Any) -> list[Any]:
    from rich import box
    from rich.table import Table

    summary, names = estimator.summary_, estimator.summary_.schema.names
    n_classes, n_columns = estimator.theta_.shape
    table = Table("", box=box.SIMPLE_HEAD, pad_edge=False)
    for label in estimator.classes_[:_MOST_CLASSES].tolist():
        table.add_column(str(label), justify="right")
    table.add_column("by class")
    count, prior = estimator.class_count_, estimator.class_prior_
    table.add_row("rows", *(f"{weight:,.10g}" for weight in _few(count)), _spark(count))
    table.add_row("prior", *(f"{p:.4f}" for p in _few(prior)), _spark(prior), end_section=True)
    for j in range(min(n_columns, _MOST_COLUMNS)):
        mean, deviation = estimator.theta_[:, j], estimator.var_[:, j] ** 0.5
        pairs = zip(_few(mean), _few(deviation), strict=True)
        cells = [f"{_short(m)} ± {_short(s)}" for m, s in pairs]
        table.add_row(f"column {j}" if names is None else names[j], *cells, _spark(mean))
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
        f"{n_columns:,} columns, {n_classes:,} classes\n"
        "mean ± standard deviation, smoothing included"
    )
    return [head, table, *([f"and {' and '.join(hidden)}: --json has all."] if hidden else [])]


def _few(values: Any) -> Any:
    return values[:_MOST_CLASSES]


def _spark(values: Any) -> str:
    """Draw numbers as bars: the lowest and the highest of them, and the others in between.

    >>> import numpy
    >>> _spark(numpy.array([0.0, 1.0, 4.0, 7.0])), _spark(numpy.array([3.0, 3.0]))
    ('▁▂▅█', '▄▄')
    """
    low, high = float(values.min()), float(values.max())
    if high == low:
        return "▄" * min(values.size, _MOST_BARS)
    shares = (values[:_MOST_BARS] / 2 - low / 2) / (high / 2 - low / 2)
    return "".join(_BARS[round(share * 7)] for share in shares.tolist())


def _short(number: float) -> str:
    """Write a number with three significant digits, or as many as it has before the point.

    >>> [_short(x) for x in (1422.3, 29.32, 0.018041, 0.0, 1.5e-7)]
    ['1422', '29.3', '0.0180', '0', '1.5e-07']
    """
    if number == 0 or not 1e-4 <= abs(number) < 1e7:
        return f"{number:.3g}"
    return f"{number:.{max(0, 2 - math.floor(math.log10(abs(number))))}f}"
