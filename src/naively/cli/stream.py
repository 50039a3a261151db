"""``naively stream``: answer and learn rows one by one, as they come."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from naively.cli import console
from naively.cli.journal import Journal
from naively.cli.model_lock import hold
from naively.cli.parameters import NAMES, Name
from naively.errors import NaivelyError

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
    kind: Annotated[Name, typer.Option("--model", help="The kind of a new model.")] = "naive-bayes",
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


_MIN_PROBABILITY = 1e-15  # of the true class, for the log loss


class Learner:
    """A model that answers rows and learns them, and how well it did."""

    def __init__(self, model: Any, target: str, weight: str | None = None) -> None:
        self.model, self._target, self._weight = model, target, weight
        model._streams = True  # rows may lack columns from the first one on
        self._classes: dict[Any, Any] = {}  # by labels that are equal; none where one is new
        self.n_rows, self._n_learned, self._n_refused, self._first_error = 0, 0, 0, ""
        self._n_judged, self._n_right, self._loss = 0, 0, 0.0

    def answer(self, line: str) -> tuple[dict[str, Any], bool]:
        """Return the answer for a row, and whether the row was learned."""
        self.n_rows += 1
        try:
            answer, is_learned = self._answered(line)
        except json.JSONDecodeError as error:
            message = f"a row must be a JSON object on one line: {error}."
        except (ValueError, TypeError, RecursionError) as error:
            message = str(error)
        else:
            self._n_learned += is_learned
            return answer, is_learned
        self._n_refused += 1
        self._first_error = self._first_error or message
        return {"error": message}, False

    def _answered(self, line: str) -> tuple[dict[str, Any], bool]:
        row = json.loads(line)
        if not isinstance(row, dict):
            raise NaivelyError(f"a row must be a JSON object; got {line.strip()[:80]}.")
        if "\\ud" in line.lower():  # half a character, which no file can hold
            json.dumps(row, ensure_ascii=False).encode()
        label = row.get(self._target)
        answer = self._predicted(self._cells(row))
        if label is not None:
            classes = self._classes
            self.learn(row)
            self._judge(answer, label, str(classes[label]) if label in classes else None)
        is_learned = label is not None and self.model.__sklearn_is_fitted__()  # weight 0: neither
        return answer, is_learned

    def learn(self, row: dict[str, Any]) -> None:
        """Learn a row that has a label."""
        weight = 1.0 if self._weight is None else row.get(self._weight, 1.0)
        self.model.learn_one(self._cells(row), row[self._target], weight)
        if row[self._target] not in self._classes:
            self._classes = {}

    def score(self) -> str:
        """Return what became of the rows, and how well those with a label were predicted before."""
        rest = self.n_rows - self._n_learned - self._n_refused
        counts = f"{self._n_learned:,} learned, {self._n_refused:,} refused, {rest:,} without label"
        n = self._n_judged
        judged = "none of them with a label that was predicted before"
        if n:
            judged = f"of which {n:,} were predicted and had a label: "
            judged += f"accuracy {self._n_right / n:.4f}, log loss {self._loss / n:.4f}"
        return f"{self.n_rows:,} rows, {judged}; {counts}."

    def check_some_learned(self) -> None:
        """Raise where rows came and none was learned: the input is probably not what was meant."""
        if self.n_rows and not self._n_learned:
            first = f" The first was refused: {self._first_error}" if self._first_error else ""
            of_weight = "" if self._weight is None else f", or 0 as {self._weight!r}"
            raise NaivelyError(
                f"a stream must learn some of its rows; got {self.n_rows:,} rows, of which "
                f"{self._n_refused:,} were refused and {self.n_rows - self._n_refused:,} have no "
                f"label {self._target!r}{of_weight}. Check the rows and --target.{first}"
            )

    def _cells(self, row: dict[str, Any]) -> dict[str, Any]:
        return {name: x for name, x in row.items() if name not in (self._target, self._weight)}

    def _predicted(self, cells: dict[str, Any]) -> dict[str, Any]:
        model = self.model
        if not model.__sklearn_is_fitted__():
            return {"label": None, "probabilities": {}}
        if not self._classes:
            self._classes = {label: label for label in model.classes_.tolist()}
        shares = model.predict_proba_one(cells).tolist()
        return {
            "label": self._classes[model.predict_one(cells)],
            "probabilities": dict(zip(map(str, self._classes), shares, strict=True)),
        }

    def _judge(self, answer: dict[str, Any], label: Any, name: str | None) -> None:
        """Count how well a row was answered, whose class had a name then; the first was not."""
        if answer["label"] is None:
            return
        self._n_judged += 1
        self._n_right += answer["label"] == label
        self._loss -= math.log(max(answer["probabilities"].get(name, 0.0), _MIN_PROBABILITY))


def begun(path: str | os.PathLike[str], kind: str, decay: float) -> Any:
    """Return the model of a file; where there is no file, a new one."""
    from naively.estimators.loading import classifier, load_classifier

    if not Path(path).exists():
        return classifier(NAMES[kind])(decay=decay)
    model: Any = load_classifier(path)
    if model.window is not None:
        raise NaivelyError(
            f"{str(path)!r} has window={model.window}, and its file does not hold the rows of the "
            "window. Give it window=None, or a decay."
        )
    return model
