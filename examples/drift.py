"""Draw how far the columns of a table have moved: ``python examples/drift.py drift.svg``."""

import sys

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_wine

from naively import NaiveBayes, drift


def main(picture: str = "drift.svg") -> None:
    """Change some columns of half of the wines, and compare it with the other half."""
    wine = load_wine(as_frame=True)
    order = np.random.default_rng(0).permutation(len(wine.data)).tolist()
    first, second = order[:89], order[89:]
    new = wine.data.iloc[second].copy()
    new["alcohol"] += 0.8
    new.loc[new.index[::3], "hue"] = np.nan
    new["proline"] *= 1.02
    model = NaiveBayes().fit(wine.data.iloc[first], wine.target.iloc[first])
    found = drift(model, (new, wine.target.iloc[second]))
    print(found)
    mpl.rcParams["svg.hashsalt"] = "drift"
    found.plot().figure_.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
