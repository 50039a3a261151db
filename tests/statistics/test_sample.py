"""The sample of rows: its laws, which values are the same value, and samples of earlier files."""

import json
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import NaiveBayes, summarize
from naively.data.schema import Schema
from naively.data.tensors import UnsoundError
from naively.errors import NaivelyError
from naively.statistics.model_file import converted, pack, unpack
from naively.statistics.sample import EVERYTHING, hashes_of
from tests import databases
from tests.every_engine import ENGINES, IN_DATABASES, OF_NUMBERS

pytestmark = databases.QUIET

SIZE = 6
SCHEMA = Schema(2, ("x", "c"), ("number", "category"), sample=SIZE)
laws = settings(deadline=None, max_examples=50)
few_cells_many_classes = st.lists(
    st.tuples(
        st.sampled_from([0.0, -0.0, 1.0, None]),
        st.sampled_from(["1", "01", "true", None]),
        st.integers(0, 40),
        st.integers(0, 3),
    ),
    max_size=60,
)


def summary_of(rows):
    frame = pd.DataFrame(
        {
            "x": np.array([row[0] for row in rows], dtype=float),
            "c": pd.Series([row[1] for row in rows], dtype=object),
        }
    )
    y, w = (np.array([row[j] for row in rows], dtype=kind) for j, kind in ((2, int), (3, float)))
    return summarize(frame, y, schema=SCHEMA, sample_weight=w)


def content(summary):
    """Return the sample's rows by what they hold, with their hashes and weights."""
    sample = summary.sample
    words = [None if k < 0 else summary.categories[0][k] for k in sample.categories[:, 0]]
    numbers = [None if np.isnan(x) else x for x in sample.numbers[:, 0]]
    classes = summary.classes[sample.codes]
    found = zip(sample.hashes.tolist(), numbers, words, classes, sample.weight, strict=True)
    return [*found], sample.bound


# --- laws -----------------------------------------------------------------------------------------


@laws
@given(few_cells_many_classes)
def test_all_rows_are_kept_whose_hash_is_at_most_that_of_the_last(rows):
    weights = {}
    for x, c, y, w in rows:
        if w:
            key = (None if x is None else x + 0.0, c, y)
            weights[key] = weights.get(key, 0) + w
    each = {key: content(summary_of([(*key, 1)]))[0][0][0] for key in weights}
    ordered = sorted((each[key], key[2], key) for key in weights)
    last = ordered[SIZE - 1][0] if len(ordered) > SIZE else EVERYTHING
    expected = [(h, *key[:2], k, weights[key]) for h, k, key in ordered if h <= last]
    found, bound = content(summary_of(rows))
    assert found == expected
    assert bound == (last + 1 if len(ordered) > SIZE else EVERYTHING)


@laws
@given(st.lists(few_cells_many_classes, max_size=6), st.randoms())
def test_the_sample_is_the_same_in_any_order_and_any_batches(batches, random):
    whole = summary_of([row for batch in batches for row in batch])
    shuffled = random.sample(batches, len(batches))
    parts = [summary_of(random.sample(batch, len(batch))) for batch in shuffled]
    total = reduce(add, parts, naively.Summary.zero(SCHEMA))
    assert total.sample == whole.sample
    assert content(total) == content(whole)


@laws
@given(few_cells_many_classes)
def test_rows_added_one_by_one_give_the_sample_of_them_all(rows):
    one_by_one = reduce(add, [summary_of([row]) for row in rows], naively.Summary.zero(SCHEMA))
    whole = summary_of(rows)
    assert one_by_one.sample == whole.sample
    assert content(one_by_one) == content(whole)


@laws
@given(few_cells_many_classes, few_cells_many_classes)
def test_rows_are_taken_out_by_their_cells_and_their_class(a, b):
    first, both = summary_of(a), summary_of(a) + summary_of(b)
    rest, bound = content(both - summary_of(b))
    assert rest == [row for row in content(first)[0] if row[0] < bound]


def test_a_row_of_another_class_was_never_added():
    one, other = (summary_of([(1.0, "1", y, 1)]).sample for y in (3, 4))
    other = replace(other, codes=other.codes + 1)
    with pytest.raises(NaivelyError, match="a row was never added"):
        one - other


@laws
@given(few_cells_many_classes, st.integers(1, SIZE))
def test_a_smaller_sample_is_part_of_a_larger_one(rows, size):
    smaller = summarize(
        pd.DataFrame({"x": [r[0] for r in rows], "c": [r[1] for r in rows]}).astype({"x": float}),
        [r[2] for r in rows],
        schema=Schema(2, ("x", "c"), SCHEMA.kinds, sample=size),
        sample_weight=[r[3] for r in rows],
    )
    assert summary_of(rows).sample.least(size) == smaller.sample


