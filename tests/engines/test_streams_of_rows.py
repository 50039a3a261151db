"""Streams: rows one by one, in frames of one row, with classes that were never seen."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import naively
from naively import GaussianNB, NaiveBayes, summarize
from naively.data import labels
from naively.statistics import Sample

FRAMES = {
    "pandas": lambda frame: frame,
    "polars": polars.from_pandas,
    "pyarrow": pyarrow.Table.from_pandas,
}


def table(n=40):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=n), "b": rng.integers(9, size=n)})
    frame["town"] = rng.choice(["Ulm", "Bonn", "Jena"], n)
    frame.loc[3, "town"] = None
    frame["port"] = pandas.Categorical(rng.choice(["S", "C"], n), categories=["Q", "S", "C"])
    frame["member"] = rng.random(n) < 0.5
    return frame, np.where(frame.a > 0, "x", "z")


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("calibration", [None, "weights"])
def test_frames_of_one_row_give_the_summary_of_the_whole_frame(library, calibration):
    frame, y = table()
    model = NaiveBayes(calibration=calibration)
    schema = model.fit(frame, y).summary_.schema
    whole = naively.summarize(frame, y, schema=schema)
    found = NaiveBayes.from_summary(
        naively.summarize(frame[:1], y[:1], schema=schema),
        calibration=calibration,
        open_classes=True,
    )
    for i in range(1, len(frame)):
        found.partial_fit(FRAMES[library](frame[i : i + 1]), y[i : i + 1])
    total = found.summary_
    assert [c.tolist() for c in total.categories] == [c.tolist() for c in whole.categories]
    np.testing.assert_array_equal(total.tallies.values, whole.tallies.values)
    np.testing.assert_allclose(total.moments.values[:3], whole.moments.values[:3], rtol=1e-12)
    assert total.sample == whole.sample


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(
    "estimator", [GaussianNB, NaiveBayes, lambda **kw: NaiveBayes(calibration=None, **kw)]
)
def test_new_classes_one_by_one_are_those_of_one_batch(estimator, text):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.permutation(60) % 45
    y = np.array([f"class {k}" * (1 + k % 3) for k in y]) if text else y
    model = estimator(open_classes=True).partial_fit(X[:5], y[:5])
    schema = model.summary_.schema
    for i in range(5, 60):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    whole = naively.summarize(X, y, schema=schema)
    np.testing.assert_array_equal(model.classes_, whole.classes)
    np.testing.assert_array_equal(model.summary_.class_weight, whole.class_weight)
    np.testing.assert_array_equal(model.summary_.bins.values, whole.bins.values)
    np.testing.assert_allclose(
        model.summary_.moments.values[:3], whole.moments.values[:3], rtol=1e-12, atol=1e-15
    )
    assert model.summary_.sample == whole.sample


def test_adding_some_classes_leaves_the_others_bit_for_bit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 5
    a, b = summarize(X, y), summarize(X[:1] + 1, [3])
    total = a + b
    others = [0, 1, 2, 4]
    np.testing.assert_array_equal(total.moments[others].values, a.moments[others].values)
    np.testing.assert_array_equal(total.moments[[3]].values, (a.moments[[3]] + b.moments).values)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 5, 9], [0, 5, 6, 7, 10]),
        (["a", "c"], ["b", "longer than the others"]),
        ([1, 2**53], [0.5, 2.0**53]),
        ([True], [False]),
    ],
)
def test_uniting_labels_gives_the_sorted_set_of_both(a, b):
    a, b = np.array(a), np.array(b)
    wanted = np.array(sorted(set(a.tolist()) | set(b.tolist())))
    np.testing.assert_array_equal(labels.union(a, b), wanted)
    np.testing.assert_array_equal(labels.union(b, a), wanted)


def test_fit_draws_its_sample_once(monkeypatch):
    drawn = []
    draw = Sample.measure

    def counted(block):
        drawn.append(block)
        return draw(block)

    monkeypatch.setattr(Sample, "measure", counted)
    frame, y = table(3000)
    found = NaiveBayes().fit(frame, y).summary_
    assert len(drawn) == 1
    assert found == naively.summarize(frame, y, schema=found.schema)


def test_edges_are_those_of_the_first_rows_of_the_sample():
    frame, y = table(3000)
    sampled = NaiveBayes().fit(frame, y).summary_.schema
    plain = NaiveBayes(calibration=None, families={"a": "histogram"}).fit(frame, y).summary_.schema
    assert sampled.edges[0] == plain.edges[0]
