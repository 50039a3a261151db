"""Dependence within classes against plain loops."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from naively import NaiveBayes, summarize
from naively.data.schema import Schema
from naively.inspection.diagnosis.dependence import Dependence
from tests.inspection.diagnosis.tables import clean, copies


def looked_at(X, y, **options):
    schema = Schema(X.shape[1], tuple(X.columns), sample=4000, **options)
    summary = summarize(X, y, schema=schema)
    return Dependence.of(summary, summary.sample), summary


def within(x, y):
    return x - pd.Series(x).groupby(y).transform("mean").to_numpy()


def test_correlation_is_that_of_deviations_from_the_means_of_classes():
    X, y = copies(2)
    X = X.select_dtypes("number")
    found, _ = looked_at(X, y)
    around = np.column_stack([within(X[name].to_numpy(), y) for name in X])
    np.testing.assert_allclose(found.correlation, np.corrcoef(around.T), rtol=0, atol=1e-9)


def test_correlation_is_read_off_the_products_of_all_rows_where_there_are_some():
    X, y = clean(n=9000)
    model = NaiveBayes().fit(X[[*"abcd"]], y)
    found = Dependence.of(model.summary_, model.summary_.sample)
    around = np.column_stack([within(X[name].to_numpy(), y) for name in "abcd"])
    assert len(model.summary_.sample) < len(X)
    np.testing.assert_allclose(found.correlation, np.corrcoef(around.T), rtol=0, atol=1e-9)


def test_correlation_leaves_missing_cells_out():
    X, y = copies(1)
    X = X.select_dtypes("number")
    X.loc[::5, "b"] = np.nan
    found, _ = looked_at(X, y)
    assert np.isfinite(found.correlation).all()
    assert found.correlation[0, 4] > 0.99


def test_information_is_that_of_the_tables_of_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], [500, 300])
    u = rng.integers(3, size=800)
    v = np.where(rng.random(800) < 0.6, u, rng.integers(3, size=800))
    X = pd.DataFrame({"u": np.array([*"xyz"])[u], "v": np.array([*"rst"])[v], "w": rng.random(800)})
    model = NaiveBayes().fit(X, y)
    found = Dependence.of(model.summary_, model.summary_.sample)
    nats = sum(
        (y == k).sum() * mutual_info_score(u[y == k], v[y == k]) - (3 - 1) * (3 - 1) / 2
        for k in "ab"
    )
    assert found.information[0, 1] == pytest.approx(nats / 800, rel=1e-9)
    assert found.strength[0, 2] == 0.0
    assert found.p_value[0, 1] < 1e-9


def test_a_category_that_tells_another_has_strength_one():
    X, y = clean()
    X["land"] = X["town"] + "!"
    model = NaiveBayes().fit(X, y)
    found = Dependence.of(model.summary_, model.summary_.sample)
    at = [found.columns.index(j) for j in (4, 5)]
    assert found.strength[at[0], at[1]] == pytest.approx(1.0, abs=0.01)
    assert found.effective(at) == pytest.approx(1.0, abs=0.02)


def test_groups_are_connected_by_pairs():
    X, y = copies(2)
    X["b0"] = X["b"] * 3 - 1
    found, _ = looked_at(X.select_dtypes("number"), y)
    names = X.select_dtypes("number").columns
    groups = [{names[i] for i in group} for group in found.clusters(0.5)]
    assert sorted(map(sorted, groups)) == [["a", "a0", "a1"], ["b", "b0"]]
    strengths = [pair.strength for pair in found.pairs(0.5)]
    assert strengths == sorted(strengths, reverse=True)


def test_independent_columns_are_worth_their_number():
    found, _ = looked_at(clean(n=4000)[0][[*"abcd"]], clean(n=4000)[1])
    assert found.effective() == 4.0
    assert not found.clusters(0.1)
