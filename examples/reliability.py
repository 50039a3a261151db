"""Draw how far probabilities can be trusted, before calibration and after.

    python examples/reliability.py [picture]

Breast Cancer in ten folds: the Gaussian naive Bayes of the textbooks, and `NaiveBayes`.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from naively import GaussianNB, NaiveBayes, evaluate
from naively.plots import ReliabilityDisplay


def main(picture: str = "reliability.svg") -> None:
    """Draw both in one diagram, and save it."""
    X, y = load_breast_cancer(return_X_y=True)
    before, after = (evaluate(model, X, y, folds=10) for model in (GaussianNB(), NaiveBayes()))
    names = [
        f"{name}: log loss {found.loss:.3f}"
        for name, found in (("GaussianNB", before), ("NaiveBayes", after))
    ]
    drawn = ReliabilityDisplay.from_evaluation(before, other=after, names=names)
    drawn.figure_.savefig(picture)
    print(f"{picture}: {names[0]}; {names[1]}")


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "naively"  # the same picture, the same bytes
    main(*sys.argv[1:])
