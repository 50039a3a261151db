"""Rows for a model that is there already: its columns, and labels of its type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from naively.cli import bars, console
from naively.cli.data import CommandFiles, look
from naively.cli.notes import tell_unlabelled
from naively.cli.options import Labels, Reading, check_output
from naively.cli.outputs import file_at
from naively.data.labels import quoted
from naively.engines.files import scan
from naively.engines.files.plan import FORMS, types_of
from naively.errors import NaivelyError
from naively.estimators.state import adopt, learned
from naively.statistics.summary import Summary


def rows_for(
    estimator: Any, files: Sequence[str], reading: Reading, labels: Labels, output: Path
) -> Summary:
    """Summarize files by the columns of a model, which may be in any order there."""
    source = look(files, reading)
    check_output(output, *source.inputs, binary="a model")
    target = labels.target or _target(source, estimator.summary_.schema.names, labels.weight)
    return summary_for(estimator, source, reading, labels, target)


def summary_for(
    estimator: Any, source: CommandFiles, reading: Reading, labels: Labels, target: str | None
) -> Summary:
    """Summarize files by the columns of a model; without a target, as rows of one class."""
    schema, kind = estimator.summary_.schema, FORMS[estimator.classes_.dtype.kind]
    with bars.streaming(f"measuring {source.title}") as progress:
        pass_ = scan(
            source.first,
            target=target,
            columns=None if schema.names else source.split(labels.columns) or None,
            weight=labels.weight,
            schema=schema,
            label_type=None if target is None else kind,
            types=types_of(estimator.summary_),
            skip_columns=True,
            drop_missing_target=labels.drop_missing_target,
            progress=progress,
            **reading.dialect,
        )
    tell_unlabelled(pass_.unlabelled)
    found = pass_.summary
    if target is not None and found.classes.size and FORMS[found.classes.dtype.kind] != kind:
        raise NaivelyError(
            f"the labels must be {kind} as the model's are ({quoted(estimator.classes_)}); "
            f"got {quoted(found.classes)}."
        )
    return found


def _target(source: CommandFiles, names: Sequence[str] | None, weight: str | None) -> str:
    """Return the only column that can hold the labels."""
    if names is None or not source.first.has_types:
        raise NaivelyError("the column of labels must be named: --target.")
    others = [name for name in source.first.names if name and name not in {*names, weight}]
    if len(others) != 1:
        got = ", ".join(map(repr, others[:8])) or "none"
        raise NaivelyError(
            "without --target there must be one column beside the model's, the labels; "
            f"got {got}{source.first.where}."
        )
    console.note(f"the labels are in {others[0]!r}, the one column beside the model's.")
    return others[0]


def save_changed(estimator: Any, summary: Summary, output: Path) -> Any:
    """Read the model off another summary by the same parameters, and save it."""
    changed = type(estimator).from_summary(summary, **estimator.get_params())
    with file_at(output) as path:
        adopt(changed, changed.summary_, dtype=learned(estimator).dtype).save(path)
    return changed
