r"""The steps of a query: cells, the sum of each class, the best, and shares of the total.

.. math:: p(k \mid x) = \frac{\exp(\text{joint}_k - \text{best})}
          {\sum_l \exp(\text{joint}_l - \text{best})}

A step is a SELECT from the step before it. How the sums come about is a subclass's to say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from naively.export.spelling import Spelling, number, total

__all__ = ["LEAST", "Query", "Step", "named"]

LEAST = -700.0  # exp of less is 0 to every purpose, and an error in PostgreSQL


class Step(NamedTuple):
    """What a step selects, and what it joins to the step before it."""

    values: list[str]
    joins: Sequence[str] = ()


class Query(ABC):
    """The steps. Class k has ``joint_k`` and ``weight_k``, where it is possible at all."""

    head: ClassVar[str]

    def __init__(
        self, spelling: Spelling, labels: NDArray[Any], possible: NDArray[np.bool_]
    ) -> None:
        self.spelling, self.labels, self.possible = spelling, labels, possible
        self.classes: list[int] = np.flatnonzero(possible).tolist()

    @abstractmethod
    def cells(self, names: list[str]) -> list[str]:
        """Write the cells of the named columns, NULL where they are missing."""

    @abstractmethod
    def joints(self, kept: list[str]) -> dict[str, Step]:
        """Write the steps from cells to ``joint_k``, which pass on what is kept."""

    def lookups(self) -> list[str]:
        """Write tables that the steps join; there may be none."""
        return []

    def text(
        self, table: str, names: list[str], keep: list[str], label: str, shares: list[str]
    ) -> str:
        """Write the query."""
        source = self.spelling.table(table, alias="t")
        kept = [f"keep_{i}" for i in range(len(keep))]
        passed = [self.cell(name) for name in keep]
        steps = {"cells": Step([*map(named, passed, kept), *self.cells(names)])}
        steps |= self.joints(kept)
        steps["best"] = Step(["*", named(self.spelling.greatest(self.each("joint")), "best")])
        if shares:
            steps["weights"] = Step(["*", *self.weights()])
            steps["total"] = Step(["*", named(total(self.each("weight")), "total")])
        written = self.lookups()
        for name, (values, joins) in steps.items():
            listed, joined = ",\n    ".join(values), "".join(f"\n  {join}" for join in joins)
            step = f"  SELECT\n    {listed}\n  FROM {source}{joined}{self.spelling.fence}"
            source = self.spelling.step(name)
            written.append(f"{source} AS (\n{step}\n)")
        results = [*kept, self.label(), *(self.shares() if shares else ())]
        quoted = map(self.spelling.name, [*keep, label, *shares])
        listed = ",\n  ".join(map(named, results, quoted))
        return f"{self.head}WITH {', '.join(written)}\nSELECT\n  {listed}\nFROM {source}"

    def cell(self, name: str) -> str:
        """Name a cell of the table."""
        return f"t.{self.spelling.name(name)}"  # SQLite reads an unknown "name" as a text

    def each(self, what: str) -> list[str]:
        """Name what every possible class has."""
        return [f"{what}_{k}" for k in self.classes]

    def weights(self) -> list[str]:
        """Write exp(joint - best)."""
        return [
            f"CASE WHEN joint_{k} - best < {number(LEAST)} THEN 0 "
            f"ELSE EXP(joint_{k} - best) END AS weight_{k}"
            for k in self.classes
        ]

    def label(self) -> str:
        """Write the first class whose joint is the best."""
        return self.first(self.classes)

    def first(self, classes: list[int]) -> str:
        """Write the first of some classes whose joint is the best."""
        labels = map(self.spelling.label, self.labels[classes].tolist())
        cases = [
            f"WHEN joint_{k} = best THEN {label}" for k, label in zip(classes, labels, strict=True)
        ]
        return f"CASE {' '.join(cases)} END"

    def shares(self) -> list[str]:
        """Write the probability of each class."""
        never = self.spelling.cast("0")
        return [
            f"weight_{k} / total" if possible else never for k, possible in enumerate(self.possible)
        ]


def named(value: str, name: str) -> str:
    """Give a value a name."""
    return f"{value} AS {name}"
