"""What is special to Spark: its types, vectors and failures. `test_engines.py` has the rest."""

import os
import signal
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import naively
from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, summarize
from naively.data.schema import Schema
from tests import sparks

if sparks.absent():
    pytest.skip(sparks.absent(), allow_module_level=True)

from pyspark import TaskContext
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql.functions import expr, lit
from pyspark.sql.types import DoubleType, StructField, StructType

from naively.engines import spark as engine
from naively.engines import spark as scoring
from naively.estimators.loading import ESTIMATORS

N = 60
NTZ = "timestamp_ntz"
NAMES = ["a", "b"]
VECTORS = StructType([StructField("label", DoubleType()), StructField("features", VectorUDT())])


@pytest.fixture(scope="module")
def spark():
    return sparks.session()


@pytest.fixture(scope="module")
def table():
    """Numbers with holes, labels and weights."""
    rng = np.random.default_rng(0)
    a = np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N))
    columns = {"a": a, "b": rng.normal(1e8, size=N), "y": rng.integers(0, 3, N)}
    return pa.table({**columns, "w": rng.choice([0.0, 0.5, 2.0], N)})


@pytest.fixture(scope="module")
def df(spark, table):
    with sparks.quiet():
        return spark.createDataFrame(table).repartition(3).cache()


@pytest.fixture(scope="module")
def model(table):
    return GaussianNB().fit(table.select(NAMES), table["y"].to_numpy())


def assert_close(a, b):
    """Equal but for rounding: some ulp of sums of some ten terms, of means relative to cells."""
    assert a.classes.tolist() == b.classes.tolist()
    assert a.schema == b.schema
    np.testing.assert_allclose(a.class_weight, b.class_weight, rtol=1e-14)
    np.testing.assert_allclose(a.moments.weight, b.moments.weight, rtol=1e-14)
    np.testing.assert_allclose(a.moments.mean, b.moments.mean, rtol=1e-15, atol=1e-14)
    np.testing.assert_allclose(a.moments.m2, b.moments.m2, rtol=1e-13)


def of_rows(table, **options):
    return summarize(table.select(NAMES), table["y"].to_numpy(), **options)


# --- what is read ---------------------------------------------------------------------------------


def test_numbers_of_every_type_are_numbers(spark):
    kinds = ["tinyint", "smallint", "int", "bigint", "float", "double", "decimal(12,3)"]
    df = spark.range(8).selectExpr(
        "id % 2 AS y", *(f"CAST(id AS {kind}) AS `{kind}`" for kind in kinds)
    )
    got = engine.summarize(df, target="y")
    assert got.schema == Schema(7, tuple(kinds))
    assert got.moments.mean.tolist() == [[3.0] * 7, [4.0] * 7]
    assert got.moments.m2.tolist() == [[20.0] * 7] * 2


def test_a_decimal_is_the_nearest_double(spark):
    df = spark.createDataFrame([(Decimal("0.1"), 1), (None, 1)], "x decimal(38,18), y int")
    got = engine.summarize(df, target="y")
    assert got.moments.weight.tolist() == [[1.0]]
    assert got.moments.mean.tolist() == [[0.1]]


def test_nothing_but_nulls_is_missing_cells(spark):
    df = spark.range(3).selectExpr("NULL AS x", "'k' AS y")
    got = engine.summarize(df, target="y")
    assert got.class_weight.tolist() == [3.0]
    assert got.schema.kinds == ("undecided",)
    numbers = engine.summarize(df, target="y", schema=Schema(1, ("x",)))
    assert numbers.moments.weight.tolist() == [[0.0]]


def test_booleans_are_numbers_where_a_schema_says_so(spark):
    df = spark.range(4).selectExpr("id < 3 AS x", "'k' AS y")
    got = engine.summarize(df, target="y", schema=Schema(1, ("x",)))
    assert got.moments.mean.tolist() == [[0.75]]


