"""Why rows get their answers, and what would have to change for another one."""

from naively.explanations.collect import explain
from naively.explanations.explanation import Explanation, LogOdds

__all__ = ["Explanation", "LogOdds", "explain"]
