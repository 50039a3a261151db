"""Files are judged as their rows are in memory, by folds that the content of rows decides."""

import tracemalloc

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet
from sklearn.model_selection import PredefinedSplit

import naively
from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NaivelyError,
    evaluate,
)
from naively.engines.memory.tables import read, schema_of
from naively.evaluation import METRICS
from naively.evaluation import files as judging
from naively.evaluation.curves import ClassCurve
from naively.evaluation.folds import ContentFolds, content_hashes
from naively.evaluation.judgement import Judgement, ScoreBins, TotalJudgement, Totals
from tests.written import as_json_lines

TEXTS = ["win a prize now", "lunch at noon", "free money", "see you at lunch", "claim it"]


def mixed_table(n=1500, seed=0):
    """Numbers, counts, categories, flags and text, with missing cells and a rare class."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["ham", "maybe", "spam"], n, p=[0.6, 0.3, 0.1])
    y[:3] = "rare"
    frame = pandas.DataFrame(
        {
            "height": rng.normal(size=n) + (y == "ham"),
            "visits": rng.poisson(2.0, n) + 2 * (y == "spam"),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "old": rng.random(n) < np.where(y == "ham", 0.3, 0.6),
            "mail": rng.choice(TEXTS, n) + [f" {word}" for word in rng.choice(TEXTS, n)],
        }
    )
    frame.loc[::7, "height"] = np.nan
    frame.loc[::11, "town"] = None
    return frame, pandas.Series(y, name="kind")


def counts_table(n=800):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, n)
    frame = pandas.DataFrame({f"w{j}": rng.poisson(1 + (y == j % 3), n) for j in range(5)})
    return frame, pandas.Series(y, name="kind")


def numbers_table(n=900):
    frame, y = mixed_table(n, seed=3)
    return frame[["height", "visits"]].fillna(0.5), y == "ham"


CASES = {
    "GaussianNB": (GaussianNB(), numbers_table),
    "calibrated GaussianNB": (GaussianNB(calibration="temperature"), numbers_table),
    "NaiveBayes": (NaiveBayes(), mixed_table),
    "without calibration": (NaiveBayes(calibration=None), mixed_table),
    "with interactions": (NaiveBayes(interactions=("pairs",)), numbers_table),
    "with families": (NaiveBayes(families={"height": "histogram"}), numbers_table),
    "MultinomialNB": (MultinomialNB(), counts_table),
    "ComplementNB": (ComplementNB(), counts_table),
    "BernoulliNB": (BernoulliNB(), counts_table),
}
WRITERS = {
    "csv": lambda table, path: pyarrow.csv.write_csv(table, path),
    "parquet": lambda table, path: parquet.write_table(table, path, row_group_size=200),
    "arrow": lambda table, path: pyarrow.feather.write_feather(table, path),
    "jsonl": lambda table, path: path.write_bytes(as_json_lines(table)),
}


def written(X, y, folder, kind="parquet", name="rows"):
    path = folder / f"{name}.{kind}"
    table = pyarrow.Table.from_pandas(X.assign(**{y.name: y}), preserve_index=False)
    WRITERS[kind](table, path)
    return path


def folds_of(X, n_folds, **options):
    """Return the fold of each row of a table in memory."""
    schema = schema_of(X)
    return ContentFolds(n_folds, **options).of(content_hashes(read(X, schema)))


def assert_same(found, expected, tolerance=1e-12):
    np.testing.assert_array_equal(found.classes, expected.classes)
    np.testing.assert_array_equal(found.confusion, expected.confusion)
    np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=0, atol=tolerance)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.fold_accuracy, expected.fold_accuracy, rtol=1e-15)
    for name in METRICS:
        mine, its = found.interval(name), expected.interval(name)
        np.testing.assert_allclose(mine, its, rtol=1e-9, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_files_are_judged_as_in_memory_with_the_same_folds(tmp_path, case, kind):
    model, table = CASES[case]
    X, y = table()
    found = evaluate(model, written(X, y, tmp_path, kind), "kind", folds=5)
    expected = evaluate(model, X, y, folds=PredefinedSplit(folds_of(X, 5)))
    assert found.method == "5 folds by content"
    assert found.model == type(model).__name__
    assert_same(found, expected)


@pytest.mark.parametrize("kind", WRITERS)
def test_the_format_of_a_file_does_not_change_a_fold(tmp_path, kind):
    X, y = mixed_table()
    found = evaluate(NaiveBayes(), written(X, y, tmp_path, kind), "kind", folds=4)
    assert_same(found, evaluate(NaiveBayes(), written(X, y, tmp_path), "kind", folds=4))


def test_the_order_of_rows_and_threads_do_not_change_a_figure(tmp_path):
    X, y = mixed_table()
    order = np.random.default_rng(5).permutation(len(y))
    mixed_up = X.iloc[order].reset_index(drop=True), y.iloc[order].reset_index(drop=True)
    found = evaluate(NaiveBayes(), written(X, y, tmp_path), "kind", folds=4)
    other = written(*mixed_up, tmp_path, "csv", name="mixed")
    again = evaluate(NaiveBayes(), other, "kind", folds=4, n_jobs=3)
    np.testing.assert_array_equal(again.confusion, found.confusion)
    np.testing.assert_allclose(again.probabilities, found.probabilities[order], atol=1e-12)
    once, twice = (
        evaluate(NaiveBayes(), other, "kind", folds=4, n_jobs=n_jobs).probabilities
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(once, twice)


def test_equal_rows_are_in_one_fold_whatever_their_labels(tmp_path):
    X = pandas.DataFrame({"x": np.repeat(np.arange(40.0), 10)})
    y = pandas.Series(np.tile(["a", "b"], 200), name="y")
    fold = folds_of(X, 5)
    assert all(np.unique(fold[X["x"] == value]).size == 1 for value in range(40))
    found = evaluate(GaussianNB(), written(X, y, tmp_path), "y", folds=5)
    assert_same(found, evaluate(GaussianNB(), X, y, folds=PredefinedSplit(fold)))


def test_a_seed_gives_other_folds(tmp_path):
    X, y = numbers_table()
    path = written(X, y, tmp_path)
    plain, seeded, again = (
        evaluate(GaussianNB(), path, "kind", folds=5, random_state=seed) for seed in (None, 1, 1)
    )
    assert plain.loss != seeded.loss == again.loss
    fold = folds_of(X, 5, seed=1)
    assert_same(seeded, evaluate(GaussianNB(), X, y, folds=PredefinedSplit(fold)))


def test_a_test_split_holds_about_its_share_out(tmp_path):
    X, y = numbers_table()
    found = evaluate(GaussianNB(), written(X, y, tmp_path), "kind", test_size=0.3)
    test = folds_of(X, 2, test_share=0.3) == 0
    assert 0.25 < test.mean() < 0.35
    assert (found.n_rows, found.train.n_rows) == (test.sum(), (~test).sum())
    assert found.method == "a test split of 30 % by content"
    fitted = GaussianNB().fit(X[~test], y[~test])
    for part, rows in ((found, test), (found.train, ~test)):
        expected = evaluate(fitted, X[rows], y[rows])
        np.testing.assert_array_equal(part.confusion, expected.confusion)
        assert part.loss == pytest.approx(expected.loss, rel=1e-12)


def test_a_fitted_model_is_judged_as_it_is(tmp_path):
    X, y = mixed_table()
    model = NaiveBayes().fit(X, y)
    for kind in ("csv", "parquet"):
        found = evaluate(model, written(X, y, tmp_path, kind), "kind")
        expected = evaluate(model, X, y)
        assert found.method == expected.method == "the given rows"
        assert found.accuracy == expected.accuracy
        assert found.loss == pytest.approx(expected.loss, rel=1e-12)


def test_a_model_is_judged_on_the_rows_it_has_learned_where_none_is_held_out(tmp_path):
    X, y = counts_table()
    found, expected = (
        evaluate(MultinomialNB(), written(X, y, tmp_path, "csv"), "kind", test_size=0),
        evaluate(MultinomialNB(), X, y, test_size=0),
    )
    assert found.method == expected.method == "the training rows"
    assert found.loss == pytest.approx(expected.loss, rel=1e-12)


EXACT = set(METRICS) - {"roc_auc", "average_precision"}
SAMPLED = {"brier_reliability", "brier_resolution", "roc_auc", "average_precision"}


@pytest.mark.parametrize("table", [numbers_table, mixed_table], ids=["two classes", "four classes"])
def test_more_rows_than_are_kept_give_the_same_figures(tmp_path, monkeypatch, table):
    X, y = table(6000)
    path, model = written(X, y, tmp_path), NaiveBayes(calibration=None)
    all_rows = evaluate(model, path, "kind", folds=4)
    monkeypatch.setattr(judging, "KEPT", 1000)
    found = evaluate(model, path, "kind", folds=4)
    assert found.n_rows == 6000
    assert len(found.labels) == len(found.truth) == len(found.probabilities) == 1000
    for name in ("precision", "recall", "f1", "support", "confusion", "fold_accuracy"):
        np.testing.assert_array_equal(getattr(found, name), getattr(all_rows, name))
    np.testing.assert_allclose(
        found.reliability.accuracy, all_rows.reliability.accuracy, atol=1e-12
    )
    assert found.confidence.wrong == pytest.approx(all_rows.confidence.wrong, abs=1e-12)
    assert found.top_k_accuracy(2) == pytest.approx(all_rows.top_k_accuracy(2), abs=1e-12)
    for name in METRICS:
        mine, its = found.interval(name), all_rows.interval(name)
        close = 1e-12 if name in EXACT else 1e-4
        assert mine.value == pytest.approx(its.value, abs=close), name
        two = found.classes.size == 2
        width = 0.2 if name in SAMPLED and not (two and name not in EXACT) else 1e-3
        assert mine.high - mine.low == pytest.approx(its.high - its.low, rel=width, nan_ok=True), (
            name
        )
    assert abs(found.roc_auc - all_rows.roc_auc) <= found.rows.roc_auc_bound() < 2e-3
    assert found.to_dict()["n_rows"] == 6000


def test_the_bound_of_the_error_of_an_exact_roc_auc_is_zero():
    X, y = np.arange(12.0).reshape(-1, 1), np.tile(["a", "b"], 6)
    assert naively.evaluate(GaussianNB(), X, y, folds=3).rows.roc_auc_bound() == 0


def test_thresholds_of_more_rows_than_are_kept_count_all_rows(tmp_path, monkeypatch):
    X, y = numbers_table(4000)
    path = written(X, y, tmp_path)
    expected = evaluate(GaussianNB(), path, "kind", folds=4).thresholds("recall", at_least=0.9)
    monkeypatch.setattr(judging, "KEPT", 1000)
    found = evaluate(GaussianNB(), path, "kind", folds=4)
    for label in (True, False):
        chosen = found.thresholds("recall", at_least=0.9, pos_label=label).best
        assert chosen.recall >= 0.9
    best = found.thresholds("recall", at_least=0.9).best
    assert best.precision == pytest.approx(expected.best.precision, abs=2e-3)
    assert best.threshold == pytest.approx(expected.best.threshold, rel=2e-3)


def test_one_impossible_truth_makes_the_loss_of_all_rows_infinite_and_no_other_figure():
    rows = Judgement.room(np.array([0, 1, 1]), 2)
    rows.probabilities[:] = [[0.0, 1.0], [0.5, 0.5], [0.25, 0.75]]
    rows.settle(slice(None))
    first, rest = (
        Totals.of(rows[at], np.zeros(at.size, int), 1) for at in np.split(np.arange(3), [1])
    )
    found = TotalJudgement.of(rows[np.array([1])], first + rest, ScoreBins(2))
    assert found.measure(METRICS["loss"]).value == np.inf
    for name in ("brier", "accuracy"):
        value, error = rows.measure(METRICS[name])
        assert found.measure(METRICS[name]) == pytest.approx((value, error), abs=1e-15)


def test_bins_of_scores_rank_as_the_scores_do():
    """Each of these probabilities has a bin: they reach from 0 to 1, and to the ends of float64."""
    p = np.concatenate([10.0 ** np.arange(-300, -10, 10), np.linspace(1e-4, 0.9999, 500)])
    p = np.concatenate([p, 1 - 2.0 ** -np.arange(20, 53), [0.0, 1.0]])
    truth = np.random.default_rng(0).random(p.size) < p
    scores = ScoreBins(2)
    scores.add(truth.astype(np.intp), np.column_stack([1 - p, p]))
    exact = ClassCurve.of(truth, p)
    found = scores.curve(1)
    assert found.roc_auc == pytest.approx(exact.roc_auc, abs=1e-15)
    assert found.average_precision == pytest.approx(exact.average_precision, abs=1e-14)
    assert (np.sort(p)[::-1] >= found.threshold - 1e-15).all()
    other = ClassCurve.of(~truth, 1 - p)
    assert scores.curve(0).roc_auc == pytest.approx(other.roc_auc, abs=1e-4)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"folds": "leave-one-out"}, "folds of files must be a number"),
        ({"folds": 1}, "2 or more"),
        ({"folds": True}, "2 or more"),
        ({"folds": 3, "test_size": 0.2}, "not by both"),
        ({"test_size": 20}, "between 0 and 1"),
        ({"folds": 3, "random_state": np.random.RandomState(0)}, "must be a whole number"),
        ({"folds": 3, "weight": "height"}, "rows cannot be weighted"),
        ({"folds": 3, "colums": ["height"]}, "did you mean columns="),
    ],
    ids=lambda value: str(value)[:30],
)
def test_ways_to_hold_rows_out_that_will_not_do(tmp_path, how, reason):
    path = written(*numbers_table(50), tmp_path)
    with pytest.raises(NaivelyError, match=reason):
        evaluate(GaussianNB(), path, "kind", **how)


def test_rows_that_cannot_be_held_out_are_named(tmp_path):
    one = pandas.DataFrame({"x": [1.0, 1.0]}), pandas.Series(["a", "b"], name="y")
    with pytest.raises(NaivelyError, match="too few that differ"):
        evaluate(GaussianNB(), written(*one, tmp_path), "y", folds=3)
    same = pandas.DataFrame({"x": [1.0, 2.0]}), pandas.Series(["a", "a"], name="y")
    with pytest.raises(NaivelyError, match=r"at least two classes in .*; got one, 'a'"):
        evaluate(GaussianNB(), written(*same, tmp_path), "y", folds=3)
    (tmp_path / "empty.csv").write_text("x,y\n")
    with pytest.raises(NaivelyError, match=r"holds rows|got no rows"):
        evaluate(GaussianNB(), tmp_path / "empty.csv", "y", folds=3)
    (tmp_path / "gap.csv").write_text("x,y\n1,a\n2,\n")
    with pytest.raises(NaivelyError, match="'y' is missing in row 2"):
        evaluate(GaussianNB(), tmp_path / "gap.csv", "y", folds=3)


def test_models_that_read_no_files_are_named(tmp_path):
    path = written(*counts_table(50), tmp_path)
    with pytest.raises(NaivelyError, match="CategoricalNB reads codes in memory"):
        evaluate(CategoricalNB(), path, "kind", folds=3)
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(NaivelyError, match="only naively's own models"):
        evaluate(DecisionTreeClassifier(), path, "kind", folds=3)


def test_classes_that_a_fitted_model_does_not_know_are_named(tmp_path):
    X, y = counts_table(200)
    model = MultinomialNB().fit(X[y < 2], y[y < 2])
    for kind, label in (("csv", "'2'"), ("parquet", "2")):
        with pytest.raises(NaivelyError, match=f"got {label} too"):
            evaluate(model, written(X, y, tmp_path, kind), "kind")


def test_a_stream_that_is_read_once_is_refused_and_a_table_is_not(tmp_path):
    X, y = numbers_table(300)
    table = pyarrow.Table.from_pandas(X.assign(kind=y), preserve_index=False)
    expected = evaluate(GaussianNB(), X, y, folds=3)
    assert evaluate(GaussianNB(), table, "kind", folds=3).accuracy == expected.accuracy
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    with pytest.raises(NaivelyError, match=r"read twice|only once"):
        evaluate(GaussianNB(), reader, "kind", folds=3)


def test_a_column_that_begins_empty_counts_in_no_fold(tmp_path):
    """Cells of a column without a type decide nothing: a batch without any has the same folds."""
    X, y = mixed_table(3000)
    X["late"] = pandas.Series([None] * 2500 + [1.0] * 500, dtype=object)
    path = written(X, y, tmp_path, "jsonl")
    found = evaluate(NaiveBayes(), path, "kind", folds=3)
    assert found.n_rows == 3000


def test_files_of_a_folder_are_judged_together(tmp_path):
    X, y = mixed_table(800)
    whole = evaluate(NaiveBayes(), written(X, y, tmp_path, "parquet"), "kind", folds=3)
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(4):
        rows = slice(200 * i, 200 * (i + 1))
        written(X.iloc[rows], y.iloc[rows], folder, "csv" if i % 2 else "parquet", name=f"part{i}")
    assert_same(evaluate(NaiveBayes(), folder, "kind", folds=3), whole)


def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(judging, "KEPT", 2000)
    monkeypatch.setattr("naively.engines.files.arrow.CELLS", 1 << 14)

    def peak(n):
        path = written(*mixed_table(n), tmp_path)
        tracemalloc.start()
        evaluate(NaiveBayes(), path, "kind", folds=3, n_jobs=1, exclude=["mail"])
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(4000)  # what is imported and kept stays
    assert peak(40_000) < 1.25 * peak(10_000)


def test_what_is_no_classifier_and_no_file_is_named(tmp_path):
    path = written(*counts_table(50), tmp_path)
    with pytest.raises(NaivelyError, match=r"GaussianNB\(\), not the class"):
        evaluate(GaussianNB, path, "kind", folds=3)
    with pytest.raises(NaivelyError, match="data must be a path"):
        evaluate(GaussianNB(), np.zeros((3, 2)), "kind", folds=3)
