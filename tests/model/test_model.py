"""One model for all estimators: a constant and forms, scored by the kernel as fast as it can."""

from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from naively import CategoricalNB, GaussianNB, NaiveBayes, NaivelyError, _kernel, summarize
from naively.data.rows import Rows
from naively.engines.memory.tables import read
from naively.families import FAMILIES, Categorical, Gaussian, Histogram
from naively.families.forms import FORMS, FunctionSums, Lines, Quadratics
from naively.model.model import Model
from naively.model.scorer import Scorer
from tests import family_tables

X, Y = load_iris(return_X_y=True)
CODES = X.round().astype(int)
FRAME = pd.DataFrame(X, columns=[*"abcd"]).assign(b=CODES[:, 1].astype(str), c=CODES[:, 2] * 1.0)

MODELS = {
    "gaussian": lambda: (GaussianNB().fit(X, Y), X),
    "shared": lambda: (GaussianNB(variance="shared").fit(X, Y), X),
    "temperature": lambda: (GaussianNB(calibration="temperature").fit(X, Y), X),
    "weights": lambda: (GaussianNB(calibration="weights").fit(X, Y), X),
    "codes": lambda: (CategoricalNB().fit(CODES, Y), CODES),
    "tables": lambda: (
        NaiveBayes(families={"c": "poisson"}, interactions=None).fit(FRAME, Y),
        FRAME,
    ),
    "every family": lambda: (
        family_tables.model_of(interactions=None, calibration=None),
        family_tables.FRAME,
    ),
    "lines": lambda: (
        NaiveBayes(families={"c": "poisson"}, calibration=None).fit(FRAME[["c"]], Y),
        FRAME[["c"]],
    ),
}


def cells_of(model, table):
    """Numbers and codes, as terms take them."""
    if isinstance(table, pd.DataFrame):
        numbers = table.select_dtypes("number").to_numpy()
        texts = table.select_dtypes(exclude="number")
        known = zip(texts, model.vocabularies, strict=True)
        codes = [pd.Categorical(texts[name], known).codes for name, known in known]
        return numbers, np.column_stack(codes) if codes else np.empty((len(table), 0), int)
    return (np.empty((len(table), 0)), table) if model.coded else (table, None)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_joint_is_the_constant_and_the_weighted_terms(make):
    estimator, table = make()
    model = estimator.model_
    joint = np.tile(model.constant, (len(table), 1))
    for term in model.terms:
        terms = term.log_density(*cells_of(model, table))
        if (term.weight != term.weight[:1]).any():
            terms = terms - terms.mean(axis=1, keepdims=True)
        joint += (terms * term.weight).sum(axis=2)
    found = estimator.predict_joint_log_proba(table)
    error = sum(term.family.error for term in model.terms)
    np.testing.assert_allclose(found, joint, rtol=1e-11, atol=1e-11 + error)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_every_term_has_one_of_the_forms(make):
    model = make()[0].model_
    assert all(type(term.form) in {*FORMS, FunctionSums} for term in model.terms)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_of_ours_is_scored_by_a_form(family):
    kind = FAMILIES[family].kind
    table, y = FRAME[["b"]], Y
    if kind == "number":
        table, y = family_tables.FRAME[[family]], family_tables.Y
    model = NaiveBayes(families=dict.fromkeys(table, family)).fit(table, y).model_
    assert {type(term.form) for term in model.terms} <= {*FORMS, FunctionSums}


@pytest.mark.parametrize("name", ["gaussian", "shared", "temperature"])
def test_plain_quadratics_of_all_columns_have_the_kernels_own_model(name):
    model = MODELS[name]()[0].model_
    assert isinstance(model.scorer.kernel, _kernel.GaussianModel)


@pytest.mark.parametrize("name", ["weights", "codes", "tables", "lines"])
def test_all_others_are_added_up_form_by_form(name):
    assert MODELS[name]()[0].model_.scorer.kernel is None


def test_the_kernels_own_model_agrees_with_the_sum_of_forms():
    estimator, _ = MODELS["gaussian"]()
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = estimator.model_
    numbers = [(term.at, term.form) for term in model.terms]
    joint = np.empty((len(X), 3))
    scorer = Scorer(model.constant, numbers, n_numbers=5)
    assert scorer.kernel is None
    assert scorer.write("joint", Rows.of_numbers(rows), joint)
    np.testing.assert_allclose(estimator.predict_joint_log_proba(rows), joint, rtol=1e-13)


