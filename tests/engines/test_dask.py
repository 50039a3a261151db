"""Dask: every shape of a collection gives the summary of its rows, on threads and on a cluster."""

import os
import pickle
import signal
import tracemalloc

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from distributed import Client, LocalCluster

import naively
from naively import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, NaivelyError, summarize
from naively.data.schema import Schema
from naively.engines import dask as engine
from naively.engines import dask as scoring

N = 200
NAMES = ["a", "b", "c"]
RNG = np.random.default_rng(0)
X = RNG.normal([0.0, 1e8, -1e8], size=(N, 3))
Y = RNG.integers(0, 3, N)
W = RNG.choice([0.0, 0.5, 1.0, 4.0], N)
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y, w=W)
MODEL = GaussianNB(variance="shared").fit(X, Y)
METHODS = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"]
METHODS += ["score_samples", "decision_function"]


def in_chunks(array, *chunks):
    return da.from_array(array, chunks=chunks)


def in_partitions(frame=FRAME, npartitions=5):
    return dd.from_pandas(frame, npartitions=npartitions)


def without_lengths(array):
    """Return a Dask array whose chunks have unknown lengths."""
    return array[da.ones(array.shape[0], chunks=array.chunks[:1], dtype=bool)]


def assert_same(a, b):
    """Equal but for the rounding of sums of N terms; deviations are as exact as far from zero."""
    np.testing.assert_array_equal(a.classes, b.classes)
    np.testing.assert_array_equal(a.moments.weight, b.moments.weight)
    np.testing.assert_allclose(a.moments.mean, b.moments.mean, rtol=1e-15, atol=1e-14)
    np.testing.assert_allclose(a.moments.m2, b.moments.m2, rtol=1e-12)


WHOLE = summarize(X, Y)
WEIGHED = summarize(X, Y, sample_weight=W)


# --- arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 64, N])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_chunks_of_any_shape_give_the_whole(rows, columns):
    assert_same(engine.summarize(in_chunks(X, rows, columns), in_chunks(Y, rows)), WHOLE)


@pytest.mark.parametrize("columns", [2, 3])
def test_the_lengths_of_chunks_need_not_be_known(columns):
    rows, labels = without_lengths(in_chunks(X, 30, columns)), without_lengths(in_chunks(Y, 30))
    assert np.isnan(rows.shape[0])
    assert_same(engine.summarize(rows, labels), WHOLE)


def test_labels_may_have_other_chunks():
    assert_same(engine.summarize(in_chunks(X, 30, 3), in_chunks(Y, 33)), WHOLE)


@pytest.mark.parametrize("known", [True, False], ids=["known lengths", "unknown lengths"])
@pytest.mark.parametrize("kind", [np.array, list, pd.Series])
def test_labels_and_weights_may_be_in_memory(known, kind):
    rows = in_chunks(X, 30, 3) if known else without_lengths(in_chunks(X, 30, 3))
    assert_same(engine.summarize(rows, kind(Y), sample_weight=kind(W)), WEIGHED)


def test_labels_may_be_of_a_frame():
    labels = in_partitions()["y"]
    assert_same(engine.summarize(in_chunks(X, 40, 3), labels), WHOLE)


def test_labels_and_weights_may_be_columns_of_the_frame():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": ["a", "b", "a"], "w": [1.0, 2.0, 3.0]})
    found = summarize(dd.from_pandas(frame, npartitions=2), target="y", weight="w")
    assert found == summarize(frame[["x"]], frame["y"], sample_weight=frame["w"])


def test_masked_cells_are_missing():
    mask = RNG.random(X.shape) < 0.3
    holes = np.where(mask, np.nan, X)
    masked = in_chunks(np.ma.masked_array(X, mask), 30, 2)
    assert_same(engine.summarize(masked, Y), summarize(holes, Y))


