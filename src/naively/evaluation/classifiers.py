"""scikit-learn's classifiers by short names, ready for any table.

>>> classifier("logistic", [[1.0, "Ulm"], [2.0, "Bonn"]])[-1]
LogisticRegression(max_iter=2000)
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from naively.data.kinds import TEXT
from naively.data.schema import Schema
from naively.data.sparse import is_sparse
from naively.engines.memory.tables import schema_of, text_column
from naively.errors import NaivelyError
from naively.evaluation.inputs import check_classifier
from naively.evaluation.peers import GaussianNB
from naively.evaluation.table_matrix import TableMatrix


def _linear(estimator: Any) -> Callable[[Schema | None], Any]:
    return lambda schema: make_pipeline(TableMatrix(schema), estimator)


def _trees(estimator: Any) -> Callable[[Schema | None], Any]:
    return lambda schema: make_pipeline(TableMatrix(schema, for_trees=True), estimator)


def _boosting(schema: Schema | None) -> Any:
    boosting = HistGradientBoostingClassifier(random_state=0)
    if schema is None:
        return make_pipeline(FunctionTransformer(_dense, accept_sparse=True), boosting)
    first = len(schema.numbers)
    boosting.set_params(categorical_features=list(range(first, first + len(schema.categories))))
    return make_pipeline(TableMatrix(schema, for_trees=True), boosting)


CLASSIFIERS: dict[str, Callable[[Schema | None], Any]] = {
    "logistic": _linear(LogisticRegression(max_iter=2000)),
    "hgb": _boosting,
    "forest": _trees(RandomForestClassifier(200, random_state=0)),
    "tree": _trees(DecisionTreeClassifier(random_state=0)),
    "knn": _linear(KNeighborsClassifier()),
    "gaussian": lambda schema: GaussianNB(),
    "dummy": lambda schema: DummyClassifier(strategy="prior"),
}


def classifier(wanted: Any, X: Any) -> Any:
    """Return a classifier, given as one or by its name, that reads such a table."""
    if not isinstance(wanted, str):
        check_classifier(wanted)
        return wanted
    if wanted not in CLASSIFIERS:
        close = get_close_matches(wanted, CLASSIFIERS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise NaivelyError(
            f"a classifier must be one of {', '.join(CLASSIFIERS)}, or an object of "
            f"scikit-learn's; got {wanted!r}.{hint}"
        )
    return CLASSIFIERS[wanted](None if is_sparse(X) else _schema(X))


def _schema(X: Any) -> Schema:
    column = text_column(X, None)
    return schema_of(X) if column is None else schema_of(column, given={_only(column): TEXT})


def _only(column: Any) -> Any:
    """Return the name of a table's only column, or its place."""
    return getattr(column, "columns", [0])[0]


def _dense(X: Any) -> Any:
    return X.toarray()