def test_text_and_booleans_are_tallied(spark):
    frame = pa.table(
        {
            "town": ["Ulm", "Bonn", None, "Ulm", "Bonn", "Ulm"],
            "new": [True, None, False, True, True, False],
            "age": [3.0, None, 5.0, 6.0, 7.0, 1.0],
        }
    )
    y, w = ["no", "no", "yes", "yes", "no", "yes"], np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
    expected = naively.summarize(frame, y, sample_weight=w)
    df = spark.createDataFrame(frame.append_column("y", [y]).append_column("w", [w])).repartition(3)
    got = engine.summarize(df, target="y", weight="w")
    assert_close(got, expected)
    assert [c.tolist() for c in got.categories] == [["Bonn", "Ulm"], [False, True]]
    assert got.tallies == expected.tallies


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ("CAST(id % 2 AS string)", ["0", "1"]),
        ("id % 2 = 0", [False, True]),
        ("CAST(id % 2 AS double)", [0.0, 1.0]),
        ("CAST(id % 2 AS decimal(3,1))", [0, 1]),
    ],
    ids=["text", "booleans", "doubles", "decimals"],
)
def test_labels_may_be_of_any_type(spark, labels, classes):
    df = spark.range(5).selectExpr("CAST(id AS double) AS x", f"{labels} AS y")
    assert engine.summarize(df, target="y").classes.tolist() == classes


def test_columns_may_have_odd_names(spark):
    names = ["a.b", "with `ticks`", "two words"]
    df = spark.createDataFrame([(1.0, 2.0, "k"), (3.0, 4.0, "k")], names)
    got = engine.summarize(df, target="two words")
    assert got.schema.names == ("a.b", "with `ticks`")
    assert got.moments.mean.tolist() == [[2.0, 3.0]]
    answered = scoring.predict(GaussianNB.from_summary(got), df)
    assert answered.columns == [*names, "prediction"]
    assert [row.prediction for row in answered.collect()] == ["k", "k"]


def test_chosen_columns_keep_the_order_they_are_named_in(df, table):
    got = engine.summarize(df, target="y", columns=["b", "a"])
    assert got.schema.names == ("b", "a")
    np.testing.assert_allclose(got.moments.weight, of_rows(table).moments.weight[:, ::-1])


# --- vectors --------------------------------------------------------------------------------------


def test_in_a_sparse_vector_nothing_is_zero(spark):
    rows = [
        (0.0, Vectors.dense([1.0, float("nan"), 3.0])),
        (0.0, Vectors.sparse(3, [2], [5.0])),
        (0.0, Vectors.sparse(3, [], [])),
        (1.0, None),
    ]
    got = engine.summarize(spark.createDataFrame(rows, VECTORS), target="label")
    X = np.array([[1, np.nan, 3], [0, 0, 5], [0, 0, 0], [np.nan] * 3])
    assert_close(got, summarize(X, np.array([0.0, 0, 0, 1])))


def test_a_vector_beside_other_columns_is_numbered(spark):
    rows = [(0.0, Vectors.dense([1.0, 2.0])), (0.0, Vectors.sparse(2, [1], [4.0]))]
    df = spark.createDataFrame(rows, VECTORS).withColumn("x", lit(7))
    got = engine.summarize(df, target="label")
    assert got.schema == Schema(3, ("features_0", "features_1", "x"))
    assert got.moments.mean.tolist() == [[0.5, 3.0, 7.0]]


def test_vectors_must_be_equally_long(spark):
    rows = [(0.0, Vectors.dense([1.0, 2.0])), (0.0, Vectors.dense([1.0]))]
    df = spark.createDataFrame(rows, VECTORS).coalesce(1)
    with pytest.raises(NaivelyError, match=r"equally long \(2\); got one of 1\."):
        engine.summarize(df, target="label")


# --- partitions -----------------------------------------------------------------------------------


def test_partitions_without_rows_change_nothing(spark, df, table):
    rows = df.where("y = 0").repartition(5, "y")
    expected = of_rows(table.filter(pa.compute.equal(table["y"], 0)))
    assert_close(engine.summarize(rows, target="y", columns=NAMES), expected)


def test_no_rows_give_nothing(df):
    got = engine.summarize(df.where("w > 9"), target="y", weight="w")
    assert got.weight == 0
    assert got.schema == Schema(2, ("a", "b"))


def test_many_partitions_add_up_in_a_tree(spark):
    df = spark.range(0, 140, 1, 35).selectExpr("1e8 + id AS x", "id % 2 AS y")
    id_ = np.arange(140)
    expected = summarize(pa.table({"x": 1e8 + id_}), id_ % 2)
    assert_close(engine.summarize(df, target="y"), expected)


