"""What cannot be reported on is an error that says why."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression

from naively import GaussianNB
from naively.display.report import report
from tests.report_tables import SPECIES, X, Y

BAD = {
    "one class": ((GaussianNB(), X, np.zeros(150, int)), "needs 2 to 100 classes; got 1: 0"),
    "a number for a class": (
        (GaussianNB(), np.eye(300), np.arange(300)),
        "got 300: .* Is the target a number",
    ),
    "text": (
        (GaussianNB(), pd.DataFrame({"a": list("xyz")}), [0, 1, 0]),
        "column 'a' must hold numbers",
    ),
    "infinity": ((GaussianNB(), np.where(X > 7.6, np.inf, X), Y), "column 0 holds infinity"),
    "a missing label": (
        (GaussianNB(), X, [None, *SPECIES[1:]]),
        r"labels must not be missing; got y\[0\]",
    ),
    "dates for classes": (
        (GaussianNB(), X, np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]")[Y % 2]),
        "labels that are text, numbers or booleans; got datetime64",
    ),
    "bytes for classes": (
        (GaussianNB(), X, np.array([b"a", b"b"])[Y % 2]),
        "text, numbers or booleans; got",
    ),
    "too few labels": ((GaussianNB(), X, Y[:9]), "inconsistent numbers of samples"),
    "no rows": ((GaussianNB(), np.empty((0, 2)), []), "0 sample"),
    "no labels": ((GaussianNB(), X), r"report\(model, data, y\), or report.*; got no labels"),
    "no data": ((GaussianNB(),), "rows and their labels must be given.* got no data"),
    "rows in place of the model": (
        (X, Y),
        r"report\(model, data, y\); .* report\(data=..., y=...\)",
    ),
    "files in place of the model": (("iris.csv", "species"), "the model comes first.* got str"),
    "more than three": ((GaussianNB(), X, Y, Y), r"called as report\(model, data, y\); got more"),
    "a regression": ((LinearRegression(), X, Y), "only classifiers can be evaluated"),
    "another classifier": (
        (RandomForestClassifier(), X, Y),
        "explores naively's GaussianNB and NaiveBayes; got",
    ),
    "a class": ((GaussianNB, X, Y), r"must be an instance: GaussianNB\(\)"),
    "a sparse matrix too large": (
        (GaussianNB(), csr_array((10**6, 10**6)), np.arange(10**6) % 2),
        "up to 1,000,000,000 cells; got a sparse matrix of 1000000 x 1000000",
    ),
    "a class never learned": ((GaussianNB().fit(X[:100], Y[:100]), X, Y), "got 2 too"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_a_clear_error(given, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        report(*given, path=tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("X", "data="),
        ("cv", "folds="),
        ("scoring", "every metric"),
        ("weight", "cannot be weighted"),
    ],
)
def test_an_option_that_is_not_there_is_a_clear_error(option, message):
    with pytest.raises(ValueError, match=f"report has no {option}=; .*{message}"):
        report(GaussianNB(), **{option: X})
