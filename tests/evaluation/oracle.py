"""The judge of tuning: a loop that refits each candidate on each fold."""

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing


def refitted(model, X, y, candidates, folds=5, score=None):
    """Return the scores by candidate and fold, of as many fits."""
    score, found = score or log_loss, []
    for params in candidates:
        params = dict(params)
        columns = params.pop("columns", None)
        rows = X if columns is None else some(X, columns)
        scores = []
        for train, test in StratifiedKFold(folds).split(np.zeros(len(y)), y):
            fitted = clone(model).set_params(**params).fit(_safe_indexing(rows, train), y[train])
            log_p = fitted.predict_log_proba(_safe_indexing(rows, test))
            scores.append(score(np.searchsorted(fitted.classes_, y[test]), log_p))
        found.append(scores)
    return np.array(found)


def some(X, columns):
    return X[list(columns)] if hasattr(X, "columns") else X[:, list(columns)]


def log_loss(codes, log_p):
    return -np.mean([row[k] for row, k in zip(log_p, codes, strict=True)])


def accuracy(codes, log_p):
    return np.mean([int(np.argmax(row)) == k for row, k in zip(log_p, codes, strict=True)])


def brier(codes, log_p):
    return np.mean(((np.exp(log_p) - np.eye(log_p.shape[1])[codes]) ** 2).sum(axis=1))


def balanced_accuracy(codes, log_p):
    hits = log_p.argmax(axis=1) == codes
    return np.mean([hits[codes == k].mean() for k in np.unique(codes)])


def f1(codes, log_p):
    found, predicted = [], log_p.argmax(axis=1)
    for k in np.unique(np.concatenate([codes, predicted])):
        hits = ((predicted == k) & (codes == k)).sum()
        both = (predicted == k).sum() + (codes == k).sum()
        found.append(2 * hits / both)
    return np.mean(found)


def roc_auc(codes, log_p):
    p = np.exp(log_p)
    return roc_auc_score(codes, p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr")
