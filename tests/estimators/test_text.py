"""`NaiveBayes` on columns of text: alone, and beside numbers and categories."""

import pickle
import unicodedata
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import naively
from naively import NaiveBayes, NaivelyError
from naively.families import Categorical, Text

RNG = np.random.default_rng(3)
WORDS = {
    "spam": ["win", "prize", "free", "money", "now", "geld", "奖品", "جائزة", "İstanbul", "naïve"],
    "ham": [
        "lunch",
        "notes",
        "meeting",
        "today",
        "ΟΔΟΣ",
        "tea",
        "会议",
        "غداء",
        "Ångström",
        "😀ok",
    ],
}
COMMON = ["the", "and", "see", "you", "at", "of", "we"]


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.choice(["ham", "spam"], n)
    texts = [
        " ".join(rng.choice([*WORDS[label], *COMMON, *COMMON], rng.integers(3, 12)))
        for label in labels
    ]
    return texts, labels


TEXTS, Y = documents(400)
ASKED, TRUTH = documents(200, seed=1)


def frame(n=400, seed=0):
    texts, labels = documents(n, seed)
    rng = np.random.default_rng(seed + 10)
    return pd.DataFrame(
        {
            "note": texts,
            "size": rng.normal(size=n) + (labels == "spam"),
            "town": rng.choice(["Ulm", "Bonn", "Jena"], n),
        }
    ), labels


@pytest.fixture(scope="module")
def fitted():
    return NaiveBayes().fit(TEXTS, Y)


def test_a_list_of_texts_is_learned_from(fitted):
    assert fitted.score(ASKED, TRUTH) > 0.9
    assert fitted.loss(ASKED, TRUTH) < 0.3
    assert fitted.families_ == {0: (Text(),)}
    assert fitted.weights_[0].shape == (Text().n_terms, 2)


class OwnSeries(pd.Series):
    """A series of a library that builds upon pandas."""


SINGLE = {
    "array of objects": lambda texts: np.array(texts, dtype=object),
    "array of text": np.array,
    "pandas": lambda texts: pd.Series(texts, name="note"),
    "pandas without a name": pd.Series,
    "pandas of Arrow": lambda texts: pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
    "pandas of strings": lambda texts: pd.Series(texts, dtype="string"),
    "polars": lambda texts: pl.Series("note", texts),
    "polars without a name": pl.Series,
    "pyarrow": pa.array,
    "pyarrow views": lambda texts: pa.array(texts, pa.string_view()),
    "pyarrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "pyarrow runs": lambda texts: pc.run_end_encode(pa.array(texts)),
    "own kind of pandas series": OwnSeries,
    "pyarrow in chunks": lambda texts: pa.chunked_array([texts[:100], texts[100:]]),
    "pandas frame": lambda texts: pd.DataFrame({"note": texts}),
    "polars frame": lambda texts: pl.DataFrame({"note": texts}),
    "pyarrow table": lambda texts: pa.table({"note": texts}),
}


@pytest.mark.parametrize("form", SINGLE)
def test_any_column_of_text_is_the_same_text(form, fitted):
    model = NaiveBayes().fit(SINGLE[form](TEXTS), Y)
    assert model.summary_.axes == fitted.summary_.axes
    assert dict(model.summary_.statistics) == dict(fitted.summary_.statistics)
    np.testing.assert_array_equal(
        model.predict_proba(SINGLE[form](ASKED)), fitted.predict_proba(ASKED)
    )


def test_a_name_comes_from_the_column():
    model = NaiveBayes().fit(pd.Series(TEXTS, name="note"), Y)
    assert list(model.families_) == ["note"]
    other = pd.Series(ASKED, name="other")
    assert model.predict(other).tolist() == model.predict(ASKED).tolist()