def test_the_same_partitions_give_the_same_bits(df):
    first = engine.summarize(df, target="y", weight="w")
    assert engine.summarize(df, target="y", weight="w") == first


def test_executors_need_neither_scikit_learn_nor_pandas():
    code = "import sys, naively.engines.spark.summaries; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sklearn", "pandas", "scipy"} & set(done.stdout.split())


# --- failures -------------------------------------------------------------------------------------


def raise_an_error():
    raise OSError("the disk is on fire")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("fail", [raise_an_error, die], ids=["raises", "dies"])
def test_a_task_that_fails_once_is_counted_once(df, table, fail):
    def flaky(batches, fail=fail):
        for batch in batches:
            yield batch.slice(0, 1)
            context = TaskContext.get()
            if context.partitionId() == 1 and context.attemptNumber() == 0:
                fail()
            yield batch.slice(1)

    got = engine.summarize(df.mapInArrow(flaky, df.schema), target="y", columns=NAMES)
    assert_close(got, of_rows(table))


def test_a_partition_that_cannot_be_read_names_the_cause(df):
    def broken(batches):
        raise OSError("the disk is on fire")
        yield from batches

    rows = df.coalesce(1).mapInArrow(broken, df.schema)
    with pytest.raises(NaivelyError, match="could not be read: OSError: the disk is on fire"):
        engine.summarize(rows, target="y")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"a": "double('inf')"}, r"partition 0, from row 0: column 'a' holds infinity"),
        ({"y": "CAST(NULL AS int)"}, r"partition 0: the target 'y' is missing in row 0"),
        ({"y": "0.5"}, r"partition 0: the target 'y' is 0.5 in row 0"),
        ({"w": "-1"}, r"partition 0: the weight 'w' is -1 in row 0"),
        ({"a": "INTERVAL '1' DAY"}, "column 'a' holds times of day or durations .interval"),
    ],
    ids=["infinity", "no label", "measurement", "negative weight", "duration"],
)
def test_bad_cells_are_named(df, changed, message):
    bad = df.coalesce(1).withColumns({name: expr(text) for name, text in changed.items()})
    with pytest.raises(NaivelyError, match=message):
        engine.summarize(bad, target="y", weight="w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "Y"}, "no column 'Y'; did you mean 'y'"),
        ({"target": "y", "columns": ["a", "age"]}, "no column 'age'"),
        ({"target": "y", "columns": ["a", "y"]}, "must not be among the columns; got 'y'"),
        ({"target": "y", "schema": Schema(2)}, "there must be 2 columns; got 3"),
    ],
    ids=["target", "column", "target as column", "schema"],
)
def test_columns_that_do_not_fit_are_said_before_anything_is_read(df, options, message):
    with pytest.raises(NaivelyError, match=message):
        engine.summarize(df, **options)


@pytest.mark.parametrize("target", ["y", "z"])
def test_names_that_differ_in_case_alone_are_named(spark, target):
    df = spark.range(5).selectExpr("id AS z", "id AS a", "id AS y", "id AS Y")
    with pytest.raises(NaivelyError, match="that Spark can tell apart; got 'y' and 'Y'"):
        engine.summarize(df, target=target)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        assert engine.summarize(df, target=target).schema.n_columns == 3
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize("verb", ["fit", "partial_fit", "predict"])
@pytest.mark.parametrize("kind", ESTIMATORS.values())
def test_a_frame_of_spark_is_not_taken_for_rows_in_memory(df, kind, verb):
    model = kind()
    if verb == "predict":
        model.fit([[0.0], [1.0]], [0, 1])
    options = {"classes": [0, 1, 2]} if verb == "partial_fit" else {}
    labels = () if verb == "predict" else ("y",)
    with pytest.raises(NaivelyError, match="got a frame of Spark"):
        getattr(model, verb)(df, *labels, **options)


