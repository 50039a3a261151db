"""Who is asked for probabilities: each peer as its users would set it up, in a pipeline.

Columns of numbers are those of a numeric type; all others are categories. A peer that cannot read
missing cells has them imputed, one that cannot read categories has them one-hot encoded or, as
scikit-learn's GaussianNB, does without them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from naively import NaiveBayes

__all__ = ["CATBOOST", "CONTESTANTS", "FOREST", "GRADIENT_BOOSTING", "LIGHTGBM", "LOGISTIC"]
__all__ += ["EBM", "NAIVELY", "NAIVELY_ALONE", "PEERS", "SKLEARN_NB", "contestants", "prepared"]

NAIVELY = "naively"
NAIVELY_ALONE = "naively, interactions=None"
SKLEARN_NB = "GaussianNB"
LOGISTIC = "logistic regression"
GRADIENT_BOOSTING = "HistGradientBoosting"
FOREST = "random forest"
LIGHTGBM = "LightGBM"
CATBOOST = "CatBoost"
EBM = "EBM"
PEERS = (LOGISTIC, FOREST, GRADIENT_BOOSTING, LIGHTGBM, CATBOOST)
_EBM_CELLS = 5_000  # rows times columns times classes; beyond, it takes minutes


def contestants(X: pd.DataFrame, n_classes: int) -> list[str]:
    """Return who is asked about a table: all, but EBM only where it is small."""
    small = X.size * n_classes <= _EBM_CELLS
    return [name for name in CONTESTANTS if name != EBM or small]


def prepared(name: str, X: pd.DataFrame) -> pd.DataFrame:
    """Return the frame as a contestant wants it."""
    others = X.columns.difference(_numbers(X))
    if name in (GRADIENT_BOOSTING, LIGHTGBM):
        plain = X.rename(columns={c: f"c{j}" for j, c in enumerate(X)})  # LightGBM takes few names
        return plain.astype({f"c{X.columns.get_loc(c)}": "category" for c in others})
    if name == EBM:
        return X.rename(columns=str)
    if name == CATBOOST:
        X = X.copy()
        for c in others:
            X[c] = X[c].astype(object).where(X[c].notna(), "missing").astype(str)
        return X
    if name in (LOGISTIC, FOREST):  # their encoder wants text, and NaN where it is missing
        X = X.copy()
        for c in others:
            X[c] = X[c].astype(str).where(X[c].notna(), float("nan")).astype(object)
        return X
    return X


def _numbers(X: pd.DataFrame) -> list[Any]:
    return [name for name in X if X[name].dtype.kind in "iuf"]


def _gaussian(X: pd.DataFrame) -> Any:
    """Return scikit-learn's GaussianNB on the numbers; without any, the classes' shares."""
    numbers = _numbers(X)
    if not numbers:
        return DummyClassifier(strategy="prior")
    imputed = ColumnTransformer([("numbers", SimpleImputer(keep_empty_features=True), numbers)])
    return make_pipeline(imputed, GaussianNB())


def _isotonic(X: pd.DataFrame) -> Any:
    return CalibratedClassifierCV(_gaussian(X), method="isotonic", cv=5)


def _logistic(X: pd.DataFrame) -> Any:
    numbers = _numbers(X)
    others = [name for name in X if name not in numbers]
    scaled = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    encoded = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    columns = ColumnTransformer([("numbers", scaled, numbers), ("others", encoded, others)])
    return make_pipeline(columns, LogisticRegression(max_iter=1000))


def _boosting(X: pd.DataFrame) -> Any:
    return HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)


def _forest(X: pd.DataFrame) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return make_pipeline(_logistic(X)[0], RandomForestClassifier(random_state=0, n_jobs=1))


def _lightgbm(X: pd.DataFrame) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(verbose=-1, n_jobs=1, random_state=0)


def _catboost(X: pd.DataFrame) -> Any:
    from catboost import CatBoostClassifier

    others = [name for name in X if name not in _numbers(X)]
    return CatBoostClassifier(
        iterations=300,
        verbose=False,
        allow_writing_files=False,
        thread_count=1,
        random_seed=0,
        cat_features=others,
    )


def _ebm(X: pd.DataFrame) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=2, max_rounds=2000, n_jobs=1, random_state=0)


CONTESTANTS: dict[str, Callable[[pd.DataFrame], Any]] = {
    NAIVELY: lambda X: NaiveBayes(n_jobs=1),
    NAIVELY_ALONE: lambda X: NaiveBayes(interactions=None, n_jobs=1),
    SKLEARN_NB: _gaussian,
    "GaussianNB + isotonic": _isotonic,
    LOGISTIC: _logistic,
    FOREST: _forest,
    GRADIENT_BOOSTING: _boosting,
    LIGHTGBM: _lightgbm,
    CATBOOST: _catboost,
    EBM: _ebm,
}
