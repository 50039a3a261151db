"""Why rows get their answers, and what would have to change for another one."""

from naively.inspection.explanations.collect import explain
from naively.inspection.explanations.counterfactual import Change, Counterfactual, counterfactual
from naively.inspection.explanations.explanation import Explanation, LogOdds

__all__ = ["Change", "Counterfactual", "Explanation", "LogOdds", "counterfactual", "explain"]
