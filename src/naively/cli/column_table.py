"""What a model knows about its columns, as a table and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.kinds import TEXT
from naively.estimators.parameters import params_as_text
from naively.inspection.importance import Importance
from naively.model.terms import top_words
from naively.statistics import Documents, Occurrences
from naively.statistics.summary import Summary
from naively.tabular import PrintedTable

_MAX_CLASSES, _MAX_COLUMNS = 6, 40  # that a table shows; --json has them all
_MAX_CATEGORIES = 6  # of a column that a table shows
_MAX_LOADINGS = 6  # of a direction
_MAX_WORDS = 20  # of a class that JSON lists
_MAX_WEIGHTS = 4  # of a column, which are shown one by one
_MAX_BARS = 40  # that a sparkline has
_BARS = "▁▂▃▄▅▆▇█"


Line = tuple[str, ...]  # a name, a cell for each class, a sparkline, and what else


def printed(path: Path, estimator: Any) -> list[Any]:
    """Return what a terminal shows of a model: a line, a table of its columns, and notes."""
    summary, classes = estimator.summary_, estimator.classes_
    n_classes, n_columns, counted = classes.size, summary.schema.n_columns, summary.schema.counted
    title, more = _TITLES[counted], _MORE
    if _has_gaussians(estimator):
        title, more = "mean ± standard deviation, smoothing included", ()
        pairs = zip(_names(summary), estimator.theta_.T, estimator.var_.T, strict=True)
        lines = [_of_numbers(*column) for column in islice(pairs, _MAX_COLUMNS)]
    else:
        lines = [line for column in _columns(estimator, _MAX_COLUMNS) for line in _lines(column)]
    count, prior = estimator.class_count_, estimator.class_prior_
    lines = [
        _of_counts("rows", count, ("",) * len(more)),
        _line("prior", [f"{p:.4f}" for p in prior], spark(prior), ("",) * len(more)),
        *lines,
    ]
    head = (
        f"{path}: {estimator!r} of {summary.weight:,.10g} rows, "
        f"{n_columns:,} columns, {n_classes:,} classes"
    )
    header = _line("", map(str, classes[:_MAX_CLASSES].tolist()), "by class", more)
    sizes = (n_classes, _MAX_CLASSES, "classes"), (n_columns, _MAX_COLUMNS, "columns")
    hidden = [f"{size - shown:,} more {what}" for size, shown, what in sizes if size > shown]
    notes: list[Any] = [f"and {' and '.join(hidden)}: --json has all."] if hidden else []
    notes += _interactions(estimator)
    if (importance := _importance(estimator)) is not None:
        notes.append(importance)
    return [head, PrintedTable(title, header, tuple(lines)), *notes]


_MORE: Line = "family", "weight"
_TITLES = {  # by what is counted
    None: "mean ± standard deviation, or rows of each category or word",
    "occurrences": "counts of each column",
    "documents": "rows that have each column",
}


def as_dict(estimator: Any) -> dict[str, Any]:
    """Return all that is known, as JSON can hold it."""
    summary = estimator.summary_
    names = summary.schema.names
    classes = [
        {"label": label, "weight": weight, "prior": prior}
        for label, weight, prior in zip(
            estimator.classes_.tolist(),
            estimator.class_count_.tolist(),
            estimator.class_prior_.tolist(),
            strict=True,
        )
    ]
    found: dict[str, Any] = {
        "estimator": type(estimator).__name__,
        "params": params_as_text(estimator),
        "weight": summary.weight,
        "columns": None if names is None else list(names),
        "n_columns": summary.schema.n_columns,
        "classes": classes,
        "importance": None,
    }
    if (importance := _importance(estimator)) is not None:
        found["importance"] = importance.to_dict()
    if _has_gaussians(estimator):
        of_each = zip(classes, estimator.theta_.tolist(), estimator.var_.tolist(), strict=True)
        for its, mean, variance in of_each:
            its |= {"mean": mean, "variance": variance}
        return found
    found["terms"] = [_as_lists(column) for column in _columns(estimator)]
    together = getattr(estimator, "interactions_", [])
    return found | {"interactions": [_as_lists(term) for term in together]}


# --- inside -----------------------------------------------------------------------------------


def _importance(estimator: Any) -> Importance | None:
    """Return how important columns are; None where no sample of rows can judge them."""
    return getattr(estimator, "importance_", None)


def _interactions(estimator: Any) -> list[str]:
    """Write the interactions, a line for each term; none where there is nothing."""
    lines = []
    for term in getattr(estimator, "interactions_", []):
        columns = [str(name) for name in term["columns"]]
        if term["kind"] == "direction":
            few = list(term["loadings"].items())[:_MAX_LOADINGS]
            columns = [f"{name} {value:+.2g}" for name, value in few]
        more = len(term["columns"]) - len(columns[:_MAX_LOADINGS])
        shown = ", ".join(columns[:_MAX_LOADINGS]) + (f" and {more} more" if more else "")
        lines.append(f"  {term['kind']} of {shown}; weights {_weights(term['weights'])}")
    return ["\n".join(["Interactions:", *lines])] if lines else []


def _has_gaussians(estimator: Any) -> bool:
    return hasattr(type(estimator), "theta_")


def _names(summary: Summary) -> list[str]:
    schema = summary.schema
    return list(schema.names or [f"column {j}" for j in range(schema.n_columns)])


def _columns(estimator: Any, most: int | None = None) -> list[dict[str, Any]]:
    """Return what is known about each column: families, their weights, what was seen by class."""
    summary, terms = estimator.summary_, estimator.model_.by_column
    columns, scores = [], getattr(estimator, "family_scores_", {})
    for j, name in enumerate(_names(summary)[:most]):
        column = {
            "name": name,
            "kind": summary.schema.held[j],
            "families": list(dict.fromkeys(term.family.name for term, _ in terms[j])),
            "weights": np.array([term.weight[:, i] for term, i in terms[j]]),
        }
        if (chosen := scores.get(name if summary.schema.names else j)) is not None:
            column["scores"] = chosen
        is_text = column["kind"] is TEXT
        seen = _words(estimator.model_, terms[j]) if is_text else _seen(summary, j)
        columns.append(column | seen)
    return columns


def _family(column: dict[str, Any]) -> str:
    """Write the families of a column; of the best one, by how much it is better than the next.

    >>> _family({"families": ["gamma"], "scores": {"gamma": -1.5, "beta": -1.75, "gaussian": -2.0}})
    'gamma, by 0.25 over beta'
    """
    written = " and ".join(column["families"])
    best, *others = column.get("scores", {"": 0.0}).items()
    if not others:
        return written
    name, score = others[0]
    return f"{written}, by {best[1] - score:.2g} over {name}"


def _words(model: Any, terms: Any) -> dict[str, Any]:
    """Return how many words a column has, and those that speak most for each class."""
    term = terms[0][0]
    found = top_words(term, model.words[term.at], _MAX_WORDS)
    top = [
        [
            {"word": one.word, "contribution": one.contribution, "counts": one.counts.tolist()}
            for one in of_class
        ]
        for of_class in found
    ]
    return {"n_words": int((term.parameters.total > 0).sum()), "top_words": top}


def _seen(summary: Summary, j: int) -> dict[str, Any]:
    schema = summary.schema
    if schema.counted is not None:
        kind: Any = Occurrences if schema.counted == "occurrences" else Documents
        return {"counts": summary[kind].values[:, j]}
    if j in schema.numbers:
        weight, mean, m2, _ = summary.moments.values[:, :, schema.numbers.index(j)]
        variance = np.divide(m2, weight, out=np.full_like(m2, np.nan), where=weight > 0)
        return {"mean": np.where(weight > 0, mean, np.nan), "variance": variance}
    if j in schema.undecided:
        return {"categories": [], "rows": np.zeros((0, summary.classes.size))}
    place = schema.categories.index(j)
    return {"categories": summary.categories[place].tolist(), "rows": summary.tally(place).T}


def _as_lists(column: dict[str, Any]) -> dict[str, Any]:
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in column.items()}


def _lines(column: dict[str, Any]) -> list[Line]:
    """Return a line for a column, and one for each of its first categories or words."""
    name, more = column["name"], (_family(column), _weights(column["weights"]))
    if "counts" in column:
        return [_of_counts(name, column["counts"], more)]
    if "mean" in column:
        return [_of_numbers(name, column["mean"], column["variance"], more)]
    if "top_words" in column:
        words, of_each = f"{column['n_words']:,} words", column["top_words"]
        n_classes = len(of_each)
        firsts = [one for top in of_each for one in top[: max(1, _MAX_CATEGORIES // n_classes)]]
        counts = {one["word"]: np.array(one["counts"]) for one in firsts}
        parts = [*counts.items()][: 2 * _MAX_CATEGORIES]
    else:
        names, rows = column["categories"], column["rows"]
        words, n_classes = "", rows.shape[1]
        order = np.argsort(-rows.sum(axis=1), kind="stable")
        parts = [(names[k], rows[k]) for k in order[:_MAX_CATEGORIES].tolist()]
        if len(names) > _MAX_CATEGORIES:
            others = rows[order[_MAX_CATEGORIES:]].sum(axis=0)
            parts.append((f"{len(names) - _MAX_CATEGORIES:,} more", others))
    heading = _line(name, [words, *[""] * (n_classes - 1)], "", more)
    return [heading, *(_of_counts(f"  {part}", counts, ("", "")) for part, counts in parts)]


def _of_numbers(name: str, mean: NDArray[Any], variance: NDArray[Any], more: Line = ()) -> Line:
    pairs = zip(mean.tolist(), (variance**0.5).tolist(), strict=True)
    return _line(name, [_spread(*pair) for pair in pairs], spark(mean), more)


def _of_counts(name: str, counts: NDArray[Any], more: Line) -> Line:
    return _line(name, [f"{count:,.10g}" for count in counts.tolist()], spark(counts), more)


def _line(name: str, cells: Iterable[str], spark: str, more: Line) -> Line:
    return (name, *islice(cells, _MAX_CLASSES), spark, *more)


def _weights(weights: NDArray[Any]) -> str:
    """Write the weight of each family's term; the least and the greatest where classes differ."""
    if len(weights) > _MAX_WEIGHTS:
        return f"{weights.min():.2f}..{weights.max():.2f}"
    texts = []
    for term in weights:
        low, high = f"{np.min(term):.2f}", f"{np.max(term):.2f}"
        texts.append(low if low == high else f"{low}..{high}")
    return " and ".join(texts)


