"""``naively stream``: answer and learn rows one by one, as they come."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from naively.cli import console

if TYPE_CHECKING:
    from naively.cli.journal import Journal
    from naively.cli.prequential import Learner

_PIECE = 1 << 16  # bytes that are read at once: their rows reach the disk together


def stream(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="The model file; it is made if it is not there.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="NAME", help="The key of the label.")
    ],
    weight: Annotated[
        str | None, typer.Option(metavar="NAME", help="The key of the row's weight.")
    ] = None,
    kind: Annotated[
        Literal["gaussian", "naive-bayes", "multinomial", "complement", "bernoulli"],
        typer.Option("--model", help="The kind of a new model."),
    ] = "gaussian",
    decay: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="X",
            help="Factor of all earlier weights at each row, in a new model.",
        ),
    ] = 1.0,
    checkpoint: Annotated[
        int, typer.Option(min=1, metavar="N", help="Write the model every N rows.")
    ] = 10_000,
    every: Annotated[
        int, typer.Option(min=1, metavar="N", help="Print the metrics every N rows.")
    ] = 1000,
) -> None:
    """Read rows as JSON lines: predict each row, then learn it if it has a label.

    For each row, one JSON line is printed: the predicted label with the
    probabilities, or an error that says what is wrong with the row. A row
    that is learned is first written to a journal beside the model, so it is
    not lost if the program is killed. Accuracy and log loss of the
    predictions go to standard error. No other command can write the model
    meanwhile. If rows came and none was learned, that is an error.

    For example:

      tail -f rows.jsonl | naively stream model.safetensors --target species
      cat bags.jsonl | naively stream words.safetensors -t y --model multinomial
    """
    from naively.cli.journal import Journal
    from naively.cli.model_lock import hold
    from naively.cli.prequential import Learner, begun

    with hold(model, "stream"):
        options = {"target": target, "weight": weight, "model": kind, "decay": repr(decay)}
        journal = Journal(model, options)
        try:
            rows = journal.recover()
            learner = Learner(begun(model, kind, decay), target, weight)
            _learn_again(learner, rows, journal)
            _answer(learner, journal, len(rows), checkpoint, every)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("all rows that were answered are kept.") from None
        finally:
            journal.close()
    console.note(learner.score())
    learner.check_some_learned()


def _learn_again(learner: Learner, rows: list[str], journal: Journal) -> None:
    """Learn the rows of a journal, or raise where they were learned with other options."""
    from naively.errors import NaivelyError

    for row in rows:
        try:
            learner.learn(json.loads(row))
        except (KeyError, ValueError, TypeError) as error:
            raise NaivelyError(
                f"a row of {journal.path.name} cannot be learned again: {row.strip()[:80]} "
                f"({error}). Give the --target, --weight and --model that it was learned with."
            ) from None
    if rows:
        console.note(f"{len(rows):,} rows of {journal.path.name} were learned again.")


def _answer(learner: Learner, journal: Journal, waiting: int, checkpoint: int, every: int) -> None:
    """Answer and learn rows to their end, of which so many wait in the journal."""
    for lines in _pieces():
        n_before, answers, learned = learner.n_rows, [], []
        for line in lines:
            answer, is_learned = learner.answer(line)
            answers.append(json.dumps(answer, ensure_ascii=False) + "\n")
            learned += [line] * is_learned
        if learned:
            journal.append(learned)
        sys.stdout.write("".join(answers))
        sys.stdout.flush()
        waiting += len(learned)
        if waiting >= checkpoint:
            journal.checkpoint(learner.model)
            waiting = 0
        if learner.n_rows // every > n_before // every:
            console.note(learner.score())
    if waiting:
        journal.checkpoint(learner.model)


def _pieces() -> Iterator[list[str]]:
    """Yield the lines that are there, as soon as some are."""
    rest = b""
    while piece := os.read(sys.stdin.fileno(), _PIECE):
        *lines, rest = (rest + piece).split(b"\n")
        if found := _texts(lines):
            yield found
    if found := _texts([rest]):
        yield found


def _texts(lines: list[bytes]) -> list[str]:
    """Return lines that are not empty, without the mark that files of Windows begin with."""
    texts = [line.decode("utf-8", "replace").removeprefix("\ufeff") for line in lines]
    return [text for text in texts if text.strip()]
