"""Text to a model of its counts, beside scikit-learn's vectorizers and its MultinomialNB.

Both sides get lists of Python's strings. The counts must be equal and so must what is predicted.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.naive_bayes import MultinomialNB as SklearnMultinomialNB

from benchmarks.contests import Contest
from benchmarks.corpora import CORPORA
from benchmarks.speed import COLUMNS, SKLEARN, records
from benchmarks.tables import Options
from naively import MultinomialNB
from naively.data.tokens import EncodedTexts, TextOptions, tokenize

__all__ = ["COLUMNS", "WORKS", "measure"]

_CHARACTERS = {"analyzer": "char_wb", "ngram_range": (3, 5)}
_HASHED = {"norm": None, "alternate_sign": False}


class Rule(NamedTuple):
    """What tokens are, for both sides."""

    name: str
    options: TextOptions
    vectorizer: Callable[[], Any]


WORDS = Rule("words", TextOptions(), CountVectorizer)
HASHED = Rule("hashed words", TextOptions(hashed=2**20), partial(HashingVectorizer, **_HASHED))
CHARACTERS = Rule(
    "char_wb (3, 5)", TextOptions(**_CHARACTERS), partial(CountVectorizer, **_CHARACTERS)
)


class Work(NamedTuple):
    """A contest on a corpus, in so many threads, and how many times as fast it must be."""

    corpus: str
    rule: Rule
    verb: str
    n_jobs: int
    bar: float

    @property
    def name(self) -> str:
        """What tables call it."""
        threads = "one thread" if self.n_jobs == 1 else f"{self.n_jobs} threads"
        return f"{self.verb} from text, {self.rule.name}, {self.corpus}, {threads}"


_LARGE = ("newsgroups", "spamassassin", "wordnet", "healthtweets")
WORKS = [
    *(Work(corpus, WORDS, "fit", n, bar) for corpus in _LARGE for n, bar in ((1, 12), (2, 18))),
    *(Work(corpus, HASHED, "fit", 1, 10) for corpus in _LARGE),
    *(Work(corpus, CHARACTERS, "fit", 1, 20) for corpus in ("r8", *_LARGE[1:])),
    *(Work(corpus, rule, "predict", 1, 12) for corpus in _LARGE for rule in (WORDS, HASHED)),
]


def _matrix(encoded: EncodedTexts) -> Any:
    rows = encoded.rows
    counts = rows.values.view(np.int32)  # SciPy copies uint32
    starts = rows.starts.astype(np.int32)  # and places, where starts are int64
    return csr_array((counts, rows.places, starts), shape=rows.shape)


def _fit(work: Work) -> Contest:
    texts, labels, *_ = CORPORA[work.corpus]()

    def ours() -> Any:
        encoded = tokenize(texts, work.rule.options, n_jobs=work.n_jobs)
        return MultinomialNB(n_jobs=work.n_jobs).fit(_matrix(encoded), labels).feature_count_

    def theirs() -> Any:
        counts = work.rule.vectorizer().fit_transform(texts)
        return SklearnMultinomialNB().fit(counts, labels).feature_count_

    return _contest(ours, theirs, texts)


def _predict(work: Work) -> Contest:
    texts, labels, *_ = CORPORA[work.corpus]()
    options = work.rule.options
    encoded = tokenize(texts, options)
    model = MultinomialNB(n_jobs=work.n_jobs).fit(_matrix(encoded), labels)
    vectorizer = work.rule.vectorizer()
    peer = SklearnMultinomialNB().fit(vectorizer.fit_transform(texts), labels)

    def ours() -> Any:
        return model.predict(_matrix(tokenize(texts, options, encoded.words, work.n_jobs)))

    return _contest(ours, lambda: peer.predict(vectorizer.transform(texts)), texts)


def _contest(ours: Callable[[], Any], theirs: Callable[[], Any], texts: list[str]) -> Contest:
    works = {"naively": ours, SKLEARN: theirs}
    size = sum(len(text.encode()) for text in texts)
    return Contest(works, lambda a: assert_array_equal(a["naively"], a[SKLEARN]), size)


def measure(options: Options) -> Iterator[dict[str, Any]]:
    """Hold every contest, and yield one record for each."""
    for work in WORKS:
        if options.only in work.name:
            contest = (_fit if work.verb == "fit" else _predict)(work)
            yield from records(work.name, contest, {SKLEARN: work.bar}, options)
            gc.collect()
