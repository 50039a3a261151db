"""The interactions of a model as a page holds them: its scripts compute the same terms from these.

Directions have the numbers of their families, pairs their tallies, the quadratic term its means and
triangular factors. Kinds that a page has no room for are left out, and named in ``left_out``.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from naively.data.schema import Schema
from naively.data.types import Floats
from naively.display.report.forms import Described, direction_terms
from naively.families.joint_forms import JointForms
from naively.model.interactions import Interactions
from naively.model.model import Model
from naively.tabular import plain

_MAX_LOADINGS = 12  # that are drawn
_MAX_LETTERS = {"quadratic": 100_000, "pairs": 100_000, "directions": 150_000}


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
