"""NaiveBayes: any table, families by column, decisions, and what is wrong with the input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

import naively
from naively import NaiveBayes, NaivelyError, evaluate
from naively.families import Bernoulli, Categorical, Histogram, Poisson, StudentT

RNG = np.random.default_rng(0)


def mixed(n=400, seed=0):
    """Numbers, text, booleans and counts that tell of the class, with holes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    towns = np.array(["Ulm", "Bonn", "Köln", "Jena"], dtype=object)
    frame = pd.DataFrame(
        {
            "age": 30 + 10 * y + rng.normal(0, 8, n),
            "town": towns[(y + rng.integers(0, 2, n)) % 4],
            "flag": rng.random(n) < 0.2 + 0.3 * y,
            "visits": rng.poisson(1 + 2 * y).astype(float),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    return frame, np.array(["low", "mid", "top"])[y]


FRAME, Y = mixed()


def slow_joint(model, frame):
    """Add up log p(k), biases and weighted terms, column by column."""
    found = model.model_
    cells = frame.to_dict("list")
    numbers = [c for c, f in model.families_.items() if f[0].kind == "number"]
    x = np.column_stack([np.asarray(cells[c], dtype=float) for c in numbers])
    total = np.tile(found.log_prior + found.bias, (len(frame), 1))
    for block in found.terms:
        if block.family.kind == "number":
            terms = block.family.log_density(x[:, list(block.at)], block.parameters)
        else:
            known = model.summary_.categories[block.at].tolist()
            name = list(model.families_)[block.columns[0]]
            codes = [
                -1 if v is None or v != v else known.index(v) if v in known else len(known)
                for v in cells[name]
            ]
            terms = block.family.log_density(np.array(codes), block.parameters)[:, :, np.newaxis]
        for term, weight in zip(np.moveaxis(terms, 2, 0), block.weight.T, strict=True):
            mean = term.mean(axis=1, keepdims=True) if model.calibration == "weights" else 0.0
            total += (term - mean) * weight
    return total


# --- the formula ----------------------------------------------------------------------------------


@pytest.mark.parametrize("calibration", [None, "temperature", "weights"])
def test_the_joint_log_probability_is_the_sum_of_weighted_terms(calibration):
    families = {"visits": "poisson", "age": ("student_t", "histogram")}
    model = NaiveBayes(calibration=calibration, interactions=None, families=families).fit(FRAME, Y)
    new = mixed(50, seed=1)[0]
    new.loc[0, "town"] = "Berlin"
    expected = slow_joint(model, new)
    np.testing.assert_allclose(model.predict_joint_log_proba(new), expected, rtol=1e-12, atol=1e-11)
    proba = np.exp(expected - expected.max(axis=1, keepdims=True))
    proba /= proba.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), proba, rtol=1e-11, atol=1e-14)
    assert model.predict(new).tolist() == model.classes_[expected.argmax(axis=1)].tolist()


def test_without_calibration_it_is_the_naive_bayes_of_the_textbooks():
    model = NaiveBayes(calibration=None).fit(FRAME, Y)
    assert model.families_["age"] == (StudentT(),)
    assert not model.model_.is_weighted
    assert model.summary_.sample is None


def test_types_choose_families_and_users_overrule_them():
    assert NaiveBayes().fit(FRAME, Y).families_ == {
        "age": (StudentT(), Histogram()),
        "town": (Categorical(),),
        "flag": (Categorical(),),
        "visits": (StudentT(), Histogram()),
    }
    families = {"age": "histogram", "town": Categorical(alpha=2.0), "visits": [Poisson()]}
    families["flag"] = "bernoulli"
    model = NaiveBayes(families=families).fit(FRAME, Y)
    assert model.families_ == {
        "age": (Histogram(),),
        "town": (Categorical(alpha=2.0),),
        "flag": (Bernoulli(),),
        "visits": (Poisson(),),
    }
    assert model.score(FRAME, Y) > 0.7


def test_numbers_may_be_categories():
    frame = pd.DataFrame({"zip": [1, 1, 2, 2, 3, 3]})
    model = NaiveBayes(families={"zip": "categorical"}, calibration=None)
    assert model.fit(frame, list("aabbaa")).predict(frame).tolist() == list("aabbaa")


def test_the_page_of_a_notebook_shows_the_families():
    html = NaiveBayes().fit(FRAME, Y)._repr_html_()
    assert "<td>town</td><td>categorical</td>" in html
    assert "<td>town</td>" not in NaiveBayes()._repr_html_()


