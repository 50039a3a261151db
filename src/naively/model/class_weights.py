r"""Class weights: what moves the class probabilities, and nothing else.

.. math:: p'(k) = \frac{c_k \, p(k)}{\sum_l c_l \, p(l)}

where :math:`c_k` is the weight of class k. ``"balanced"`` has :math:`c_k = 1 / p(k)`, so that all
classes that have rows are equally probable. A class of weight 3 counts as if each of its rows were
there three times, which leaves the densities of its columns as they are.

>>> weighted_prior(np.array([0.9, 0.1]), {"sick": 4.5}, np.array(["fine", "sick"])).tolist()
[0.6666666666666666, 0.3333333333333333]
>>> weighted_prior(np.array([0.9, 0.1, 0.0]), "balanced", np.array(["a", "b", "c"])).tolist()
[0.5, 0.5, 0.0]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively.data.labels import listed, quoted
from naively.data.types import Floats
from naively.errors import NaivelyError


def weighted_prior(prior: Floats, class_weight: Any, classes: NDArray[Any]) -> Floats:
    """Return class probabilities, classes first, moved by weights of the classes."""
    if class_weight is None:
        return prior
    if isinstance(class_weight, str):
        moved = (prior > 0).astype(np.float64)
    else:
        weight = _weights(class_weight, classes)
        moved = prior * weight.reshape(-1, *[1] * (prior.ndim - 1))
    total = moved.sum(axis=0)
    if not np.all(total > 0):
        raise NaivelyError(
            f"class_weight must leave a class that has rows with a weight above 0; got "
            f"{class_weight!r}."
        )
    moved /= total
    return moved


def check_class_weight(class_weight: Any, priors: Any, classes: NDArray[Any] | None = None) -> None:
    """Raise where weights contradict the priors that are given, or name no such classes."""
    if class_weight is None:
        return
    if isinstance(class_weight, str):
        if priors is not None:
            raise NaivelyError(
                'class_weight="balanced" makes all classes equally probable, and priors say how '
                "probable they are: give one of the two."
            )
    elif classes is not None:
        _weights(class_weight, classes)


def numbers_by_class(
    what: str, given: Mapping[Any, Any], classes: NDArray[Any], absent: float | None = None
) -> Floats:
    """Return a number for each class from a dict by label: all of them, unless some may be absent.

    >>> numbers_by_class("priors", {"b": 0.9, "a": 0.1}, np.array(["a", "b"])).tolist()
    [0.1, 0.9]
    """
    labels = listed(classes)
    strange = [label for label in given if label not in set(labels)]
    needed, which = (max, "each class") if absent is None else (min, "classes")
    if len(given) - len(strange) < needed(len(labels), len(given)):
        raise NaivelyError(
            f"{what} must name {which} of the data ({quoted(classes)}); got "
            f"{', '.join(map(repr, strange or given)) or 'none'}."
        )
    return as_numbers(what, [given.get(label, absent) for label in labels])


def as_numbers(what: str, values: Any) -> Floats:
    """Return one number for each class as float64, or raise."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise NaivelyError(
            f"{what} must hold a number for each class, in an array or in a dict by label; got "
            f"{values!r}."
        ) from None


def _weights(given: Any, classes: NDArray[Any]) -> Floats:
    """Return the weight of each class: 1 where none is given, as in scikit-learn."""
    weights = numbers_by_class("class_weight", given, classes, absent=1.0)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        at = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
        raise NaivelyError(
            f"a class weight must be finite and >= 0; got {weights[at]} for class "
            f"{classes[at].item()!r}."
        )
    return weights