def test_one_row_is_a_text_a_list_or_a_dict():
    X, labels = frame()
    model, alone = NaiveBayes().fit(X, labels), NaiveBayes().fit(X["note"], labels)
    row = ["free money now", 1.0, "Ulm"]
    expected = model.predict_proba(pd.DataFrame([row], columns=X.columns))[0]
    np.testing.assert_array_equal(model.predict_proba_one(row), expected)
    np.testing.assert_array_equal(model.predict_proba_one(dict(zip(X, row, strict=True))), expected)
    assert alone.predict_one(row[0]) == alone.predict_one([row[0]]) == "spam"


def test_text_stands_beside_numbers_and_categories():
    X, labels = frame()
    model = NaiveBayes().fit(X, labels)
    assert model.summary_.schema.kinds == ("text", "number", "category")
    assert [families[0].name for families in model.families_.values()] == [
        "text",
        "student_t",
        "categorical",
    ]
    asked, truth = frame(200, seed=5)
    assert model.loss(asked, truth) < NaiveBayes().fit(X[["size", "town"]], labels).loss(
        asked[["size", "town"]], truth
    )


def test_a_family_says_what_text_is():
    X, labels = frame(100)
    as_codes = NaiveBayes(families={"note": "categorical"}).fit(X, labels)
    assert as_codes.families_["note"] == (Categorical(),)
    as_words = NaiveBayes(families={"town": "text"}).fit(X, labels)
    assert as_words.summary_.schema.kinds == ("text", "number", "text")
    own = X.assign(note=X["note"].astype("category"))
    assert NaiveBayes().fit(own, labels).families_["note"] == (Categorical(),)


def test_a_model_of_another_unicode_predicts_with_a_warning_and_learns_nothing(tmp_path):
    X, labels = frame(100)
    model = NaiveBayes().fit(X, labels)
    model.save(tmp_path / "model")
    content, now = (tmp_path / "model").read_bytes(), unicodedata.unidata_version.encode()
    assert content.count(now) == 1
    (tmp_path / "other").write_bytes(content.replace(now, b"9" * len(now)))
    with pytest.warns(UserWarning, match=r"'.*other' holds words by Unicode 9+, and this Python"):
        loaded = naively.load(tmp_path / "other")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    with pytest.raises(NaivelyError, match=r"'note' was measured by Unicode 9+, .* or fit again"):
        loaded.partial_fit(X, labels)


@pytest.mark.parametrize(
    "family",
    [
        Text(hashed=2**10),
        Text(analyzer="char_wb", ngram_range=(2, 4)),
        Text(ngram_range=(1, 2), lowercase=False),
    ],
    ids=lambda family: f"{family.analyzer} {family.hashed}",
)
def test_options_are_kept_in_files_and_pickles(family, tmp_path):
    X, labels = frame()
    model = NaiveBayes(families={"note": family}).fit(X, labels)
    asked, truth = frame(100, seed=7)
    assert model.score(asked, truth) > 0.9
    model.save(tmp_path / "model")
    for copy in (naively.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert copy.summary_ == model.summary_
        assert copy.families_ == model.families_
        np.testing.assert_array_equal(copy.predict_proba(asked), model.predict_proba(asked))


@pytest.mark.parametrize("hashed", [None, 2**12])
def test_batches_in_any_order_give_the_model_of_fit(hashed):
    X, labels = frame()
    params = {"families": {"note": Text(hashed=hashed), "size": "gaussian"}}  # no edges to share
    whole = NaiveBayes(**params).fit(X, labels)
    model = NaiveBayes(**params, open_classes=True)
    for part in np.array_split(RNG.permutation(len(X)), 7):
        model.partial_fit(X.iloc[part], labels[part])
    assert model.summary_.axes == whole.summary_.axes
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("hashed", [None, 2**12])
def test_what_is_forgotten_leaves_no_word_behind(hashed):
    params = {"families": {0: Text(hashed=hashed)}}
    more = ["zebra crossing today", "quokka and zebra"]
    model = NaiveBayes(**params).fit([*TEXTS, *more], [*Y, "ham", "spam"])
    model.forget(more, ["ham", "spam"])
    assert model.summary_ == NaiveBayes(**params).fit(TEXTS, Y).summary_


def test_weights_are_repetitions_and_weight_zero_is_absence(fitted):
    weights = RNG.integers(0, 3, len(TEXTS)).astype(float)
    rare = [*TEXTS, "onlyhere"]
    weighted = NaiveBayes().fit(rare, [*Y, "ham"], sample_weight=[*weights, 0.0])
    at = np.repeat(np.arange(len(TEXTS)), weights.astype(int))
    repeated = NaiveBayes().fit([TEXTS[i] for i in at], Y[at])
    assert weighted.summary_ == repeated.summary_


def test_missing_and_empty_texts_say_nothing(fitted):
    found = fitted.predict_proba([None, "", "zebra!"])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    X, labels = frame()
    X.loc[::2, "note"] = None
    model = NaiveBayes().fit(X, labels)
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, Decimal("sNaN"), np.float32("nan")], ids=repr)
@pytest.mark.parametrize("form", [list, lambda texts: np.array(texts, dtype=object), pd.Series])
def test_a_column_of_text_may_begin_with_any_missing_cell(form, missing):
    expected = NaiveBayes().fit([None, *TEXTS[1:]], Y)
    assert NaiveBayes().fit(form([missing, *TEXTS[1:]]), Y).summary_ == expected.summary_


