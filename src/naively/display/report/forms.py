r"""The terms of a model as a page holds them: forms that the kernel adds up, and interactions.

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

A term of weight 0 in all classes has no form. Of interactions, directions have the numbers of their
families, pairs their tallies, the quadratic term its means and triangular factors. Kinds that a
page has no room for are left out, and named in ``left_out``.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.schema import Schema
from naively.data.types import Floats
from naively.display.plots.reading import textbook_of
from naively.families.forms import Form, FunctionSums, Lines, Pieces, Quadratics, Students, Tables
from naively.families.joint_forms import JointForms
from naively.model.interactions import Interactions
from naively.model.model import Model
from naively.model.terms import Term
from naively.tabular import plain

Described = dict[str, Any]

_ERROR = 1e-9  # twice what rounding may move a probability by
_LARGEST = 1.7e308  # JSON has no infinity
_IMPOSSIBLE = -1e9  # the term of a class that never had a category: JSON has no infinity
_POINTS = 257  # at which a family is looked at that the page does not know

_MAX_LOADINGS = 12  # that are drawn
_MAX_LETTERS = {"quadratic": 100_000, "pairs": 100_000, "directions": 150_000}


def terms_of(
    model: Model, columns: list[int], ranges: dict[int, tuple[float, float]]
) -> dict[int, list[Described]] | None:
    """Return the terms of some columns; None for the textbook's Gaussian, which needs none.

    The ranges of columns of numbers say where to look at a family that the page does not know.
    """
    if textbook_of(model) is not None and not model.is_weighted:
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


# --- interactions ---------------------------------------------------------------------------------


class PageInteractions:
    """What of a model's interactions is in a page, which holds the columns at some places."""

    def __init__(
        self, model: Model, at: list[int], named: dict[int, NDArray[np.intp]], names: list[str]
    ) -> None:
        self.schema: Schema = model.schema
        self.at, self.named, self.names = at, named, names
        self.described: Described | None = None
        self.left: JointForms | None = None  # what is not in the page
        self._form: JointForms | None = None
        if model.interactions is not None:
            self._form = model.interactions.form
            self.described = self._describe(model.interactions, self._form)

    def _describe(self, given: Interactions, form: JointForms) -> Described:
        numbers = self.schema.numbers
        features = zip(form.features.at, form.features.mean, form.features.scale, strict=True)
        parts = {
            "quadratic": self._quadratic(given),
            "pairs": self._pairs(given, form),
            "directions": self._directions(given, form),
        }
        wide = {
            kind
            for kind, part in parts.items()
            if len(json.dumps(plain(part))) > _MAX_LETTERS[kind]
        }
        self.left = JointForms(
            form.features,
            form.projection if "directions" in wide else None,
            form.computed if "directions" in wide else (),
            form.ellipsoids if "quadratic" in wide else None,
            form.grids if "pairs" in wide else None,
        )
        return {
            "features": [{"column": numbers[i], "mean": m, "scale": s} for i, m, s in features],
            "axes": self._axes(form),
            **{kind: None if kind in wide else part for kind, part in parts.items()},
            "left_out": sorted(wide),
        }

    def _quadratic(self, given: Interactions) -> Described | None:
        if given.quadratic is None:
            return None
        plain_weight = replace(given.quadratic, weight=np.ones_like(given.quadratic.weight)).form
        p = plain_weight.mean.shape[1]
        rows, columns = np.tril_indices(p)
        return {
            "A": plain_weight.A,
            "B": plain_weight.B,
            "s": plain_weight.s,
            "mean": plain_weight.mean,
            "factor": plain_weight.factor[:, rows, columns],
            "weight": given.quadratic.weight,
        }

    def _directions(self, given: Interactions, form: JointForms) -> list[Described]:
        if given.canonical is None or form.projection is None:
            return []
        projection = form.projection
        terms = direction_terms(given.canonical.terms, len(projection.start))
        levels = [
            (self.schema.categories[j], projection.tables.table(n))
            for n, j in enumerate(projection.columns)
            if projection.tables is not None
        ]
        return [
            {
                "start": start,
                "W": projection.W[:, r],
                "levels": [
                    {"column": j, "values": self._of_page(j, table[:, r])}
                    for j, table in levels
                    if j in self.named
                ],
                "loadings": self._loadings(given, r),
                "terms": terms[r],
            }
            for r, start in enumerate(projection.start)
        ]

    def _loadings(self, given: Interactions, r: int) -> list[Described]:
        """Return how much each column counts in a direction, that of the most first."""
        found = given.loadings(self.schema, range(self.schema.n_columns), r)
        most = list(found.items())[:_MAX_LOADINGS]
        return [{"name": self.names[j], "value": float(f"{value:.4g}")} for j, value in most]

    def _axes(self, form: JointForms) -> list[Described]:
        if form.grids is None:
            return []
        axes, schema = form.grids.axes, self.schema
        numbers = zip(axes.numbers, axes.knots, strict=True)
        categories = zip(axes.categories, axes.bins, strict=True)
        return [
            *({"column": schema.numbers[i], "knots": knots} for i, knots in numbers),
            *(
                {
                    "column": schema.categories[j],
                    "bins": self._of_page(schema.categories[j], bins.astype(np.float64)),
                    "n_bins": int(bins.max()) + 1,
                }
                for j, bins in categories
            ),
        ]

    def _pairs(self, given: Interactions, form: JointForms) -> list[Described]:
        if form.grids is None:
            return []
        return [
            {
                "a": a,
                "b": b,
                "alpha": pair.table.alpha,
                "weight": pair.weight,
                "counts": [_short(line.ravel()) for line in pair.table.tallies],
            }
            for pair, (a, b) in zip(given.pairs, form.grids.pairs.tolist(), strict=True)
        ]

    def _of_page(self, j: int, values: Floats) -> Floats | None:
        """Return values of categories in the order of the page, the last for all others."""
        named = self.named.get(j)
        return None if named is None else values[[*named, values.size - 1]]

    # --- single rows --------------------------------------------------------------------------

    def rest(self, numbers: Floats, codes: NDArray[np.int32], n_classes: int) -> Floats:
        """Return what the kinds that are not in the page add to rows, by class."""
        joint = np.zeros((len(numbers), n_classes))
        if self.left is not None:
            self.left.add(numbers, codes, joint)
        return joint

    def hidden(self, numbers: Floats, codes: NDArray[np.int32]) -> list[Described] | None:
        """Return what columns that are not in the page bring to interactions, row by row.

        That is the features of numbers, what categories add to directions, and places on axes.
        """
        form, schema = self._form, self.schema
        absent = set(range(schema.n_columns)).difference(self.at)
        if form is None or not absent:
            return None
        features = form.features.values(numbers, len(numbers))
        if features is None:
            return None
        away = np.array([schema.numbers[i] in absent for i in form.features.at], bool)
        along = np.zeros((len(numbers), 0))
        if form.projection is not None:
            kept = [j not in absent for j in schema.categories]
            only = np.where(kept, -1, codes).astype(np.int32)
            along = form.projection.values(np.zeros_like(features), only) - form.projection.start
        places = self._hidden_places(form, numbers, codes, absent)
        return [
            {
                "f": np.where(away, features[i], np.nan),
                "z": along[i],
                "axes": [column[i] for column in places],
            }
            for i in range(len(numbers))
        ]

    def _hidden_places(
        self, form: JointForms, numbers: Floats, codes: NDArray[np.int32], absent: set[int]
    ) -> list[list[list[float] | None]]:
        """Return of each axis the place of each row; None where the page knows it, or it is not."""
        if form.grids is None:
            return []
        axes, schema = form.grids.axes, self.schema
        found = []
        for i, knots in zip(axes.numbers, axes.knots, strict=True):
            x, own = numbers[:, i], schema.numbers[i] in absent
            at = np.interp(np.nan_to_num(x), knots, np.arange(knots.size))
            found.append(
                [[a] if own and v == v else None for a, v in zip(at.tolist(), x, strict=True)]
            )
        for j, bins in zip(axes.categories, axes.bins, strict=True):
            own = schema.categories[j] in absent
            found.append([[float(bins[c])] if own and c >= 0 else None for c in codes[:, j]])
        return found


def _short(line: Floats) -> list[float | int]:
    """Write whole numbers without a point."""
    return [int(v) if v == int(v) else float(v) for v in line]
