"""Families: one distribution each, its formula and the parameters read off a statistic."""

from naively.families.bernoulli import Bernoulli
from naively.families.beta import Beta
from naively.families.categorical import Categorical
from naively.families.exponential import Exponential
from naively.families.family import Family
from naively.families.gamma import Gamma
from naively.families.gaussian import Gaussian
from naively.families.histogram import Histogram
from naively.families.kernel_density import KernelDensity
from naively.families.log_normal import LogNormal
from naively.families.negative_binomial import NegativeBinomial
from naively.families.poisson import Poisson
from naively.families.student_t import StudentT
from naively.families.text import Text
from naively.families.von_mises import VonMises

__all__ = [
    "CANDIDATES",
    "FAMILIES",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Exponential",
    "Family",
    "Gamma",
]
__all__ += ["Gaussian", "Histogram", "KernelDensity", "LogNormal", "NegativeBinomial"]
__all__ += ["Poisson", "StudentT", "Text", "VonMises"]

_ALL: tuple[type[Family], ...] = (
    StudentT,
    Gaussian,
    LogNormal,
    Exponential,
    Gamma,
    Beta,
    Bernoulli,
    Poisson,
    NegativeBinomial,
    KernelDensity,
    VonMises,
    Histogram,
    Categorical,
    Text,
)
FAMILIES: dict[str, type[Family]] = {family.name: family for family in _ALL}
"""By name; where two candidates for a column are equally good, the first is chosen."""
CANDIDATES: tuple[Family, ...] = tuple(family() for family in _ALL if family.candidate)
"""What ``families="best"`` tries."""
