"""Say where the assumptions of a model of tumours fail, and draw which families do not fit.

python examples/diagnose.py [picture]
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from naively import GaussianNB, diagnose


def main(picture: str = "fits.svg") -> None:
    """Print the findings, and save a picture of the worst fits."""
    table = load_breast_cancer(as_frame=True)
    model = GaussianNB(calibration="temperature").fit(table.data, table.target_names[table.target])
    found = diagnose(model)
    print(found)
    found.plot().figure_.savefig(picture)
    print(picture)


if __name__ == "__main__":
    plt.rcParams["svg.hashsalt"] = "naively"  # the same picture, the same bytes
    main(*sys.argv[1:])