# --- which values are the same value --------------------------------------------------------------

near = [2**53, 2**63, 2**64]
integers = st.one_of(
    st.integers(-3, 3), *(st.integers(n - 3, n + 3).filter(lambda i: i < 2**64) for n in near)
)
integers = st.one_of(integers, integers.filter(lambda i: i <= 2**63).map(lambda i: -i))
floats = st.one_of(st.floats(allow_nan=False, allow_infinity=False), integers.map(float))
words = ["1", "01", "1.0", "true", "True", "1e5", "100000", "\u0661", "", "a", "a\0", "NaT", "<NA>"]
texts = st.one_of(st.sampled_from([*words, "-0.0"]), st.text(max_size=9))
values = st.one_of(integers, floats, st.booleans(), st.sampled_from([0.0, -0.0]), texts)


def hash_of(value):
    dtype = object if isinstance(value, str) else None
    return int(hashes_of(np.array([value], dtype=dtype))[0])


@settings(deadline=None, max_examples=300)
@given(values, values)
def test_two_values_share_a_hash_if_and_only_if_they_are_the_same_value(a, b):
    same = isinstance(a, str) == isinstance(b, str) and a == b
    assert (hash_of(a) == hash_of(b)) == same


def test_a_text_of_the_bytes_of_a_number_is_not_that_number():
    number = np.frombuffer(b"abcdefgh", "<f8")
    assert hashes_of(number) != hashes_of(np.array(["abcdefgh"]))


def accuracy_of(y):
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=400)
    X = rng.normal(size=(400, 3)) + codes[:, np.newaxis] * 1.5
    X = X.round()  # so that rows of both classes have the same cells
    labels = np.array(y)[codes]
    return (NaiveBayes().fit(X, labels).predict(X) == labels).mean()


@pytest.mark.parametrize("y", [[2**53, 2**53 + 1], [2**63 - 2, 2**63 - 1]], ids=["2^53", "2^63"])
def test_integers_that_are_equal_as_doubles_are_different_labels(y):
    assert accuracy_of(y) == accuracy_of(["a", "b"])


@pytest.mark.parametrize(
    "pair", [("1", "01"), ("true", "True"), ("1e5", "100000"), (2**53, 2**53 + 1)], ids=str
)
def test_categories_that_look_alike_are_different(pair):
    rng = np.random.default_rng(1)
    codes, noise = rng.integers(2, size=600), rng.random(600)
    x = rng.integers(3, size=600)
    y = np.where(noise < 0.8, codes, 1 - codes)

    def probability(names):
        frame = pd.DataFrame({"c": pd.Series([names[k] for k in codes], dtype=object), "x": x})
        # interactions are fitted on parts of the rows, which the names divide
        model = NaiveBayes(families={"c": "categorical"}, interactions=None).fit(frame, y)
        return model.predict_proba(frame)

    np.testing.assert_allclose(probability(pair), probability(("a", "b")), rtol=1e-4)


# --- samples of earlier files, and samples that were drawn ----------------------------------------


def packed(summary):
    header, tensors = pack(summary)
    return json.loads(json.dumps(header)), {n: tensor.copy() for n, tensor in tensors.items()}


def format_2(summary, **words):
    """Return header and tensors as files of format 2 had them."""
    header, tensors = packed(summary)
    bound, drawn, untyped, _ = tensors.pop("sample.state").tolist()
    said = {"bound": bound, "hashes": "cells", "drawn": bool(drawn), "untyped": bool(untyped)}
    moments = tensors["moments"]
    tensors |= {"moments": moments[:3], "rest": moments[3]}
    tensors = {n: t for n, t in tensors.items() if not n.startswith(("classes", "categories."))}
    named = zip(header["categories"], summary.categories, strict=True)
    said["categories"] = [{"type": kind, "names": column.tolist()} for kind, column in named]
    said["classes"] = summary.classes.tolist()
    return header | {"format": 2} | said | words, tensors


def earlier(summary, bound=EVERYTHING):
    """Return what a file said before samples were hashed by their cells alone."""
    header, tensors = format_2(summary, bound=bound)
    header = {name: said for name, said in header.items() if name not in ("hashes", "drawn")}
    hashes = np.sort(np.random.default_rng(0).integers(min(bound, 2**63), size=len(summary.sample)))
    return converted(header, tensors | {"sample.hashes": hashes.astype(np.uint64)})


