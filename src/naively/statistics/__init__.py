"""Statistics: what is measured of rows; the registry is what the rest knows."""

from __future__ import annotations

from naively.statistics.counts import Documents, MissingCells, Occurrences
from naively.statistics.moments import FunctionMoments, Moments
from naively.statistics.sample import Sample
from naively.statistics.scatter import Scatter
from naively.statistics.statistic import Statistic
from naively.statistics.weights import Bins, ClassWeight, Tallies

__all__ = ["STATISTICS", "Bins", "ClassWeight", "Documents", "FunctionMoments"]
__all__ += ["MissingCells", "Moments", "Occurrences", "Sample", "Scatter", "Statistic", "Tallies"]

STATISTICS: list[type[Statistic]] = [
    ClassWeight,
    Moments,
    FunctionMoments,
    Tallies,
    Bins,
    Scatter,
    Occurrences,
    Documents,
    MissingCells,
    Sample,
]
"""In the order in which they are measured and saved."""