@pytest.mark.parametrize(
    "kind", ["int8", "float32", "float64", "masked", "objects", "Int64", "empty chunk"]
)
def test_codes_are_read_as_those_in_memory(kind):
    codes = RNG.integers(0, 4, (N, 3))
    holes = np.where(RNG.random(codes.shape) < 0.1, np.nan, codes)
    rows = {
        "masked": np.ma.masked_array(codes, np.isnan(holes)),
        "objects": np.where(np.isnan(holes), None, codes),
        "Int64": pd.DataFrame(holes, columns=NAMES).astype("Int64"),
        "empty chunk": holes,
    }.get(kind)
    if rows is None:
        rows = (codes if kind == "int8" else holes).astype(kind)
    chunks = ((0, 90, 110), 2) if kind == "empty chunk" else (70, 2)
    far = in_partitions(rows) if kind == "Int64" else da.from_array(rows, chunks)
    labels = dd.from_pandas(pd.Series(Y), npartitions=5) if kind == "Int64" else Y
    model, oracle = CategoricalNB().fit(far, labels), CategoricalNB().fit(rows, Y)
    np.testing.assert_array_equal(model.predict_proba(rows), oracle.predict_proba(rows))
    np.testing.assert_array_equal(model.predict_proba(far), oracle.predict_proba(rows))
    with pytest.raises(NaivelyError, match="Negative values"):
        CategoricalNB().fit(in_chunks(codes - 1.0, 70, 2), Y)


def test_float32_is_measured_as_float64():
    short = X.astype(np.float32)
    assert_same(engine.summarize(in_chunks(short, 30, 3), Y), summarize(short, Y))


def test_chunks_without_rows_change_nothing():
    rows, labels = in_chunks(X, (0, 90, 0, 110, 0), 2), in_chunks(Y, (0, 90, 0, 110, 0))
    assert_same(engine.summarize(rows, labels), WHOLE)


@pytest.mark.parametrize("kind", [CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes])
def test_chunks_without_weight_change_nothing(kind):
    codes, w = np.arange(N * 3).reshape(N, 3) % 4, np.where(np.arange(N) < 90, 0.0, W)
    far = kind().fit(in_chunks(codes, 30, 3), Y, sample_weight=in_chunks(w, 30))
    np.testing.assert_allclose(
        far.predict_proba(codes), kind().fit(codes[90:], Y[90:], W[90:]).predict_proba(codes)
    )


def test_a_chunk_may_hold_one_class():
    order = np.argsort(Y, kind="stable")
    labels = np.array(["low", "middle", "high"])[Y[order]]
    got = engine.summarize(in_chunks(X[order], 9, 3), in_chunks(labels, 9))
    assert_same(got, summarize(X[order], labels))
    assert got.classes.dtype == "<U6"


def test_few_of_the_partitions_give_a_first_look():
    got = engine.summarize(in_chunks(X, 10, 3), Y, most=4)
    rows = np.concatenate([np.arange(start, start + 10) for start in (0, 50, 100, 150)])
    assert_same(got, summarize(X[rows], Y[rows]))


# --- frames ------------------------------------------------------------------------------------


def test_a_frame_keeps_the_names_of_its_columns():
    frame = in_partitions()
    got = engine.summarize(frame[NAMES], frame["y"], sample_weight=frame["w"])
    assert_same(got, WEIGHED)
    assert got.schema == Schema(3, tuple(NAMES))


def test_labels_beside_a_frame_may_be_an_array():
    frame = in_partitions()
    assert_same(engine.summarize(frame[NAMES], frame["y"].to_dask_array()), WHOLE)


def test_labels_beside_a_frame_may_be_in_memory():
    assert_same(engine.summarize(in_partitions()[NAMES], Y, sample_weight=W.tolist()), WEIGHED)


def test_partitions_without_rows_change_nothing():
    kept = np.r_[:40, 90:N]
    frame = in_partitions(FRAME.assign(kept=np.isin(np.arange(N), kept)), npartitions=20)
    frame = frame[frame["kept"]]
    assert_same(engine.summarize(frame[NAMES], frame["y"]), summarize(X[kept], Y[kept]))


