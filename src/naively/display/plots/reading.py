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
from naively.display.plots.overlap import classes_by_separation, columns_by_separation
from naively.engines.memory.columns import find
from naively.engines.memory.frames import is_frame
from naively.engines.memory.tables import columns_of, number_column
from naively.errors import NaivelyError
from naively.estimators.gaussian_nb import GaussianNB
from naively.families import gaussian
from naively.families.gaussian import Gaussian, GaussianParameters
from naively.model.model import Model
from naively.statistics import ClassWeight, Moments
from naively.statistics.axes import Axes
from naively.statistics.summary import Summary


def ours(model: Any) -> Any:
    """Return a fitted model of naively's that knows a curve of each column; None of another.

    Of scikit-learn's GaussianNB, it is one of the same means, variances and priors.
    """
    is_ours, knows_means = hasattr(model, "summary_"), hasattr(model, "theta_")
    if is_ours or not (knows_means and hasattr(model, "var_")):
        return model if is_ours and (knows_means or hasattr(model, "families_")) else None
    weight, means, variances = (
        np.asarray(values, dtype=np.float64)
        for values in (model.class_count_, model.theta_, model.var_)
    )
    moments = Moments.of(weight[:, np.newaxis], means, variances * weight[:, np.newaxis])
    axes = Axes(np.array(model.classes_))
    summary = Summary.of(schema_of(model), axes, ClassWeight(weight), moments)
    return GaussianNB.from_summary(summary, priors=model.class_prior_, var_smoothing=0.0)


def check_bells(model: Any, purpose: str) -> None:
    """Raise where a fitted model has no means and variances; the purpose begins a sentence."""
    check_is_fitted(model)
    if not (hasattr(model, "theta_") and hasattr(model, "var_")):
        raise NaivelyError(
            f"{purpose} needs the mean and variance of every class and column, which "
            f"{type(model).__name__} does not have. Use naively.GaussianNB."
        )


def textbook_of(model: Model) -> GaussianParameters | None:
    """Return mean and variance by class and column; None where there are other families, too."""
    terms = model.terms
    is_textbook = len(terms) == 1 and isinstance(terms[0].family, Gaussian)
    return terms[0].parameters if is_textbook else None


def gaussians_of(estimator: Any) -> GaussianParameters:
    """Return means and variances of columns of numbers: of the textbook's model, as it has them.

    Where there are other families, too, they are those of the cells that the model has seen.
    """
    seen = estimator.summary_.moments
    return textbook_of(estimator.model_) or gaussian.parameters(seen, var_smoothing=0.0)


def column_names(model: Any, n_columns: int, given: Sequence[str] | None = None) -> list[str]:
    """Return what the columns are called: as given, as seen at `fit`, or by number."""
    names = schema_of(model).names or [f"column {j}" for j in range(n_columns)]
    return _named(given, names, f"feature_names must have one name per column ({n_columns})")


def model_names(models: Sequence[Any], given: Sequence[str] | None = None) -> list[str]:
    """Return what models are called: as given, by their class, or by package and class.

    >>> from naively import GaussianNB
    >>> from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
    >>> model_names([GaussianNB(), SklearnGaussianNB()])
    ['naively GaussianNB', 'sklearn GaussianNB']
    """
    names = [type(model).__name__ for model in models]
    longer = [f"{type(m).__module__.partition('.')[0]} {type(m).__name__}" for m in models]
    numbered = [f"{name} {i}" for i, name in enumerate(names, 1)]
    each = next(one for one in (names, longer, numbered) if len(set(one)) == len(one))
    return _named(given, each, f"names must name {len(models)} models")


def class_captions(classes: Any, given: Sequence[str] | None = None) -> list[str]:
    """Return what the classes are called: as given, or by their labels."""
    classes = np.asarray(classes)
    need = f"class_names must have one name per class ({classes.size}: {labels.quoted(classes)})"
    return _named(given, classes.tolist(), need)


def _named(given: Sequence[str] | None, names: Sequence[Any], need: str) -> list[str]:
    """Return the names that are given, as many as there are names, or else those."""
    if given is not None and len(given) != len(names):
        raise NaivelyError(f"{need}; got {len(given)}.")
    return [str(name) for name in (names if given is None else given)]


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
        if X.shape[1] != schema.n_columns:
            raise NaivelyError(f"there must be {schema.n_columns} columns; got {X.shape[1]}.")
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


def drawn_rows(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Return rows, or so many of them, drawn at random: always the same ones, in their order."""
    few = np.random.default_rng(0).choice(rows, most, replace=False) if rows.size > most else rows
    return np.sort(few)


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
            f"labels must be classes of the model ({labels.quoted(classes)}); got "
            f"{labels.quoted(np.array(unknown))} too. Fit a model on these rows, or leave them out."
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
            raise NaivelyError(
                f"two columns of numbers are needed; {names[j]!r} holds "
                f"{summary.schema.held[j].plural}. Draw it with BellCurveDisplay."
            )


def choose_classes(summary: Summary, most: int, columns: Sequence[int] | None = None) -> Choice:
    """Take all classes, or those that stand apart most."""
    check_at_least_one(max_classes=most)
    n_classes = summary.classes.size
    if n_classes <= most:
        return Choice(list(range(n_classes)))
    chosen = classes_by_separation(summary, most, columns)
    return Choice(chosen, f"The {most} of {n_classes:,} classes that stand apart most.")
