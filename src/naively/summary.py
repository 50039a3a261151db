"""The value everything else is read off.

    Data becomes a `Summary`. Summaries add. Models are read off a `Summary`.

A `Schema` says what is measured, a `Summary` what was measured under it: class labels, the
weight of each class, and the moments of every column in every class. Nothing derived is kept,
no smoothing and no prior, so two halves add up to the whole.

Examples
--------
>>> import numpy as np
>>> from naively.engines.arrays import summarize
>>> X, y = np.array([[0.0], [2.0], [4.0]]), np.array(["a", "a", "b"])
>>> whole = summarize(X, y)
>>> whole.classes, whole.class_weight
(array(['a', 'b'], dtype='<U1'), array([2., 1.]))
>>> summarize(X[:1], y[:1]) + summarize(X[1:], y[1:]) == whole
True
>>> (whole - summarize(X[2:], y[2:])).class_weight
array([2., 0.])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from naively import labels
from naively.exceptions import NaivelyError
from naively.stats import Moments

__all__ = ["Schema", "Summary"]


@dataclass(frozen=True)
class Schema:
    """What is measured.

    Parameters
    ----------
    n_columns : int
        How many columns.
    names : tuple of str, or None
        What they are called; None where the data has no names (an array).
    """

    n_columns: int
    names: tuple[str, ...] | None = None

    def name(self, j: int) -> str:
        """Name column j for a message.

        >>> Schema(2).name(1), Schema(1, ("age",)).name(0)
        ('column 1', "column 'age'")
        """
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def united(self, other: Schema) -> Schema:
        """Return the schema both share, or raise. Names meet no names."""
        if self is other or self == other:
            return self
        if self.n_columns != other.n_columns:
            raise NaivelyError(
                f"summaries must have the same columns; got {self.n_columns} and "
                f"{other.n_columns} of them. Summaries that will be added share a schema."
            )
        if self.names is not None and other.names is not None:
            a, b = next((a, b) for a, b in zip(self.names, other.names, strict=True) if a != b)
            raise NaivelyError(
                f"summaries must have the same columns in the same order; got {a!r} and {b!r}. "
                "Summaries that will be added share a schema."
            )
        return self if self.names is not None else other


@dataclass(frozen=True, eq=False)
class Summary:
    """What was measured: it adds, subtracts and scales.

    Laws, each a test of the same name::

        a + zero == a == zero + a            exactly
        a + b ~ b + a,  (a + b) + c ~ a + (b + c)
        summarize(A) + summarize(B) ~ summarize(A and B)
        (a + b) - b ~ a;  a - a == zero
        2 * a ~ a + a;  0 * a == zero

    ``+`` unites the classes; one that a side lacks is untouched, bit for bit. ``-`` raises
    where a weight would go below zero, and keeps classes that became empty.

    Attributes
    ----------
    schema : Schema
        The columns.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_weight : ndarray of shape (n_classes,)
        The weight of the rows of each class: their number, if they are not weighted.
    moments : Moments of shape (n_classes, n_columns)
        Of the cells that are present.
    """

    schema: Schema
    classes: NDArray[Any]
    class_weight: NDArray[np.float64]
    moments: Moments

    def __post_init__(self) -> None:
        self.classes.flags.writeable = False
        self.class_weight.flags.writeable = False

    @classmethod
    def zero(cls, schema: Schema, classes: NDArray[Any] | None = None) -> Summary:
        """Nothing seen, of classes that may be declared beforehand."""
        if classes is None:
            classes = np.array([], dtype=np.int64)
        n_classes = classes.size
        return cls(schema, classes, np.zeros(n_classes), Moments.zero(n_classes, schema.n_columns))

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return float(self.class_weight.sum())

    def __add__(self, other: Summary) -> Summary:
        schema = self.schema.united(other.schema)
        classes = labels.union(self.classes, other.classes)
        a, b = self._spread(classes), other._spread(classes)
        return Summary(schema, classes, a.class_weight + b.class_weight, a.moments + b.moments)

    def __sub__(self, other: Summary) -> Summary:
        schema = self.schema.united(other.schema)
        classes = labels.union(self.classes, other.classes)
        a, b = self._spread(classes), other._spread(classes)
        rest = a.class_weight - b.class_weight
        rounding = np.where(rest > 0, 8 * np.finfo(float).eps, 1e-10)  # as the kernel's
        rest[np.abs(rest) <= rounding * a.class_weight] = 0.0
        if (rest < 0).any():
            k = int(np.argmax(rest < 0))
            raise NaivelyError(
                f"cannot subtract: class {classes[k].item()!r} would have weight {rest[k]}. "
                "Subtract only what was added to this summary."
            )
        kept = labels.positions(self.classes, classes)
        moments = a.moments - b.moments
        return Summary(schema, self.classes, rest[kept], moments[kept])

    def __mul__(self, factor: float) -> Summary:
        moments = self.moments * factor  # raises for a factor that is no factor
        return Summary(self.schema, self.classes, self.class_weight * factor, moments)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Summary)
            and self.schema == other.schema
            and np.array_equal(self.classes, other.classes)
            and np.array_equal(self.class_weight, other.class_weight)
            and self.moments == other.moments
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<Summary of weight {self.weight:g}: {self.schema.n_columns} columns, "
            f"{self.classes.size} classes ({labels.quoted(self.classes)})>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        copies = np.array(self.classes), np.array(self.class_weight)
        return Summary, (self.schema, *copies, self.moments)

    def _spread(self, classes: NDArray[Any]) -> Summary:
        """Make room for classes that were not seen."""
        if classes is self.classes:
            return self
        at = labels.positions(self.classes, classes)
        weight = np.zeros(classes.size)
        weight[at] = self.class_weight
        values = np.zeros((3, classes.size, self.schema.n_columns))
        values[:, at] = self.moments.values
        return Summary(self.schema, classes, weight, Moments(values))
