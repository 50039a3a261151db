"""Families: one distribution each, its formula and the parameters read off a statistic."""

from naively.families.bernoulli import Bernoulli
from naively.families.categorical import Categorical
from naively.families.exponential import Exponential
from naively.families.family import Family
from naively.families.gaussian import Gaussian
from naively.families.histogram import Histogram
from naively.families.log_normal import LogNormal
from naively.families.poisson import Poisson
from naively.families.student_t import StudentT
from naively.families.text import Text

__all__ = ["FAMILIES", "Bernoulli", "Categorical", "Exponential", "Family", "Gaussian"]
__all__ += ["Histogram", "LogNormal", "Poisson", "StudentT", "Text"]

_ALL: tuple[type[Family], ...] = (
    Gaussian,
    StudentT,
    LogNormal,
    Exponential,
    Histogram,
    Categorical,
    Bernoulli,
    Poisson,
    Text,
)
FAMILIES: dict[str, type[Family]] = {family.name: family for family in _ALL}
