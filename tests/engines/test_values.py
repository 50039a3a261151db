"""Labels and categories of every type: which are missing, which are text, and what they cost."""

import re
import subprocess
import sys

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, evaluate, summarize
from naively.data.labels import contained, encode, is_missing, text_array, union
from naively.data.rows import recode
from naively.engines import dask

ESTIMATORS = [GaussianNB, NaiveBayes, CategoricalNB]
X = np.array([[0.0], [1.0], [0.0], [1.0]])

# --- missing labels -------------------------------------------------------------------------------

MISSING = {
    "a mask over integers": np.ma.array([0, 1, 0, 1], mask=[0, 0, 1, 0]),
    "a mask over text": np.ma.array(["a", "b", "a", "b"], mask=[0, 0, 1, 0]),
    "a mask over floats": np.ma.array([0.0, 1.0, 0.0, 1.0], mask=[0, 0, 1, 0]),
    "a masked constant": [0, 1, np.ma.masked, 1],
    "NaT": np.array(["2020-01-01", "2020-01-02", "NaT", "2020-01-02"], dtype="datetime64[D]"),
    "NaT of pandas": [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02"), pd.NaT, pd.NaT],
    "NA": pd.Series(["a", "b", pd.NA, "b"], dtype="string"),
    "None": ["a", "b", None, "b"],
}


@pytest.mark.parametrize("y", MISSING.values(), ids=MISSING)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_missing_label_is_an_error_in_every_estimator(estimator, y):
    fitted = estimator().fit(X, [0, 1, 0, 1])
    for learn in (estimator().fit, fitted.partial_fit, fitted.accuracy):
        with pytest.raises(NaivelyError, match=r"labels must not be missing; got y\[2\]"):
            learn(X, y)


SUMMARIZE = {
    "arrays": lambda y: summarize(X, y),
    "frames": lambda y: summarize(pd.DataFrame({"x": X[:, 0]}), y),
    "mixed": lambda y: naively.summarize(pd.DataFrame({"x": ["a", "b", "a", "b"]}), y),
    "dask": lambda y: dask.summarize(da.from_array(X, chunks=2), y),
    "evaluate": lambda y: evaluate(GaussianNB(), X, y),
    "accuracy": lambda y: GaussianNB().fit(X, [0, 1, 0, 1]).accuracy(X, y),
    "loss": lambda y: GaussianNB().fit(X, [0, 1, 0, 1]).loss(X, y),
}


@pytest.mark.parametrize("engine", SUMMARIZE)
def test_the_mask_of_labels_is_seen_by_every_engine(engine):
    with pytest.raises(NaivelyError, match="labels must not be missing"):
        SUMMARIZE[engine](MISSING["a mask over integers"])


def test_labels_without_a_masked_one_are_labels():
    y = np.ma.array([0, 1, 0, 1], mask=False)
    assert GaussianNB().fit(X, y).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("y", [["NaT", "<NA>", "NaT", "nan"], ["None", "<NA>", "", "NaT"]], ids=str)
@pytest.mark.parametrize("make", [list, np.array, lambda y: np.array(y, object), pd.Series])
def test_texts_that_look_missing_are_text(make, y):
    assert GaussianNB().fit(X, make(y)).classes_.tolist() == sorted(set(y))
    frame = pd.DataFrame({"c": pd.Series(y, dtype=object)})
    assert naively.summarize(frame, [0, 1, 0, 1]).categories[0].tolist() == sorted(set(y))


def test_what_is_missing():
    missing = [None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.ma.masked]
    assert all(map(is_missing, missing))
    assert not any(map(is_missing, ["", "NaT", "<NA>", 0, False, 0.0, pd.Timestamp("2020")]))


# --- zero characters ------------------------------------------------------------------------------

NUL = ["a", "a\0", "a\0\0", "b"]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_labels_that_end_in_zero_characters_are_different_labels(estimator, tmp_path):
    rows = np.arange(4)[:, np.newaxis]
    model = estimator().fit(np.repeat(rows, 9, axis=0), np.repeat(np.array(NUL, object), 9))
    assert model.classes_.tolist() == NUL
    assert model.predict(rows).tolist() == NUL
    assert model.accuracy(rows, NUL) == 1.0
    model.partial_fit(rows, NUL)
    model.save(tmp_path / "model.safetensors")
    again = naively.load(tmp_path / "model.safetensors")
    assert again.classes_.tolist() == NUL
    assert again.predict(rows).tolist() == NUL


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_categories_that_end_in_zero_characters_are_different_categories(make):
    frame = make({"c": NUL * 9})
    model = NaiveBayes().fit(frame, [0, 1, 0, 1] * 9)
    assert model.summary_.categories[0].tolist() == NUL
    assert model.predict(make({"c": NUL})).tolist() == [0, 1, 0, 1]
    assert [model.predict_one([text]) for text in NUL] == [0, 1, 0, 1]


def test_zero_characters_come_through_parquet(tmp_path):
    table = pa.table({"x": [0.0, 1.0, 2.0, 3.0], "c": NUL, "y": NUL})
    pq.write_table(table, tmp_path / "table.parquet")
    model = NaiveBayes.from_files(tmp_path / "table.parquet", target="y")
    assert model.classes_.tolist() == NUL
    assert model.summary_.categories[0].tolist() == NUL


def test_bytes_that_end_in_a_zero_byte_are_refused():
    with pytest.raises(NaivelyError, match="labels of bytes must not end in a zero byte"):
        encode([b"a", b"a\0"])


# --- long texts -----------------------------------------------------------------------------------

LONG = """
import numpy as np, pandas as pd, naively
from naively import GaussianNB, NaiveBayes
texts = [f"t{i}" for i in range(20_000)] + ["x" * 100_000]
frame = pd.DataFrame({"x": np.arange(20_001.0), "c": texts})
%s
peak = open("/proc/self/status").read().split("VmHWM:")[1].split()[0]  # its own, of no parent
print(int(peak) // 1024)
"""
WORK = {
    "a category": """
y = np.arange(20_001) % 2
model = NaiveBayes(calibration=None).fit(frame, y)
model.partial_fit(frame[-2:], y[-2:])
model.predict(frame)
""",
    "a label": """
model = GaussianNB().fit(frame[["x"]], texts)
model.partial_fit(frame[["x"]], texts)
assert model.predict(frame[["x"]][:10]).tolist() == texts[:10]
""",
    "files": """
import tempfile, pathlib
path = pathlib.Path(tempfile.mkdtemp())
frame["y"] = texts
frame.to_csv(path / "a.csv", index=False)
summary = naively.summarize(path / "a.csv", target="y", columns=["x"])
model = GaussianNB.from_summary(summary)
model.save(path / "m.safetensors")
assert naively.load(path / "m.safetensors").classes_.size == 20_001
""",
}


@pytest.mark.parametrize("work", WORK)
def test_one_long_text_among_many_short_ones_costs_its_own_length(work):
    ran = subprocess.run(
        [sys.executable, "-c", LONG % WORK[work]], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 1_500  # MB; padded, the texts alone would take 8,000


def test_arrays_of_text_are_of_fixed_width_where_that_is_not_wasteful():
    assert text_array(["a", "bc"]).dtype == "<U2"
    assert text_array([]).dtype.kind == "U"
    assert text_array(["a"] * 1_000 + ["b" * 100]).dtype.kind == "U"  # it is little anyway
    assert text_array(["a"] * 100_000 + ["b" * 100]).dtype.kind == "O"
    assert text_array(["a", "b" * 101]).dtype.kind == "O"  # many rows may be predicted


def test_a_long_label_costs_nothing_for_every_row_that_is_predicted():
    model = GaussianNB().fit([[0.0], [1.0]] * 2, ["a", "x" * 100_000] * 2)
    predicted = model.predict(np.zeros((10_000, 1)))  # padded, they would take 4 GB
    assert predicted.tolist() == ["a"] * 10_000
    assert (
        NaiveBayes().fit([[0.0], [1.0]] * 2, model.predict([[0.0], [1.0]] * 2)).classes_.size == 2
    )


def test_texts_of_both_kinds_of_arrays_unite():
    a, b = text_array(["a", "b"]), text_array(["a", "a\0"])
    for both in (union(a, b), union(b, a)):
        assert both.tolist() == ["a", "a\0", "b"]
    assert contained(b, a).tolist() == [True, False]
    codes = np.array([0, 1, -1])
    assert recode(codes, b, a).tolist() == [0, 2, -1]


def test_messages_shorten_long_labels():
    summary = summarize(X, ["x" * 10_000, "b", "b", "b"])
    assert len(repr(summary)) < 300


# --- types of labels ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint64", "float16", "float32", "float64", "bool", "int64"]
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_labels_keep_their_type(estimator, dtype, tmp_path):
    y = np.array([0, 1, 0, 1]).astype(dtype)
    model = estimator().fit(X, y)
    assert model.classes_.dtype == dtype
    assert model.predict(X).dtype == dtype
    model.partial_fit(X, y).save(tmp_path / "model.safetensors")
    again = naively.load(tmp_path / "model.safetensors")
    assert again.classes_.dtype == dtype
    assert again.classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_labels_of_long_double_are_refused_with_the_reason(estimator):
    with pytest.raises(NaivelyError, match=r"long double\). Convert them"):
        estimator().fit(X, np.array([0, 1, 0, 1], dtype=np.longdouble))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_integers_in_an_array_of_objects_are_labels_for_accuracy(estimator):
    y = np.array([0, 1, 0, 1], dtype=object)
    model = estimator().fit(X, y)
    weights = [1.0, 1.0, 2.0, 0.0]
    for other in (
        y,
        y.astype(int),
        y.tolist(),
        pd.Series(y),
        pd.Series([0, 1, 0, 1], dtype="Int8"),
    ):
        assert model.accuracy(X, other) == model.score(X, other) == 1.0
        assert model.accuracy(X, other, sample_weight=weights) == 1.0
    assert model.accuracy(X, np.array([1, 1, 0, 1], dtype=object), weights) == 0.75
    with pytest.raises(NaivelyError, match="all of one type"):
        model.accuracy(X, ["0", "1", "0", "1"])


@pytest.mark.parametrize("digits", ["\u0661", "\u0967", "\uff11"], ids=["Arabic", "Hindi", "wide"])
def test_digits_of_other_scripts_stay_text(digits, tmp_path):
    path = tmp_path / f"p={digits}"
    path.mkdir()
    (path / "table.csv").write_text(f"x,y\n1.5,{digits}\n2.5,{digits}{digits}\n")
    summary = naively.summarize(path / "table.csv", target="y")
    assert summary.classes.tolist() == [digits, digits * 2]
    model = NaiveBayes.from_files(tmp_path, target="y")
    assert model.summary_.categories[0].tolist() == [digits]


# --- weights --------------------------------------------------------------------------------------

WEIGHTS = {
    "complex": np.ones(4) + 1j,
    "text": ["1"] * 4,
    "dates": np.array(["2020"] * 4, dtype="datetime64[Y]"),
    "objects": [1, 2, object(), 3],
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize(
    "learn",
    [
        *(lambda w, e=e: e().fit(X, [0, 1, 0, 1], sample_weight=w) for e in ESTIMATORS),
        lambda w: summarize(X, [0, 1, 0, 1], sample_weight=w),
        lambda w: summarize(pd.DataFrame(X), [0, 1, 0, 1], sample_weight=w),
        lambda w: naively.summarize(pd.DataFrame(X), [0, 1, 0, 1], sample_weight=w),
        lambda w: dask.summarize(da.from_array(X), [0, 1, 0, 1], sample_weight=w),
    ],
    ids=["GaussianNB", "NaiveBayes", "CategoricalNB", "arrays", "frames", "mixed", "dask"],
)
def test_weights_that_are_no_real_numbers_are_refused(learn, weights):
    with pytest.raises(NaivelyError, match="weights must be real numbers"):
        learn(weights)


def test_a_masked_weight_is_refused():
    weights = np.ma.array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0])
    with pytest.raises(NaivelyError, match=r"sample_weight\[1\]=nan"):
        summarize(X, [0, 1, 0, 1], sample_weight=weights)
    with pytest.raises(NaivelyError, match=r"sample_weight\[1\]=nan"):
        GaussianNB().fit(X, [0, 1, 0, 1], sample_weight=weights)


# --- booleans -------------------------------------------------------------------------------------

TRUE = [True, np.True_, 1, 1.0, np.int8(1), "true", "True", "TRUE", "1"]
FALSE = [False, np.False_, 0, 0.0, -0.0, "false", "False", "FALSE", "0"]


@pytest.fixture(scope="module")
def of_flags():
    rng = np.random.default_rng(0)
    flag = rng.integers(2, size=200).astype(bool)
    y = np.where(rng.random(200) < 0.8, flag, ~flag)
    return NaiveBayes().fit(pd.DataFrame({"flag": flag}), y)


@pytest.mark.parametrize(
    ("flag", "value"),
    [*((True, value) for value in TRUE), *((False, value) for value in FALSE)],
    ids=lambda value: f"{type(value).__name__} {value}",
)
def test_one_boolean_has_one_probability_however_it_is_given(of_flags, flag, value):
    expected = of_flags.predict_proba(pd.DataFrame({"flag": [flag]}))[0]
    cells = pd.Series([value], dtype=object)
    assert np.array_equal(of_flags.predict_proba_one([value]), expected)
    assert np.array_equal(of_flags.predict_proba_one({"flag": value}), expected)
    assert np.array_equal(of_flags.predict_proba(pd.DataFrame({"flag": cells}))[0], expected)
    assert np.array_equal(of_flags.predict_proba(pl.DataFrame({"flag": [value]}))[0], expected)
    assert np.array_equal(of_flags.predict_proba(pa.table({"flag": [value]}))[0], expected)
    assert of_flags.predict_one([value]) == expected.argmax()


@pytest.mark.parametrize("value", ["yes", "tRUE", " true", "", 2, 0.5, -1])
def test_what_is_no_boolean_is_an_error_that_names_the_column(of_flags, value):
    said = re.escape(
        f"column 'flag' must hold true or false, as it did when the model was fitted; got {value!r}"
    )
    with pytest.raises(NaivelyError, match=said):
        of_flags.predict_proba_one([value])
    with pytest.raises(NaivelyError, match=said):
        of_flags.predict(pd.DataFrame({"flag": [value]}))


def test_a_long_text_that_is_no_boolean_is_not_quoted_whole(of_flags):
    with pytest.raises(NaivelyError, match="must hold true or false") as caught:
        of_flags.predict_proba_one(["x" * 100_000])
    assert len(str(caught.value)) < 300


def test_categories_without_a_cell_are_no_error(of_flags):
    cells = pd.Categorical(["true", None], categories=["maybe", "true"])
    proba = of_flags.predict_proba(pd.DataFrame({"flag": cells}))
    assert np.array_equal(proba[0], of_flags.predict_proba_one([True]))
    assert np.array_equal(proba[1], of_flags.predict_proba_one([None]))


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_a_label_that_is_a_date_is_one_for_single_rows_too(unit):
    days = np.array(["2024-01-01", "2024-02-29"], dtype=f"datetime64[{unit}]")
    model = GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], days[[0, 0, 1, 1]])
    assert model.predict_one([5.5]) == model.predict([[5.5]])[0] == days[1]