def test_nulls_are_missing_cells():
    frame = FRAME[NAMES].astype("Float64").mask(RNG.random((N, 3)) < 0.3)
    holes = frame.to_numpy(np.float64, na_value=np.nan)
    assert_same(engine.summarize(in_partitions(frame), Y), summarize(holes, Y))


@pytest.mark.parametrize("kind", ["category", "string", "object", "str"])
def test_labels_may_be_text_of_any_kind(kind):
    words = FRAME["y"].map({0: "no", 1: "perhaps", 2: "yes"}).astype(kind)
    frame = in_partitions(FRAME.assign(y=words))
    assert_same(engine.summarize(frame[NAMES], frame["y"]), summarize(X, words))


def test_files_that_hold_rows_and_labels_are_read_once():
    reads = []

    def load(i):
        reads.append(i)
        return FRAME[i * 50 : (i + 1) * 50]

    frame = dd.from_map(load, range(4), meta=FRAME[:0])
    got = engine.summarize(frame[NAMES], frame["y"], sample_weight=frame["w"])
    assert_same(got, WEIGHED)
    assert sorted(reads) == [0, 1, 2, 3]


def mixed_frame():
    return FRAME.assign(
        town=pd.Series(RNG.choice(["Ulm", "Bonn", "Köln"], N)).mask(RNG.random(N) < 0.2),
        size=pd.Categorical(RNG.choice(["S", "M", "L"], N), ["S", "M", "L", "XL"], ordered=True),
        sick=RNG.random(N) < 0.4,
    )


def test_text_categories_and_booleans_are_tallied():
    frame, columns = mixed_frame(), [*NAMES, "town", "size", "sick"]
    lazy = in_partitions(frame)
    got = engine.summarize(lazy[columns], lazy["y"], sample_weight=lazy["w"])
    expected = naively.summarize(frame[columns], Y, sample_weight=W)
    assert_same(got, expected)
    assert got.schema == expected.schema
    assert [c.tolist() for c in got.categories] == [c.tolist() for c in expected.categories]
    assert got.tallies == expected.tallies


def test_histograms_and_the_sample_of_rows_are_those_of_the_whole():
    frame, columns = mixed_frame(), [*NAMES, "town", "size", "sick"]
    whole = NaiveBayes().fit(frame[columns], Y).summary_
    assert whole.schema.n_bins
    assert len(whole.sample) == N
    got = engine.summarize(in_partitions(frame[columns]), Y, schema=whole.schema)
    assert got.bins == whole.bins
    assert got.sample == whole.sample
    model = NaiveBayes.from_summary(got)
    lazy = scoring.predict(model, "predict_proba", in_partitions(frame[columns]))
    np.testing.assert_array_equal(lazy.compute(), model.predict_proba(frame[columns]))


def test_objects_are_what_the_first_rows_are():
    with dask.config.set({"dataframe.convert-string": False}):
        frame = pd.DataFrame({"n": [None, 1, 2.5, 3], "t": ["x", None, "y", "x"]}, dtype=object)
        assert engine.summarize(in_partitions(frame, 2), [0, 1, 0, 1]).schema.kinds == (
            "number",
            "category",
        )


# --- one pass, in a tree of fixed shape ----------------------------------------------------------


def test_the_scheduler_does_not_change_a_bit():
    rows, labels = in_chunks(X, 7, 2), in_chunks(Y, 7)
    once = engine.summarize(rows, labels)
    for scheduler, workers in (("synchronous", 1), ("threads", 1), ("threads", 5)):
        with dask.config.set(scheduler=scheduler, num_workers=workers):
            assert engine.summarize(rows, labels) == once


