r"""Naive Bayes for any table: each column has the family that suits it.

.. math:: \hat y = \arg\max_k \Big[ \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k) \Big]
"""

from __future__ import annotations

from html import escape

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from naively.estimators.mixed import NaiveBayesClassifier


class NaiveBayes(NaiveBayesClassifier, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Naive Bayes for mixed tables, with calibrated probabilities.

    .. math:: \log p(k \mid x) = \log p(k) + b_k + \sum_t w_{kt} \log f_t(x \mid k) - \log p(x)

    where each term t is a family f of a column. A column of numbers has two families, a Student t
    and a histogram; strings, booleans and categories have smoothed shares; text has words. The
    weights w and biases b are fitted on a sample of rows, each predicted by the statistics of all
    others, so that correlated columns are not counted several times. Missing cells are skipped.

    Parameters
    ----------
    families : dict or "best", default=None
        Families of some columns, by name (or position, for arrays): ``"student_t"``, ``"gamma"``,
        ``"poisson"``, an object such as ``VonMises(period=24)``, or several in a tuple. Other
        columns get the default families of their type. ``"best"``, for one column or for all
        columns of numbers, is the family with the greatest log density of unseen rows: see
        ``family_scores_``.
    priors, class_weight
    calibration : {"weights", "temperature"} or None, default="weights"
        One weight for each term, one weight for all terms, or none. With None, the model is plain
        naive Bayes, and a column of numbers has the Student t as its only family.
    interactions : "auto", tuple of str or None, default="auto"
        Terms of several columns: ``"canonical"`` (directions in which the classes differ),
        ``"quadratic"`` (one multivariate Student t of all numbers) and ``"pairs"`` (tables of two
        columns), or ``"auto"`` for all three. With None, the model is a sum over columns.
        Interactions need ``calibration="weights"``; otherwise there are none.
    costs : array-like of shape (n_classes, n_classes), default=None
        ``costs[i][j]`` is the cost of predicting class j if class i is true; `predict` then returns
        the class with the lowest expected cost.
    reject : tuple of a float and a label, default=None
        ``(0.8, "unknown")`` predicts "unknown" if no class has a probability of at least 0.8. In an
        ensemble, combine probabilities, as ``VotingClassifier(voting="soft")`` does: this label is
        not one of ``classes_``.
    decay, window, open_classes, n_jobs

    Attributes
    ----------
    summary_ : Summary
        The statistics of all rows seen. Everything else is computed from it. Unless
        ``calibration`` is None, it contains up to 4,000 rows of the data.
    model_, classes_, class_count_, class_prior_
    families_ : dict
        The families of each column.
    family_scores_ : dict
        For each column whose family was chosen by ``"best"``, the mean log density of unseen rows
        for each candidate family, the best first.
    weights_ : dict
        For each column, the weights of its families; one for each class, if they differ by class.
    interactions_ : list of dict
        The interactions: directions, the quadratic term and pairs, with their columns and
        weights.
    n_features_in_, feature_names_in_, column_names_

    Examples
    --------
    >>> import pandas
    >>> from naively import NaiveBayes
    >>> towns = ["Ulm", "Ulm", "Bonn", "Bonn"]
    >>> frame = pandas.DataFrame({"age": [25, 31, 47, None], "town": towns})
    >>> model = NaiveBayes(calibration=None).fit(frame, ["no", "no", "yes", "yes"])
    >>> model.predict(pandas.DataFrame({"age": [29, 52], "town": ["Ulm", "Berlin"]}))
    array(['no', 'yes'], dtype='<U3')
    >>> model.families_["town"]
    (Categorical(alpha=None),)
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    def _repr_html_(self) -> str:
        """Show the parameters, and once fitted the families of the columns."""
        parameters: str = super()._repr_html_()
        if not self.__sklearn_is_fitted__():
            return parameters
        rows = "".join(
            f"<tr><td>{escape(str(column))}</td>"
            f"<td>{escape(' and '.join(family.name for family in families))}</td></tr>"
            for column, families in self.families_.items()
        )
        return f"{parameters}<table><tr><th>column</th><th>family</th></tr>{rows}</table>"
