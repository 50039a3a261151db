r"""The words of a column of text that speak most for each class.

.. math:: c_{kj} = \frac{d_{kj}}{w_k} \Bigl(B_{jk} - \frac{1}{K} \sum_l B_{jl}\Bigr)

where B is what the word adds to the score of a class, and :math:`d_{kj} / w_k` the share of the
documents of class k that have it: about what the word adds to a document of its class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from naively.data.text.words import Words
from naively.data.types import Floats
from naively.families.forms import WordLines
from naively.model.terms import Term


class TopWord(NamedTuple):
    """A word that speaks for a class.

    Attributes
    ----------
    word : str
        The word; hashed ones are called by their place.
    place : int
        Its place in the vocabulary.
    contribution : float
        What it adds to the score of the class, beside the mean of all classes, in a document in
        which it is alone.
    counts : ndarray of shape (n_classes,)
        The documents of each class that have it; or how often it occurs.
    """

    word: str
    place: int
    contribution: float
    counts: Floats


def top_words(term: Term, words: Words, most: int) -> list[list[TopWord]]:
    """Return for each class the words that speak most for it, at most so many."""
    form = term.form
    assert isinstance(form, WordLines)
    centred = form.B - form.B.mean(axis=1, keepdims=True)
    values, documents = term.statistic.values, term.statistic.documents
    found = []
    for k, weight in enumerate(documents.tolist()):
        said = values[k] / weight * centred[:, k] if weight > 0 else np.zeros(len(centred))
        few = np.argpartition(-said, most)[:most] if said.size > most else np.arange(said.size)
        order = few[np.lexsort((few, -said[few]))]
        found.append(
            [
                TopWord(words.word(j), j, float(centred[j, k]), values[:, j])
                for j in order.tolist()
                if said[j] > 0
            ]
        )
    return found