def test_hundreds_of_partitions_need_little_memory():
    rows = da.ones((300_000, 20), chunks=(1000, 20)).map_blocks(np.array)
    labels = da.zeros(300_000, chunks=1000, dtype=int)
    tracemalloc.start()
    try:
        summary = engine.summarize(rows, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert summary.weight == 300_000
    assert peak < rows.nbytes / 10  # most of it is Dask's graph, some kilobytes per partition


# --- errors --------------------------------------------------------------------------------------


def failing(rows, number):
    """Return rows whose partition of that number cannot be made."""

    def fail(part, block_id=None, partition_info=None):
        at = block_id[0] if block_id else (partition_info or {}).get("number")
        if at == number and len(part):
            raise FileNotFoundError("no such file: rows.bin")
        return part

    if isinstance(rows, da.Array):
        return rows.map_blocks(fail, dtype=rows.dtype, meta=np.empty((0, 0)))
    return rows.map_partitions(fail, meta=rows._meta)


FAILED = r"partition 3: FileNotFoundError: no such file: rows\.bin"


@pytest.mark.parametrize(
    "rows", [in_chunks(X, 20, 2), in_partitions()[NAMES]], ids=["array", "frame"]
)
@pytest.mark.parametrize("labels", ["lazy", "in memory"])
def test_a_partition_that_cannot_be_made_is_named(rows, labels):
    y = Y if labels == "in memory" else in_chunks(Y, 20 if isinstance(rows, da.Array) else 40)
    with pytest.raises(NaivelyError, match=FAILED) as caught:
        engine.summarize(failing(rows, 3), y)
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_a_partition_that_cannot_be_measured_is_named():
    infinite = X.copy()
    infinite[25, 1] = np.inf
    with pytest.raises(
        NaivelyError, match=r"partition 2: column 1 holds infinity \(first at row 5"
    ):
        engine.summarize(in_chunks(infinite, 10, 3), Y)


def test_a_partition_with_a_missing_label_is_named():
    labels = FRAME["y"].astype("Int64").mask(np.arange(N) == 90)
    frame = in_partitions(FRAME.assign(y=labels))
    with pytest.raises(NaivelyError, match=r"partition 2: labels must not be missing; got y\[10\]"):
        engine.summarize(frame[NAMES], frame["y"])


def test_a_partition_with_too_few_labels_is_named():
    rows, labels = without_lengths(in_chunks(X, 50, 3)), in_chunks(Y[10:], (50, 40, 50, 50))
    with pytest.raises(NaivelyError, match=r"partition 1: .* got 50 rows and 40 labels"):
        engine.summarize(rows, labels)


def test_an_error_survives_the_way_between_processes():
    rows = in_chunks(X, 50, 3)
    with pytest.raises(NaivelyError) as caught:
        engine.summarize(failing(rows, 1), Y)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is NaivelyError
    assert str(again) == "partition 1: FileNotFoundError: no such file: rows.bin"


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (
            in_chunks(X, 50, 3),
            in_chunks(Y[1:], 50),
            "X and y must be equally long; got 200 and 199",
        ),
        (in_chunks(X, 50, 3), Y[1:], r"equally long; got 200 rows and shape \(199,\)"),
        (in_chunks(X, 50, 3), in_chunks(X, 50, 3), "y must have one dimension; got 2"),
        (in_partitions()[NAMES], in_partitions()[["y"]], "y must have one dimension; got 2"),
        (in_partitions()[NAMES], in_partitions(npartitions=4)["y"], "same partitions; got 5 and 4"),
        (in_partitions()[NAMES], in_partitions(npartitions=1)["y"], "same partitions; got 5 and 1"),
        (in_chunks(Y, 50), Y, "X must have two dimensions"),
        (dask.delayed(X), Y, "X must be a Dask array or data frame; got Delayed"),
        (without_lengths(in_chunks(X.T, 3, 50)).T, Y, "a known number of columns"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not_fit_is_said_before_anything_is_read(rows, labels, message):
    with pytest.raises(NaivelyError, match=message):
        engine.summarize(rows, labels)


def test_other_divisions_are_other_rows():
    later = FRAME.set_index(FRAME.index + 7)
    frame, other = in_partitions(), in_partitions(later)
    with pytest.raises(NaivelyError, match=r"same divisions; got \(0, 40, .* and \(7, 47,"):
        engine.summarize(frame[NAMES], other["y"])
    assert_same(engine.summarize(frame[NAMES], other["y"].clear_divisions()), WHOLE)


# --- predictions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_an_array_is_answered_by_an_array_with_its_chunks(method):
    rows, expected = in_chunks(X, 30, 2), getattr(MODEL, method)(X)
    got = scoring.predict(MODEL, method, rows)
    assert isinstance(got, da.Array)
    assert got.chunks[0] == rows.chunks[0]
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got.compute(), expected)


@pytest.mark.parametrize("method", METHODS)
def test_a_frame_is_answered_by_a_frame_with_its_index(method):
    frame = FRAME[NAMES].set_index(pd.Index(np.arange(N) * 10, name="id"))
    labels = np.array(["no", "yes", "perhaps"])[Y]
    model, rows = GaussianNB(variance="shared").fit(frame, labels), in_partitions(frame)
    got, expected = scoring.predict(model, method, rows), getattr(model, method)(frame)
    assert got.divisions == rows.divisions
    answer = got.compute()
    pd.testing.assert_index_equal(answer.index, frame.index)
    np.testing.assert_array_equal(answer, expected)
    assert got._meta.ndim == expected.ndim
    types = [got.dtype] if got.ndim == 1 else got.dtypes.tolist()
    assert types == ([answer.dtype] if got.ndim == 1 else answer.dtypes.tolist())
    assert got.ndim == 1 or got.columns.tolist() == ["no", "perhaps", "yes"]


@pytest.mark.parametrize(
    "labels", [Y, Y.astype(np.int8), Y > 0, Y.astype(str)], ids=lambda y: y.dtype
)
def test_labels_keep_their_type(labels):
    model = GaussianNB().fit(X, labels)
    got = scoring.predict(model, "predict", in_chunks(X, 30, 3))
    assert got.dtype == got.compute().dtype == model.classes_.dtype


def test_probabilities_of_float32_are_float32():
    model = GaussianNB().fit(X.astype(np.float32), Y)
    got = scoring.predict(model, "predict_proba", in_chunks(X.astype(np.float32), 30, 3))
    assert got.dtype == got.compute().dtype == np.float32


def test_chunks_of_unknown_lengths_are_answered_by_such():
    got = scoring.predict(MODEL, "predict", without_lengths(in_chunks(X, 30, 3)))
    assert np.isnan(got.shape[0])
    np.testing.assert_array_equal(got.compute(), MODEL.predict(X))


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_a_partition_without_rows_has_no_answers(method):
    model, kept = GaussianNB().fit(FRAME[NAMES], Y), np.r_[:40, 90:N]
    frame = in_partitions(FRAME.assign(kept=np.isin(np.arange(N), kept)), npartitions=20)
    expected = getattr(model, method)(FRAME.loc[kept, NAMES])
    got = scoring.predict(model, method, frame[frame["kept"]][NAMES])
    np.testing.assert_array_equal(got.compute(), expected)
    none = in_chunks(X, 50, 3)[:0]
    assert scoring.predict(MODEL, method, none).compute().shape == (0, *expected.shape[1:])


def test_learning_more_does_not_change_answers_that_were_asked_for():
    model = GaussianNB().fit(X, Y)
    later = scoring.predict(model, "predict", in_chunks(X, 50, 3))
    before = model.predict(X)
    model.fit(-X, Y)
    assert (model.predict(X) != before).any()
    np.testing.assert_array_equal(later.compute(), before)


def test_columns_that_do_not_fit_are_said_at_once():
    with pytest.raises(ValueError, match="2 features"):
        scoring.predict(MODEL, "predict", in_chunks(X[:, :2], 50, 2))
    model = GaussianNB().fit(FRAME[NAMES], Y)
    with pytest.raises(ValueError, match="feature names"):
        scoring.predict(
            model, "predict", in_partitions(FRAME.rename(columns={"a": "A"}))[["A", "b", "c"]]
        )


def test_a_partition_that_cannot_be_answered_is_named():
    infinite = X.copy()
    infinite[25, 1] = np.inf
    with pytest.raises(NaivelyError, match="partition 2: column 1 holds infinity"):
        scoring.predict(MODEL, "predict", in_chunks(infinite, 10, 3)).compute()
    frame = pd.DataFrame(infinite, columns=NAMES)
    model = GaussianNB().fit(FRAME[NAMES], Y)
    with pytest.raises(NaivelyError, match="partition 0: column 'b' holds infinity"):
        scoring.predict(model, "predict", in_partitions(frame)).compute()


# --- a cluster of processes ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    settings = {"distributed.scheduler.allowed-failures": 3, "distributed.admin.tick.limit": "1h"}
    with (
        dask.config.set(settings),
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def on_cluster(client, *arguments, **options):
    with client.as_current(), dask.config.set(scheduler=client):
        return engine.summarize(*arguments, **options)


def test_a_cluster_gives_the_bits_of_threads(client):
    rows, labels = in_chunks(X, 7, 2), in_chunks(Y, 7)
    assert on_cluster(client, rows, labels) == engine.summarize(rows, labels)
    frame = in_partitions(npartitions=9)
    assert on_cluster(client, frame[NAMES], frame["y"]) == engine.summarize(
        frame[NAMES], frame["y"]
    )


def test_what_a_cluster_holds_is_read_where_it_is(client):
    rows, labels = client.persist([in_chunks(X, 20, 2), in_chunks(Y, 20)])
    frame = client.persist(in_partitions())
    assert_same(on_cluster(client, rows, labels), WHOLE)
    assert_same(on_cluster(client, frame[NAMES], frame["y"]), WHOLE)


def test_rows_may_be_shuffled_by_the_cluster(client):
    with client.as_current(), dask.config.set({"array.rechunk.method": "p2p"}):
        frame = in_partitions().shuffle("w", npartitions=4)
        rows = in_chunks(X, 30, 2).rechunk((25, 1))
    assert_same(on_cluster(client, frame[NAMES], frame["y"]), WHOLE)
    assert_same(on_cluster(client, rows, Y), WHOLE)


def test_a_cluster_names_the_partition_that_failed(client):
    with pytest.raises(NaivelyError, match=FAILED):
        on_cluster(client, failing(in_chunks(X, 20, 2), 3), Y)


def test_a_cluster_answers(client):
    got = scoring.predict(MODEL, "predict", in_chunks(X, 20, 2))
    np.testing.assert_array_equal(client.compute(got).result(), MODEL.predict(X))
    model = GaussianNB().fit(FRAME[NAMES], Y)
    series = scoring.predict(model, "predict", in_partitions()[NAMES])
    np.testing.assert_array_equal(client.compute(series).result(), model.predict(FRAME[NAMES]))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that cannot be caught")
def test_a_worker_that_dies_in_the_middle_does_not_change_a_bit(client, tmp_path):
    first = tmp_path / "died"

    def die_once(part, block_id=None):
        if block_id == (11, 0) and not first.exists():
            first.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    rows, labels = in_chunks(X, 10, 3), in_chunks(Y, 10)
    fragile = rows.map_blocks(die_once, dtype=float, meta=np.empty((0, 0)))
    assert on_cluster(client, fragile, labels) == engine.summarize(rows, labels)
    assert first.exists()


def test_chunks_that_are_sparse_matrices_are_counted_and_answered():
    counts = RNG.poisson(0.5, size=(N, 3))
    chunks = in_chunks(counts, 70, 3).map_blocks(scipy.sparse.csr_matrix)
    model = MultinomialNB().fit(counts, Y)
    assert MultinomialNB().fit(chunks, in_chunks(Y, 70)).summary_ == model.summary_
    for method in METHODS[:4]:
        expected = getattr(model, method)(counts)
        np.testing.assert_allclose(getattr(model, method)(chunks).compute(), expected, rtol=1e-12)
