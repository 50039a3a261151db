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
counts      ``a + b x - log(x!)`` for x of 0 and more
=========== ====================================================================================

A term of weight 0 in all classes has no form.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.estimators.naive_model import Block, NaiveModel
from naively.families.bernoulli import Bernoulli
from naively.families.forms import Pieces, Quadratics, Students, Tables, Terms
from naively.families.gaussian import Gaussian
from naively.families.poisson import Poisson

__all__ = ["bias_of", "terms_of"]

Floats = NDArray[np.float64]
Described = dict[str, Any]

_ERROR = 1e-9  # twice what rounding may move a probability by
_IMPOSSIBLE = -1e9  # the term of a class that never had a category: JSON has no infinity
_POINTS = 257  # at which a family is looked at that the page does not know


def bias_of(model: Any) -> Floats | None:
    """Return what calibration adds to each class; None where there is none."""
    calibration = getattr(model, "calibration", None)
    return None if calibration is None or not calibration.bias.any() else calibration.bias


def terms_of(
    model: Any, columns: list[int], ranges: dict[int, tuple[float, float]]
) -> dict[int, list[Described]] | None:
    """Return the terms of some columns; None for the textbook's Gaussian, which needs none.

    Parameters
    ----------
    model : NaiveModel or GaussianModel
        What was read off a summary.
    columns : list of int
        Which columns.
    ranges : dict
        The least and the most of columns of numbers: where to look at a family that the page
        does not know.
    """
    if not isinstance(model, NaiveModel):
        return None if model.calibration is None else _of_gaussian(model, columns)
    found: dict[int, list[Described]] = defaultdict(list)
    start, wanted = 0, set(columns)
    for block in model.blocks:
        weight = model.calibration.weight[:, start : start + len(block.columns)]
        start += len(block.columns)
        here = [i for i, j in enumerate(block.columns) if j in wanted]
        if not here:
            continue
        form = block.family.form(block.parameters, np.ones(weight.shape))
        for i in here:
            j = block.columns[i]
            said = _written(block, form, i, ranges.get(j)) if weight[:, i].any() else {}
            found[j].append({"family": block.family.name, "weight": weight[:, i], **said})
    _round(found)
    return found


def _round(found: dict[int, list[Described]]) -> None:
    """Keep as many decimals as no probability needs more of.

    With terms off by half a unit of the last decimal, and by twice that where they are centred, a
    probability is off by that unit times half the sum of the weights at most.
    """
    rounded = [term for terms in found.values() for term in terms if "values" in term]
    weight = sum(float(np.abs(term["weight"]).max()) for term in rounded)
    decimals = math.ceil(math.log10(max(1.0, weight) / _ERROR))
    for term in rounded:
        term["values"] = term["values"].round(decimals)


def _of_gaussian(model: Any, columns: list[int]) -> dict[int, list[Described]]:
    weight = model.calibration.weight
    form = Gaussian().quadratics(model.parameters, np.ones(weight.shape))
    return {
        j: [{"family": "gaussian", "weight": weight[:, j], **_quadratics(form, j)}] for j in columns
    }


def _written(block: Block, form: Any, i: int, within: tuple[float, float] | None) -> Described:
    """Return the numbers of a form; of one that the page does not know, a table of its values."""
    if isinstance(form, Terms):
        write = _FAMILIES.get(type(block.family))
        return _looked_at(block, i, within) if write is None else write(block, i)
    write = _FORMS.get(type(form))
    return _looked_at(block, i, within) if write is None else write(form, i)


def _students(form: Students, i: int) -> Described:
    return {"form": "students", "A": form.A[i], "B": form.B[i], "mu": form.mu[i], "s": form.s[i]}


def _quadratics(form: Quadratics, i: int) -> Described:
    return {"form": "quadratics", "A": form.A[i], "B": form.B[i], "mu": form.mu[i]}


def _pieces(form: Pieces, i: int) -> Described:
    knots, values = form.knots[i], form.values[i]
    kept = np.ones(knots.size, dtype=bool)  # a bin without cells repeats the one before
    kept[1:] = (knots[1:] != knots[:-1]) | (values[1:] != values[:-1]).any(axis=1)
    return {"form": "pieces", "knots": knots[kept], "values": values[kept].T}


def _table(form: Tables, i: int) -> Described:
    rows = slice(form.offsets[i], form.offsets[i + 1])
    return {"form": "table", "values": np.maximum(form.values[rows].T, _IMPOSSIBLE)}


def _line(block: Block, i: int) -> Described:
    zero, one = _at(block, i, np.array([0.0, 1.0]))
    return {"form": "line", "a": zero, "b": one - zero}


def _counts(block: Block, i: int) -> Described:
    # -log 1! = -log 0! = 0; a column that never had a count above 0 says nothing at all
    zero, one = _at(block, i, np.array([0.0, 1.0]))
    return {"form": "counts", "a": zero, "b": one - zero} if zero.any() else {}


def _looked_at(block: Block, i: int, within: tuple[float, float] | None) -> Described:
    low, high = within or (0.0, 1.0)
    points = np.linspace(low, high, _POINTS)
    values = _at(block, i, points)
    return {"form": "pieces", "knots": points, "values": values.T, "approximate": True}


def _at(block: Block, i: int, x: Floats) -> Floats:
    """Return what a family says of some cells of its i-th column, of shape (n, n_classes)."""
    cells = np.full((x.size, len(block.columns)), np.nan)
    cells[:, i] = x
    return block.family.log_density(cells, block.parameters)[:, :, i]


_FORMS: dict[type, Callable[..., Described]] = {
    Students: _students,
    Quadratics: _quadratics,
    Pieces: _pieces,
    Tables: _table,
}
_FAMILIES: dict[type, Callable[..., Described]] = {Bernoulli: _line, Poisson: _counts}
