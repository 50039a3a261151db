r"""Categorical naive Bayes with scikit-learn's interface: the discrete naive Bayes of the theory.

.. math::

    \hat y = \arg\max_k \Big[ \log p(k) + \sum_j \log \frac{w_{kjc} + \alpha}{w_{kj} + \alpha n_j}
    \Big], \qquad c = x_j

where :math:`w_{kjc}` is the weight of category c of column j in class k, :math:`w_{kj}` that of all
its categories, and :math:`n_j` their number.

Codes 0, 1, 2, ... as the categories of columns: how many there are, and their shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from naively import _kernel
from naively.data.kinds import CATEGORY
from naively.data.labels import quoted
from naively.data.rows import Rows, Targets
from naively.data.schema import Schema
from naively.data.threads import block_slices, map_blocks
from naively.errors import NaivelyError
from naively.estimators.estimator import SummaryClassifier
from naively.estimators.measurement import Checked, check_codes, summarized, whole_codes
from naively.estimators.parameters import Interval, by_name, large_enough
from naively.families.categorical import Categorical, CategoricalPrior
from naively.families.family import Family
from naively.model.model import Model
from naively.model.scorer import check_not_negative
from naively.statistics import Sample
from naively.statistics.measure import checked_weights, measure
from naively.statistics.summary import Summary

if TYPE_CHECKING:
    from naively.engines.files import SchemaFromFirstRows


class CategoricalNB(SummaryClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Naive Bayes for integer codes of categories: a drop-in replacement for scikit-learn's.

    A category that was never seen gets the share that smoothing gives it, where scikit-learn raises
    an error. NaN is a missing cell, whose term is left out. For columns of strings use
    `NaiveBayes`.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive (Laplace) smoothing; 0 for no smoothing.
    force_alpha, fit_prior, class_prior, class_weight
    min_categories : int or array-like of shape (n_features,), default=None
        Minimum number of categories of each column, even if not all of them occur in the data.
    decay, window, open_classes, n_jobs

    Attributes
    ----------
    summary_, model_, classes_
    category_count_ : list of arrays of shape (n_classes, n_categories of the column)
        Weights of the categories.
    class_count_, class_log_prior_
    feature_log_prob_ : list of arrays of shape (n_classes, n_categories of the column)
        Logarithms of the smoothed shares.
    n_categories_ : ndarray of shape (n_features,)
        How many categories each column has.
    n_features_in_

    Examples
    --------
    >>> from naively import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [1, 1], [2, 0]], ["a", "a", "b"])
    >>> model.predict([[0, 1], [2, 7]])  # no 7 was ever seen
    array(['a', 'b'], dtype='<U1')
    """

    public_name = "CategoricalNB"
    _alone = CATEGORY

    @by_name(alpha=[Interval(Real, 0)])
    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | Mapping[Any, float] | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        min_categories: ArrayLike | None = None,
        decay: float = 1.0,
        window: int | None = None,
        open_classes: bool = False,
        n_jobs: int | None = None,
    ) -> None: ...

    def files_schema(self) -> SchemaFromFirstRows:
        """Raise: files are read by `NaiveBayes`, whose categories need no codes."""
        raise NaivelyError(
            "CategoricalNB learns from codes in memory. For files, use NaiveBayes.from_files with "
            'families={"column": "categorical"} where a column holds numbers.'
        )

    @property
    def category_count_(self) -> list[NDArray[np.float64]]:
        """Weights of the categories, by column."""
        return [term.statistic for term in self.model_.terms]

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """Logarithms of the class probabilities."""
        return self.model_.log_prior

    @property
    def feature_log_prob_(self) -> list[NDArray[np.float64]]:
        """Logarithms of the smoothed shares, by column."""
        return [term.parameters.log_share[:, :-1] for term in self.model_.terms]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """How many categories each column has."""
        return np.array([codes.size for codes in self.model_.vocabularies], dtype=np.int64)

    # --- inside -------------------------------------------------------------------------------

    def _cell(self, cell: Any, name: str) -> float:
        code = np.trunc(super()._cell(cell, name))
        if code < 0:
            raise NaivelyError(f"{name} must hold codes 0, 1, 2, ...; got {cell!r}.")
        check_sizes(np.array([np.nan_to_num(code) + 1]), Schema(1, (name[8:-1],)))
        return float(code)

    def _kernel_rows(self) -> Any:
        given = self.class_prior, self.class_weight, self.min_categories
        alpha = self.alpha if self.force_alpha else large_enough(self.alpha)
        if any(one is not None for one in given) or not 1e-10 <= alpha <= 1e10:
            return None
        return _kernel.code_stream(float(alpha), self.fit_prior, self.decay, self.window or 0)

    def _table(self, numbers: NDArray[Any]) -> Rows:
        codes = whole_codes(numbers)
        return Rows(codes.shape, [], codes)

    def check_rows(self, X: Any, known: Schema | None = None) -> Checked:
        """Return rows of codes as the kernel reads them."""
        if isinstance(X, Rows):
            return Checked(X, known or Schema(X.shape[1]))
        codes, names = check_codes(self, X, known)
        kinds = (CATEGORY,) * codes.shape[1]
        return Checked(self._table(codes), known or Schema(codes.shape[1], names, kinds))

    def measure_rows(
        self, table: Rows, schema: Schema, targets: Targets, sample: Sample | None = None
    ) -> Summary:
        """Measure rows of codes, of which none may be negative or very large."""
        codes: Any = table.codes
        if targets.weights is not None:
            weights = checked_weights(targets.weights, len(codes))
            codes = codes[weights != 0] if 0 < np.count_nonzero(weights) < len(codes) else codes
        check_not_negative(codes)
        tops = highest(codes, self.n_jobs)
        check_sizes(tops.astype(np.float64) + 1, schema)  # 127 + 1 is -128 to int8
        categories = tuple(np.arange(int(top) + 1) for top in tops)
        coded = replace(table, categories=categories)
        return measure(coded, targets, schema, n_jobs=self.n_jobs)

    def _of_partitions(self) -> dict[str, Any]:
        return {"measure": _summarize_codes}

    def _check_summary(self, summary: Summary) -> None:
        schema = summary.schema
        if len(schema.numbers):
            raise NaivelyError(
                "CategoricalNB reads columns of codes 0, 1, 2, ...; got "
                f"{schema.name(schema.numbers[0])}, which holds numbers. Use NaiveBayes."
            )
        for j, codes in zip(schema.categories, summary.categories, strict=True):
            if codes.size and (codes.dtype.kind not in "iu" or codes[0] < 0):
                raise NaivelyError(
                    f"CategoricalNB reads columns of codes 0, 1, 2, ...; got {schema.name(j)} with "
                    f"the categories {quoted(codes)}. Use NaiveBayes."
                )

    def _read(self, summary: Summary) -> Model:
        alpha = self.alpha if self.force_alpha else large_enough(self.alpha)
        families: dict[Family, range] = {CodeShares(alpha): range(summary.schema.n_columns)}
        sizes = sizes_of(summary, self.min_categories)
        coded = summary.with_categories([np.arange(size) for size in sizes])
        return Model.read(coded, families, priors=self._prior(summary), coded=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags


def _summarize_codes(
    X: Any, y: Any, *, schema: Schema, sample_weight: Any, n_jobs: int | None
) -> Summary:
    """Summarize rows of codes, checked as those in memory are; there may be none."""
    if not len(X):
        return Summary.zero(schema)
    model = CategoricalNB(n_jobs=n_jobs)
    checked = model.check_rows(X)._replace(schema=schema)
    return summarized(model, checked, y, sample_weight)


# --- Codes 0, 1, 2, ... as the categories of columns --------------------------------------------


_MAX_CODES = 1 << 24  # a column's table has as many rows, and a number for each class in each


class CodeShares(Categorical):
    """Shares of codes, as scikit-learn has them: equal ones in a class without cells."""

    def _prior(self, tallies: NDArray[np.float64]) -> CategoricalPrior:
        prior = super()._prior(tallies)
        share = prior.weight / prior.total if prior.total > 0 else np.ones_like(prior.weight)
        return replace(prior, log_share=np.log(share))


def sizes_of(summary: Summary, least: ArrayLike | None) -> NDArray[np.int64]:
    """Return how many categories each column has: one more than the highest seen, or more."""
    seen = [int(column[-1]) + 1 if column.size else 0 for column in summary.categories]
    check_sizes(np.array(seen, dtype=np.float64), summary.schema)  # beyond int64, perhaps
    sizes = np.array(seen, dtype=np.int64)
    if least is None:
        return sizes
    given = np.array(least)
    if not np.issubdtype(given.dtype, np.signedinteger):
        raise NaivelyError(
            f"'min_categories' should have integral type. Got {given.dtype} instead."
        )
    if given.ndim and given.shape != sizes.shape:
        raise NaivelyError(
            f"'min_categories' should have shape ({sizes.size},) when an array-like is provided. "
            f"Got {given.shape} instead."
        )
    sizes = np.maximum(sizes, given)
    check_sizes(sizes, summary.schema)
    return sizes


def check_sizes(sizes: NDArray[Any], schema: Schema) -> None:
    """Raise where a column has more codes than fit into a table."""
    if sizes.size and sizes.max() > _MAX_CODES:
        j = int(np.argmax(sizes))
        raise NaivelyError(
            "CategoricalNB keeps a share for every code from 0 to the highest, which must be "
            f"below {_MAX_CODES:,}; got {sizes[j] - 1:.10g} in {schema.name(j)}. Use NaiveBayes "
            'with families={column: "categorical"}: it keeps only the codes that were seen.'
        )


def highest(codes: NDArray[Any], n_jobs: int | None) -> NDArray[Any]:
    """Return the greatest code of each column; -1 where all are missing."""
    blocks = block_slices(codes.shape[0], codes.shape[1], most=64)
    tops = map_blocks(lambda rows: np.fmax.reduce(codes[rows], axis=0), blocks, n_jobs)
    return np.nan_to_num(np.fmax.reduce(tops, axis=0), nan=-1)
