"""A column in which no cell has been seen contributes nothing, wherever a model is u."""

import json
import pickle

import numpy as np
import pytest

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, plots, summarize
from naively.data.schema import Schema
from naively.engines.files import predict
from tests import sparks

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

N = 60
RNG = np.random.default_rng(0)
CODES = np.arange(N) % 3
Y = np.array(["a", "b", "c"])[CODES]
NUMBERS = pd.DataFrame({"size": RNG.normal(CODES), "width": RNG.normal(-CODES)})
TOWNS = np.array(["Ulm", "Bonn", "Au"])[(CODES + (RNG.random(N) < 0.3)) % 3]
MIXED = NUMBERS.assign(town=TOWNS)


def with_nothing(frame, cells=None):
    """Put an empty column first and another in the middle; the latter may get cells."""
    wider = frame.copy()
    wider.insert(0, "nothing", [None] * N)
    wider.insert(2, "void", [None] * N if cells is None else cells)
    return wider


MODELS = {
    "gaussian": (GaussianNB(), NUMBERS),
    "gaussian, weighed": (GaussianNB(calibration="weights"), NUMBERS),
    "naive, numbers": (NaiveBayes(calibration=None), NUMBERS),
    "naive": (NaiveBayes(calibration=None), MIXED),
    "naive, weighed": (NaiveBayes(), MIXED),
    "naive, categories": (NaiveBayes(calibration=None), MIXED[["town"]].assign(side=TOWNS)),
}


@pytest.fixture(params=MODELS)
def case(request):
    """Return a model of a table with empty columns, the table, and the answers without them."""
    model, frame = MODELS[request.param]
    wider = with_nothing(frame)
    if request.param == "gaussian, weighed":  # how far weights are moved depends on their number
        frame = wider.astype(float)
    plain = type(model)(**model.get_params()).fit(frame, Y).predict_proba(frame)
    return type(model)(**model.get_params()).fit(wider, Y), wider, plain


def assert_close(found, expected):
    # weights are fitted until a step changes little; more columns add in another order
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


# --- learning and keeping -------------------------------------------------------------------------


def test_an_empty_column_changes_no_answer(case):
    model, X, expected = case
    assert_close(model.predict_proba(X), expected)
    filled = X.assign(nothing=np.arange(N, dtype=float))
    assert_close(model.predict_proba(filled), expected)
    assert_close(model.predict_proba_one(X.iloc[0].to_dict()), expected[0])


def test_a_model_is_read_off_a_summary_with_empty_columns(case):
    model, X, expected = case
    known = model.summary_.schema
    kinds = summarize(X, Y).schema.kinds
    schema = Schema(
        known.n_columns,
        known.names,
        kinds,
        edges=known.edges,
        knots=known.knots,
        sample=known.sample,
    )
    seen = summarize(X, Y, schema=schema)
    assert seen.schema.undecided == (0, 2)
    read = type(model).from_summary(seen, **model.get_params())
    assert_close(read.predict_proba(X), expected)


def test_a_model_with_empty_columns_learns_on_and_forgets(case):
    model, X, expected = case
    params = model.get_params()
    halves = type(model)(**params).partial_fit(X[::2], Y[::2], classes=["a", "b", "c"])
    halves.partial_fit(X[1::2], Y[1::2])
    assert halves.summary_.weight == N
    twice = type(model)(**params).fit(X, Y).update(model.summary_)
    assert twice.summary_.weight == 2 * N
    twice.forget(X, Y)
    assert_close(twice.predict_proba(X), expected)
    empty = type(model)(**params).update(model.summary_)
    assert_close(empty.predict_proba(X), expected)


