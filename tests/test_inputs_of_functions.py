"""Every public function takes the tables that `fit` takes, and says what to do with others."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from pyarrow.dataset import dataset

import naively
from naively import NaiveBayes, NaivelyError, compare, drift, evaluate, report, summarize, tune
from naively.estimators.loading import ESTIMATORS

N = 40
Y = np.array(["bad", "good"])[np.arange(N) % 2]
TEXTS = [f"{'fine tea' if i % 2 else 'cold soup'} at table {i % 7} again" for i in range(N)]
FRAME = pd.DataFrame({"size": np.arange(N) * 7 % 11 / 2, "town": [*"UB" * (N // 2)]})
TABLES = {
    "series of text": pd.Series(TEXTS, name="note"),
    "list of texts": TEXTS,
    "array of texts": np.array(TEXTS),
    "polars series of text": pl.Series("note", TEXTS),
    "array of Arrow": pa.array(TEXTS),
    "frame": FRAME,
    "polars frame": pl.from_pandas(FRAME),
    "record batch": pa.RecordBatch.from_pandas(FRAME),
    "rows": FRAME.to_numpy(dtype=object).tolist(),
}
PLAIN = {"calibration": None}
FUNCTIONS = {
    "predict": lambda X: NaiveBayes(**PLAIN).fit(X, Y).predict(X),
    "explain": lambda X: NaiveBayes(**PLAIN).fit(X, Y).explain(X),
    "importance": lambda X: NaiveBayes(**PLAIN).fit(X, Y).importance(X, Y),
    "summarize": lambda X: summarize(X, Y),
    "evaluate": lambda X: evaluate(NaiveBayes(**PLAIN), X, Y, folds=2),
    "compare": lambda X: compare([NaiveBayes(**PLAIN, priors=p) for p in (None, [0.5, 0.5])], X, Y),
    "tune": lambda X: tune(NaiveBayes(**PLAIN), X, Y, grid={"priors": [None]}, folds=2),
    "report": lambda X: report(NaiveBayes(**PLAIN), X, Y, folds=None),
    "drift": lambda X: drift(NaiveBayes(**PLAIN).fit(X, Y), X),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("table", TABLES)
def test_every_function_takes_the_tables_that_fit_takes(function, table):
    FUNCTIONS[function](TABLES[table])


@pytest.mark.parametrize("table", [name for name in TABLES if "text" in name])
def test_texts_are_measured_as_fit_measures_them(table):
    fitted = NaiveBayes(**PLAIN).fit(TABLES[table], Y)
    seen = summarize(TABLES[table], Y)
    assert seen.schema.held == fitted.summary_.schema.held == ("text",)
    assert seen.schema.names == fitted.summary_.schema.names
    read = NaiveBayes.from_summary(seen, **PLAIN)
    assert (read.predict_proba(TEXTS) == fitted.predict_proba(TEXTS)).all()


OTHERS = {
    "dict of columns": FRAME.to_dict("list"),
    "dicts": FRAME.to_dict("records"),
    "lazy frame": pl.from_pandas(FRAME).lazy(),
    "series of numbers": FRAME["size"],
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("table", OTHERS)
def test_every_function_says_what_to_do_with_other_tables(function, table):
    with pytest.raises(NaivelyError, match=r"pandas\.DataFrame|collect|to_frame|must be in memory"):
        FUNCTIONS[function](OTHERS[table])


# --- mistakes of the first hour -------------------------------------------------------------------

NUMBERS = pd.DataFrame({"a": np.arange(N) % 3 * 1.0, "b": np.arange(N) % 2 * 1.0})
GRID = {"priors": [None]}
RARE = np.where(np.arange(N) == 0, "one", Y)
MODEL = NaiveBayes(**PLAIN)
FITTED = NaiveBayes(**PLAIN).fit(NUMBERS, Y)
GAUSSIAN = naively.GaussianNB().fit(NUMBERS, Y)
MISTAKES = {
    "labels before rows": (lambda: MODEL.fit(Y, NUMBERS), "Rows come first"),
    "labels before rows, evaluated": (lambda: evaluate(MODEL, Y, NUMBERS), "Rows come first"),
    "the name of the labels": (lambda: MODEL.fit(NUMBERS, "a"), r"X\.drop\(columns=name\)"),
    "labels in a generator": (lambda: MODEL.fit(NUMBERS, iter(Y)), "one label per row"),
    "labels in a dict": (lambda: FITTED.loss(NUMBERS, dict(enumerate(Y))), "one label per row"),
    "labels in a frame": (lambda: FITTED.score(NUMBERS, NUMBERS), "one label per row"),
    "labels all missing": (lambda: MODEL.fit(NUMBERS, np.full(N, np.nan)), "Leave those rows out"),
    "labels of a regression": (lambda: MODEL.fit(NUMBERS, np.linspace(0, 1, N)), "pandas.cut"),
    "too few labels": (lambda: evaluate(MODEL, NUMBERS, Y[:4]), r"\[40, 4\]; there must be one"),
    "too few columns": (lambda: GAUSSIAN.predict(NUMBERS[["a"]]), "- b.*fitted on, in their order"),
    "too many columns": (lambda: FITTED.predict(np.zeros((2, 3))), "X has 3 features.*fitted on"),
    "columns in another order": (lambda: GAUSSIAN.predict(NUMBERS[["b", "a"]]), "in their order"),
    "the target among columns": (
        lambda: GAUSSIAN.predict(NUMBERS.assign(y=0)),
        "unseen at fit time.*- y.*no others",
    ),
    "rows of different lengths": (lambda: GAUSSIAN.fit([[1, 2], [1]], [0, 1]), "equally long"),
    "a set of rows": (lambda: GAUSSIAN.fit({1, 2}, [0, 1]), "two dimensions, rows and columns"),
    "a file and labels": (lambda: compare((MODEL, MODEL), "new.csv", Y), "use from_files"),
    "no fold": (lambda: evaluate(MODEL, NUMBERS, Y, folds=0), "at least 2.*got 0"),
    "a fold that is true": (lambda: evaluate(MODEL, NUMBERS, Y, folds=True), "got True"),
    "more folds than rows": (lambda: evaluate(MODEL, NUMBERS, Y, folds=100), r"\(20\); got 100"),
    "half a fold": (lambda: tune(MODEL, NUMBERS, Y, grid=GRID, folds=2.5), "got 2.5"),
    "a class of one row": (lambda: compare((MODEL, MODEL), NUMBERS, RARE), "'one' has one row"),
    "no test row": (lambda: evaluate(MODEL, NUMBERS, Y, test_size=40), "test_size must leave"),
    "rows to diagnose": (lambda: naively.diagnose(FITTED, NUMBERS, Y), r"diagnose\(model\)"),
    "labels of a stream": (lambda: MODEL.fit(pa.table(NUMBERS).to_reader(), Y), r"pyarrow\.table"),
    "a dataset and no file": (lambda: FITTED.predict(dataset(pa.table(NUMBERS))), "X.to_table"),
    "a row of a lazy frame": (
        lambda: GAUSSIAN.counterfactual(pl.LazyFrame({"a": [1.0], "b": [1.0]})),
        "collect",
    ),
    "rows in place of a summary": (lambda: GAUSSIAN.update(NUMBERS), r"partial_fit\(X, y\)"),
    "rows of different lengths, summarized": (
        lambda: summarize([[1, 2], [1]], [0, 1]),
        "equally long",
    ),
    "a sparse matrix and a target": (
        lambda: evaluate(MODEL, scipy.sparse.coo_matrix(NUMBERS), target="a"),
        "data must be a path.*got coo_matrix",
    ),
    "too few weights of codes": (
        lambda: naively.CategoricalNB().fit(NUMBERS, Y, np.ones(3)),
        r"one weight per row \(40\)",
    ),
    "labels and a target": (lambda: report(MODEL, FRAME, Y, target="town"), "not as both"),
    "a target that is not there": (
        lambda: evaluate(MODEL, FRAME, target="twon"),
        "no column 'twon'",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_what_to_do(mistake):
    make, said = MISTAKES[mistake]
    with pytest.raises(NaivelyError, match=f"(?s){said}"):
        make()


@pytest.mark.parametrize("number", [3, np.float64(3), np.array(3)])
@pytest.mark.parametrize("function", [evaluate, compare, tune, report])
def test_a_number_in_place_of_rows_is_no_table(function, number):
    with pytest.raises(NaivelyError, match="two dimensions, rows and columns"):
        function(MODEL, number, Y)
    with pytest.raises(NaivelyError, match="two dimensions, rows and columns"):
        summarize(number, Y)
    with pytest.raises(NaivelyError, match=r"data; got int|two dimensions"):
        drift(FITTED, number)


def test_labels_of_a_frame_are_named_by_target_as_those_of_files_are(tmp_path):
    labelled = NUMBERS.assign(y=Y)
    labelled.to_csv(path := tmp_path / "rows.csv", index=False)
    for table in (labelled, str(path)):
        assert evaluate(MODEL, table, target="y").accuracy == evaluate(MODEL, NUMBERS, Y).accuracy
        assert tune(MODEL, table, target="y", grid=GRID, folds=2).best_params
        assert report(MODEL, table, target="y", compare=False, folds=2).data["title"]


def test_labels_may_be_the_only_column_of_a_frame_with_a_name():
    cells = NUMBERS.to_numpy()
    frame = pd.DataFrame(cells).assign(y=Y)
    fitted = naively.GaussianNB().fit(frame, target="y")
    assert fitted.summary_ == naively.GaussianNB().fit(cells, Y).summary_
    assert evaluate(MODEL, frame, target="y").loss == evaluate(MODEL, cells, Y).loss
    found, expected = naively.diagnose(frame, target="y"), naively.diagnose(cells, Y)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("is_array", [False, True], ids=["frame", "array"])
def test_dask_is_taken_by_functions_that_need_rows_in_memory(is_array):
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    cells, labels = NUMBERS.to_numpy(), da.from_array(Y, chunks=10)
    X = da.from_array(cells, chunks=(10, 2)) if is_array else dd.from_pandas(NUMBERS, npartitions=4)
    y = labels if is_array else dd.from_pandas(pd.Series(Y), npartitions=4)
    model = naively.GaussianNB().fit(X, y)
    assert model.loss(X, y) == pytest.approx(model.loss(NUMBERS if not is_array else cells, Y))
    assert compare((model, model), X, y, repeats=1).names
    assert evaluate(model, X, y, folds=2).n_rows == N
    assert report(model, X, y, compare=False, folds=None).data["title"]
    assert drift((X, y), (X, y)).greatest == 0
    if not is_array:
        labelled = X.assign(y=y)
        assert drift(labelled, labelled, target="y").greatest == 0
        assert evaluate(model, labelled, target="y", folds=2).n_rows == N
    with pytest.raises(NaivelyError, match=r"give the pair \(X, y\)"):
        drift(X, (X, y))


# --- one row --------------------------------------------------------------------------------------

COUNTS = pd.DataFrame({"a": np.arange(N) % 3, "b": np.arange(N) % 2})
ROWS = {
    "series": COUNTS.iloc[0],
    "dict": COUNTS.iloc[0].to_dict(),
    "list": [1, 2],
    "array": np.array([1, 0]),
    "number": 1.0,
}
VERBS = ["predict", "predict_proba", "predict_log_proba", "score_samples", "explain"]
VERBS_WITH_LABELS = ["score", "loss", "partial_fit", "forget", "importance", "fit"]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_row_in_place_of_a_table_is_an_error_that_says_how_to_give_it(name, row):
    model = ESTIMATORS[name]().fit(COUNTS, Y)
    for verb in VERBS + VERBS_WITH_LABELS:
        labels = (Y[:1],) if verb in VERBS_WITH_LABELS else ()
        with pytest.raises(NaivelyError, match=r"X\.iloc\[\[0\]\].*predict_one, learn_one"):
            getattr(model, verb)(ROWS[row], *labels)


@pytest.mark.parametrize("form", ["series", "list", "array", "tuple"])
@pytest.mark.parametrize(
    "cells",
    [(1.0, "x"), ("x", 1.0), ("x", "y"), ("two words", "x"), (True, "x"), ("x", None)],
    ids=repr,
)
def test_one_row_that_holds_text_is_not_a_column_of_texts(cells, form):
    columns = [("x", "y") if cell is None else (cell, cell) for cell in cells]
    table = pd.DataFrame(dict(zip("ab", columns, strict=True)))
    model = naively.NaiveBayes().fit(table, ["no", "yes"])
    series = pd.Series([*cells], index=["a", "b"], dtype=object, name="a")
    row = {"series": series, "list": [*cells], "array": series.to_numpy(), "tuple": cells}[form]
    for verb in VERBS:
        with pytest.raises(NaivelyError, match=r"X\.iloc\[\[0\]\].*predict_one, learn_one"):
            getattr(model, verb)(row)
    assert model.predict_one(row) in ("no", "yes")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_file_in_place_of_a_table_names_what_reads_files(name, tmp_path):
    model = ESTIMATORS[name]().fit(COUNTS, Y)
    for path in ("new.csv", tmp_path):
        with pytest.raises(NaivelyError, match=r"naively\.engines\.files\.predict"):
            model.predict(path)
    assert callable(naively.GaussianNB.from_files)
