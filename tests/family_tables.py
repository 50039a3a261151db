"""A table with a column for each family of numbers, within its support, and models of it."""

import numpy as np
import pandas as pd

from naively import NaiveBayes
from naively.families import FAMILIES

N = 300
RNG = np.random.default_rng(11)
Y = RNG.integers(3, size=N)
BY_FAMILY = {
    "gaussian": RNG.normal(Y, 1.0),
    "student_t": RNG.normal(Y, 1.0 + Y),
    "histogram": RNG.normal(Y, 1.0) ** 3,
    "kernel_density": RNG.normal(np.where(RNG.random(N) < 0.5, -2.0, 2.0) * Y, 0.7),
    "log_normal": RNG.lognormal(0.5 * Y, 0.3 + 0.2 * Y),
    "exponential": RNG.exponential(1.0 + Y),
    "gamma": RNG.gamma(1.0 + Y, 1.0 / (1.0 + Y)),
    "beta": RNG.beta(0.5 + Y, 2.0),
    "von_mises": RNG.vonmises(Y, 0.5 + Y),
    "bernoulli": (RNG.random(N) < 0.2 + 0.2 * Y).astype(float),
    "negative_binomial": RNG.negative_binomial(2, 2 / (3.0 + 2 * Y)).astype(float),
    "poisson": RNG.poisson(1.0 + Y).astype(float),
}
NUMBERS = [name for name, family in FAMILIES.items() if family.kind == "number"]
FRAME = pd.DataFrame({name: BY_FAMILY[name] for name in NUMBERS})
FRAME = FRAME.mask(RNG.random(FRAME.shape) < 0.05)
LABELS = np.array(["no", "perhaps", "yes"])[Y]


def model_of(**options):
    """Return a model in which every family describes its own column."""
    families = {name: FAMILIES[name]() for name in NUMBERS}
    return NaiveBayes(families=families, **options).fit(FRAME, LABELS)


def rows():
    """Rows to ask about: those of the table, with cells beyond every support, and far ones."""
    asked = FRAME.copy()
    beyond = [-1.0, 0.0, 0.25, 1.0, 1e9, -1e3]
    for j, name in enumerate(NUMBERS):
        asked.loc[j :: len(NUMBERS), name] = beyond[j % len(beyond)]
    return asked
