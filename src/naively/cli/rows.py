"""Rows for a model that is there already: its columns, and labels of its type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from naively.cli import bars, console
from naively.cli.data import Source, look
from naively.cli.options import Labels, Reading, check_output
from naively.engines.files import scan
from naively.exceptions import NaivelyError
from naively.labels import quoted
from naively.summary import Summary

__all__ = ["rows_for", "save_changed"]

_TYPES = {"U": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}  # by NumPy's kinds


def rows_for(
    estimator: Any, files: Sequence[str], reading: Reading, labels: Labels, output: Path
) -> Summary:
    """Summarize files by the columns of a model, which may be in any order there."""
    schema, source = estimator.summary_.schema, look(files, reading)
    check_output(output, *source.inputs)
    kind = _TYPES[estimator.classes_.dtype.kind]
    with bars.streaming(f"reading {source.title}") as progress:
        found = scan(
            list(files),
            target=labels.target or _target(source, schema.names, labels.weight),
            columns=schema.names or source.split(labels.columns) or None,
            weight=labels.weight,
            label_type=kind,
            progress=progress,
            **reading.dialect,
        ).summary
    if found.schema.n_columns != schema.n_columns:
        raise NaivelyError(
            f"the model has no column names and takes {schema.n_columns} numeric columns; "
            f"got {found.schema.n_columns}. Choose them with --columns."
        )
    if found.classes.size and _TYPES[found.classes.dtype.kind] != kind:
        raise NaivelyError(
            f"the labels must be {kind} as the model's are ({quoted(estimator.classes_)}); "
            f"got {quoted(found.classes)}."
        )
    return replace(found, schema=schema)


def _target(source: Source, names: Sequence[str] | None, weight: str | None) -> str:
    """Return the only column that can hold the labels."""
    if names is None or source.sample is None:
        raise NaivelyError("the column of labels must be named: --target.")
    others = [name for name in source.names if name and name not in {*names, weight}]
    if len(others) != 1:
        got = ", ".join(map(repr, others[:8])) or "none"
        raise NaivelyError(
            "without --target there must be one column beside the model's, the labels; "
            f"got {got}{source.where}."
        )
    console.note(f"the labels are in {others[0]!r}, the one column beside the model's.")
    return others[0]


def save_changed(estimator: Any, summary: Summary, output: Path) -> Any:
    """Read the model off another summary by the same parameters, and save it."""
    changed = type(estimator).from_summary(summary, **estimator.get_params())
    changed._with(estimator._dtype.name).save(output)
    return changed
