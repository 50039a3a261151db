"""What an engine asks of a fitted estimator, which it need not import."""

from __future__ import annotations

from typing import Any, Protocol, Self

from numpy.typing import NDArray

from naively.model.model import Model
from naively.statistics.summary import Summary


class Classifier(Protocol):
    """A fitted estimator of naively's."""

    n_jobs: int | None
    state_: Any  # of which an engine reads the type of its answers

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""

    @property
    def summary_(self) -> Summary:
        """What it has learned from."""

    @property
    def model_(self) -> Model:
        """What was read off that."""

    def predict(self, X: Any) -> Any:
        """Return the label of each row."""

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class."""

    def predict_joint_log_proba(self, X: Any) -> Any:
        """Return log p(x, k)."""

    def to_sql(self, table: str, *, dialect: str = "duckdb", **options: Any) -> str:
        """Return one SELECT that scores a table inside its database."""

    def __naively_snapshot__(self, **params: Any) -> Self:
        """Return an estimator of the present state, which what is learned later does not change."""
