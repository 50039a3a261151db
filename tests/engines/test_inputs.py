"""What people hand over: every kind of table and labels, and every kind of mistake."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.estimators import loading

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

X, Y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[Y]
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
FRAME = pd.DataFrame(X, columns=NAMES)
MODEL = GaussianNB().fit(X, Y)
HOLES = np.where(X > 6, np.nan, X)


def with_cell(row, column, value):
    changed = X.copy()
    changed[row, column] = value
    return changed


TABLES = {
    "lists": X.tolist(),
    "tuples": tuple(map(tuple, X)),
    "Fortran order": np.asfortranarray(X),
    "every second column of a wider array": np.repeat(X, 2, axis=1)[:, ::2],
    "rows backwards, twice": X[::-1][::-1],
    "big-endian": X.astype(">f8"),
    "long double": X.astype(np.longdouble),
    "objects": X.astype(object),
    "read-only": np.broadcast_to(X, X.shape),
    "pandas": FRAME,
    "pandas, a block per column": pd.DataFrame({name: FRAME[name].copy() for name in NAMES}),
    "pandas, nullable": FRAME.convert_dtypes(),
    "pandas, arrow": FRAME.astype("float64[pyarrow]"),
    "pandas, objects": FRAME.astype(object),
    "polars": pl.DataFrame(FRAME),
    "polars, chunks": pl.concat(
        [pl.DataFrame(FRAME[:60]), pl.DataFrame(FRAME[60:])], rechunk=False
    ),
    "pyarrow": pa.Table.from_pandas(FRAME),
    "pyarrow, chunks": pa.concat_tables([pa.Table.from_pandas(f) for f in (FRAME[:9], FRAME[9:])]),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_any_table_gives_the_same_model(table):
    model = GaussianNB().fit(table, Y)
    assert (model.theta_ == MODEL.theta_).all()
    assert (model.var_ == MODEL.var_).all()
    assert (model.predict_proba(table) == MODEL.predict_proba(X)).all()
    assert summarize(table, Y).moments == MODEL.summary_.moments


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4"]
)
def test_any_numeric_type_is_read_as_it_is(dtype):
    table = np.round(X).astype(dtype)
    exact = GaussianNB().fit(table.astype(np.float64), Y)
    for form in (table, pd.DataFrame(table), pl.DataFrame(table) if dtype != "f2" else table):
        assert GaussianNB().fit(form, Y).summary_.moments == exact.summary_.moments


def test_names_of_numpy_are_plain_texts():
    frame = pd.DataFrame({np.str_("age"): [np.inf, 2.0], np.str_("town"): ["Ulm", "Bonn"]})
    with pytest.raises(NaivelyError, match=r"^column 'age' holds infinity"):
        summarize(frame, ["a", "b"])


def test_columns_of_different_types_are_read_together():
    frame = pl.DataFrame(
        {"a": X[:, 0].astype("f4"), "b": np.round(X[:, 1]).astype("i2"), "c": X[:, 2] > 3}
    ).with_columns(pl.lit(3).cast(pl.Decimal(10, 2)).alias("d"))
    exact = np.column_stack([frame[name].cast(pl.Float64).to_numpy() for name in "abcd"])
    assert GaussianNB().fit(frame, Y).summary_.moments == summarize(exact, Y).moments


HOLED = {
    "NaN": HOLES,
    "masked": np.ma.masked_invalid(HOLES),
    "pandas NaN": pd.DataFrame(HOLES),
    "pandas NA": pd.DataFrame(HOLES).convert_dtypes(),
    "polars null": pl.DataFrame(HOLES).fill_nan(None),
    "pyarrow null": pl.DataFrame(HOLES).fill_nan(None).to_arrow(),
    "None in objects": np.where(np.isnan(HOLES), None, HOLES),
}


@pytest.mark.parametrize("table", HOLED.values(), ids=HOLED)
def test_missing_cells_are_skipped_whatever_they_look_like(table):
    model = GaussianNB().fit(table, Y)
    for k in range(3):
        np.testing.assert_allclose(model.theta_[k], np.nanmean(HOLES[k == Y], axis=0), rtol=1e-14)
    np.testing.assert_array_equal(
        model.predict_proba(table), GaussianNB().fit(HOLES, Y).predict_proba(HOLES)
    )


KINDS_OF_LABELS = {
    "strings": LABELS,
    "list": LABELS.tolist(),
    "objects": LABELS.astype(object),
    "pandas": pd.Series(LABELS),
    "pandas, index in disorder": pd.Series(LABELS, index=range(150, 0, -1)),
    "pandas category": pd.Series(LABELS, dtype="category"),
    "polars": pl.Series(LABELS),
    "polars category": pl.Series(LABELS).cast(pl.Categorical),
    "pyarrow": pa.array(LABELS),
    "pyarrow chunks": pa.chunked_array([LABELS[:50], LABELS[50:]]),
    "bytes": LABELS.astype("S"),
}


@pytest.mark.parametrize("y", KINDS_OF_LABELS.values(), ids=KINDS_OF_LABELS)
def test_any_column_of_strings_is_labels(y):
    model = GaussianNB().fit(X, y)
    assert [str(c, "ascii") if isinstance(c, bytes) else c for c in model.classes_] == [
        "setosa",
        "versicolor",
        "virginica",
    ]
    assert (model.theta_ == MODEL.theta_).all()
    assert model.predict(X)[0] == model.classes_[0]


@pytest.mark.parametrize(
    "y",
    [Y.astype("i1"), Y.astype("u8"), Y * 10**15, -Y, pd.Series(Y, dtype="Int64"), pl.Series(Y)],
    ids=["int8", "uint64", "far apart", "negative", "pandas Int64", "polars"],
)
def test_any_column_of_integers_is_labels(y):
    model = GaussianNB().fit(X, y)
    assert model.classes_.dtype.kind in "iu"
    assert model.classes_.tolist() == sorted(set(np.asarray(y).tolist()))
    assert (model.predict(X) == np.asarray(y)).mean() == 0.96


def test_booleans_and_whole_floats_are_labels():
    assert GaussianNB().fit(X, Y == 0).classes_.tolist() == [False, True]
    assert GaussianNB().fit(X, Y.astype(float)).classes_.tolist() == [0.0, 1.0, 2.0]


def test_a_column_vector_of_labels_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning):
        assert (GaussianNB().fit(X, Y[:, np.newaxis]).theta_ == MODEL.theta_).all()


MISTAKES = {
    "infinity": (with_cell(17, 2, np.inf), Y, r"column 2 holds infinity \(first at row 17\)"),
    "minus infinity": (with_cell(3, 0, -np.inf), Y, r"column 0 holds infinity \(first at row 3\)"),
    "infinity in a frame": (
        pd.DataFrame(with_cell(17, 2, np.inf), columns=NAMES),
        Y,
        "column 'petal length' holds infinity",
    ),
    "numbers beyond a variance": (X * 1e200, Y, "variance exceeds the range of float64"),
    "one dimension": (X[:, 0], Y, "Expected 2D array, got 1D array instead"),
    "three dimensions": (X[:, :, np.newaxis], Y, "Found array with dim 3"),
    "no rows": (X[:0], Y[:0], r"0 sample\(s\)"),
    "no columns": (X[:, :0], Y, r"0 feature\(s\)"),
    "a frame without rows": (FRAME[:0], Y[:0], r"0 sample\(s\)"),
    "a frame without columns": (FRAME[[]], Y, r"0 feature\(s\)"),
    "ragged lists": ([[1.0, 2.0], [3.0]], [0, 1], "inhomogeneous"),
    "complex": (X.astype(complex), Y, "Complex data not supported"),
    "strings": (X.astype(str), Y, "GaussianNB needs numbers; got text in X .* Use NaiveBayes"),
    "a column of text": (
        FRAME.assign(name="x"),
        Y,
        "column 'name' must hold numbers; .* NaiveBayes",
    ),
    "a column of objects": (
        FRAME.assign(o=[object()] * 150),
        Y,
        "column 'o' must hold numbers, text",
    ),
    "a column of dates": (
        FRAME.assign(d=pd.Timestamp("2020")),
        Y,
        "column 'd' holds dates",
    ),
    "labels too few": (X, Y[:5], "inconsistent numbers of samples"),
    "labels of two types": (X, [1, "a"] * 75, "must be all of one type; got int and str"),
    "labels of two types, objects": (X, np.array([1, "a"] * 75, dtype=object), "got int and str"),
    "labels None": (X, [None, "a"] * 75, r"must not be missing; got y\[0\]=None"),
    "labels NaN": (X, [1.0, np.nan] * 75, "Input y contains NaN"),
    "labels NaN among strings": (X, np.array(["a", np.nan] * 75, dtype=object), r"got y\[1\]=nan"),
    "labels null": (X, pl.Series(["a", None] * 75), "must not be missing"),
    "labels NA": (X, pd.Series([1, pd.NA] * 75, dtype="Int64"), "must not be missing|contains NaN"),
    "labels continuous": (X, X[:, 0] + 0.01, "Unknown label type: continuous"),
    "labels two-dimensional": (X, np.stack([Y, Y], axis=1), "y should be a 1d array"),
    "no labels": (X, None, "requires y to be passed"),
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize(("table", "y", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_and_leaves_the_estimator_as_it_was(table, y, message):
    model = GaussianNB().fit(X, LABELS)
    before = dict(vars(model))
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            learn(table, y)
        assert vars(model) == before
    unfitted = GaussianNB()
    with pytest.raises(ValueError, match=message):
        unfitted.fit(table, y)
    assert not hasattr(unfitted, "classes_")
    assert not hasattr(unfitted, "n_features_in_")


@pytest.mark.parametrize("form", ["csr_matrix", "csr_array", "csc_matrix", "csc_array"])
def test_sparse_matrices_give_the_model_of_dense_ones(form):
    dense = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0.0, X)
    sparse = getattr(scipy.sparse, form)(dense)
    model, plain = GaussianNB().fit(sparse, Y), GaussianNB().fit(dense, Y)
    np.testing.assert_allclose(model.theta_, plain.theta_, rtol=1e-12)
    np.testing.assert_allclose(model.var_, plain.var_, rtol=1e-9)
    np.testing.assert_allclose(plain.predict_proba(sparse), plain.predict_proba(dense), atol=1e-9)
    assert (plain.predict(sparse) == plain.predict(dense)).all()


WRONG_WEIGHTS = {
    "negative": (-np.ones(150), r"must be finite and >= 0; got sample_weight\[0\]=-1.0"),
    "NaN": (np.full(150, np.nan), r"sample_weight\[0\]=nan"),
    "infinite": (np.full(150, np.inf), r"sample_weight\[0\]=inf"),
    "too few": (np.ones(3), r"one weight per row \(150\); got shape \(3,\)"),
    "all zero": (np.zeros(150), "at least one row must have a weight above zero; got none"),
}


@pytest.mark.parametrize(("weight", "message"), WRONG_WEIGHTS.values(), ids=WRONG_WEIGHTS)
def test_weights_are_finite_and_not_negative(weight, message):
    model = GaussianNB().fit(X, Y)
    for use in (model.fit, model.accuracy, model.loss):
        with pytest.raises(NaivelyError, match=message):
            use(X, Y, sample_weight=weight)


WRONG_PARAMETERS = {
    "priors, count": ({"priors": [0.5, 0.5]}, "Number of priors must match number of classes"),
    "priors, sum": ({"priors": [0.5, 0.4, 0.3]}, "The sum of the priors should be 1"),
    "priors, negative": ({"priors": [-0.5, 0.5, 1.0]}, "Priors must be non-negative"),
    "variance": ({"variance": "both"}, "'variance' parameter"),
    "smoothing": ({"smoothing": "none"}, "'smoothing' parameter"),
    "var_smoothing": ({"var_smoothing": -1.0}, "'var_smoothing' parameter"),
    "ddof": ({"ddof": 1.0}, "'ddof' parameter"),
    "decay": ({"decay": 1.5}, "'decay' parameter"),
    "n_jobs": ({"n_jobs": 0}, "'n_jobs' parameter"),
}


@pytest.mark.parametrize(("params", "message"), WRONG_PARAMETERS.values(), ids=WRONG_PARAMETERS)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        GaussianNB(**params).fit(X, Y)


def test_asking_before_learning_is_an_error():
    for ask in ("predict", "predict_proba", "score_samples", "predict_one"):
        with pytest.raises(NotFittedError):
            getattr(GaussianNB(), ask)(X)


def test_asking_with_other_columns_is_an_error():
    named = GaussianNB().fit(FRAME, Y)
    with pytest.raises(ValueError, match="X has 3 features, but GaussianNB is expecting 4"):
        MODEL.predict(X[:, :3])
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(FRAME[NAMES[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        named.predict(X)
    with pytest.raises(NaivelyError, match="column 2 holds infinity"):
        MODEL.predict_proba(with_cell(17, 2, np.inf))


def test_a_row_given_to_predict_is_pointed_to_predict_one():
    for row in (X[0], X[0].tolist()):
        with pytest.raises(ValueError, match=r"Expected 2D array(.|\n)*predict_one"):
            MODEL.predict(row)


SQUARE = pd.DataFrame({"town": ["Ulm", "Bonn"] * 10, "size": ["S", "M", "L", "S"] * 5})
COUNTED = pd.DataFrame({"a": np.arange(20) % 3, "b": np.arange(20) % 4})
OF_ROWS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "array": pd.DataFrame.to_numpy,
}


@pytest.mark.parametrize("n", [1, 2])  # as many as columns, too
@pytest.mark.parametrize("library", OF_ROWS)
@pytest.mark.parametrize("cls", [*loading.ESTIMATORS.values(), "categories"])
def test_a_table_in_place_of_a_row_is_told_what_to_give(cls, library, n):
    X = SQUARE if cls == "categories" else COUNTED
    model = (NaiveBayes if cls == "categories" else cls)().fit(X, ["a", "b"] * 10)
    table = OF_ROWS[library](X.head(n))
    calls = [model.predict_one, model.predict_proba_one, lambda X: model.learn_one(X, "a")]
    for call in calls:
        with pytest.raises(
            NaivelyError, match=r"a row must be a list or a dict .* of 2 dimensions"
        ):
            call(table)


def test_a_wrong_row_is_named():
    named = GaussianNB().fit(FRAME, Y)
    with pytest.raises(NaivelyError, match="a row must have 4 numbers; got shape"):
        MODEL.predict_one([1.0, 2.0])
    with pytest.raises(NaivelyError, match="column 3 holds infinity"):
        MODEL.predict_one([1.0, 2.0, 3.0, np.inf])
    with pytest.raises(NaivelyError, match="the row has no column 'sepal width'"):
        named.predict_one({"sepal length": 5.0})
    with pytest.raises(NaivelyError, match="fitted on an array without any"):
        MODEL.predict_one({"sepal length": 5.0})


def test_partial_fit_must_know_its_classes():
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        GaussianNB().partial_fit(X, Y)
    with pytest.raises(ValueError, match="classes must name at least one class"):
        GaussianNB().partial_fit(X, Y, classes=[])
    with pytest.raises(ValueError, match=r"label.* \[2\] in y do not exist in the initial classes"):
        GaussianNB().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        GaussianNB().fit(X, Y).partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(ValueError, match="Number of priors"):
        GaussianNB(priors=[0.5, 0.5]).partial_fit(X, Y, classes=[0, 1, 2])


def test_forgetting_what_was_never_seen_is_an_error():
    model = GaussianNB().fit(X, LABELS)
    for rows, labels, message in (
        (X[:1], ["tulip"], "class 'tulip' would have weight -1"),
        (np.tile(X, (2, 1)), np.tile(LABELS, 2), "class 'setosa' would have weight -50"),
    ):
        before = model.summary_
        with pytest.raises(NaivelyError, match=message):
            model.forget(rows, labels)
        assert model.summary_ is before


def test_summaries_of_other_columns_do_not_add():
    model = GaussianNB().fit(FRAME, LABELS)
    for other, message in (
        (summarize(X[:, :2], LABELS), "got 4 and 2"),
        (summarize(FRAME[NAMES[::-1]], LABELS), "got 'sepal length' and 'petal width'"),
        (summarize(FRAME, Y), "labels must be all of one type"),
    ):
        with pytest.raises(NaivelyError, match=message):
            model.update(other)


ESTIMATORS = [GaussianNB, NaiveBayes, CategoricalNB]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("library", [pd.DataFrame, pa.Table.from_arrays], ids=["pandas", "pyarrow"])
def test_two_columns_of_one_name_are_an_error(estimator, library):
    names = {"columns": ["a", "a"]} if library is pd.DataFrame else {"names": ["a", "a"]}
    cells = np.array([[0, 1], [1, 0]]) if library is pd.DataFrame else [pa.array([0, 1])] * 2
    X = library(cells, **names)
    for method in (estimator().fit, summarize, estimator().fit([[0, 1], [1, 0]], ["x", "z"]).loss):
        with pytest.raises(NaivelyError, match="columns must have different names; got 'a' twice"):
            method(X, ["x", "z"])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("X", "said"),
    [
        ({"a": [0, 1]}, "a table or an array; got dict"),
        ([{"a": 0}, {"a": 1}], "a table or an array; got dicts"),
        (iter([[0], [1]]), "a table or an array; got list_iterator"),
        (pl.LazyFrame({"a": [0, 1]}), "in memory, as labels are; got a LazyFrame"),
    ],
    ids=["dict", "dicts", "iterator", "LazyFrame"],
)
def test_what_is_no_table_is_an_error_that_says_what_to_do(estimator, X, said):
    for method in (estimator().fit, summarize):
        with pytest.raises(NaivelyError, match=f"X must be {said}"):
            method(X, ["x", "z"])
