"""What `naively fit` learns: a model by its options, or one like another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from naively.cli.notes import tell_identifiers
from naively.cli.parameters import Model
from naively.cli.rows import types_of
from naively.engines.files.plan import FORMS
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["Learning"]


@dataclass(frozen=True)
class Learning:
    """What is measured, and how the model is read off it.

    Attributes
    ----------
    model : Model
        The options.
    like : estimator, or None
        A model of other rows, whose schema and parameters are taken instead.
    """

    model: Model
    like: Any = None

    @classmethod
    def of(cls, model: Model, like: Path | None) -> Learning:
        """Load the other model if there is one, which leaves nothing to the options."""
        if like is None:
            return cls(model)
        from naively.estimators.loading import load

        model.check_none_of(None, "--like, which takes it from that model")
        return cls(model, load(like))

    @property
    def kinds(self) -> Any:
        """What columns hold, as the engine is told."""
        return self.model.kinds

    def measured(self, *, is_weighted: bool) -> dict[str, Any]:
        """Return what is measured, as the engine is told; notes come with the first rows."""
        if self.like is not None:
            summary: Summary = self.like.summary_
            kind = FORMS[summary.classes.dtype.kind]
            return {"schema": summary.schema, "label_type": kind, "types": types_of(summary)}
        undecided = self.model.undecided()
        if undecided.complete is None or is_weighted:
            return {"schema": undecided}

        def complete(first: Summary) -> Schema:
            tell_identifiers(first)
            decided: Schema = undecided.complete(first)
            return decided

        return {"schema": replace(undecided, complete=complete)}

    def estimator(self, summary: Summary) -> Any:
        """Return the model of what was seen."""
        fresh = self.model.estimator(summary.classes) if self.like is None else self.like
        return type(fresh).from_summary(summary, **fresh.get_params())