# --- quality --------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_its_probabilities_are_better_than_those_of_gaussian_naive_bayes(load):
    X, y = load(return_X_y=True)
    ours, theirs = (
        -cross_val_score(model, X, y, scoring="neg_log_loss", cv=5).mean()
        for model in (NaiveBayes(), SklearnGaussianNB())
    )
    assert ours < theirs


def test_a_column_given_twice_is_not_believed_twice():
    X, y = load_iris(return_X_y=True)
    once, often = X[:, :1], np.repeat(X[:, :1], 8, axis=1)
    plain, weighed = (
        log_loss(y, NaiveBayes(calibration=how).fit(often, y).predict_proba(often))
        for how in (None, "weights")
    )
    single = log_loss(y, NaiveBayes().fit(once, y).predict_proba(once))
    assert weighed == pytest.approx(single, rel=0.05)
    assert plain > 1.2 * single


# --- streams --------------------------------------------------------------------------------------


def test_batches_give_the_model_of_the_whole():
    first = NaiveBayes(open_classes=True).partial_fit(FRAME[:150], Y[:150])
    first.partial_fit(FRAME[150:], Y[150:])
    again = NaiveBayes.from_summary(first.summary_)
    whole = naively.summarize(FRAME, Y, schema=first.summary_.schema)
    np.testing.assert_allclose(
        NaiveBayes.from_summary(whole).predict_proba(FRAME), again.predict_proba(FRAME), rtol=1e-9
    )


def test_new_categories_may_come_in_a_stream():
    model = NaiveBayes(calibration=None, open_classes=True)
    model.partial_fit(pd.DataFrame({"c": ["a", "b"]}), ["x", "y"])
    model.partial_fit(pd.DataFrame({"c": ["c", "c"]}), ["y", "y"])
    assert model.summary_.categories[0].tolist() == ["a", "b", "c"]
    assert model.predict_one({"c": "c"}) == "y"


def test_forgetting_rows_is_never_having_seen_them():
    model = NaiveBayes(open_classes=True).partial_fit(FRAME[:250], Y[:250])
    before = model.predict_proba(FRAME)
    model.partial_fit(FRAME[250:], Y[250:]).forget(FRAME[250:], Y[250:])
    np.testing.assert_allclose(model.predict_proba(FRAME), before, rtol=1e-6, atol=1e-9)


def test_sites_that_share_a_schema_merge():
    here = NaiveBayes().fit(FRAME[:200], Y[:200])
    there = naively.summarize(FRAME[200:], Y[200:], schema=here.summary_.schema)
    assert here.update(there).class_count_.sum() == 400
    with pytest.raises(NaivelyError, match="histograms of the same edges"):
        NaiveBayes().fit(FRAME[:200], Y[:200]).update(
            NaiveBayes().fit(FRAME[200:], Y[200:]).summary_
        )


def test_a_row_of_weight_two_is_the_row_twice():
    w = RNG.integers(0, 3, len(Y))
    weighted = NaiveBayes().fit(FRAME, Y, sample_weight=w)
    repeated = NaiveBayes().fit(FRAME.loc[np.repeat(FRAME.index, w)], np.repeat(Y, w))
    np.testing.assert_allclose(
        weighted.predict_proba(FRAME), repeated.predict_proba(FRAME), rtol=1e-6, atol=1e-9
    )


def test_threads_do_not_change_a_bit():
    frame, y = mixed(60_000)
    one, two = (NaiveBayes(n_jobs=n).fit(frame, y) for n in (1, 2))
    assert one.summary_ == two.summary_
    assert (one.predict_proba(frame) == two.predict_proba(frame)).all()


# --- decisions ------------------------------------------------------------------------------------


def test_costs_turn_the_answer():
    model = NaiveBayes(costs=[[0, 1, 1], [1, 0, 1], [50, 50, 0]]).fit(FRAME, Y)
    p = model.predict_proba(FRAME)
    expected = model.classes_[(p @ np.array(model.costs)).argmin(axis=1)]
    assert model.predict(FRAME).tolist() == expected.tolist()
    assert (model.predict(FRAME) == "top").mean() > (
        NaiveBayes().fit(FRAME, Y).predict(FRAME) == "top"
    ).mean()


