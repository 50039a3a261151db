"""Stages for `pyspark.ml`: they stand where Spark's own gaussian naive Bayes stood."""

import gc
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import naively
from naively import GaussianNB, NaivelyError, summarize
from tests import sparks

if sparks.absent():
    pytest.skip(sparks.absent(), allow_module_level=True)

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.classification import NaiveBayes as TheirNaiveBayes
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

from naively.spark import NaiveBayes, NaiveBayesModel

N = 90
NAMES = ["a", "b"]


def table_of(offset=0.0):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, N)
    a, b = (offset + y + rng.normal(size=N) for _ in NAMES)
    return pa.table({"a": a, "b": b, "label": y.astype(float), "w": rng.choice([0.5, 2.0], N)})


def frame_of(table):
    with sparks.quiet():
        return sparks.session().createDataFrame(table).repartition(2).cache()


@pytest.fixture(scope="module")
def df():
    return frame_of(table_of())


@pytest.fixture(scope="module")
def assembler():
    sparks.session()
    return VectorAssembler(inputCols=NAMES, outputCol="features", handleInvalid="keep")


@pytest.fixture(scope="module")
def vectors(df, assembler):
    return assembler.transform(df).cache()


@pytest.fixture(scope="module")
def model(vectors):
    return NaiveBayes(weightCol="w").fit(vectors)


def arrays(rows, name):
    return np.array([row[name].toArray() for row in rows])


# --- instead of Spark's ---------------------------------------------------------------------------


def test_the_model_is_that_of_spark(vectors, model):
    theirs = TheirNaiveBayes(modelType="gaussian", weightCol="w").fit(vectors)
    for name in ("pi", "theta", "sigma"):
        ours = getattr(model, name).toArray()
        np.testing.assert_allclose(ours, getattr(theirs, name).toArray(), rtol=1e-12)
    assert (model.numClasses, model.numFeatures) == (theirs.numClasses, theirs.numFeatures)
    assert model.theta.isTransposed == theirs.theta.isTransposed


def test_the_columns_are_those_of_spark(vectors, model):
    theirs = TheirNaiveBayes(modelType="gaussian", weightCol="w").fit(vectors)
    got, expected = model.transform(vectors), theirs.transform(vectors)
    assert got.dtypes == expected.dtypes
    got, expected = got.collect(), expected.collect()
    assert [row.prediction for row in got] == [row.prediction for row in expected]
    # Both are sums of some terms; exp makes their rounding relative.
    close = {"rtol": 1e-12, "atol": 1e-300}
    np.testing.assert_allclose(arrays(got, "probability"), arrays(expected, "probability"), **close)


def test_variances_do_not_cancel(assembler):
    table = table_of(offset=1e8)
    far = assembler.transform(frame_of(table))
    exact = summarize(table.select(NAMES), table["label"].to_numpy())
    variance = exact.moments.m2 / exact.moments.weight
    ours = NaiveBayes(varSmoothing=0.0).fit(far).sigma.toArray()
    theirs = TheirNaiveBayes(modelType="gaussian").fit(far).sigma.toArray()
    np.testing.assert_allclose(ours, variance, rtol=1e-13)
    assert np.abs(theirs / variance - 1).max() > 0.01


def test_one_vector_is_answered_as_a_row_of_a_frame(vectors, model):
    row = model.transform(vectors).first()
    assert model.predict(row.features) == row.prediction
    assert model.predictRaw(row.features) == row.rawPrediction
    assert model.predictProbability(row.features) == row.probability


@pytest.mark.parametrize("thresholds", [[1.0, 1.0, 0.0], [0.1, 0.9, 0.5]], ids=["zero", "plain"])
def test_thresholds_divide_probabilities(vectors, thresholds):
    ours = NaiveBayes(thresholds=thresholds).fit(vectors)
    theirs = TheirNaiveBayes(modelType="gaussian", thresholds=thresholds).fit(vectors)
    got = ours.transform(vectors).collect()
    expected = [row.prediction for row in theirs.transform(vectors).collect()]
    assert [row.prediction for row in got] == expected
    assert [ours.predict(row.features) for row in got[:9]] == expected[:9]


def test_columns_without_a_name_are_left_out(vectors, model):
    quiet = model.copy().setProbabilityCol("").setRawPredictionCol("")
    assert quiet.transform(vectors).columns == [*vectors.columns, "prediction"]


# --- what Spark's lacks ---------------------------------------------------------------------------