@pytest.mark.parametrize("kind", [object, str])
def test_masked_texts_are_missing(kind):
    texts, mask = np.array(TEXTS, kind), np.arange(len(TEXTS)) % 7 == 0
    expected = NaiveBayes().fit([None if mask[i] else text for i, text in enumerate(TEXTS)], Y)
    masked = np.ma.array(texts, mask=mask)
    assert NaiveBayes().fit(masked, Y).summary_ == expected.summary_
    np.testing.assert_array_equal(
        expected.predict_proba(masked), expected.predict_proba(masked[:, np.newaxis])
    )


@pytest.mark.parametrize(
    "form", [list, pd.Series, pl.Series, pa.array, lambda cells: np.array(cells, dtype=object)]
)
def test_a_model_of_text_takes_columns_in_which_all_cells_are_missing(form, fitted):
    nothing = [None, None]
    assert fitted.predict(form(nothing)).tolist() == fitted.predict(["", ""]).tolist()
    model = NaiveBayes().fit(TEXTS, Y).partial_fit(form(nothing), ["ham", "spam"])
    assert model.summary_.weight == len(TEXTS) + 2
    assert model.forget(form(nothing), ["ham", "spam"]).summary_ == fitted.summary_


def test_threads_do_not_change_a_bit():
    texts, labels = documents(6000, seed=4)
    one, two = (NaiveBayes(n_jobs=n).fit(texts, labels) for n in (1, 2))
    assert one.summary_ == two.summary_
    np.testing.assert_array_equal(one.predict_proba(texts), two.predict_proba(texts))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["tea and milk", 3, "x"], "must hold text; got 3 in row 1"),
        (["tea and milk", "\ud800 half", "x"], "UTF-8"),
    ],
    ids=["a number", "a lone surrogate"],
)
def test_cells_that_are_no_text_are_named(texts, message):
    with pytest.raises(NaivelyError, match=message):
        NaiveBayes(families={0: "text"}).fit(
            np.array(texts, dtype=object)[:, None], ["a", "b", "a"]
        )


def test_an_empty_vocabulary_leaves_the_prior():
    model = NaiveBayes().fit(["a", "b", "!"], ["x", "x", "y"])
    np.testing.assert_allclose(model.predict_proba(["a word"]).sum(), 1.0)
    assert model.predict(["tea"]) == "x"


def test_more_than_128_classes_have_text_too():
    labels = np.repeat([f"c{i}" for i in range(150)], 4)
    texts = [f"word{label} and common things w{i % 5}" for i, label in enumerate(labels)]
    model = NaiveBayes().fit(texts, labels)
    assert model.score(texts, labels) > 0.95
    assert np.isfinite(model.predict_log_proba(texts)).all()


