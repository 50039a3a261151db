"""The inputs of `evaluate` and `report` where rows are in files: a model, a source, a target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from naively.engines.files.csv import CsvDialect
from naively.engines.files.plan import ColumnPlan, Request, SchemaFromFirstRows
from naively.engines.files.read_ahead import Progress
from naively.engines.files.readers import FirstRows
from naively.errors import NaivelyError
from naively.estimators.categorical import CategoricalNB
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.gaussian_nb import GaussianNB
from naively.estimators.interface import schema_of_files
from naively.estimators.loading import ESTIMATORS
from naively.estimators.naive_bayes import NaiveBayes
from naively.evaluation.inputs import check_classifier

Watch = Callable[[str], AbstractContextManager[Progress | None]]  # of a pass, by its name


@dataclass(frozen=True)
class FileInputs:
    """What is judged, and how files are read.

    Attributes
    ----------
    model : SummaryClassifier
        The model, or the default one.
    first : FirstRows
        The files.
    request : Request
        The columns.
    passes : dict
        Options of the passes: ``label_type``, ``watch`` and ``n_jobs``.
    """

    model: SummaryClassifier
    first: FirstRows
    request: Request
    passes: dict[str, Any]

    @classmethod
    def of(
        cls,
        model: Any,
        source: Any,
        target: str,
        *,
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        skip_columns: bool = False,
        drop_missing_target: bool = False,
        label_type: str | None = None,
        types: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        n_jobs: int | None = None,
        **dialect: Any,
    ) -> FileInputs:
        """Look at the files, and check the model; None is the default for their columns."""
        first = FirstRows.of(source, CsvDialect(**_plain(dialect)))
        first.check_sound()
        asked: dict[str, Any] = {"columns": columns, "exclude": exclude, "types": types}
        asked |= {"skip_columns": skip_columns, "drop_missing_target": drop_missing_target}
        model = _default(first, target, asked) if model is None else _checked(model)
        request = Request.of(target, schema_of_files(model), **asked)
        passes = {"label_type": label_type, "watch": lambda _: nullcontext(progress)}
        return cls(model, first, request, {**passes, "n_jobs": n_jobs})

    @property
    def measured(
        self,
    ) -> tuple[FirstRows, Request, SchemaFromFirstRows, Callable[[Any], SummaryClassifier]]:
        """What is measured, and the model whatever the classes are."""
        return self.first, self.request, schema_of_files(self.model), lambda _: self.model


def _plain(dialect: dict[str, Any]) -> dict[str, Any]:
    """Return how CSV is written; raise where an option is none of files."""
    known = "separator", "decimal", "missing", "encoding"
    unknown = [name for name in dialect if name not in known]
    if unknown:
        reason = "rows cannot be weighted" if unknown == ["weight"] else "there is no such option"
        raise NaivelyError(
            f"evaluate and report take no option {unknown[0]!r} for files: {reason}."
        )
    return {**dialect, "missing": tuple(dialect.get("missing", ()))}


def _default(first: FirstRows, target: str, asked: dict[str, Any]) -> SummaryClassifier:
    """Return `GaussianNB` where all columns hold numbers, else `NaiveBayes`."""
    schema = ColumnPlan.of(first, Request.of(target, SchemaFromFirstRows({}), **asked)).schema
    return NaiveBayes() if schema.categories or schema.texts else GaussianNB()


def _checked(model: Any) -> Any:
    check_classifier(model)
    if type(model) not in ESTIMATORS.values():
        raise NaivelyError(
            f"only naively's own models ({', '.join(ESTIMATORS)}) can be evaluated on files; got "
            f"{type(model).__name__}. Read the rows into memory for others."
        )
    if isinstance(model, CategoricalNB):
        raise NaivelyError(
            "CategoricalNB reads codes in memory. For files, use NaiveBayes with "
            'families={"column": "categorical"} where a column holds numbers.'
        )
    return model
