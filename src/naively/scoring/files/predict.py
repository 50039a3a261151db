"""Predict the rows of files, and write the answers to a file.

It is the pass that also summarizes files: threads read and score rows ahead, and what they found is
written in turn.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from naively.engines.files.arrow_arrays import empty_table
from naively.engines.files.csv import CsvDialect
from naively.engines.files.plan import named
from naively.engines.files.read_ahead import FilePass, Progress, errors_in
from naively.engines.files.readers import FirstRows
from naively.estimators.estimator import SummaryClassifier
from naively.scoring.files.answers import FileAnswers
from naively.scoring.files.output import check_format, written
from naively.scoring.files.piece_answers import PieceScorer


def predict(
    model: SummaryClassifier,
    source: Any,
    output: str | os.PathLike[str],
    *,
    proba: bool = False,
    id: Sequence[str] = (),  # noqa: A002 - as the command line calls it
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
    n_jobs: int | None = None,
    separator: str | None = None,
    decimal: str = ".",
    missing: Sequence[str] = (),
    encoding: str | None = None,
) -> int:
    """Label the rows of files, and write the labels to a file; return how many.

    Parameters
    ----------
    model : GaussianNB or NaiveBayes
        Fitted. Its columns are found by name; others may be there.
    source : str, path-like, list of those, or an Arrow stream
        What `naively.engines.files.scan` reads.
    output : path-like
        A file that ends in .parquet, .csv, .arrow or .feather; "-" for CSV on standard output.
        It holds the columns ``id``, then ``prediction``, then, if wanted, ``p_a`` for the
        probability of each class ``a``. It appears when it is whole.
    proba : bool, default=False
        Whether to write probabilities.
    id : sequence of str
        Columns to copy.
    columns : sequence of str, optional
        The columns to read, for a model that was fitted without column names. None: all numeric.
    progress : callable, optional
        Called with the numbers of rows and bytes so far, and of all bytes (None if unknown).
    n_jobs : int, optional
        Threads; None for all cores.
    separator, decimal, missing, encoding
        How files of text are written, as for `scan`.
    """
    check_format(output)
    first = FirstRows.of(source, CsvDialect(separator, decimal, tuple(missing), encoding))
    first.check_sound()
    answers = FileAnswers.of(model, first, proba, named(id), columns)
    rows, before = 0, 0  # in all; of the files before this one
    with (
        FilePass(first, n_jobs) as passing,
        written(output, answers.schema) as write,
        ThreadPoolExecutor(1) as writer,
    ):
        writing = writer.submit(write, empty_table(answers.schema))
        for step in passing.steps(PieceScorer(answers, passing)):
            with errors_in(step, rows - before):
                tables = [result.result() for result in step.results]
            for table in tables:
                writing.result()
                writing = writer.submit(write, table)
                rows += table.num_rows
            before = rows if step.piece is None else before
            if progress is not None:
                progress(rows, step.bytes, first.n_bytes)
        writing.result()
    return rows