def test_priors_are_given(vectors):
    model = NaiveBayes(priors=[0.5, 0.25, 0.25]).fit(vectors)
    np.testing.assert_allclose(np.exp(model.pi.toArray()), [0.5, 0.25, 0.25])


def test_classes_are_balanced(vectors):
    model = NaiveBayes(classWeight="balanced").fit(vectors)
    np.testing.assert_allclose(np.exp(model.pi.toArray()), np.full(3, 1 / 3))


def test_missing_cells_are_left_out(df):
    holed = df.selectExpr("CASE WHEN a > 0 THEN a END AS a", "b", "label").cache()
    rows = holed.toArrow()
    expected = GaussianNB().fit(rows.select(NAMES), rows["label"].to_numpy())
    model = NaiveBayes(inputCols=NAMES).fit(holed)
    np.testing.assert_allclose(model.sigma.toArray(), expected.var_, rtol=1e-12)
    got = [row.prediction for row in model.transform(holed).collect()]
    assert got == expected.predict(rows.select(NAMES)).tolist()


def test_text_labels_are_predicted_as_text(df):
    named = df.selectExpr("a", "b", "concat('class ', int(label)) AS label")
    model = NaiveBayes(inputCols=NAMES, thresholds=[0.2, 0.5, 0.3]).fit(named)
    answers = {row.prediction for row in model.transform(named).collect()}
    assert answers == {"class 0", "class 1", "class 2"}


def test_a_label_that_is_never_seen_keeps_its_place(df):
    model = NaiveBayes(inputCols=NAMES).fit(df.where("label != 1"))
    row = model.transform(df).first()
    assert model.numClasses == 3
    assert row.probability[1] == 0
    assert row.prediction in (0.0, 2.0)


def test_other_readings_need_no_other_pass(vectors, monkeypatch):
    from naively.engines import spark as engine

    passes, once = [], engine.summarize
    monkeypatch.setattr(engine, "summarize", lambda *a, **k: passes.append(1) or once(*a, **k))
    nb = NaiveBayes()
    maps = ParamGridBuilder().addGrid(nb.varSmoothing, [0.0, 1.0]).addGrid(nb.ddof, [0, 1]).build()
    models = nb.fit(vectors, maps)
    assert len(passes) == 1
    assert [(m.getVarSmoothing(), m.getDdof()) for m in models] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert (
        models[3].sigma.toArray().tolist()
        == naively.GaussianNB.from_summary(
            models[0].estimator.summary_, var_smoothing=1.0, ddof=1
        ).var_.tolist()
    )


def test_other_columns_need_another_pass(vectors):
    nb = NaiveBayes(inputCols=["a"])
    models = nb.fit(vectors, [{nb.inputCols: ["a"]}, {nb.inputCols: NAMES}])
    assert [model.numFeatures for model in models] == [1, 2]


# --- columns of any kind --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, N)
    age = np.where(rng.random(N) < 0.1, np.nan, rng.normal(40 + 10 * y, 5))
    town = np.where(rng.random(N) < 0.2 + 0.6 * y, "Ulm", "Bonn")
    return pa.table({"age": age, "town": town, "visits": rng.poisson(1 + 3 * y), "label": y})


def test_a_map_of_interactions_measures_what_it_reads(people):
    frame = sparks.session().createDataFrame(people)
    nb = NaiveBayes(inputCols=["age", "visits"], modelType="mixed", interactions="none")
    models = nb.fit(frame, [{nb.interactions: kinds} for kinds in ("none", "quadratic")])
    assert all(model.estimator.summary_.schema.centres is not None for model in models)
    assert [model.estimator.interactions for model in models] == [None, ("quadratic",)]


@pytest.mark.parametrize("params", [{}, {"calibration": "none"}], ids=["weighed", "plain"])
def test_text_is_a_column_of_categories(people, params, tmp_path):
    columns, df = ["age", "town", "visits"], frame_of(people)
    families = {"visits": "poisson"}
    stage = NaiveBayes(modelType="mixed", inputCols=columns, families=families, **params)
    model = stage.fit(df)
    ours = {"calibration": None} if params else {}
    expected = naively.NaiveBayes(families=families, **ours)
    expected = expected.fit(people.select(columns), people["label"].to_numpy().astype(float))
    model.save(f"{tmp_path}/model")
    for one in (model, NaiveBayesModel.load(f"{tmp_path}/model")):
        rows = one.transform(df).toArrow()
        p = np.array([row["values"] for row in rows["probability"].to_pylist()])
        # All rows are in the sample, so weights and edges are those of the whole.
        np.testing.assert_allclose(p, expected.predict_proba(rows.select(columns)), rtol=1e-9)