def test_a_model_is_read_off_a_summary_without_an_estimator():
    model = Model.read(summarize(X, Y), {Gaussian(smoothing="global"): range(4)})
    out = model.score(Rows.of_numbers(X), "proba")
    assert np.array_equal(out, GaussianNB().fit(X, Y).predict_proba(X))


def test_families_may_name_columns_in_any_order():
    model = Model.read(summarize(X, Y), {Gaussian(): [2, 0, 3, 1]})
    assert model.terms[0].columns == [0, 1, 2, 3]
    out = model.score(Rows.of_numbers(X), "proba")
    expected = GaussianNB(smoothing="column").fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(out, expected)


def test_a_model_cannot_be_changed():
    model = GaussianNB().fit(X, Y).model_
    with pytest.raises(FrozenInstanceError):
        model.prior = np.ones(3) / 3


def test_two_families_of_categories_add_up():
    families = {"b": (Categorical(alpha=1.0), Categorical(alpha=2.0))}
    table = FRAME[["b"]]
    model = NaiveBayes(families=families, calibration=None).fit(table, Y)
    both = sum(term.unweighted_form.values for term in model.model_.terms)
    assert np.array_equal(model.model_.tables.values, both)


def test_what_all_classes_share_is_in_the_evidence_alone():
    form = Lines.of(np.zeros((2, 1)), np.ones((2, 1)), np.ones((2, 1)), lowest=0.0, counts=True)
    cells, joint = np.array([[0.0], [4.0], [-1.0], [np.nan]]), np.zeros((4, 2))
    assert form.add(cells, joint)
    assert np.array_equal(joint[:, 0], [0.0, 4.0, 0.0, 0.0])
    form.add_carrier(cells, joint)
    np.testing.assert_allclose(joint[:, 1], [0.0, 4.0 - np.log(24.0), 0.0, 0.0], rtol=1e-14)


def test_terms_that_are_centred_have_lost_what_all_classes_share():
    parameters = np.zeros((2, 1)), np.ones((2, 1)), np.array([[1.0], [2.0]])
    assert Lines.of(*parameters, lowest=0.0, counts=True).carrier is None


@pytest.mark.parametrize("exponent", [-153, 152])
def test_extreme_variances_have_a_scale(exponent):
    scaled = GaussianNB(var_smoothing=0).fit(X * 10.0**exponent, Y)
    form = scaled.model_.terms[0].form
    assert isinstance(form, Quadratics)
    assert form.s is not None
    expected = GaussianNB(var_smoothing=0).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(
        scaled.predict_proba(X * 10.0**exponent), expected, rtol=1e-9, atol=1e-12
    )


def mixed_summary():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=40), "t": rng.choice([*"xy"], 40), "n": rng.poisson(2, 40)}
    )
    return frame.assign(b=rng.random(40) < 0.5), rng.choice(["no", "yes"], 40)


@pytest.mark.parametrize("at", [[1], [3]], ids=["first", "last"])
def test_a_column_of_categories_may_have_no_family(at):
    frame, y = mixed_summary()
    name = frame.columns[at[0]]
    alone = NaiveBayes(calibration=None).fit(frame[[name]], y)
    whole = NaiveBayes(calibration=None).fit(frame, y)
    model = Model.read(whole.summary_, {Categorical(): at})
    found = model.score(read(frame, model.schema), "proba")
    np.testing.assert_allclose(found, alone.predict_proba(frame[[name]]), rtol=1e-14)


ODD_COLUMNS = {
    "categories for numbers": ({Gaussian(): [1, 3]}, "'gaussian' reads numbers, .* categories of"),
    "numbers for categories": ({Categorical(): [0, 2]}, "reads categories, .* numbers of column"),
    "twice": ({Gaussian(): [0, 0]}, "by their places, each once; got 0"),
    "none such": ({Gaussian(): [9]}, "by their places, each once; got 9"),
    "from the end": ({Gaussian(): [-1]}, "by their places, each once; got -1"),
    "a name": ({Gaussian(): ["a"]}, "by their places, each once; got 'a'"),
    "no histogram": ({Histogram(): [0]}, "column 'a' reads a histogram, .* holds none"),
}


@pytest.mark.parametrize(("families", "message"), ODD_COLUMNS.values(), ids=ODD_COLUMNS)
def test_columns_of_a_family_are_those_it_reads(families, message):
    with pytest.raises(NaivelyError, match=message):
        Model.read(summarize(*mixed_summary()), families)