SOME = [(x, c, y, 1) for x in (0.0, 1.0) for c in ("1", "a") for y in (0,)]


def test_a_complete_sample_of_an_earlier_file_is_hashed_again():
    summary = summary_of(SOME)
    assert unpack(*packed(summary)).sample == summary.sample
    again = unpack(*earlier(summary))
    assert again.sample == summary.sample
    assert len((again - summary).sample) == 0


def test_an_incomplete_sample_of_an_earlier_file_adds_but_forgets_nothing():
    summary = summary_of(SOME)
    old = unpack(*earlier(summary, 2**62))
    assert old.sample.drawn
    assert old.sample.bound == 2**62
    assert sorted(old.sample.weight) == sorted(summary.sample.weight)
    assert unpack(*packed(old)) == old
    more = old + summary_of([(5.0, "b", 1, 1)])
    assert more.sample.drawn
    with pytest.raises(NaivelyError, match="drawn at random"):
        more - summary_of(SOME[:1])


def test_a_sample_of_format_2_is_as_it_was():
    summary = summary_of(SOME)
    assert unpack(*converted(*format_2(summary))) == summary


@pytest.mark.parametrize(
    "words", [{"hashes": "rows"}, {"drawn": 1}, {"bound": -1}, {"bound": 2**64}], ids=str
)
def test_a_sample_of_format_2_that_is_not_sound_is_refused(words):
    with pytest.raises(UnsoundError, match="sample"):
        converted(*format_2(summary_of(SOME), **words))


@pytest.mark.parametrize(
    ("name", "value"), [("sample.codes", 0), ("sample.state", 2)], ids=["equal rows", "odd flags"]
)
def test_a_sample_that_is_not_sound_is_refused(name, value):
    header, tensors = packed(summary_of([(0.0, "1", y, 1) for y in range(3)]))
    tensors[name][...] = value
    with pytest.raises(UnsoundError, match="sample"):
        unpack(header, tensors)


def test_drawn_rows_are_spread_below_their_bound():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1000), "c": "a"})
    schema = Schema(2, ("x", "c"), SCHEMA.kinds, sample=1000)
    sample = summarize(frame, rng.integers(2, size=1000), schema=schema).sample
    thinned = sample.thinned(2**60)
    assert len(thinned) == 1000
    assert 0.45 < np.mean(thinned.hashes / 2**60) < 0.55
    assert thinned.hashes.max() < 2**60


# --- one table, every engine ----------------------------------------------------------------------


@pytest.mark.parametrize("labels", [["10", "2", "x"], [10, 2, 30], [True, False, True]], ids=str)
@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in OF_NUMBERS])
def test_one_table_has_one_sample_whatever_reads_it(engine, labels, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.integers(4, size=200) / 2,
            "zip": rng.choice(["01", "1", "true", "1e5", None], 200),
            "flag": rng.integers(2, size=200).astype(bool),
            "y": np.array(labels)[rng.integers(3, size=200)],
        }
    )
    if engine in IN_DATABASES:
        frame = frame[:50]  # a larger table has rows drawn at random
    names, kinds = ("x", "zip", "flag"), ("number", "category", "category")
    schema = Schema(3, names, kinds, sample=50)
    y = frame["y"].tolist()
    options = {"types": {"zip": "str"}} if engine == "csv" else {}
    table = pa.Table.from_pandas(frame[list(names)], preserve_index=False)
    found = ENGINES[engine](table, y, tmp_path, schema=schema, **options)
    expected = summarize(table, y, schema=schema)
    assert found.classes.tolist() == expected.classes.tolist()
    assert found.sample == expected.sample
    assert len(frame) == 50 or found.sample.bound < EVERYTHING


@pytest.mark.parametrize("last", [[], ["x"]], ids=["integers", "text"])
def test_labels_of_a_csv_are_told_apart_once_all_have_been_read(last, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(40, size=300 + len(last)) / 4
    spelled = [*rng.choice(["1", "01", "2", "+2", "10"], 300).tolist(), *last]
    rows = "".join(f"{a},{b}\n" for a, b in zip(x, spelled, strict=True))
    (tmp_path / "table.csv").write_text("x,y\n" + rows)
    schema = Schema(1, ("x",), sample=20)
    found = naively.summarize(tmp_path / "table.csv", target="y", schema=schema)
    y = np.array(spelled if last else [*map(int, spelled)])
    expected = summarize(pd.DataFrame({"x": x}), y, schema=schema)
    assert found.classes.tolist() == expected.classes.tolist()
    assert found.sample == expected.sample
    assert len(found.sample) >= 20