def test_a_long_text_is_read(fitted):
    assert fitted.predict(["free money " * 1_000_000]) == "spam"


def test_summaries_that_read_text_differently_do_not_add():
    a = NaiveBayes(families={0: Text(hashed=64)}).fit(TEXTS, Y)
    with pytest.raises(NaivelyError, match="must read text in the same way"):
        a.summary_ + NaiveBayes().fit(TEXTS, Y).summary_
    with pytest.raises(NaivelyError, match="must read words as the summary does"):
        NaiveBayes.from_summary(a.summary_, families={0: Text()})


@pytest.mark.parametrize(
    ("cell", "family"),
    [("row {}", "categorical"), ("ORD-{}", "categorical"), ("/home/ann/notes/{}.txt", "text")],
    ids=["numbered", "codes", "paths"],
)
def test_numbered_names_are_categories_and_paths_are_text(cell, family):
    frame = pd.DataFrame({"id": [cell.format(i) for i in range(300)], "x": RNG.normal(size=300)})
    model = NaiveBayes().fit(frame, np.arange(300) % 2)
    assert [one.name for one in model.families_["id"]] == [family]


def test_families_of_one_column_read_its_text_in_one_way():
    two_ways = (Text(), Text(analyzer="char_wb", ngram_range=(2, 3)))
    with pytest.raises(NaivelyError, match="column 0 must read text in one way"):
        NaiveBayes(families={0: two_ways}).fit(TEXTS, Y)
    NaiveBayes(families={0: (Text(), Text(alpha=0.1))}).fit(TEXTS, Y)


def test_one_text_is_answered_where_texts_are_categories():
    model = NaiveBayes(families={0: "categorical"}).fit(TEXTS, Y)
    assert [model.predict_one(text) for text in TEXTS] == model.predict(TEXTS).tolist()


def packages(n, n_classes):
    """Return a table of a text, a number and a category, and labels."""
    rng = np.random.default_rng(n_classes)
    codes = rng.integers(n_classes, size=n)
    notes = [f"the part of thing{k} is here" for k in codes]
    frame = pd.DataFrame({"note": notes, "size": codes + rng.normal(size=n)})
    frame["place"] = rng.choice(list("abcd"), n)
    return frame, codes


def test_interactions_beside_text_need_80_rows_for_each_class_and_direction():
    def kinds(n, n_classes):
        model = NaiveBayes(families={"note": "text"}).fit(*packages(n, n_classes))
        return {one["kind"] for one in model.interactions_}

    assert "direction" in kinds(600, 2)
    assert not kinds(600, 12)
    frame, codes = packages(600, 12)
    without = NaiveBayes(families={"note": "categorical"}).fit(frame, codes)
    assert "direction" in {one["kind"] for one in without.interactions_}


def test_names_that_are_all_distinct_are_read_by_the_parts_that_they_share():
    parts = ["lib", "dev", "python", "doc", "data", "common"]
    rng = np.random.default_rng(0)
    names = [f"{a}{i}-{b}-{c}" for i, (a, b, c) in enumerate(rng.choice(parts, (300, 3)))]
    hashes = [f"{value:016x}" for value in rng.integers(2**63, size=300)]
    numbered = [f"order-{i:06d}" for i in range(300)]
    frame = pd.DataFrame(
        {"name": names, "hash": hashes, "number": numbered, "few": names[:30] * 10}
    )
    families = NaiveBayes().fit(frame, rng.integers(2, size=300)).families_
    assert [families[name][0].name for name in frame] == ["text", *["categorical"] * 3]


def test_a_single_text_where_several_are_expected_is_an_error_that_says_what_to_do(fitted):
    with pytest.raises(
        NaivelyError, match=r"in a list or a column; got the text 'win'.*predict_one"
    ):
        fitted.predict("win")
