"""Predictions for a table inside a database: an Ibis table of the same database.

>>> import ibis
>>> from naively import GaussianNB, summarize
>>> people = ibis.memtable({"height": [1.6, 1.7, 1.8, 1.9], "sex": ["f", "f", "m", "m"]})
>>> model = GaussianNB.from_summary(summarize(people, target="sex"))
>>> predict(model, people, label="guess").filter(lambda t: t.guess != t.sex).count().execute()
0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from naively.engines import Classifier
from naively.engines.dialects import Spelling, column_names, share_names
from naively.engines.memory.columns import find
from naively.engines.sql.tables import check_table, dialect_of, view, with_known_parts

_TYPES = {
    "U": "string",
    "O": "string",
    "i": "int64",
    "u": "uint64",
    "b": "boolean",
    "f": "float64",
}


def predict(
    model: Classifier,
    table: Any,
    *,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    label: str = "prediction",
    proba: bool = False,
    dialect: str | None = None,
) -> Any:
    """Return an Ibis table with the label of each row, computed when it is executed.

    It can be filtered, joined, counted or written to another table of the database, by Ibis, and
    no row leaves it.

    Parameters
    ----------
    model : estimator
        Fitted.
    table : ibis Table
        Any table expression with the model's columns. NULL and NaN are missing cells, whose term
        is left out.
    columns : sequence of str, optional
        What the table calls the model's columns; None for the names that the model knows.
    keep : sequence of str, optional
        Columns of the table to pass on; None for all.
    label : str, default="prediction"
        What to call the predicted label. Ties go to the first class.
    proba : bool, default=False
        Whether to add ``p_<label>`` for each class, as `to_sql` does.
    dialect : str, optional
        The SQL dialect; None for that of the database that holds the table.

    Notes
    -----
    The query is that of `naively.export.to_sql`, whose notes hold here, too. Spark takes
    one model's predictions in a query, not those of two.
    """
    check_table(table)
    dialect = dialect_of(table) if dialect is None else dialect
    kept = list(table.columns if keep is None else (keep,) if isinstance(keep, str) else keep)
    known = model.summary_.schema
    table, columns = with_known_parts(table, columns, known)
    for name in column_names(known, columns):
        find(name, table.columns)
    kinds = table.schema()
    schema = {name: kinds[find(name, table.columns)] for name in kept}
    schema[label] = _type_of(model.classes_)
    if proba:
        schema |= dict.fromkeys(share_names(model.classes_), "float64")
    options: dict[str, Any] = {"columns": columns, "keep": kept, "label": label, "proba": proba}
    quoted = Spelling(dialect).name

    def query(name: str) -> str:
        return model.to_sql(quoted(name), dialect=dialect, **options)

    return view(table, query, schema)


def _type_of(classes: NDArray[Any]) -> str:
    """Return the type of labels; those that cannot be written are an error of the query."""
    if classes.dtype.kind == "u" and classes.max(initial=0) < 2**63:
        return "int64"
    return _TYPES.get(classes.dtype.kind, "string")
