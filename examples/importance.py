"""Draw which columns of the breast cancer data matter on unseen rows, and a nomogram of a tumour.

python examples/importance.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes
from naively.plots import NomogramDisplay


def main(folder: str = ".") -> None:
    """Draw both, and save them."""
    table = load_breast_cancer(as_frame=True)
    diagnosis = table.target_names[table.target]
    model = NaiveBayes().fit(table.data, diagnosis)
    print(model.importance_)
    model.importance_.plot(max_columns=12).figure_.savefig(Path(folder) / "importance.svg")
    plain = NaiveBayes.from_summary(model.summary_, interactions=None)
    display = NomogramDisplay.from_estimator(plain, table.data, row=13, max_columns=8)
    display.figure_.savefig(Path(folder) / "nomogram.svg")


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "naively"  # the same picture, the same bytes
    main(*sys.argv[1:])