# --- in a pipeline --------------------------------------------------------------------------------


def test_a_pipeline_is_saved_and_loaded(df, assembler, tmp_path):
    nb = NaiveBayes(weightCol="w", priors=[0.2, 0.3, 0.5])
    pipeline = Pipeline(stages=[assembler, nb])
    pipeline.write().overwrite().save(f"{tmp_path}/pipeline")
    loaded = Pipeline.load(f"{tmp_path}/pipeline").getStages()[1]
    assert loaded.getPriors() == [0.2, 0.3, 0.5]
    assert (loaded.getWeightCol(), loaded.uid) == ("w", nb.uid)
    fitted = pipeline.fit(df)
    fitted.save(f"{tmp_path}/model")
    again = PipelineModel.load(f"{tmp_path}/model")
    assert again.transform(df).collect() == fitted.transform(df).collect()
    assert again.stages[1].getPriors() == [0.2, 0.3, 0.5]


def test_a_saved_model_is_a_file_of_naively(vectors, model, tmp_path):
    model.save(f"{tmp_path}/model")
    loaded = naively.load(tmp_path / "model" / "model.safetensors")
    assert loaded.summary_ == model.estimator.summary_
    with pytest.raises(Exception, match="already exists"):
        model.save(f"{tmp_path}/model")
    model.write().overwrite().save(f"{tmp_path}/model")
    assert NaiveBayesModel.load(f"{tmp_path}/model").sigma == model.sigma


def test_a_model_fitted_elsewhere_is_a_stage(df):
    table = table_of()
    elsewhere = GaussianNB().fit(table.select(NAMES), table["label"].to_numpy())
    stage = NaiveBayesModel(elsewhere).setInputCols(NAMES)
    rows = stage.transform(df).toArrow()
    assert rows["prediction"].to_pylist() == elsewhere.predict(rows.select(NAMES)).tolist()


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_cross_validation_finds_the_better_prior(vectors):
    nb = NaiveBayes()
    grid = ParamGridBuilder().addGrid(nb.priors, [[0.98, 0.01, 0.01], [0.3, 0.4, 0.3]]).build()
    found = CrossValidator(
        estimator=nb,
        estimatorParamMaps=grid,
        evaluator=MulticlassClassificationEvaluator(),
        numFolds=2,
        seed=0,
    ).fit(vectors)
    gc.collect()  # Spark leaves its threads to the collector, who complains
    assert found.bestModel.getPriors() == [0.3, 0.4, 0.3]


# --- the documents --------------------------------------------------------------------------------


def test_the_code_of_the_page_runs(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "engines.md").read_text()
    blocks = re.findall(r"^```py\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], N)
    height = rng.normal(np.where(sex == "f", 1.65, 1.78), 0.07)
    table = pa.table({"height": height, "age": rng.normal(40, 9, N), "sex": sex})
    pq.write_table(table, tmp_path / "people")
    namespace = {"session": sparks.session()}
    assert len(blocks) == 2
    for block in blocks:  # Java has a working directory of its own
        exec(re.sub('"(people|fitted)"', rf'"{tmp_path}/\1"', block), namespace)
    assert namespace["scored"].where("prediction = sex").count() > N / 2
    assert namespace["answers"].where("prediction = label").count() > N / 2


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"modelType": "multinomial"}, "modelType must be 'gaussian' or 'mixed'; got 'multi"),
        ({"labelCol": "lable"}, "no column 'lable'; did you mean 'label'"),
        ({"priors": [1.0]}, "one entry per class"),
        ({"inputCols": ["a", "town"]}, "column 'town' must hold numbers; got text"),
    ],
    ids=["model", "label", "priors", "text"],
)
def test_what_cannot_be_fitted_is_refused(vectors, params, message):
    with pytest.raises(NaivelyError, match=message):
        NaiveBayes(**params).fit(vectors.selectExpr("*", "'Ulm' AS town"))


def test_labels_must_be_indices(df):
    with pytest.raises(NaivelyError, match=r"must be 0, 1, .* as StringIndexer makes them; got -1"):
        NaiveBayes(inputCols=NAMES).fit(df.selectExpr("a", "b", "label - 1 AS label"))


def test_there_must_be_a_threshold_for_each_class(vectors, model):
    with pytest.raises(NaivelyError, match=r"one threshold per class \(3\); got 2"):
        model.copy().setThresholds([0.5, 0.5]).transform(vectors)