def test_a_stream_is_refused(spark):
    stream = spark.readStream.format("rate").load().selectExpr("value AS x", "value % 2 AS y")
    with pytest.raises(NaivelyError, match="must not be a stream; got one"):
        engine.summarize(stream, target="y")


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sql", [False, True], ids=["by Arrow", "by SQL"])
def test_answers_are_those_of_the_model(df, model, sql):
    answered = scoring.predict(model, df, probability="p", sql=sql)
    assert answered.columns == [*df.columns, "prediction", "p"]
    rows = answered.toArrow()
    X = rows.select(NAMES)
    assert rows["prediction"].to_pylist() == model.predict(X).tolist()
    p = np.array(rows["p"].to_pylist())
    # SQL adds the terms in another order: some ulp of the sum, and exp makes them relative.
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=1e-12 if sql else 0)


@pytest.mark.parametrize("sql", [False, True], ids=["by Arrow", "by SQL"])
def test_answers_of_a_model_of_any_columns_are_its_own(spark, table, sql):
    towns = pa.array(np.array(["Ulm", "Bonn", None])[table["y"].to_numpy() % 3])
    mixed = table.append_column("town", towns)
    names = [*NAMES, "town"]
    model = NaiveBayes(calibration=None).fit(mixed.select(names), table["y"].to_numpy())
    with sparks.quiet():
        df = spark.createDataFrame(mixed)
    rows = scoring.predict(model, df, probability="p", sql=sql).toArrow()
    X = rows.select(names)
    assert rows["prediction"].to_pylist() == model.predict(X).tolist()
    p = np.array(rows["p"].to_pylist())
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=1e-12 if sql else 0)


def test_joint_probabilities_are_those_of_the_model(df, model):
    rows = scoring.predict(model, df, prediction=None, joint="joint").toArrow()
    assert rows.column_names == [*df.columns, "joint"]
    expected = model.predict_joint_log_proba(rows.select(NAMES))
    assert rows["joint"].to_pylist() == expected.tolist()


def test_labels_are_predicted_as_what_they_are(spark):
    df = spark.range(6).selectExpr("CAST(id AS float) AS x", "CAST(id % 3 AS int) AS y")
    model = GaussianNB.from_summary(engine.summarize(df, target="y"), var_smoothing=1.0)
    assert model.classes_.dtype == np.int32
    answered = scoring.predict(model, df)
    assert dict(answered.dtypes)["prediction"] == "bigint"
    expected = model.predict(pa.table({"x": np.arange(6, dtype=np.float32)}))
    assert [row.prediction for row in answered.collect()] == expected.tolist()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([2**63, 1, 2**63 + 1], np.uint64), "decimal(20,0)"),
        (np.array(["2020-01-01", "1900-05-03", "2020-01-02"], "M8[D]"), "date"),
        (np.array(["2020-01-01T03", "2020-01-01T03:00:01", "1960-01-01"], "M8[us]"), NTZ),
        (np.array([b"a", b"b", b""]), "binary"),
        (np.array(["", "a ", "'\"\n\0"], object), "string"),
    ],
    ids=["unsigned", "dates", "times", "bytes", "text"],
)
def test_labels_that_spark_has_another_type_for_are_predicted(spark, labels, kind):
    X = np.array([[0.0], [5.0], [9.0]])
    model = GaussianNB(var_smoothing=1.0).fit(X, labels)
    df = spark.createDataFrame([(0, 0.0), (1, 5.0), (2, 9.0)], "i int, x double")
    answered = scoring.predict(model, df, columns=["x"])
    assert dict(answered.dtypes)["prediction"] == kind
    assert [row.prediction for row in answered.orderBy("i").collect()] == labels.tolist()


def test_no_rows_have_no_answers(df, model):
    assert scoring.predict(model, df.where("w > 9"), probability="p").collect() == []


def test_vectors_are_answered(spark):
    X, y = np.array([[0.0, 1.0], [2.0, 0.0], [9.0, 9.0]]), np.array(["low", "low", "high"])
    model = GaussianNB(var_smoothing=0.1).fit(X, y)
    vectors = [(0.0, Vectors.dense(X[0])), (0.0, Vectors.sparse(2, [0], [2.0])), (0.0, None)]
    df = spark.createDataFrame(vectors, VECTORS).coalesce(1)
    rows = scoring.predict(model, df, columns="features").collect()
    expected = model.predict([X[0], X[1], [np.nan, np.nan]])
    assert [row.prediction for row in rows] == expected.tolist()
    assert rows[1].features == vectors[1][1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prediction": "A"}, "new columns must have new names; 'A' is there"),
        ({"columns": ["a"]}, "there must be 2 columns; got 1"),
        ({"joint": "j", "sql": True}, "joint needs the kernel"),
    ],
    ids=["name", "columns", "joint"],
)
def test_answers_that_cannot_be_given_are_refused(df, model, options, message):
    with pytest.raises(NaivelyError, match=message):
        scoring.predict(model, df, **options)


