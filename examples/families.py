"""Draw every family of numbers over cells of two classes that were drawn from it.

python examples/families.py [picture]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from naively import NaiveBayes
from naively.families import VonMises

N = 2000


def cells(rng: np.random.Generator, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return cells of each family, of two classes."""
    hills = np.where(rng.random(y.size) < 0.5, -2.0, 2.0)
    return {
        "gaussian": rng.normal(2.0 * y, 1.0 + 0.5 * y),
        "student_t": rng.standard_t(4, y.size) + 3.0 * y,
        "log_normal": rng.lognormal(0.5 + 0.7 * y, 0.4),
        "exponential": rng.exponential(1.0 + 2.0 * y),
        "gamma": rng.gamma(2.0 + 4.0 * y, 1.0),
        "beta": rng.beta(2.0 + 4.0 * y, 5.0 - 3.0 * y),
        "von_mises": (rng.vonmises(np.where(y == 1, 2.4, -2.6), 2.0) * 12 / np.pi) % 24,
        "kernel_density": hills * (1 - y) + rng.normal(0.0, 0.7, y.size),
        "bernoulli": (rng.random(y.size) < 0.3 + 0.4 * y).astype(float),
        "poisson": rng.poisson(2.0 + 4.0 * y).astype(float),
        "negative_binomial": rng.negative_binomial(2, 0.4 - 0.2 * y).astype(float),
    }


def main(picture: str = "families.svg") -> None:
    """Fit each family to its own cells, and draw its densities over their histograms."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N)
    figure, axes = plt.subplots(3, 4, figsize=(11, 6.5), layout="constrained")
    for ax, (name, x) in zip(axes.flat, cells(rng, y).items(), strict=False):
        family = VonMises(period=24.0) if name == "von_mises" else name
        model = NaiveBayes(families={0: family}, calibration=None).fit(x[:, np.newaxis], y)
        (term,) = model.model_.terms
        whole = term.family.discrete
        low, high = np.quantile(x, [0.0, 0.995])
        edges = np.arange(low - 0.5, high + 1.5) if whole else np.linspace(low, high, 40)
        at = np.arange(low, high + 1) if whole else np.linspace(low, high, 400)[1:-1]
        density = np.exp(term.log_density_of(0, at))
        for k, colour in enumerate(["C0", "C1"]):
            ax.hist(x[y == k], edges, density=True, color=colour, alpha=0.25)
            ax.plot(at, density[:, k], "o" if whole else "-", color=colour, markersize=4)
        ax.set_title(name, fontsize=10)
        ax.set_yticks([])
        ax.spines[["top", "right", "left"]].set_visible(False)
    for ax in axes.flat[11:]:
        ax.set_axis_off()
    figure.savefig(picture)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "naively"  # the same picture, the same bytes
    main(*sys.argv[1:])
