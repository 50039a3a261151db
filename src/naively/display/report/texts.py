"""Columns of text in a page: the words that speak most for each class, and a box to type into.

The page cuts text into words as Python does, for words and n-grams of them; a column of hashed
words, or of n-grams of characters, has no box.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.display.report.inputs import Given
from naively.families.forms import WordLines
from naively.families.text import Text
from naively.model.top_words import top_words

_MOST_NUMBERS = 6000  # words times classes that a page holds of a column
_MOST_WORDS = 12  # of a class that are listed
_DECIMALS = 12  # which no probability shows


def describe_text(given: Given, j: int) -> dict[str, Any]:
    """Describe a column of text, as the page holds it."""
    model = given.fitted.model_
    term = model.by_column[j][0][0]
    family, form, words = term.family, term.form, model.words[term.at]
    assert isinstance(family, Text)
    assert isinstance(form, WordLines)
    centred = form.B - form.B.mean(axis=1, keepdims=True)
    said = np.abs(centred).max(axis=1) * term.parameters.total
    kept = np.sort(np.argsort(-said, kind="stable")[: max(1, _MOST_NUMBERS // given.n_classes)])
    kept = kept[term.parameters.total[kept] > 0]
    has_box = family.analyzer == "word" and family.hashed is None
    unknown = np.full(given.n_classes, np.nan)
    listed = [[] if words.width else of_class for of_class in top_words(term, words, _MOST_WORDS)]
    top = [[[one.word, one.contribution] for one in of_class] for of_class in listed]
    texts = given.table.texts
    assert texts is not None
    return {
        **dict.fromkeys(("average", "spread", "least", "most"), np.nan),
        "missing": round(float((texts.hashes[:, term.at] == 0).mean()) * given.n_rows),
        "mean": unknown,
        "variance": unknown,
        "words": [words.word(at) for at in kept.tolist()] if has_box else [],
        "values": centred[kept].round(_DECIMALS) if has_box else [],
        "n_words": int((term.parameters.total > 0).sum()),
        "lowercase": family.lowercase,
        "ngram_range": family.ngram_range,
        "presence": family.presence,
        "top": top,
        "terms": [{"family": family.name, "weight": term.weight.ravel()}],
    }
