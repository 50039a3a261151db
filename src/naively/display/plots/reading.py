"""What displays read: the bell curves of a model, columns of a table, and which of them to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from naively.data import labels
from naively.data.schema import Schema
from naively.data.sparse import is_sparse
from naively.display.plots.canvas import check_at_least_one
from naively.display.plots.separation import classes_by_separation, columns_by_separation
from naively.engines.memory.columns import find
from naively.engines.memory.frames import is_frame
from naively.engines.memory.tables import columns_of, number_column
from naively.errors import NaivelyError
from naively.statistics import ClassWeight, Moments
from naively.statistics.axes import Axes
from naively.statistics.summary import Summary


@dataclass(frozen=True)
class Bells:
    """The bell curves of a fitted model: by class and column a mean and a variance."""

    summary: Summary
    prior: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]


def bells_of(model: Any, purpose: str) -> Bells:
    """Read the bell curves off naively's GaussianNB, or scikit-learn's.

    The purpose is the beginning of a sentence.
    """
    check_is_fitted(model)
    if not has_bells(model):
        raise NaivelyError(
            f"{purpose} needs the mean and variance of every class and column, which "
            f"{type(model).__name__} does not have. Use naively.GaussianNB."
        )
    means, variances, prior = (
        np.asarray(values, dtype=np.float64)
        for values in (model.theta_, model.var_, model.class_prior_)
    )
    return Bells(_summary_of(model, means, variances), prior, means, variances)


def has_bells(model: Any) -> bool:
    """Whether a fitted model knows means and variances."""
    return hasattr(model, "theta_") and hasattr(model, "var_")


def has_families(model: Any) -> bool:
    """Whether a fitted model describes each column by families of its own."""
    return hasattr(model, "families_")


def _summary_of(model: Any, means: NDArray[Any], variances: NDArray[Any]) -> Summary:
    if hasattr(model, "summary_"):
        return model.summary_
    weight = np.asarray(model.class_count_, dtype=np.float64)
    moments = Moments.of(weight[:, np.newaxis], means, variances * weight[:, np.newaxis])
    axes = Axes(np.array(model.classes_))
    return Summary.of(schema_of(model), axes, ClassWeight(weight), moments)


def column_names(model: Any, n_columns: int, given: Sequence[str] | None = None) -> list[str]:
    """Return what the columns are called: as given, as seen at `fit`, or by number."""
    if given is not None:
        if len(given) != n_columns:
            raise NaivelyError(
                f"feature_names must have one name per column ({n_columns}); got {len(given)}."
            )
        return [str(name) for name in given]
    names = schema_of(model).names
    return [f"column {j}" for j in range(n_columns)] if names is None else list(names)


def model_names(models: Sequence[Any], given: Sequence[str] | None = None) -> list[str]:
    """Return what models are called: as given, by their class, or by package and class.

    >>> from naively import GaussianNB
    >>> from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
    >>> model_names([GaussianNB(), SklearnGaussianNB()])
    ['naively GaussianNB', 'sklearn GaussianNB']
    """
    if given is not None:
        if len(given) != len(models):
            raise NaivelyError(f"names must name {len(models)} models; got {len(given)}.")
        return [str(name) for name in given]
    names = [type(model).__name__ for model in models]
    if len(set(names)) == len(names):
        return names
    longer = [f"{type(m).__module__.partition('.')[0]} {type(m).__name__}" for m in models]
    if len(set(longer)) == len(longer):
        return longer
    return [f"{name} {i}" for i, name in enumerate(names, 1)]


def class_captions(classes: Any, given: Sequence[str] | None = None) -> list[str]:
    """Return what the classes are called: as given, or by their labels."""
    classes = np.asarray(classes)
    if given is None:
        return [str(label) for label in classes.tolist()]
    if len(given) != classes.size:
        raise NaivelyError(
            f"class_names must have one name per class ({classes.size}: "
            f"{labels.quoted(classes)}); got {len(given)}."
        )
    return [str(name) for name in given]


def pick(
    columns: Any, names: list[str], *, n: int | None = None, schema: Schema | None = None
) -> list[int]:
    """Return the positions of columns that are given by name or by number.

    The name of a column of dates stands for its parts; where a number of columns is wanted, for its
    parts of numbers.

    >>> pick(["width", 0], ["length", "width"])
    [1, 0]
    >>> pick(["widht"], ["length", "width"])
    Traceback (most recent call last):
        ...
    naively.errors.NaivelyError: no column 'widht'; did you mean 'width'?
    """
    wanted = [columns] if isinstance(columns, str) else list(columns)
    dates = {} if schema is None else {date: schema.parts(date) for date in schema.dates}
    if n is not None and schema is not None:
        dates = {date: [j for j in at if j in schema.numbers] for date, at in dates.items()}
    each = [_positions(column, names, dates) for column in wanted]
    at = [j for places in each for j in places]
    if n is not None and len(at) != n:
        raise NaivelyError(
            f"columns must name {n} columns; got {len(at)}: "
            f"{labels.quoted(np.array(wanted, dtype=object))}."
        )
    if not at or len(set(at)) < len(at):
        raise NaivelyError(f"columns must name different columns, at least one; got {columns!r}.")
    return at


def _positions(column: Any, names: list[str], dates: Mapping[str, list[int]]) -> list[int]:
    if isinstance(column, int | np.integer) and not isinstance(column, bool):
        if -len(names) <= column < len(names):
            return [int(column) % len(names)]
        raise NaivelyError(f"no column {column}; the model has {len(names)}, from 0.")
    name = find(str(column), [*names, *dates])
    return [names.index(name)] if name in names else dates[name]


def cells(X: Any, at: Sequence[int], model: Any) -> NDArray[np.float64]:
    """Return some of the model's columns of numbers of a table, a missing cell as NaN.

    A frame's columns are found by name if the model knows names.
    """
    if not len(at):
        return np.empty((X.shape[0] if hasattr(X, "shape") else len(X), 0))
    schema = schema_of(model)
    if is_sparse(X):
        _check_width(model, X.shape[1])
        columns = list(X.tocsc()[:, list(at)].toarray().T)
    else:
        if schema.names and is_frame(X):  # which need not have the other columns
            schema, at = schema.columns(at), range(len(at))
        every = columns_of(X, schema)
        columns = [number_column(every[j], schema.name(j))[:] for j in at]
    rows = np.column_stack(columns).astype(np.float64)
    if np.isinf(rows).any():
        row, j = np.argwhere(np.isinf(rows))[0].tolist()
        raise NaivelyError(
            f"{schema.name(at[j])} of X holds infinity (first at row {row}); plots need finite "
            "numbers. NaN is allowed and means missing."
        )
    return rows


def schema_of(model: Any) -> Schema:
    """Return the schema of a fitted model; scikit-learn's has columns of numbers alone."""
    if hasattr(model, "summary_"):
        return model.summary_.schema
    names = getattr(model, "feature_names_in_", None)
    return Schema(int(model.n_features_in_), None if names is None else tuple(map(str, names)))