def test_a_model_with_empty_columns_is_saved_and_pickled(case, tmp_path):
    model, X, _ = case
    model.save(tmp_path / "model.safetensors")
    for copy in (naively.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert copy.summary_ == model.summary_
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_gaussian_nb_takes_undecided_columns_of_a_summary_as_numbers():
    X = with_nothing(NUMBERS)
    model = GaussianNB.from_summary(summarize(X, Y))
    assert model.summary_ == GaussianNB().fit(X, Y).summary_
    assert np.isnan(model.theta_[:, [0, 2]]).all()
    late = with_nothing(NUMBERS, np.arange(N, dtype=float))
    both = np.vstack([X.to_numpy(), late.to_numpy()]).astype(float)
    whole = GaussianNB().fit(pd.DataFrame(both, columns=X.columns), np.tile(Y, 2))
    np.testing.assert_allclose(
        model.update(summarize(late, Y)).predict_proba(late), whole.predict_proba(late), rtol=1e-9
    )


def test_categorical_nb_takes_undecided_columns_of_a_summary_as_codes():
    codes = np.array([[0, 1], [1, 1], [2, 0], [0, 0]])
    y = ["a", "a", "b", "b"]
    X = np.array([[0, None, 1], [1, None, 1], [2, None, 0], [0, None, 0]], dtype=object)
    kinds = ("category", "undecided", "category")
    seen = summarize(X, y, schema=Schema(3, None, kinds))
    model = CategoricalNB.from_summary(seen)
    expected = CategoricalNB().fit(codes, y).predict_proba(codes)
    holes = X.astype(float)
    np.testing.assert_allclose(model.predict_proba(holes), expected)
    np.testing.assert_allclose(CategoricalNB().fit(holes, y).predict_proba(holes), expected)
    model.update(CategoricalNB().fit(np.array([[0, 3, 1]]), ["a"]).summary_)
    assert model.n_categories_.tolist() == [3, 4, 2]


# --- other engines --------------------------------------------------------------------------------


def answers_of_files(write, ending):
    def answers(model, X, folder):
        write(pa.Table.from_pandas(X, preserve_index=False), str(folder / f"x{ending}"))
        predict(model, folder / f"x{ending}", folder / "out.parquet", proba=True)
        found = parquet.read_table(folder / "out.parquet")
        return np.column_stack([found[f"p_{k}"].to_numpy() for k in "abc"])

    return answers


def answers_of_dask(model, X, folder):
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    with dask.config.set({"dataframe.convert-string": False}):
        return np.asarray(model.predict_proba(dd.from_pandas(X, npartitions=3)).compute())


def answers_of_database(name):
    def answers(model, X, folder):
        ibis = pytest.importorskip("ibis")
        pytest.importorskip("duckdb")
        from naively.engines import sql

        parquet.write_table(pa.Table.from_pandas(X.assign(id=range(N))), folder / "t.parquet")
        t = ibis.duckdb.connect().read_parquet(folder / "t.parquet")
        found = sql.predict(model, t, keep=["id"], proba=True).order_by("id").to_pyarrow()
        return np.column_stack([found[name].to_numpy() for name in found.column_names[-3:]])

    return answers


def answers_of_spark(model, X, folder):
    if sparks.absent():
        pytest.skip(sparks.absent())
    from naively.engines import spark as scoring

    types = {"town": "string", "side": "string", "nothing": "void"}
    types["void"] = "void" if X["void"].isna().all() else "string"
    listed = ", ".join(f"`{name}` {types.get(name, 'double')}" for name in X)
    rows = [tuple(row) for row in X.astype(object).to_numpy().tolist()]
    with sparks.quiet():
        df = sparks.session().createDataFrame(rows, listed).coalesce(1)
        return np.array(scoring.predict(model, df, probability="p").toArrow()["p"].to_pylist())


def answers_of_onnx(model, X, folder):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model.to_onnx(folder / "m.onnx", dtype="float64")
    session = runtime.InferenceSession(str(folder / "m.onnx"))
    columns = session.get_modelmeta().custom_metadata_map
    listed = {name: json.loads(columns.get(name, "null")) for name in ("numbers", "categories")}
    numbers = X[list(X) if listed["numbers"] is None else listed["numbers"]]
    given = {"X": numbers.astype(float).to_numpy()}
    if listed["categories"] is not None:
        given["categories"] = X[listed["categories"]].fillna("").to_numpy(dtype=object)
    wanted = [one.name for one in session.get_inputs()]
    return session.run(["probabilities"], {name: given[name] for name in wanted})[0]


ELSEWHERE = {
    "csv": answers_of_files(csv.write_csv, ".csv"),
    "parquet": answers_of_files(parquet.write_table, ".parquet"),
    "arrow": answers_of_files(feather.write_feather, ".arrow"),
    "dask": answers_of_dask,
    "duckdb": answers_of_database("duckdb"),
    "spark": answers_of_spark,
    "onnx": answers_of_onnx,
}


@pytest.mark.parametrize("where", ELSEWHERE)
@pytest.mark.parametrize("name", ["gaussian", "naive", "naive, weighed"])
def test_every_engine_answers_without_the_empty_column(where, name, tmp_path):
    model, frame = MODELS[name]
    X = with_nothing(frame)
    model = type(model)(**model.get_params()).fit(X, Y)
    expected = model.predict_proba(X)
    np.testing.assert_allclose(ELSEWHERE[where](model, X, tmp_path), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("where", ELSEWHERE)
def test_every_engine_ignores_cells_of_a_column_of_which_nothing_is_known(where, tmp_path):
    model = NaiveBayes(calibration=None).fit(with_nothing(MIXED), Y)
    expected = model.predict_proba(with_nothing(MIXED))
    X = with_nothing(MIXED, ["text"] * N)
    np.testing.assert_allclose(ELSEWHERE[where](model, X, tmp_path), expected, rtol=0, atol=1e-9)


# --- reports, plots, evaluation -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussian", "gaussian, weighed", "naive", "naive, weighed"])
def test_a_report_says_which_columns_hold_no_cell(look, name):
    model, frame = MODELS[name]
    X = with_nothing(frame)
    page = naively.report(model, X, Y, compare=False)
    assert page.data["data"]["missing"] == 2 * N
    found = {column["name"]: column for column in page.data["columns"]}
    assert [found[name]["importance"] for name in ("nothing", "void")] == [0, 0]
    assert [found[name]["missing"] for name in ("nothing", "void")] == [N, N]
    seen = look(page)
    seen.show_all()
    fitted = type(model)(**model.get_params()).fit(X, Y)
    for i in (0, 7):
        row = X.iloc[i].to_dict()
        seen.fill(row)
        expected = fitted.predict_proba(X[i : i + 1])[0]
        np.testing.assert_allclose(seen.posterior(), expected, rtol=0, atol=1e-9)
        seen.fill({**row, "nothing": 0.5})
        np.testing.assert_allclose(seen.posterior(), expected, rtol=0, atol=1e-9)
    for column in ("nothing", "void"):
        card = seen.find(f'[data-column="{column}"]')
        assert "No cell was seen in this column" in card.text
    assert "No cell" not in seen.find('[data-column="size"]').text
    assert seen.find("#columns").text.count("no cell") == 2
    for word in ("NaN", "undefined", "Infinity"):
        assert word not in seen.find("main").text


@pytest.mark.parametrize("frame", [MIXED, NUMBERS, MIXED[["town"]]], ids=["mixed", "numbers", "c"])
def test_a_report_has_a_default_model_where_a_column_is_empty(frame):
    page = naively.report(data=with_nothing(frame.assign(side=TOWNS)), y=Y)
    assert {"nothing", "void"} <= {column["name"] for column in page.data["columns"]}
    alone = naively.report(data=pd.DataFrame({"nothing": [None] * N}), y=Y)
    assert alone.data["columns"][0]["importance"] == 0


@pytest.mark.parametrize("name", ["gaussian", "naive", "naive, categories"])
def test_plots_say_that_a_column_holds_no_cell(name):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    model, frame = MODELS[name]
    X = with_nothing(frame)
    fitted = type(model)(**model.get_params()).fit(X, Y)
    display = plots.BellCurveDisplay.from_estimator(fitted, X, Y)
    texts = [[text.get_text() for text in axes.texts] for axes in display.ax_]
    empty = [column for column, said in zip(X, texts, strict=True) if "no cell seen" in said]
    assert empty == ["nothing", "void"]
    assert plots.separation(fitted.summary_)[[0, 2]] == pytest.approx(0)
    plots.ConfusionDisplay.from_estimator(fitted, X, Y)
    plots.ReliabilityDisplay.from_estimator(fitted, X, Y)
    if "size" in X:
        drawn = plots.DecisionRegionDisplay.from_estimator(fitted, X, Y)
        assert "nothing" not in drawn.figure_.axes[0].get_xlabel()
    pyplot.close("all")


def test_a_map_of_an_empty_column_is_an_error_that_says_why():
    pytest.importorskip("matplotlib")
    model = NaiveBayes().fit(with_nothing(MIXED), Y)
    with pytest.raises(NaivelyError, match="'nothing' holds no cell"):
        plots.DecisionRegionDisplay.from_estimator(model, columns=["size", "nothing"])


@pytest.mark.parametrize("frame", [NUMBERS, MIXED], ids=["numbers", "mixed"])
def test_evaluate_and_compare_take_empty_columns(frame):
    X = with_nothing(frame)
    plain, found = (naively.evaluate(NaiveBayes(), rows, Y, folds=5) for rows in (frame, X))
    assert found.accuracy == plain.accuracy
    result, expected = (naively.compare(NaiveBayes(), rows, Y, repeats=1) for rows in (X, frame))
    assert result.test_accuracy == expected.test_accuracy
    assert "GaussianNB" in str(result)


@pytest.mark.parametrize("estimator", [NaiveBayes(calibration=None), GaussianNB()])
@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_a_masked_cell_of_a_dask_array_is_missing(estimator, dtype):
    da = pytest.importorskip("dask.array")
    cells = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
    mask = np.zeros_like(cells, dtype=bool)
    mask[::3, 1] = True
    holes, y = np.where(mask, np.nan, cells), np.array([0, 1, 1, 0] * 5)
    masked = da.from_array(np.ma.array(cells.astype(dtype), mask=mask), (7, 2), asarray=False)
    expected = estimator.fit(holes, y).predict_proba(holes)
    found = estimator.fit(masked, y).predict_proba(masked)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)
