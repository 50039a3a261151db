"""The models that judge folds: each is read off the sum of the summaries of all other folds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from naively.data.schema import Schema
from naively.data.threads import map_blocks
from naively.estimators.estimator import SummaryClassifier
from naively.evaluation.fold_summaries import measure_folds
from naively.evaluation.inputs import Truth
from naively.model.model import Model
from naively.statistics.summary import Summary

_AT_ONCE = 16  # models that are read together
_BY_CLASS = ("priors", "class_prior", "costs")  # parameters with an entry for each class


def fold_models(
    model: SummaryClassifier, table: Any, schema: Schema, truth: Truth, fold: NDArray[np.int32]
) -> list[Model] | None:
    """Measure all folds in one pass, and read the model of each fold off all the others.

    A class that no other fold has is left out, unless a parameter such as the priors has an entry
    for it. None where the summaries of so many folds would take too much memory.
    """
    folds = measure_folds([model], table, schema, truth, fold)
    return None if folds is None else read_models(model, folds.rests(), slow=folds.size > 0)


def needs_every_class(model: SummaryClassifier) -> bool:
    """Whether a parameter of a model has an entry for each class."""
    given = any(getattr(model, name, None) is not None for name in _BY_CLASS)
    return given or isinstance(model.class_weight, dict)


def read_models(model: SummaryClassifier, rests: Iterator[Summary], *, slow: bool) -> list[Model]:
    """Read models off summaries; those with calibration, which are slow, in threads."""
    params, by_class = model.get_params(), needs_every_class(model)

    def read(rest: Summary) -> Model:
        # Words stay where the rows have them: those that a fold lacks contribute nothing.
        rest = rest.ordered(empty_classes=by_class, all_words=True)
        return type(model).from_summary(rest, **params).model_

    models: list[Model] = []
    with threadpool_limits(1, "blas") if slow else nullcontext():  # threads of threads are slow
        while some := list(islice(rests, _AT_ONCE)):
            models += map_blocks(read, some, model.n_jobs if slow else 1)
    return models
