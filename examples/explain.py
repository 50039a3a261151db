"""Draw why a tumour is called what it is, and print what would change that.

python examples/explain.py [picture]
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from naively import NaiveBayes


def main(picture: str = "waterfall.svg") -> None:
    """Draw the waterfall of one row, and save it."""
    table = load_breast_cancer(as_frame=True)
    diagnosis = table.target_names[table.target]
    model = NaiveBayes().fit(table.data, diagnosis)
    explanation = model.explain(table.data)
    row = 13
    explanation.plot(row, max_terms=10).figure_.savefig(picture)
    print(explanation[row])
    print(model.counterfactual(table.data.iloc[[row]]))
    print(picture)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "naively"  # the same picture, the same bytes
    main(*sys.argv[1:])
