"""Directions and the quadratic term are read off all rows, wherever and however they were seen."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, load, summarize
from naively.data.rows import Rows
from naively.data.schema import Schema
from naively.evaluation.folds import measure_folds
from naively.evaluation.inputs import Truth
from naively.model.interactions import canonical, quadratic
from naively.model.interactions.features import ClassScatter, by_class
from naively.statistics import Scatter

SAMPLE = 200


def drawn(n=1500, K=4, p=4, seed=0):
    """Return rows of classes that differ in their covariances as well as in their means."""
    rng = np.random.default_rng(0)
    mix, mean = rng.normal(size=(K, p, p)), rng.normal(size=(K, p))
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    X = np.einsum("npq,nq->np", mix[y], rng.normal(size=(n, p))) + mean[y]
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, np.array(list("abcdefghijklmnopqrstuvwxyz"))[y]


@pytest.fixture(scope="module")
def schema():
    """Return what is measured, with a sample of few of the rows."""
    return replace(NaiveBayes().fit(*drawn()).summary_.schema, sample=SAMPLE)


def read(X, y, schema, **options):
    return NaiveBayes.from_summary(summarize(X, y, schema=schema, **options))


def loss(model, X, y):
    p = model.predict_proba(X)
    return -np.log(p[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()


def test_all_rows_tell_more_than_a_sample(schema):
    X, y = drawn()
    new, truth = drawn(seed=1)
    from_sample = read(X, y, replace(schema, centres=None))
    assert loss(read(X, y, schema), new, truth) < 0.9 * loss(from_sample, new, truth)
    assert [term["kind"] for term in from_sample.interactions_[:4]] == ["direction"] * 3 + [
        "quadratic"
    ]


def test_the_quadratic_term_is_that_of_all_rows(schema):
    X, y = drawn()
    model = read(X, y, schema)
    assert len(model.summary_.sample) == SAMPLE
    features, found = model.model_.interactions.features, model.model_.interactions.quadratic
    f = features.values(X, np.empty((len(y), 0), int))
    own = by_class(np.searchsorted(model.classes_, y), np.ones(len(y)), 4)
    expected = quadratic.parameters(ClassScatter.of(f, own))
    np.testing.assert_allclose(found.parameters.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(found.parameters.log_det, expected.log_det, rtol=1e-12)
    np.testing.assert_allclose(found.parameters.factor, expected.factor, atol=1e-12)
    sample = model.summary_.sample
    W = canonical.directions(ClassScatter.of(f, own))
    W = canonical.oriented(W, features.values(sample.numbers, sample.categories), sample.weight)
    np.testing.assert_allclose(model.model_.interactions.canonical.W, W, rtol=1e-9)


def test_outliers_that_only_all_rows_have_do_no_harm(schema):
    X, y = drawn()
    kept = read(X, y, schema)
    far = X[:4] * 1e6
    spoilt = kept.partial_fit(far, y[:4])
    assert len(np.intersect1d(far, spoilt.summary_.sample.numbers)) == 0
    from_sample = read(X, y, replace(schema, centres=None))
    new, truth = drawn(seed=1)
    assert loss(spoilt, new, truth) < 1.02 * loss(from_sample, new, truth)


def test_where_there_are_categories_directions_are_those_of_the_sample():
    X, y = drawn()
    frame = pd.DataFrame(X).rename(columns=str).assign(town=np.resize(["Ulm", "Bonn"], len(y)))
    schema = replace(NaiveBayes().fit(frame, y).summary_.schema, sample=SAMPLE)
    whole, sampled = (read(frame, y, s) for s in (schema, replace(schema, centres=None)))
    a, b = (model.model_.interactions for model in (whole, sampled))
    np.testing.assert_allclose(a.canonical.W, b.canonical.W, atol=0.05)
    assert not np.allclose(
        a.quadratic.parameters.log_det, b.quadratic.parameters.log_det, rtol=0.01
    )


def test_a_row_of_the_sample_is_taken_out_of_all_rows():
    X, y = drawn()
    codes, f = np.searchsorted(list("abcd"), y), np.nan_to_num(X)
    own = by_class(codes, np.ones(len(y)), 4)
    sample, weight = slice(0, SAMPLE), np.ones(SAMPLE)
    scatter = ClassScatter.of(f, own)
    W = canonical.directions(scatter)
    without = canonical.DirectionsWithoutEach(f[sample], codes[sample], weight, scatter, W)
    found = without.terms(canonical.terms_of(without.z, codes[sample], weight, 4), f[sample])
    for i in range(0, SAMPLE, 9):
        rest, kept = own.copy(), weight.copy()
        rest[i], kept[i] = 0.0, 0.0
        V = canonical.directions(ClassScatter.of(f, rest))
        V *= np.sign((V * W).sum(axis=0))
        z = canonical.along(f[sample], V)
        terms = canonical.terms_of(z, codes[sample], kept, 4)
        expected = terms[0].log_density(z[i : i + 1], None)[0]
        np.testing.assert_allclose(found[i, :, :3], expected, atol=0.02)


def test_batches_and_forgotten_rows_leave_the_model_of_the_rest(schema):
    X, y = drawn()
    model = read(X[:700], y[:700], schema).partial_fit(X[700:], y[700:])
    whole = read(X, y, schema)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    one_by_one = read(X[10:], y[10:], schema)
    for i in range(10):
        one_by_one.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(one_by_one.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    gone = summarize(X[1200:], y[1200:], schema=schema)
    few = read(X[:1200], y[:1200], schema).summary_[Scatter]
    np.testing.assert_allclose((whole.summary_ - gone)[Scatter].products, few.products, rtol=1e-9)


def test_a_new_class_and_decay_are_what_the_rows_and_weights_say(schema):
    X, y = drawn(600)
    known = y != "d"
    model = NaiveBayes(open_classes=True, decay=0.5)
    model.update(summarize(X[known], y[known], schema=schema)).partial_fit(X[~known], y[~known])
    whole = read(X, y, schema, sample_weight=np.where(known, 0.5, 1.0))
    assert model.classes_.tolist() == list("abcd")
    np.testing.assert_allclose(
        model.summary_[Scatter].products, whole.summary_[Scatter].products, rtol=1e-9
    )
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-7)


def test_folds_are_models_of_all_other_rows(schema, monkeypatch):
    monkeypatch.setattr(NaiveBayes, "sample_size", lambda self: SAMPLE)
    X, y = drawn()
    fold = np.resize(np.arange(3, dtype=np.int32), len(y))
    whole, rows = NaiveBayes(), Rows.of_numbers(X)
    folds = measure_folds([whole], rows, Schema(4), Truth.of(X, y), fold)
    for k, model in enumerate(folds.models(whole)):
        alone = read(X[fold != k], y[fold != k], model.schema)
        expected = alone.model_.interactions.quadratic.parameters
        found = model.interactions.quadratic.parameters
        np.testing.assert_allclose(found.log_det, expected.log_det, rtol=1e-9)
        np.testing.assert_allclose(found.mean, expected.mean, atol=1e-9)


def test_a_model_file_and_a_pickle_keep_the_products(schema, tmp_path):
    X, y = drawn()
    model = read(X, y, schema)
    model.save(tmp_path / "model.safetensors")
    for other in (load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert other.summary_ == model.summary_
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


def test_only_what_is_read_off_products_measures_them():
    X, y = drawn(100)
    for options in ({"interactions": None}, {"interactions": ("pairs",)}, {"calibration": None}):
        assert NaiveBayes(**options).fit(X, y).summary_.schema.centres is None
    wide = np.tile(X, 33)[:, :129]
    assert NaiveBayes().fit(wide, y).summary_.schema.centres is None
    assert len(NaiveBayes().fit(wide[:, :128], y).summary_.schema.centres) == 128
    many = np.arange(300) % 150
    assert NaiveBayes().fit(np.tile(X, (3, 1)), many).summary_.schema.centres is None


def test_a_column_that_was_empty_at_first_and_then_far_is_read_off_the_sample():
    X, y = drawn(400)
    first = X.copy()
    first[:, 0] = np.nan
    X[:, 0] += 1e9
    model = NaiveBayes().fit(first, y).partial_fit(X, y)
    assert model.summary_.schema.centres[0] == 0.0
    interactions = model.model_.interactions
    at = interactions.features.numbers.tolist().index(0)
    assert interactions.features.mean[at] == pytest.approx(1e9)
    assert np.isfinite(model.predict_proba(X)).all()


ODD = ["constant", "wide", "collinear", "empty column", "one class", "no weight", "repeated"]
ODD += ["a constant class", "far and near", "one row a class"]


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("sample", [40, 4000], ids=["a sample of few", "a sample of all"])
def test_odd_tables_have_finite_sensible_probabilities(name, sample):
    rng = np.random.default_rng(0)
    y = np.resize(["a", "b", "c"], 300)
    X = rng.normal(size=(300, 4)) + 2 * (y == "a")[:, np.newaxis]
    weight = None
    if name == "constant":
        X[:] = 3.0
    elif name == "wide":
        X, y = np.hstack([X, rng.normal(size=(300, 100))])[:60], y[:60]
    elif name == "collinear":
        X = np.column_stack([X, X, 2 * X[:, :1] - X[:, 1:2], X + 1e-13])
    elif name == "empty column":
        X[:, 1] = np.nan
    elif name == "one class":
        y = np.full(300, "a")
    elif name == "no weight":
        weight = np.where(y == "c", 0.0, rng.choice([0.0, 1e-6, 1.0, 1e12], size=300))
    elif name == "repeated":
        X, y = np.repeat(X[:3], 100, axis=0), np.repeat(y[:3], 100)
    elif name == "a constant class":
        X[y == "b"] = 1.5
    elif name == "far and near":
        X = np.where(y == "b", 1e12, 1e-12)[:, np.newaxis] * X
    else:
        y = y.astype(object)
        y[:20] = [f"only {i}" for i in range(20)]
        y = y.astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = NaiveBayes().fit(X, y, sample_weight=weight)
        schema = replace(found.summary_.schema, sample=sample)
        model = read(X, y, schema, sample_weight=weight)
        new = np.vstack([X, np.full((1, X.shape[1]), 1e200), np.full((1, X.shape[1]), np.nan)])
        p = model.predict_proba(new)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    share = model.class_prior_
    if name not in ("constant", "one class"):
        seen = np.ones(len(y)) if weight is None else weight
        right = np.average(model.predict(X) == y, weights=seen)
        assert right >= share.max() - 0.02