def test_doubtful_rows_are_rejected():
    model = NaiveBayes(reject=(0.9, "don't know")).fit(FRAME, Y)
    answers, p = model.predict(FRAME), model.predict_proba(FRAME).max(axis=1)
    assert ((answers == "don't know") == (p < 0.9)).all()
    assert 0 < (p < 0.9).mean() < 1
    assert (
        model.predict_one({"age": None, "town": None, "flag": None, "visits": None}) == "don't know"
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"costs": [[0, 1], [1, 0]]}, "a row and a column per class .3.; got shape .2, 2."),
        ({"reject": (1.5, "?")}, "a probability and a label, such as .0.8, 'unknown'."),
        ({"reject": (0.5, 7)}, "of the classes' type; got 7 beside 'low'"),
        ({"families": {"age": "gausian"}}, "Did you mean 'gaussian'"),
        (
            {"families": {"agee": "histogram"}},
            "a column 'agee', and there is none; did you mean 'age'",
        ),
        (
            {"families": {"age": ("histogram", "categorical")}},
            "all of numbers, of categories or of text",
        ),
        ({"families": {"town": "histogram"}}, "column 'town' must hold numbers"),
        ({"priors": [0.5, 0.5]}, "one entry per class"),
        ({"calibration": "isotonic"}, "calibration"),
    ],
    ids=lambda v: str(v)[:30],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        NaiveBayes(**params).fit(FRAME, Y)


# --- bad input ------------------------------------------------------------------------------------


def test_times_of_day_are_refused_with_advice():
    for column in (pd.Timedelta("1h"), np.timedelta64(1, "h")):
        with pytest.raises(NaivelyError, match=r"column 'when' holds times of day.* such as hours"):
            NaiveBayes().fit(FRAME.assign(when=column), Y)
    with pytest.raises(NaivelyError, match="column 'when' holds times of day or durations"):
        NaiveBayes().fit(pl.from_pandas(FRAME.assign(when=pd.Timedelta("1h"))), Y)


