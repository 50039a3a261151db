"""What `evaluate` and `report` share: two passes over files, each with a bar of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from naively.cli import bars
from naively.cli.data import CommandFiles
from naively.cli.notes import counting_columns, tell_counting, tell_unlabelled
from naively.cli.options import Data
from naively.cli.parameters import ModelOptions
from naively.cli.splits import user_errors
from naively.engines.files.csv import CsvDialect
from naively.engines.files.labelled_rows import read
from naively.engines.files.plan import ColumnPlan
from naively.engines.files.readers import FirstRows
from naively.errors import need

if TYPE_CHECKING:
    from naively.evaluation.files import JudgedFiles
    from naively.evaluation.folds import ContentFolds


def judge(
    source: CommandFiles, data: Data, model: ModelOptions, folds: ContentFolds, **options: Any
) -> JudgedFiles:
    """Judge a model on files by folds; say which columns were left out, or only count the rows."""
    from naively.evaluation.files import judge_files

    first, plan = readable_twice(source, data, model)
    how = passes(source, plan) | options
    with user_errors():
        judged = judge_files(first, plan.request, model.measured(), model.estimator, folds, **how)
    tell_unlabelled(plan.n_unlabelled())
    tell_counting(counting_columns(judged.measured.folds.total()))
    return judged


def passes(source: CommandFiles, plan: ColumnPlan) -> dict[str, Any]:
    """Return the options of both passes: the columns to read, and a bar for each."""
    return {"plan": plan, "watch": lambda name: bars.streaming(f"{name} {source.title}")}


def readable_twice(
    source: CommandFiles, data: Data, model: ModelOptions
) -> tuple[FirstRows, ColumnPlan]:
    """Return what is read; standard input can be read only once, and becomes a table."""
    plan = source.plan(data, model.kinds)
    if all(file.size is not None for file in source.first.files):
        return source.first, plan
    pa = need("pyarrow", "reading files", extra="files")
    with bars.streaming(f"reading {source.title}") as progress:
        rows = read(source.first, plan, progress)
    tell_unlabelled(plan.n_unlabelled())
    table = rows.X.append_column(data.target, pa.array(rows.y))
    first = FirstRows(table, CsvDialect())
    request = replace(plan.request, columns=plan.features, exclude=())
    return first, ColumnPlan.of(first, request)