def test_a_missing_column_is_named(df, model):
    with pytest.raises(NaivelyError, match="no column 'b'"):
        scoring.predict(model, df.drop("b"))


@pytest.mark.parametrize(
    "estimator", [CategoricalNB(), NaiveBayes(families={0: "categorical"}), NaiveBayes()]
)
def test_models_without_names_answer_for_columns_of_categories(spark, estimator):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    cells = codes.astype(object)
    if isinstance(estimator, NaiveBayes) and not estimator.families:
        cells[:, 0] = np.array(["u", "v", "w"])[codes[:, 0]]
    cells[7, 0] = None
    model = estimator.fit(cells, y)
    df = spark.createDataFrame([(i, *row) for i, row in enumerate(cells.tolist())], ["i", "u", "v"])
    answer = scoring.predict(model, df, columns=["u", "v"], probability="p").orderBy("i").collect()
    proba = np.array([row["p"] for row in answer])
    np.testing.assert_allclose(proba, model.predict_proba(cells), rtol=1e-12)
    assert [row["prediction"] for row in answer] == model.predict(cells).tolist()


# --- moments by Spark's own sums ------------------------------------------------------------------


def many(n=6000, **columns):
    """A table that is large enough for Spark's own sums: numbers with holes, labels and weights."""
    rng = np.random.default_rng(3)
    a = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    table = {"a": a, "b": rng.normal(1e8, size=n), "y": rng.integers(0, 3, n)}
    return pa.table({**table, "w": rng.choice([0.0, 0.5, 2.0], n), **columns})


@pytest.fixture
def python_reads_nothing(monkeypatch):
    """Fail where rows go to Python."""
    monkeypatch.setattr("naively.engines.spark.summaries._few", lambda parts: pytest.fail("rows"))


def as_frame(spark, table):
    with sparks.quiet():
        return spark.createDataFrame(table).repartition(3).cache()


@pytest.mark.usefixtures("python_reads_nothing")
@pytest.mark.parametrize("weight", [None, "w"])
def test_spark_adds_up_moments_of_plain_numbers_itself(spark, weight):
    table = many()
    options = {} if weight is None else {"sample_weight": table["w"].to_numpy()}
    found = engine.summarize(as_frame(spark, table), target="y", columns=NAMES, weight=weight)
    expected = of_rows(table, **options)
    assert found.schema == expected.schema
    assert_nearly(found, expected)


def assert_nearly(found, expected):
    """Equal to 1e-12, of means relative to the spread."""
    assert found.classes.tolist() == expected.classes.tolist()
    weight, m2 = expected.moments.weight, expected.moments.m2
    np.testing.assert_allclose(found.class_weight, expected.class_weight, rtol=1e-13)
    np.testing.assert_allclose(found.moments.weight, weight, rtol=1e-13)
    np.testing.assert_allclose(found.moments.m2, m2, rtol=1e-12)
    spread = np.sqrt(m2 / np.maximum(weight, 1)) + 1e-300
    far = np.abs((found.moments.mean - expected.moments.mean) + found.moments.rest) / spread
    ulp = np.spacing(np.abs(expected.moments.mean)) / spread
    assert (far <= 1e-12 + ulp).all()


@pytest.mark.usefixtures("python_reads_nothing")
def test_sums_of_spark_have_the_same_bits_each_time(spark):
    df = as_frame(spark, many())
    first = engine.summarize(df, target="y", columns=NAMES)
    assert engine.summarize(df, target="y", columns=NAMES) == first


