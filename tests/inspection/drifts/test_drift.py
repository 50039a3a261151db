"""`naively.drift` through every estimator, kind of column and engine."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

from naively import GaussianNB, MultinomialNB, NaiveBayes, NaivelyError, drift, summarize
from naively.data.schema import Schema
from naively.inspection.drifts.compare import density_of
from naively.statistics.summary import Summary
from tests import databases
from tests.every_engine import ENGINES
from tests.inspection.explanations.cases import CASES, case_of, mixed, numbers

pytestmark = databases.QUIET


def moved(X, by=0.6):
    """Return rows of which the first column has moved, or is replaced where it holds no numbers."""
    if isinstance(X, pd.DataFrame):
        spread = X.iloc[:, 0].std()
        return X.assign(**{X.columns[0]: X.iloc[:, 0] + by * spread})
    out = X.copy()
    out[:, 0] += np.ceil(by) if np.allclose(X, np.round(X)) else by * X[:, 0].std()
    return out


@pytest.mark.parametrize("name", CASES)
def test_every_estimator_sees_the_column_that_has_moved(name):
    model, X = case_of(name)
    y = model.predict(X)
    found = drift(model, moved(X))
    first, *others = found.severity.values()
    assert first in ("moderate", "severe")
    assert set(others) == {"none"}
    assert found.greatest > 0.1
    assert drift(model, X).greatest == 0.0
    if set(np.unique(y)) <= set(model.classes_.tolist()):
        labelled = drift(model, (moved(X), y))
        assert labelled.classes.tolist() == model.classes_.tolist()
        assert labelled.measures.distance.shape == (1 + labelled.classes.size, len(found.columns))


@pytest.mark.parametrize("name", CASES)
def test_the_evidence_is_the_sum_over_classes(name):
    model, X = case_of(name)
    joint = logsumexp(model.predict_joint_log_proba(X), axis=1)
    np.testing.assert_allclose(model.score_samples(X), joint, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if case_of(name)[0].summary_.sample])
def test_rows_are_judged_by_the_scores_of_the_sample(name):
    model, X = case_of(name)
    found = drift(model, X).unusual
    scores = density_of(model).score_samples(X)
    assert found.threshold == pytest.approx(np.quantile(scores, 0.01, method="higher"), rel=1e-9)
    assert found.share == np.mean(scores < found.threshold)
    assert 0 < found.share <= 0.01
    assert drift(model, moved(X, 50.0)).unusual.share > 0.5


def test_a_summary_with_a_sample_is_judged_without_its_rows():
    X, y = mixed(texts=True)
    model = NaiveBayes(families={"note": "text"}).fit(X, y)
    other = X.assign(age=X["age"] + 70.0, town="Rom")
    after = summarize(other, y, schema=model.summary_.schema)
    found = drift(model, after).unusual
    assert found.share == pytest.approx(drift(model, (other, y)).unusual.share)
    assert found.share > 0.5


def test_shifts_are_those_of_the_rows_in_all_and_by_class():
    X, y = numbers()
    half = len(X) // 2
    old, new, a, b = X[:half], X[half:] * 1.5 + 0.3, y[:half], y[half:]
    found = drift(summarize(old, a), summarize(new, b))
    m = found.measures
    for g, (p, q) in enumerate([(a == a, b == b), *((a == k, b == k) for k in found.classes)]):
        x, z = old[p], new[q]
        np.testing.assert_allclose(m.mean_before[g], x.mean(0))
        np.testing.assert_allclose(m.mean_after[g], z.mean(0))
        np.testing.assert_allclose(m.shift[g], (z.mean(0) - x.mean(0)) / x.std(0, ddof=1))
        np.testing.assert_allclose(m.spread_ratio[g], z.std(0, ddof=1) / x.std(0, ddof=1))
        assert found.n_before[g] == p.sum()
    everything = stats.ttest_ind(old, new, equal_var=False).pvalue
    assert (m.p_value[0] <= 2 * everything + 1e-12).all()


def test_without_labels_all_rows_are_compared_as_their_sum():
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    other, labels = X.sample(300, random_state=1), y[X.sample(300, random_state=1).index]
    alone, labelled = drift(model, other), drift(model, (other, labels))
    assert alone.classes.size == 0
    assert alone.class_shares is None
    for name, values in alone.measures._asdict().items():
        if name != "p_adjusted":
            np.testing.assert_allclose(values[0], getattr(labelled.measures, name)[0], atol=1e-9)


def test_every_kind_of_column_is_named_with_what_is_new():
    X, y = mixed(texts=True)
    model = NaiveBayes(families={"note": "text"}).fit(X, y)
    other = X.copy()
    other.loc[::3, "town"] = "Rom"
    other.loc[::50, "town"] = "Oslo"
    other["note"] = other["note"].str.replace("free", "gratis")
    other["owner"] = True
    other.loc[::2, "income"] = np.nan
    found = drift(model, (other, y))
    assert found.new_categories == {"town": ["Rom", "Oslo"], "note": ["gratis"]}
    severe = {name for name, level in found.severity.items() if level == "severe"}
    assert severe == {"town", "note", "owner", "income"}
    j = found.columns.index("income")
    assert found.measures.missing_after[0, j] == 0.5
    assert found.measures.missing_before[0, j] == 0.0
    assert np.isnan(found.measures.mean_before[0, found.columns.index("town")])


def test_a_class_that_is_gone_is_a_change_of_shares_and_says_nothing_of_columns():
    X, y = numbers()
    found = drift(summarize(X, y), summarize(X[y != "c"], y[y != "c"]))
    assert found.class_shares.after[2] == 0
    assert found.class_severity == "severe"
    assert found.greatest >= found.class_shares.distance > 0.3
    assert np.isnan(found.measures.distance[3]).all()
    assert np.isnan(found.measures.p_value[3]).all()
    back = drift(summarize(X[y != "c"], y[y != "c"]), summarize(X, y))
    assert back.class_shares.before[2] == 0
    assert str(back)


def test_a_tiny_shift_of_many_rows_is_certain_and_negligible():
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(2, 400_000, 1))
    found = drift(old, new + 0.03)
    assert found.measures.p_adjusted[0, 0] < 1e-20
    assert found.severity == {"column 0": "negligible"}
    assert found.greatest < 0.1


def test_few_rows_that_are_far_apart_by_chance_are_no_drift():
    rng = np.random.default_rng(1)
    found = drift(rng.normal(size=(12, 30)), rng.normal(size=(9, 30)))
    assert set(found.severity.values()) == {"none"}
    assert found.greatest == 0.0


def halves(seed):
    """Return two halves of a table of many kinds: heavy tails, identifiers, holes, classes."""
    rng = np.random.default_rng(seed)
    n = 240
    y = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "normal": rng.normal(y, 1.0),
            "exponential": rng.exponential(size=n),
            "heavy": rng.standard_t(3, size=n),
            "counts": rng.poisson(2.0, size=n).astype(float),
            "town": rng.choice(list("abcdefg"), size=n, p=np.arange(1, 8) / 28),
            "name": [f"n{i}" for i in rng.integers(200, size=n)],
            "owner": rng.random(n) < 0.1,
        }
    )
    frame.loc[rng.random(n) < 0.1, "normal"] = np.nan
    half = rng.permutation(n) < n // 2
    return frame[half], y[half], frame[~half], y[~half]


def test_two_halves_of_a_table_raise_alarms_at_most_at_the_nominal_rate():
    """Of bins and categories (NaiveBayes) and of moments alone (GaussianNB)."""
    alarms = np.zeros((2, 200))
    schema, plain = None, ["normal", "exponential", "counts"]
    for seed in range(200):
        X, y, Z, z = halves(seed)
        if schema is None:
            schema = NaiveBayes(calibration="weights").fit(X, y).summary_.schema
        before, after = (summarize(rows, k, schema=schema) for rows, k in ((X, y), (Z, z)))
        both = drift(before, after), drift(summarize(X[plain], y), summarize(Z[plain], z))
        alarms[:, seed] = [found.greatest > 0.1 for found in both]
    assert (alarms.mean(axis=1) <= 0.05).all(), alarms.mean(axis=1)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engines_summary_is_compared_alike(name, tmp_path):
    engine = ENGINES[name]
    import pyarrow as pa

    X, y = numbers()
    table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])})
    later = pa.table({f"x{j}": X[:, j] + 0.5 * (j == 1) for j in range(X.shape[1])})
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    found = drift(engine(table, y, tmp_path / "a"), engine(later, y, tmp_path / "b"))
    expected = drift(summarize(X, y), summarize(X + 0.5 * np.eye(5)[1], y))
    for mine, its in zip(found.measures, expected.measures, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-6, atol=1e-6)


def test_data_is_compared_as_frames_arrays_files_and_pairs(tmp_path):
    X, y = mixed()
    Z = X.assign(age=X["age"] + 9.0)
    X.assign(y=y).to_parquet(tmp_path / "old.parquet")
    Z.assign(y=y).to_parquet(tmp_path / "new.parquet")
    whole = {"target": "y"}
    ways = [
        drift((X, y), (Z, y)),
        drift(X.assign(y=y), Z.assign(y=y), **whole),
        drift(tmp_path / "old.parquet", str(tmp_path / "new.parquet"), **whole),
        drift([tmp_path / "old.parquet"], Z.assign(y=y), **whole),
    ]
    for found in ways:
        assert found.severity["age"] == "severe"
        assert list(found.severity.values()).count("none") == 4
        assert found.classes.tolist() == ["no", "yes"]
    model = NaiveBayes().fit(X, y)
    model.save(tmp_path / "m.safetensors")
    of_file = drift(tmp_path / "m.safetensors", tmp_path / "new.parquet", **whole)
    assert of_file.greatest == pytest.approx(drift(model, (Z, y)).greatest)
    alone = drift(model, tmp_path / "new.parquet")
    assert alone.classes.size == 0
    assert alone.severity["age"] == "severe"
    assert drift(model, NaiveBayes().fit(X, y)).greatest == 0.0


def test_files_without_labels_are_rows_of_one_class(tmp_path):
    from naively.engines.files import scan

    X, _ = mixed()
    X.to_csv(tmp_path / "x.csv", index=False)
    found = scan(tmp_path / "x.csv", target=None).summary
    assert found.classes.tolist() == [""]
    np.testing.assert_allclose(found.moments.mean[0], X[["age", "income"]].mean())


def test_columns_are_found_by_name_in_any_order():
    X, y = mixed()
    schema = NaiveBayes().fit(X, y).summary_
    before, after = (summarize(X[names], y) for names in (X.columns, X.columns[::-1]))
    assert drift(before, after).greatest == 0.0
    assert schema.schema.names == tuple(X.columns)


def test_rows_of_a_sample_are_no_more_unusual_with_columns_in_another_order():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)) * [1, 10, 100], columns=["a", "b", "c"])
    X["d"], y = rng.choice(["u", "v"], 300), rng.integers(0, 2, 300)
    model, other = (NaiveBayes().fit(X[names], y) for names in (list("abcd"), list("dcab")))
    assert drift(model, other).unusual == drift(model, model).unusual


def test_a_column_that_is_empty_on_one_side_is_missing_there():
    X, y = mixed()
    after = summarize(X.assign(age=None), y)
    found = drift(summarize(X, y), after)
    assert found.severity["age"] == "severe"
    assert found.measures.missing_after[0, 0] == 1.0


def test_a_constant_column_that_becomes_another_constant_is_severe():
    frame = pd.DataFrame({"a": np.ones(50), "b": np.arange(50.0)})
    assert drift(frame, frame).greatest == 0.0
    for other in (2.0, 1.0 + 1e-6):
        assert drift(frame, frame.assign(a=other)).severity == {"a": "severe", "b": "none"}


@pytest.mark.parametrize("model", [NaiveBayes, GaussianNB])
def test_a_constant_column_that_begins_to_vary_about_its_value_is_severe(model):
    constant, varied = np.full((300, 1), 5.0), np.random.default_rng(0).normal(5, 1, (300, 1))
    y = np.arange(300) % 2
    assert drift(model().fit(constant, y), (varied, y)).severity == {"column 0": "severe"}
    assert drift(model().fit(varied, y), (constant, y)).severity == {"column 0": "severe"}


def one_percent(rng, n):
    return (rng.random((n, 5)) < 0.01) * 1.0


def rare_counts(rng, n):
    return rng.poisson(0.1, (n, 5)) * 1.0


@pytest.mark.parametrize("rows", [(1000, 20), (20, 1000)], ids=["few-after", "few-before"])
@pytest.mark.parametrize(
    ("model", "draw"),
    [*product([NaiveBayes, GaussianNB], [one_percent, rare_counts])],
)
def test_few_rows_of_a_column_that_is_nearly_always_the_same_are_no_drift(rows, model, draw):
    rng, alarms = np.random.default_rng(4), 0
    for _ in range(40):
        before, after = (draw(rng, n) for n in rows)
        fitted = model().fit(before, np.arange(len(before)) % 2)
        alarms += drift(fitted, after).greatest > 0
    assert alarms <= 40 * 0.15


COLUMNS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "skewed": lambda rng, size: rng.lognormal(0, 2, size),
    "Cauchy": lambda rng, size: rng.standard_cauchy(size),
    "zeros and a tail": lambda rng, size: (rng.random(size) < 0.2) * rng.lognormal(3, 1.5, size),
    "counts": lambda rng, size: rng.poisson(1.0, size) * 1.0,
    "rounded": lambda rng, size: np.round(rng.normal(size=size)),
    "two flags in 100": lambda rng, size: (rng.random(size) < 0.02) * 1.0,
    "three flags in 1,000": lambda rng, size: (rng.random(size) < 0.003) * 1.0,
}
SIZES = [(40, 40), (40, 1000), (1000, 40), (200, 200), (1000, 1000)]


MODELS = {"bins": NaiveBayes(interactions=None), "moments": GaussianNB()}
TABLES = 300  # of one column: the columns of one table, each judged alone


def shares_of_alarms(model, before, after):
    """Return in how many columns drift raises an alarm: without labels, and with two classes."""
    half = [np.arange(len(X)) % 2 for X in (before, after)]
    schema = model.fit(before, half[0]).summary_.schema
    measured = [summarize(X, y, schema=schema) for X, y in zip((before, after), half, strict=True)]
    p = drift(*measured).measures.p_value  # of all rows and of both classes
    return np.mean(p[0] < 0.05), np.mean(stats.false_discovery_control(p).min(axis=0) < 0.05)


def two_tables(kind, n, m):
    rng = np.random.default_rng([n, m])
    return COLUMNS[kind](rng, (n, TABLES)), COLUMNS[kind](rng, (m, TABLES))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_any_shape_raise_false_alarms_at_most_at_the_nominal_rate(kind, size, model):
    """At most 5 %, up to three standard deviations of the draws."""
    found = shares_of_alarms(MODELS[model], *two_tables(kind, *size))
    assert max(found) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / TABLES)


@pytest.mark.parametrize("model", MODELS)
def test_a_shift_of_half_a_standard_deviation_is_found(model):
    for n in (200, 1000):
        before, after = two_tables("normal", n, n)
        assert min(shares_of_alarms(MODELS[model], before, after + 0.5)) > 0.95


def test_without_bins_a_change_of_the_spread_alone_is_not_tested_and_that_is_said():
    before, after = two_tables("normal", 200, 200)
    for model, share in (("bins", 1.0), ("moments", 0.05)):
        found = drift(MODELS[model].fit(before, np.arange(200) % 2), 3 * after)
        assert np.mean(found.measures.p_value[0] < 0.05) == pytest.approx(share, abs=0.04)
        assert ("a change of the spread alone is not tested" in str(found)) == (model == "moments")
        assert found.tests_spread == (model == "bins")


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_unit_of_a_column_does_not_matter(scale):
    X, y = numbers()
    found, expected = (
        drift(summarize(s * X, y), summarize(s * (X + 0.4), y)) for s in (scale, 1.0)
    )
    np.testing.assert_allclose(found.measures.distance, expected.measures.distance, atol=1e-9)
    np.testing.assert_allclose(found.measures.p_value, expected.measures.p_value, rtol=1e-6)


def test_texts_alone_are_compared():
    rng = np.random.default_rng(3)
    words = np.array(
        ["tea", "coffee", "milk", "water", "wine", "beer", "juice", "cola", "soup", "rice"]
    )

    def texts(p=None):
        return [" ".join(rng.choice(words, size=12, p=p)) + " x" * 300 for _ in range(300)]

    before = texts()
    assert drift(before, texts()).severity == {"column 0": "none"}
    assert drift(before, texts(np.arange(1, 11) / 55)).severity == {"column 0": "moderate"}


def test_collections_of_dasks_are_compared_with_their_labels():
    dask = pytest.importorskip("dask.dataframe")
    X, y = numbers()
    frame, labels = pd.DataFrame(X).add_prefix("x"), pd.Series(y)
    model = GaussianNB().fit(frame, labels)
    pair = [dask.from_pandas(one, npartitions=3) for one in (frame + 1, labels)]
    found = drift(model, tuple(pair)).greatest
    assert found == pytest.approx(drift(model, (frame + 1, labels)).greatest)
    with pytest.raises(NaivelyError, match="give the pair"):
        drift(model, pair[0])


def test_weights_count_as_rows_and_that_is_said():
    X, y = numbers()
    half = 0.5 * summarize(X, y)
    found = drift(half, summarize(X + 0.3, y))
    assert found.has_weights
    assert "p-values take weights as numbers of rows" in str(found)
    assert not drift(summarize(X, y), summarize(X, y)).has_weights
    twice = drift(2 * summarize(X, y), 2 * summarize(X + 0.1, y)).measures.p_value
    assert (twice[0] < drift(summarize(X, y), summarize(X + 0.1, y)).measures.p_value[0]).all()


def test_summaries_of_different_schemas_are_refused_with_the_first_difference():
    X, y = mixed()
    before = summarize(X, y)
    with pytest.raises(NaivelyError, match="after has no column 'town', which was there before"):
        drift(before, summarize(X.drop(columns="town"), y))
    with pytest.raises(NaivelyError, match="before has no column 'more', which is there after"):
        drift(before, summarize(X.assign(more=1.0), y))
    with pytest.raises(NaivelyError, match="'age' as numbers before and as categories after"):
        drift(before, summarize(X.assign(age="old"), y))
    with pytest.raises(NaivelyError, match="got bins before and none after"):
        drift(NaiveBayes().fit(X, y), before)
    Z = X.assign(income=X["income"] * 2)
    with pytest.raises(NaivelyError, match="column 'income' must have the same edges"):
        drift(NaiveBayes().fit(X, y), NaiveBayes().fit(Z, y))
    with pytest.raises(NaivelyError, match="got 5 and 4 of them"):
        drift(summarize(numbers()[0], y=numbers()[1]), summarize(numbers()[0][:, :4], numbers()[1]))
    counts = np.ones((4, 2))
    with pytest.raises(NaivelyError, match="occurrences before and moments after"):
        drift(MultinomialNB().fit(counts, [0, 1, 0, 1]), summarize(counts, [0, 1, 0, 1]))


def test_bad_requests_are_clear():
    X, y = numbers()
    empty = Summary.zero(Schema(5))
    with pytest.raises(NaivelyError, match="the data after must have at least one row; got none"):
        drift(summarize(X, y), empty)
    with pytest.raises(NaivelyError, match="the data before must have at least one row"):
        drift(empty, summarize(X, y))
    with pytest.raises(NaivelyError, match="as a pair"):
        drift(X, X, target="y")
    for wrong in (3, None):
        with pytest.raises(NaivelyError, match="a summary, a fitted estimator, its file, or data"):
            drift(summarize(X, y), wrong)
    with pytest.raises(NaivelyError, match="no column 'z'; its columns are"):
        drift(mixed()[0], mixed()[0], target="z")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        drift(GaussianNB(), X)


def test_it_prints_draws_and_becomes_frames_and_json():
    X, y = mixed(texts=True)
    model = NaiveBayes(families={"note": "text"}).fit(X, y)
    found = drift(model, (X.assign(age=X["age"] + 9, town="<Rom>"), y))
    text = str(found)
    assert text.startswith("Drift of 6 columns (400 rows before, 400 after): 2 severe")
    assert "town holds what was not there before: '<Rom>'." in text
    assert (
        repr(found) == f"<Drift of 6 columns: 2 moderate or severe, greatest {found.greatest:.3f}>"
    )
    html = found._repr_html_()
    assert "&lt;Rom&gt;" in html
    assert "<Rom>" not in html
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == 6 * 3
    assert frame["class"].isna().sum() == 6
    assert frame.query("column == 'age'")["severity"].tolist() == ["severe"] * 3
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["greatest"] == pytest.approx(found.greatest)
    assert plain["groups"] == [None, "no", "yes"]
    display = found.plot(max_columns=4)
    assert len(display.bars_) == 4
    with pytest.raises(NaivelyError, match="max_columns must be at least 1"):
        found.plot(max_columns=0)
    import matplotlib.pyplot as plt

    plt.close(display.figure_)


def test_frames_are_of_the_library_that_the_rows_came_in():
    polars = pytest.importorskip("polars")
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    assert isinstance(drift(model, polars.from_pandas(X)).to_frame(), polars.DataFrame)
