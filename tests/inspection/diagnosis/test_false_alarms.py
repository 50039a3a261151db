"""Clean tables of all kinds of columns, and how often a diagnosis calls something high."""

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, diagnose
from tests.inspection.diagnosis.tables import gaussian

WORDS = np.array(
    ["tea", "milk", "coffee", "water", "wine", "beer", "juice", "cola", "soup", "rice"]
)
TABLES = {30: 18, 100: 8, 1000: 1}  # of each number of rows


def clean_table(rng, n, n_classes, apart):
    """Columns that are independent within classes, of which `apart` classes tell each other."""
    y = rng.integers(n_classes, size=n)
    e = apart * y
    frame = pd.DataFrame(
        {
            "normal": rng.normal(e),
            "skewed": rng.lognormal(e),
            "counts": rng.poisson(1 + e) * 1.0,
            "rounded": np.round(rng.normal(e)),
            "holes": np.where(rng.random(n) < 0.2, np.nan, rng.normal(e)),
            "few": np.array([*"abc"])[np.minimum((rng.random(n) * (2 + e / 2)).astype(int), 2)],
            "many": [f"c{i}" for i in rng.integers(40, size=n)],
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(10**8, size=n), "s"),
            "note": [" ".join(row) for row in WORDS[rng.integers(10, size=(n, 4))]],
        }
    )
    return frame, y


@pytest.mark.parametrize("apart", [0.0, 0.7], ids=["unrelated", "informative"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_clean_tables_raise_hardly_any_high_alarm(n_classes, apart):
    """In at most 1 % of 54 models, up to three standard deviations."""
    high = []
    for n, tables in TABLES.items():
        for seed in range(tables):
            rng = np.random.default_rng([n, n_classes, seed])
            frame, y = clean_table(rng, n, n_classes, apart)
            numbers = frame[["normal", "rounded", "holes"]]
            for model in (
                NaiveBayes(families={"note": "text"}).fit(frame, y),
                gaussian(numbers, y),
            ):
                found = diagnose(model).findings
                high.append([one.seen for one in found if one.severity == "high"])
    assert sum(map(bool, high)) <= 0.01 * len(high) + 3 * np.sqrt(0.01 * len(high)), [
        seen for seen in high if seen
    ]


@pytest.mark.parametrize("zeros", [0.3, 0.7, 0.9])
@pytest.mark.parametrize("n", [100, 1000])
def test_columns_of_zeros_with_a_tail_are_histograms(n, zeros):
    """A bin of one value ends at its cut, and not halfway to the middle of the next bin."""
    for seed in range(6):
        rng = np.random.default_rng([n, seed])
        y = rng.integers(2, size=n)
        x = np.where(rng.random(n) < zeros, 0.0, rng.lognormal(0.7 * y))
        found = diagnose(NaiveBayes().fit(pd.DataFrame({"x": x, "z": rng.normal(y)}), y)).findings
        assert not [one.seen for one in found if (one.kind, one.severity) == ("family", "high")]
