r"""The terms of a model as a page holds them: the forms that the kernel adds up, by column.

.. math:: \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k)

Each term has the name of its family, its weight by class, and the numbers of its form, by which
the page computes :math:`\log f_t` with a few lines of its own:

=========== ====================================================================================
students    ``A - B log(1 + s^2 (x - mu)^2)``
quadratics  ``A - B (x - mu)^2``
pieces      values at knots, straight lines between, flat beyond
table       a value for each category, the last for all others
line        ``a + b x``
functions   a sum of parts, each a form of a function of x, such as its logarithm
counts      ``a + b x - log(x!)`` for x of 0 and more, and log Gamma(x + r) / Gamma(r) if r is given
=========== ====================================================================================

A term of weight 0 in all classes has no form.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naively.families.forms import Form, FunctionSums, Lines, Pieces, Quadratics, Students, Tables
from naively.families.gaussian import GaussianParameters
from naively.model.model import Model
from naively.model.terms import Term

Described = dict[str, Any]

_ERROR = 1e-9  # twice what rounding may move a probability by
_LARGEST = 1.7e308  # JSON has no infinity
_IMPOSSIBLE = -1e9  # the term of a class that never had a category: JSON has no infinity
_POINTS = 257  # at which a family is looked at that the page does not know


def gaussians_of(model: Model) -> GaussianParameters | None:
    """Return mean and variance by class and column; None where there are other families, too."""
    found = [term.parameters for term in model.terms]
    return found[0] if len(found) == 1 and isinstance(found[0], GaussianParameters) else None


def terms_of(
    model: Model, columns: list[int], ranges: dict[int, tuple[float, float]]
) -> dict[int, list[Described]] | None:
    """Return the terms of some columns; None for the textbook's Gaussian, which needs none.

    The ranges of columns of numbers say where to look at a family that the page does not know.
    """
    if gaussians_of(model) is not None and not model.is_weighted:
        return None
    return _terms(model.terms, lambda term: term.columns, set(columns), ranges)


def direction_terms(terms: Sequence[Term], n_directions: int) -> list[list[Described]]:
    """Return the terms of each direction: columns that are computed."""
    found = _terms(terms, lambda term: term.at, set(range(n_directions)), {}, more=1)
    return [found[i] for i in range(n_directions)]


def _terms(
    terms: Sequence[Term],
    places_of: Callable[[Term], Sequence[int]],
    wanted: set[int],
    ranges: dict[int, tuple[float, float]],
    more: int = 0,
) -> dict[int, list[Described]]:
    """Return the terms that are wanted by their places, with so many more decimals."""
    found: dict[int, list[Described]] = defaultdict(list)
    for term in terms:
        here = [(i, j) for i, j in enumerate(places_of(term)) if j in wanted]
        form = term.unweighted_form if here else None
        for i, j in here:
            weight = term.weight[:, i]
            numbers = _written(term, form, i, ranges.get(j)) if weight.any() else {}
            found[j].append({"family": term.family.name, "weight": weight, **numbers})
    _round(found, more)
    return found


def _round(found: dict[int, list[Described]], more: int) -> None:
    """Keep as many decimals as no probability needs more of.

    With terms off by half a unit of the last decimal, and by twice that where they are centred, a
    probability is off by that unit times half the sum of the weights at most.
    """
    rounded = [term for terms in found.values() for term in terms if "values" in term]
    weight = sum(float(np.abs(term["weight"]).max()) for term in rounded)
    decimals = math.ceil(math.log10(max(1.0, weight) / _ERROR)) + more
    for term in rounded:
        term["values"] = term["values"].round(decimals)


def _written(
    term: Term, form: Form | None, i: int, within: tuple[float, float] | None
) -> Described:
    """Return the numbers of a form; of one that the page does not know, a table of its values."""
    write = _FORMS.get(type(form))
    return _looked_at(term, i, within) if write is None else write(form, i)


def _students(form: Students, i: int) -> Described:
    return {"form": "students", "A": form.A[i], "B": form.B[i], "mu": form.mu[i], "s": form.s[i]}


def _quadratics(form: Quadratics, i: int) -> Described:
    with np.errstate(over="ignore"):
        B = form.B[i] if form.s is None else np.minimum(form.B[i] * form.s[i] ** 2, _LARGEST)
    return {"form": "quadratics", "A": form.A[i], "B": B, "mu": form.mu[i]}


def _lines(form: Lines, i: int) -> Described:
    """Return a line; what is the same for all classes would be missing from a picture of counts."""
    counts = form.carrier is not None
    if not (form.A[i].any() or form.B[i].any()):
        return {}
    size = {} if form.size is None else {"r": form.size[i]}
    return {"form": "counts" if counts else "line", "a": form.A[i], "b": form.B[i], **size}


def _functions(form: FunctionSums, i: int) -> Described:
    """Return a form for each function."""
    parts = [
        {"of": name, "period": period, **_FORMS[type(part)](part, i)}
        for name, period, part in form.parts
    ]
    return {"form": "functions", "parts": [part for part in parts if "form" in part]}


def _pieces(form: Pieces, i: int) -> Described:
    knots, values = form.knots[i], form.values[i]
    kept = np.ones(knots.size, dtype=bool)  # a bin without cells repeats the one before
    kept[1:] = (knots[1:] != knots[:-1]) | (values[1:] != values[:-1]).any(axis=1)
    return {"form": "pieces", "knots": knots[kept], "values": values[kept].T}


def _table(form: Tables, i: int) -> Described:
    return {"form": "table", "values": np.maximum(form.table(i).T, _IMPOSSIBLE)}


def _looked_at(term: Term, i: int, within: tuple[float, float] | None) -> Described:
    points = np.linspace(*(within or (0.0, 1.0)), _POINTS)
    values = term.log_density_of(i, points)
    return {"form": "pieces", "knots": points, "values": values.T, "approximate": True}


_FORMS: dict[type, Callable[..., Described]] = {
    Students: _students,
    Quadratics: _quadratics,
    Lines: _lines,
    Pieces: _pieces,
    Tables: _table,
    FunctionSums: _functions,
}