def test_objects_that_are_nothing_are_refused():
    with pytest.raises(NaivelyError, match=r"column 'o' must hold numbers, text, .*; got obj"):
        NaiveBayes().fit(FRAME.assign(o=[{"a": 1}] * len(FRAME)), Y)
    with pytest.raises(NaivelyError, match="all of one type; got number and text"):
        NaiveBayes().fit(FRAME.assign(o=["a", 1] * (len(FRAME) // 2)), Y)


def test_a_column_of_missing_cells_has_no_say():
    empty = FRAME.assign(nothing=np.nan, none=pd.Series([None] * len(FRAME), dtype="str"))
    plain, more = (NaiveBayes(calibration=None).fit(f, Y) for f in (FRAME, empty))
    np.testing.assert_allclose(more.predict_proba(empty), plain.predict_proba(FRAME), rtol=1e-12)
    assert np.isfinite(NaiveBayes().fit(empty, Y).predict_proba(empty)).all()


def test_very_many_categories_work_with_a_warning():
    n = 150_000
    frame = pl.DataFrame({"id": [f"row {i}" for i in range(n)], "x": np.arange(n) % 2})
    with pytest.warns(UserWarning, match="column 'id' has 150,000 categories"):
        model = NaiveBayes(calibration=None).fit(frame, np.arange(n) % 2)
    assert model.predict_one({"id": "another", "x": 1}) == 1


def test_unseen_categories_are_legal():
    model = NaiveBayes().fit(FRAME, Y)
    p = model.predict_proba(FRAME.assign(town="Atlantis"))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.isfinite(
        model.predict_proba(FRAME.assign(town="7")[["age", "town", "flag", "visits"]])
    ).all()


def test_a_column_that_is_missing_at_predict_is_named():
    model = NaiveBayes().fit(FRAME, Y)
    with pytest.raises(NaivelyError, match="no column 'town', which the model was fitted on"):
        model.predict(FRAME.drop(columns="town"))


def test_more_columns_at_predict_are_ignored_with_a_warning():
    model = NaiveBayes().fit(FRAME, Y)
    with pytest.warns(UserWarning, match="ignores: 'extra'"):
        found = model.predict(FRAME.assign(extra=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (found == model.predict(FRAME[FRAME.columns[::-1]])).all()


def test_columns_that_change_their_type_between_batches_are_named():
    model = NaiveBayes(open_classes=True).partial_fit(FRAME, Y)
    with pytest.raises(NaivelyError, match="column 'age' must hold numbers"):
        model.partial_fit(FRAME.assign(age="old"), Y)
    before = model.summary_
    with pytest.raises(NaivelyError, match="column 'town': labels must be all of one type"):
        model.partial_fit(FRAME.assign(town=5), Y)
    assert model.summary_ is before


def test_infinity_is_an_error_that_names_the_column():
    with pytest.raises(NaivelyError, match=r"column 'age' holds infinity .first at row 3."):
        NaiveBayes().fit(FRAME.assign(age=[1.0, 2, 3, np.inf] + [1.0] * (len(FRAME) - 4)), Y)
    model = NaiveBayes().fit(FRAME, Y)
    with pytest.raises(NaivelyError, match="column 'age' holds infinity"):
        model.predict(FRAME.assign(age=np.inf))


@pytest.mark.parametrize("calibration", [None, "temperature", "weights"])
def test_a_row_far_away_goes_to_the_widest_class_beside_any_other_column(calibration):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    frame = pd.DataFrame({"x": rng.normal(y, 1.0 + y), "town": rng.choice(["Ulm", "Bonn"], 300)})
    model = NaiveBayes(families={"x": "gaussian"}, calibration=calibration).fit(frame, y)
    rows = pd.DataFrame({"x": [1e3, 1e100, 1e151, -1e200, 1.7e308], "town": "Ulm"})
    assert model.predict(rows).tolist() == [2] * 5
    assert (model.predict_proba(rows)[:, 2] > 0.99).all()


@pytest.mark.parametrize("far", [1e200, -1e308, 5e-324])
def test_far_numbers_get_finite_probabilities(far):
    model = NaiveBayes(families={"visits": "poisson"}).fit(FRAME, Y)
    p = model.predict_proba(FRAME.assign(age=far, visits=far))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


DEGENERATE = {
    "one row": (pd.DataFrame({"x": [1.0], "c": ["a"]}), ["k"]),
    "one row each": (pd.DataFrame({"x": [1.0, 2.0], "c": ["a", "b"]}), ["k", "l"]),
    "a constant": (pd.DataFrame({"x": [1.0] * 4, "c": ["a"] * 4}), list("kkll")),
    "one class": (pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": list("aba")}), list("kkk")),
    "separable": (
        pd.DataFrame({"x": np.arange(40.0), "c": ["a"] * 20 + ["b"] * 20}),
        [0] * 20 + [1] * 20,
    ),
}


@pytest.mark.parametrize(("frame", "y"), DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("calibration", [None, "temperature", "weights"])
def test_degenerate_tables_give_probabilities(frame, y, calibration):
    p = NaiveBayes(calibration=calibration).fit(frame, y).predict_proba(frame)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)


# --- around it ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_every_kind_agree(make):
    expected = NaiveBayes().fit(FRAME, Y).predict_proba(FRAME)
    found = NaiveBayes().fit(make(FRAME), Y).predict_proba(make(FRAME))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_one_row_may_be_a_list_or_a_dict():
    model = NaiveBayes().fit(FRAME, Y)
    row = {"age": 31.0, "town": "Ulm", "flag": True, "visits": None}
    expected = model.predict_proba(pl.DataFrame([row], schema_overrides={"visits": pl.Float64}))[0]
    np.testing.assert_array_equal(model.predict_proba_one(row), expected)
    np.testing.assert_array_equal(model.predict_proba_one(list(row.values())), expected)
    assert model.predict_one(row) == model.classes_[expected.argmax()]
    with pytest.raises(NaivelyError, match="the row has no column 'town'"):
        model.predict_one({"age": 3})
    with pytest.raises(NaivelyError, match="4 cells; got 1"):
        model.predict_one([1.0])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"calibration": None},
        {"families": {"age": "histogram", "town": Categorical(alpha=2)}, "reject": (0.7, "?")},
        {"costs": np.ones((3, 3)), "priors": [0.2, 0.3, 0.5], "calibration": "temperature"},
    ],
    ids=["defaults", "plain", "families", "costs"],
)
def test_a_saved_model_comes_back_and_goes_on(tmp_path, params):
    model = NaiveBayes(**params).fit(FRAME, Y)
    model.save(tmp_path / "a")
    for copy in (pickle.loads(pickle.dumps(model)), naively.load(tmp_path / "a")):
        assert copy.summary_ == model.summary_
        assert copy.families_ == model.families_
        assert (copy.predict_proba(FRAME) == model.predict_proba(FRAME)).all()
        assert (copy.predict(FRAME) == model.predict(FRAME)).all()
    copy.save(tmp_path / "b")
    assert naively.load(tmp_path / "b").partial_fit(FRAME, Y).class_count_.sum() == 800


def test_it_can_be_evaluated():
    found = evaluate(NaiveBayes(), FRAME, Y, folds=3)
    assert found.accuracy > 0.6


def test_rejected_rows_are_judged_by_the_class_they_would_have_had():
    plain, careful = (NaiveBayes(reject=r).fit(FRAME, Y) for r in (None, (0.9, "don't know")))
    assert evaluate(careful, FRAME, Y).accuracy == evaluate(plain, FRAME, Y).accuracy
    assert "don't know" in careful.predict(FRAME)