def _check_width(model: Any, n_columns: int) -> None:
    if n_columns != model.n_features_in_:
        raise NaivelyError(
            f"X must have the {model.n_features_in_} columns that {type(model).__name__} was "
            f"fitted on; got {n_columns}."
        )


def codes_of(y: ArrayLike, classes: NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return the position of each label among the model's classes."""
    present, codes = labels.encode(y)
    if codes.size != n_rows:
        raise NaivelyError(
            f"X and y must be equally long; got {n_rows} rows and {codes.size} labels."
        )
    code_of = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [label for label in present.tolist() if label not in code_of]
    if unknown:
        raise NaivelyError(
            f"labels must be classes of the model ({labels.quoted(classes)}); "
            f"got {unknown[0]!r} in y."
        )
    return np.array([code_of[label] for label in present.tolist()], dtype=np.intp)[codes]


@dataclass(frozen=True)
class Choice:
    """Positions, and what must be said about them; nothing if they are all there are."""

    at: list[int]
    note: str = ""


def choose_columns(summary: Summary, names: list[str], columns: Any, most: int) -> Choice:
    """Take the columns asked for, or those that separate the classes best, the best first."""
    check_at_least_one(max_columns=most)
    if columns is not None:
        return Choice(pick(columns, names, schema=summary.schema))
    if len(names) <= most:
        return Choice(list(range(len(names))))
    chosen = columns_by_separation(summary, most)
    which = f"The {most} columns" if most > 1 else "The column"
    verb = "separate" if most > 1 else "separates"
    return Choice(chosen, f"{which} of {len(names):,} that {verb} the classes best.")


def choose_pair(summary: Summary | None, names: list[str], columns: Any) -> Choice:
    """Take the two columns asked for, or the two that separate the classes best, in their order."""
    if len(names) < 2:
        raise NaivelyError("two columns are needed; the model has one. Draw its bell curves.")
    numbers = range(len(names)) if summary is None else summary.schema.numbers
    if columns is not None:
        schema = None if summary is None else summary.schema
        at, which = pick(columns, names, n=2, schema=schema), "2"
        _check_numbers(at, names, summary)
    elif len(numbers) < 2:
        raise NaivelyError(
            f"two columns of numbers are needed; the model has {len(numbers)}. "
            "Draw its columns with BellCurveDisplay."
        )
    elif summary is None:
        at, which = [0, 1], "The first 2"
    else:
        order = columns_by_separation(summary, len(names))
        at, which = sorted([j for j in order if j in numbers][:2]), "The 2"
    if len(names) == 2:
        return Choice(at)
    best = " that separate the classes best" * (columns is None)
    return Choice(at, f"{which} of {len(names):,} columns{best}; the rest left out as missing.")


def _check_numbers(at: list[int], names: list[str], summary: Summary | None) -> None:
    for j in at:
        if summary is not None and j not in summary.schema.numbers:
            kind = summary.schema.held[j]
            held = kind.plural
            raise NaivelyError(
                f"two columns of numbers are needed; {names[j]!r} holds {held}. "
                "Draw it with BellCurveDisplay."
            )


def choose_classes(summary: Summary, most: int, columns: Sequence[int] | None = None) -> Choice:
    """Take all classes, or those that stand apart most."""
    check_at_least_one(max_classes=most)
    n_classes = summary.classes.size
    if n_classes <= most:
        return Choice(list(range(n_classes)))
    chosen = classes_by_separation(summary, most, columns)
    return Choice(chosen, f"The {most} of {n_classes:,} classes that stand apart most.")
