"""Tables of numbers and categories, measured block by block of rows.

>>> import pandas
>>> frame = pandas.DataFrame({"age": [30.0, 40.0, None], "town": ["Ulm", "Bonn", "Ulm"]})
>>> summary = summarize(frame, ["no", "yes", "no"])
>>> summary.categories, summary.tally(0)
((array(['Bonn', 'Ulm'], dtype='<U4'),), array([[0., 2.],
       [1., 0.]]))
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from naively.engines.arrays import as_weights
from naively.engines.tables import kinds_of, kinds_under, read
from naively.labels import encode
from naively.measure import measure
from naively.rows import Targets
from naively.schema import Schema
from naively.summary import Summary

__all__ = ["decided", "summarize"]


def summarize(
    X: Any,
    y: ArrayLike,
    *,
    schema: Schema | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Summary:
    """Summarize the rows of a table of numbers and categories by their labels.

    Parameters
    ----------
    X : data frame or array
        Text, booleans and a frame's own categories are categories; the rest must be numbers.
    y : array-like of shape (n_rows,)
        Labels.
    schema : Schema, optional
        What to measure, where it has been agreed upon; by default, what the table's types say.
    sample_weight : array-like of shape (n_rows,), optional
        Weights, finite and >= 0; weight 0 is the same as leaving the row out.
    n_jobs : int, optional
        Threads; None for all cores where there is enough to do.
    """
    schema = decided(X, schema)
    targets = Targets(*encode(y), as_weights(sample_weight))
    return measure(read(X, schema), targets, schema, n_jobs=n_jobs)


def decided(X: Any, agreed: Schema | None = None) -> Schema:
    """Return what a table's types say; of an agreed schema, they decide what is undecided."""
    if agreed is None:
        names, kinds = kinds_of(X)
        return Schema(len(kinds), names, kinds)
    if not agreed.undecided:
        return agreed
    kinds = kinds_under(X, agreed)
    return agreed.decided(kinds)