def spark(values: Any) -> str:
    """Draw numbers as bars: the lowest and the highest of them, and the others in between.

    >>> import numpy
    >>> spark(numpy.array([0.0, 1.0, 4.0, 7.0])), spark(numpy.array([3.0, 3.0]))
    ('▁▂▅█', '▄▄')
    >>> spark(numpy.array([1.0, numpy.nan, 2.0]))
    '▁ █'
    """
    present = values[~np.isnan(values)]
    low, high = float(present.min(initial=np.inf)), float(present.max(initial=-np.inf))
    if high <= low:
        return "▄" * min(values.size, _MAX_BARS)
    shares = (values[:_MAX_BARS] / 2 - low / 2) / (high / 2 - low / 2)
    return "".join(" " if x != x else _BARS[round(x * 7)] for x in shares.tolist())


def short(number: float) -> str:
    """Write a number with three significant digits, or as many as it has before the point.

    >>> [short(x) for x in (1422.3, 29.32, 0.018041, 0.0, 1.5e-7)]
    ['1422', '29.3', '0.0180', '0', '1.5e-07']
    """
    if number == 0 or not 1e-4 <= abs(number) < 1e7:
        return f"{number:.3g}"
    return f"{number:.{max(0, 2 - math.floor(math.log10(abs(number))))}f}"


def _spread(mean: float, deviation: float) -> str:
    """Write a mean with no fewer decimals than its standard deviation.

    >>> _spread(2024.51, 0.5), _spread(1e8, 1.0), _spread(80.04, 8.961)
    ('2024.510 ± 0.500', '100000000.00 ± 1.00', '80.04 ± 8.96')
    """
    text, beside = short(mean), short(deviation)
    places = len(beside.partition(".")[2])
    if "e" not in beside and places > len(text.partition(".")[2]) and abs(mean) < 1e12:
        text = f"{mean:.{places}f}"
    return f"{text} ± {beside}"
