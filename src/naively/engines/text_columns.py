"""Columns of text become rows of words.

>>> from naively.schema import Schema
>>> rows, (words,) = read_texts([["win a prize", None]], Schema(1, kinds=("text",)))
>>> words.tolist(), rows.columns[0].dense().tolist()
(['prize', 'win'], [[1.0, 1.0], [0.0, 0.0]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from naively import _kernel
from naively.alphabet import UNICODE
from naively.exceptions import NaivelyError
from naively.hashed_texts import HashedTexts
from naively.schema import Schema
from naively.text_file import no_words
from naively.text_rows import TextRows
from naively.texts import Texts, texts_of
from naively.tokens import encode
from naively.words import Words

__all__ = ["Counting", "read_texts"]

Counting = Literal["rows", "elsewhere", "none"]


def read_texts(
    columns: Sequence[Any],
    schema: Schema,
    known: Sequence[Words] | None = None,
    n_jobs: int | None = None,
    *,
    counting: Counting = "rows",
) -> tuple[TextRows | None, tuple[Words, ...]]:
    """Return the words of the columns of text, and the vocabularies that number them.

    Parameters
    ----------
    columns : sequence
        The columns of text: lists, arrays, or columns of pandas, polars or pyarrow.
    schema : Schema
        How they become words, and their names for messages.
    known : sequence of Words, optional
        The vocabularies of a model: other words are left out. Rows of which words are gathered
        have a hash of each text, for samples.
    n_jobs : int, optional
        Threads; None for all cores where there is enough to do.
    counting : {"rows", "elsewhere", "none"}, default="rows"
        Whether each row's words are counted; or by `HashedCounts`, which are of hashed words; or
        not at all, so that texts have hashes alone.
    """
    if not schema.texts:
        return None, ()
    if counting != "rows":
        found = [texts_of(columns[i], schema.name(j)) for i, j in enumerate(schema.texts)]
        places = tuple(map(no_words, schema.options))
        hashed = HashedTexts.of(found, schema)
        if counting == "elsewhere":
            return hashed, places
        none = TextRows.empty(len(hashed), [one.size for one in places])
        return TextRows(hashed.hashes, none.columns), places
    encoded, hashes = [], []
    for i, (j, options) in enumerate(zip(schema.texts, schema.options, strict=True)):
        if known is None and options.unicode != UNICODE:
            raise NaivelyError(
                f"{schema.name(j)} was measured by Unicode {options.unicode}, and this Python has "
                f"{UNICODE}: what each counts as a word may differ, so their counts cannot be "
                "added. Use a Python of that version, or fit again."
            )
        texts = texts_of(columns[i], schema.name(j))
        words = None if known is None else known[i]
        encoded.append(encode(texts, options, words, n_jobs, name=schema.name(j)))
        hashes.append(_hashes(texts, needed=known is None))
    rows = TextRows(np.stack(hashes, axis=1), tuple(one.rows for one in encoded))
    return rows, tuple(one.words for one in encoded)


def _hashes(texts: Texts, *, needed: bool) -> NDArray[np.uint64]:
    found = np.zeros(texts.lengths.size, np.uint64)
    if needed:
        _kernel.hash_texts(np.ascontiguousarray(texts.addresses), texts.lengths, found)
    return found
