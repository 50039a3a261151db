"""What `naively fit` learns: a model by its options, or one like another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from naively.cli.data import CommandFiles
from naively.cli.notes import tell_identifiers, tell_texts
from naively.cli.options import Data
from naively.cli.parameters import ModelOptions
from naively.data.schema import Schema
from naively.engines.files.plan import FORMS, SchemaFromFirstRows, types_of
from naively.engines.files.summary_pass import Scan, scan, scan_planned
from naively.statistics.summary import Summary


@dataclass(frozen=True)
class Training:
    """What is measured, and how the model is read off it."""

    model: ModelOptions
    like: Any = None  # a model of other rows, whose schema and parameters are taken instead

    @classmethod
    def of(cls, model: ModelOptions, like: Path | None) -> Training:
        """Load the other model if there is one, which leaves nothing to the options."""
        if like is None:
            return cls(model)
        from naively.estimators.loading import load_classifier

        model.check_none_of(None, "--like, which takes it from that model")
        return cls(model, load_classifier(like))

    def scan(self, source: CommandFiles, data: Data, weight: str | None, **options: Any) -> Scan:
        """Summarize files; notes about their columns come with the first rows."""
        if self.like is None:
            plan = source.plan(data, self.model.kinds, weight)
            return scan_planned(source.first, plan, self._schema(weight is not None), **options)
        summary: Summary = self.like.summary_
        return scan(
            source.first,
            **source.asked(data),
            weight=weight,
            schema=summary.schema,
            label_type=FORMS[summary.classes.dtype.kind],
            types=types_of(summary),
            **options,
        )

    def _schema(self, is_weighted: bool) -> SchemaFromFirstRows:
        measured = self.model.measured()
        if measured.complete is None or is_weighted:
            return measured
        complete = measured.complete

        def told(first: Summary) -> Schema:
            tell_identifiers(first)
            tell_texts(first)
            return complete(first)

        return replace(measured, complete=told)

    def estimator(self, summary: Summary) -> Any:
        """Return the model of what was seen."""
        fresh = self.model.classifier(summary.classes) if self.like is None else self.like
        return type(fresh).from_summary(summary, **fresh.get_params())
