"""A report on files of any size: two passes, and a sample of rows for what draws single rows."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import clone

from naively.data.rows import Rows
from naively.display.report.collect import describe_all
from naively.display.report.columns import Ranges
from naively.display.report.inputs import Given, WholeFile, check_classes, check_model
from naively.engines.files.labelled_rows import LabelledRows, table_of
from naively.engines.files.plan import ColumnPlan, Request, SchemaFromFirstRows
from naively.engines.files.readers import FirstRows
from naively.evaluation import Comparison
from naively.evaluation.files import Watch, judge_files
from naively.evaluation.folds import ContentFolds
from naively.model.model import SAMPLE


def collect_files(
    first: FirstRows,
    request: Request,
    schema: SchemaFromFirstRows,
    model_of: Callable[[Any], Any],
    folds: ContentFolds | None,
    *,
    title: str | None,
    compare: bool | Comparison,
    show_rows: bool,
    progress: Callable[[str], None],
    watch: Watch,
    plan: ColumnPlan | None = None,
    label_type: str | None = None,
    n_jobs: int | None = None,
    chosen: bool = False,
) -> dict[str, Any]:
    """Return the dict that a page is made of, of files and a model that depends on the classes."""
    found: list[Any] = []

    def checked(classes: Any) -> Any:
        check_classes(classes)
        found.append(clone(model_of(classes)))
        return found[0]

    check_model(model_of(None))
    visitor = _RangesOfAll()
    asked: dict[str, Any] = {"plan": plan, "label_type": label_type, "n_jobs": n_jobs}
    asked |= {"watch": watch, "sample": SAMPLE, "visit": visitor.visit}
    judged = judge_files(first, request, schema, checked, folds, **asked)
    learned, kept = judged.measured.folds.total(), judged.scored
    rows = LabelledRows(
        table_of(judged.measured.plan, [part.cells for part in kept.parts()]),
        judged.measured.folds.classes.take(kept.kept().truth),
    )
    coded = [learned.tally(place).sum() for place in range(len(learned.schema.categories))]
    missing = sum(judged.evaluation.n_rows - int(cells) for cells in coded)
    whole = WholeFile(judged.evaluation.n_rows, kept.at(), missing + visitor.missing_texts)
    given = Given.of_files(found[0], learned, rows, whole, str(request.target), chosen=chosen)
    how: dict[str, Any] = {"compare": compare, "show_rows": show_rows, "progress": progress}
    return describe_all(given, visitor.ranges, judged.evaluation, title=title, **how)


class _RangesOfAll:
    """The ranges of all columns of numbers; threads visit rows in any order."""

    def __init__(self) -> None:
        self.ranges = Ranges(*np.empty((4, 0)))
        self.missing_texts, self._lock = 0, Lock()

    def visit(self, rows: Rows) -> None:
        """Look at some rows."""
        its = Ranges.of(rows)
        empty = 0 if rows.texts is None else int((rows.texts.hashes == 0).sum())
        with self._lock:
            self.ranges = self.ranges + its if self.ranges.least.size else its
            self.missing_texts += empty
