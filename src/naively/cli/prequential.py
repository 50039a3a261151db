"""Rows as JSON, each answered by what was learned before it, and then learned.

>>> from naively import GaussianNB
>>> learner = Learner(GaussianNB(), target="kind")
>>> learner.answer('{"size": 1, "kind": "a"}')
({'label': None, 'probabilities': {}}, True)
>>> learner.answer('{"size": 1.5}')
({'label': 'a', 'probabilities': {'a': 1.0}}, False)
>>> learner.answer('{"size": "large", "kind": "b"}')[0]["error"][:38]
"column 'size' must hold numbers; got t"
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from naively.errors import NaivelyError
from naively.estimators.loading import classifier, load_classifier

_NAMES = {
    "gaussian": "GaussianNB",
    "naive-bayes": "NaiveBayes",
    "multinomial": "MultinomialNB",
    "complement": "ComplementNB",
    "bernoulli": "BernoulliNB",
}
_LEAST = 1e-15  # probability of the true class, for the log loss


class Learner:
    """A model that answers rows and learns them, and how well it did.

    Parameters
    ----------
    model : estimator
        What learns.
    target : str
        The name of the label.
    weight : str or None
        The name of the row's weight.
    """

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
        return answer, label is not None

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
        if not self._n_judged:
            return (
                f"{self.n_rows:,} rows, none of them with a label that was predicted before; "
                f"{counts}."
            )
        return (
            f"{self.n_rows:,} rows, of which {self._n_judged:,} were predicted and had a label: "
            f"accuracy {self._n_right / self._n_judged:.4f}, "
            f"log loss {self._loss / self._n_judged:.4f}; {counts}."
        )

    def check_some_learned(self) -> None:
        """Raise where rows came and none was learned: the input is probably not what was meant."""
        if self.n_rows and not self._n_learned:
            first = f" The first was refused: {self._first_error}" if self._first_error else ""
            raise NaivelyError(
                f"a stream must learn some of its rows; got {self.n_rows:,} rows, of which "
                f"{self._n_refused:,} were refused and {self.n_rows - self._n_refused:,} have no "
                f"label {self._target!r}. Check the rows and --target.{first}"
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
        self._loss -= math.log(max(answer["probabilities"].get(name, 0.0), _LEAST))


def begun(path: str | os.PathLike[str], kind: str, decay: float) -> Any:
    """Return the model of a file; where there is no file, a new one."""
    if not Path(path).exists():
        return classifier(_NAMES[kind])(decay=decay)
    model: Any = load_classifier(path)
    if model.window is not None:
        raise NaivelyError(
            f"{str(path)!r} has window={model.window}, and its file does not hold the rows of the "
            "window. Give it window=None, or a decay."
        )
    return model