@pytest.mark.usefixtures("python_reads_nothing")
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("cell", ["sin(id)", "NULL", "double('NaN')"], ids=["none", "NULL", "NaN"])
def test_a_cell_that_is_missing_behind_the_first_rows_is_left_out(spark, cell, weight):
    df = spark.range(0, 6000, 1, 1).selectExpr(
        f"IF(id = 5000, {cell}, sin(id)) AS a", "cos(id) AS b", "id % 3 AS y", "id % 4 AS w"
    )
    table = df.toArrow()
    options = {} if weight is None else {"sample_weight": table["w"].to_numpy()}
    found = engine.summarize(df, target="y", columns=NAMES, weight=weight)
    assert_nearly(found, of_rows(table, **options))


@pytest.mark.usefixtures("python_reads_nothing")
def test_values_that_repeat_round_no_worse_than_others(spark):
    """A plain sum of 300,000 times 0.1 is off by 5e-12."""
    df = spark.range(0, 600_000, 1, 1).selectExpr(
        "CAST(hash(id) % 10 < 3 AS int) AS a",
        "IF(hash(id, 7) % 10 < 3, 0.1D, 0D) AS b",
        "id % 2 AS y",
        "0.1D AS w",
    )
    table = df.toArrow()
    for options in {}, {"weight": "w"}:
        found = engine.summarize(df, target="y", columns=NAMES, **options)
        weights = {"sample_weight": table["w"].to_numpy()} if options else {}
        expected = of_rows(table, **weights)
        np.testing.assert_allclose(found.class_weight, expected.class_weight, rtol=2e-13)
        np.testing.assert_allclose(found.moments.m2, expected.moments.m2, rtol=2e-13)


@pytest.mark.usefixtures("python_reads_nothing")
@pytest.mark.parametrize("kind", ["string", "boolean", "smallint", "bigint"])
def test_sums_of_spark_have_labels_of_every_type_and_a_class_of_one_row(spark, kind):
    frame = spark.range(0, 6000, 1, 3).selectExpr(
        "CAST(id = 5999 AS int) AS k", "sin(id) AS a", "CAST(id % 7 AS decimal(5,2)) AS b"
    )
    frame = frame.selectExpr(f"CAST(k AS {kind}) AS y", "a", "b").cache()
    found = engine.summarize(frame, target="y")
    table = frame.toArrow()
    expected = summarize(table.select(NAMES), table["y"].to_numpy(zero_copy_only=False))
    assert_nearly(found, expected)


def test_labels_that_spark_takes_for_equal_are_classes_of_their_own(spark):
    df = spark.range(0, 6000, 1, 2).selectExpr(
        "sin(id) AS a", "collate(IF(id % 2 = 0, 'k', 'K'), 'UTF8_LCASE') AS y"
    )
    assert engine.summarize(df, target="y").classes.tolist() == ["K", "k"]


@pytest.mark.parametrize(
    "column",
    [
        np.where(np.arange(6000) % 3 == 0, 1e9, 0.0) + np.sin(np.arange(6000)),  # far classes
        np.where(np.arange(6000) % 3 == 0, 1.0, np.cos(np.arange(6000))),  # constant in one
        np.where(np.arange(6000) < 5999, 1.0, 1e300),
        np.full(6000, np.nan),
        np.full(6000, 0.1),
    ],
    ids=["far classes", "constant in a class", "huge", "missing", "constant"],
)
def test_columns_that_sums_would_round_are_as_exact_as_in_memory(spark, column):
    table = many(a=pa.array(column), y=pa.array(np.arange(6000) % 3))
    with np.errstate(over="ignore"):
        try:
            expected = of_rows(table)
        except NaivelyError:
            with pytest.raises(NaivelyError):
                engine.summarize(as_frame(spark, table), target="y", columns=NAMES)
            return
    assert_nearly(engine.summarize(as_frame(spark, table), target="y", columns=NAMES), expected)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": np.where(np.arange(6000) == 4321, np.inf, 0.5)}, "column 'a' holds infinity"),
        ({"w": np.where(np.arange(6000) == 4321, -1.0, 0.5)}, "Weights must be finite and >= 0"),
        ({"y": pa.array([None, *range(5999)])}, "missing"),
    ],
    ids=["infinity", "weight", "label"],
)
def test_values_that_are_not_valid_are_named_as_before(spark, columns, said):
    columns = {name: pa.array(column) for name, column in columns.items()}
    df = as_frame(spark, many(**columns))
    with pytest.raises(NaivelyError, match=said):
        engine.summarize(df, target="y", columns=NAMES, weight="w")
