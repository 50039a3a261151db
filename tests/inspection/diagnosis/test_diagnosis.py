"""Every finding, on tables made to have it and on tables made not to; and what all share."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from naively import GaussianNB, NaiveBayes, NaivelyError, diagnose, families, summarize
from naively.data.schema import Schema
from naively.estimators.loading import ESTIMATORS
from naively.families import Text
from naively.inspection.diagnosis import FINDINGS, SEVERITIES
from tests.inspection.diagnosis.tables import CASES, N, clean, copies, gaussian, mixed, with_column
from tests.inspection.explanations.cases import CASES as MODELS
from tests.inspection.explanations.cases import case_of
from tests.inspection.explanations.cases import sparse as as_sparse

HAVE = [(kind, name) for kind, (have, _) in CASES.items() for name in have]
LACK = [(kind, name) for kind, (_, lack) in CASES.items() for name in lack]


def test_every_kind_of_finding_has_its_tables():
    assert set(CASES) == set(FINDINGS)


@pytest.mark.parametrize(("kind", "name"), HAVE, ids=[f"{k}: {n}" for k, n in HAVE])
def test_a_table_made_to_have_it_has_it(kind, name):
    found = diagnose(CASES[kind][0][name]())
    assert found.of(kind), str(found)


@pytest.mark.parametrize(("kind", "name"), LACK, ids=[f"{k}: {n}" for k, n in LACK])
def test_a_table_made_not_to_have_it_does_not(kind, name):
    found = diagnose(CASES[kind][1][name]())
    assert not found.of(kind), str(found)


# --- what is said ------------------------------------------------------------------------------


def test_findings_name_columns_classes_figures_and_advice():
    X, y = with_column("income", lambda X, y, rng: rng.lognormal(2 + (y == "yes"), 1, N))
    (finding,) = diagnose(gaussian(X, y)).of("family")
    assert finding.columns == ("income",)
    assert finding.classes[0] in ("no", "yes")
    assert finding.severity == "high"
    assert 0.2 < finding.figure < 0.4
    assert finding.p_value < 1e-6
    assert "Column 'income' is not distributed as 'gaussian' says" in finding.seen
    assert "NaiveBayes(families={'income': " in finding.advice


def test_the_family_that_is_advised_fits_better():
    X, y = with_column("n", lambda X, y, rng: rng.standard_t(1.5, N))
    model = NaiveBayes(families={"n": "gaussian"}).fit(X, y)
    (finding,) = diagnose(model).of("family")
    name = finding.advice.split()[1].removesuffix("()")
    better = NaiveBayes(families={"n": getattr(families, name)()}).fit(X, y)
    fits = {fit.label: fit.distance for fit in diagnose(better).fits if fit.column == "n"}
    assert max(fits.values()) < 0.6 * finding.figure


def test_smoothing_that_swamps_a_column_is_seen_as_a_family_that_does_not_fit():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N)
    X = pd.DataFrame({"area": 1e6 * rng.normal(size=N), "ratio": 1e-3 * rng.normal(size=N)})
    (finding,) = diagnose(gaussian(X, y)).of("family")
    assert finding.columns == ("ratio",)
    assert finding.advice.endswith('Use GaussianNB(smoothing="column").')
    wide = diagnose(gaussian(X, y, smoothing="column", var_smoothing=100.0)).of("family")
    assert {one.advice.split(". ")[1] for one in wide} == {"Use a smaller var_smoothing."}
    assert not diagnose(gaussian(X, y, smoothing="column")).of("family")


def test_copies_are_one_group_that_is_worth_one_column():
    found = diagnose(gaussian(*copies(3)))
    (finding,) = found.of("dependence")
    assert set(finding.columns) == {"a", "a0", "a1", "a2"}
    assert finding.severity == "high"
    assert "1.0 independent columns; naive Bayes counts 4" in finding.seen
    assert found.effective_columns == pytest.approx(49 / (3 + 16), rel=0.01)
    assert found.pairs[0][2] > 0.99


def test_calibration_makes_dependence_less_severe():
    (plain,), (weighted,) = (diagnose(m(*copies(1))).of("dependence") for m in (gaussian, mixed))
    assert (plain.severity, weighted.severity) == ("high", "medium")


def test_classes_far_apart_are_no_leak_of_high_severity():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N)
    X = rng.normal(size=(N, 5)) + 20 * y[:, None]
    assert {one.severity for one in diagnose(mixed(X, y)).of("leak")} == {"medium"}


def test_classes_that_are_never_predicted_are_one_finding():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2)), np.minimum(rng.integers(12, size=1000), 4)
    (finding,) = diagnose(gaussian(pd.DataFrame(X, columns=["a", "b"]), y)).of("never predicted")
    assert finding.classes == (0, 1, 2, 3)
    assert finding.figure == pytest.approx((y < 4).mean())
    assert finding.seen.startswith("Classes 0, 1, 2 and 3 are never predicted, though 3")


def test_the_gravest_comes_first():
    X, y = with_column("leak", lambda X, y, rng: 1.0 * (y == "yes"))
    found = diagnose(mixed(X.assign(one=0.1), y))
    order = [SEVERITIES.index(one.severity) for one in found.findings]
    assert order == sorted(order)
    assert found.findings[0].kind == "leak"
    assert "-0.0000" not in str(found)  # of a log loss of nothing


# --- no false alarms ---------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine], ids=["iris", "wine"])
@pytest.mark.parametrize("make", [gaussian, mixed], ids=["GaussianNB", "NaiveBayes"])
def test_well_known_tables_raise_no_high_alarm(load, make):
    table = load(as_frame=True)
    found = diagnose(make(table.data, table.target_names[table.target]))
    assert not [one for one in found.findings if one.severity == "high"], str(found)
    assert not found.of("family")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [gaussian, mixed], ids=["GaussianNB", "NaiveBayes"])
def test_clean_tables_have_no_findings(make, seed):
    found = diagnose(make(*clean(n=1000, seed=seed, n_classes=3)))
    assert not found.findings, str(found)


def test_a_table_of_many_clean_columns_has_no_findings():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=2000)
    X = rng.normal(size=(2000, 300)) + 0.2 * rng.normal(size=(4, 300))[y]
    found = diagnose(gaussian(pd.DataFrame(X).add_prefix("x"), y))
    assert not found.findings, str(found)
    assert found.effective_columns == 300


# --- every estimator ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_diagnosed(name):
    model, _ = case_of(name)
    found = diagnose(model)
    assert found.model == type(model).__name__
    kinds = {one.kind for one in (*found.findings, *found.skipped)}
    assert kinds <= set(FINDINGS)
    assert found.title in str(found)
    assert found.title.split(":")[0] in found._repr_html_()
    json.dumps(found.to_dict(), allow_nan=False)
    assert len(found.to_frame()) == len(found)


def test_the_models_are_of_every_estimator():
    assert {name.split()[0] for name in MODELS} == set(ESTIMATORS)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "NaiveBayes"])
def test_sparse_rows_are_diagnosed_as_dense_ones(name):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N)
    X = rng.poisson(0.5 + y[:, None] * rng.random(8), size=(N, 8)).astype(float)
    X[:, 1] = X[:, 0]
    options = {} if name == "NaiveBayes" else {"calibration": "temperature"}
    both = [ESTIMATORS[name](**options).fit(rows, y) for rows in (X, sparse.csr_array(X))]
    dense, thin = map(diagnose, both)
    assert dense.to_dict() == thin.to_dict()
    assert dense.of("dependence")[0].columns == ("column 0", "column 1")


def test_interactions_are_judged_with_the_rest():
    model, _ = case_of("NaiveBayes of pairs")
    assert model.model_.interactions is not None
    figures = diagnose(model).calibration
    assert figures.loss_after < 0.8 * figures.loss_before  # columns tell little, pairs a lot


def test_calibration_that_was_asked_for_is_compared_with_none():
    X, y = copies(20)
    numbers = X.select_dtypes("number")
    before = diagnose(GaussianNB(calibration="temperature").fit(numbers, y)).calibration
    assert before.loss_before > 1.2 * before.loss_after
    assert before.error_before > before.error_after


# --- what cannot be looked at ------------------------------------------------------------------


def test_without_a_sample_it_says_what_was_not_looked_at_and_why():
    found = diagnose(GaussianNB().fit(*load_iris(return_X_y=True)))
    skipped = {one.kind: one.reason for one in found.skipped}
    assert set(skipped) == {"family", "dependence", "calibration", "never predicted"}
    assert "keeps no sample of rows without calibration" in skipped["family"]
    assert "Not looked at:" in str(found)
    assert found.calibration is None
    assert found.effective_columns is None


def test_a_sample_of_few_rows_is_not_looked_at():
    found = diagnose(NaiveBayes().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"]))
    assert "3 rows, and 20 are needed" in str(found)


def test_hashed_words_are_not_looked_at():
    texts = [f"word{i} tea" for i in range(60)]
    model = NaiveBayes(families={0: Text(hashed=64)}).fit(pd.DataFrame({0: texts}), [0, 1] * 30)
    assert "are hashed, not counted" in str(diagnose(model))


def test_columns_left_out_are_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2300))
    schema = Schema(2300, sample=4000)
    model = GaussianNB.from_summary(summarize(X, np.arange(200) % 2, schema=schema))
    assert "of 2,300 columns, 300 were left out" in str(diagnose(model))


def test_bad_input_is_a_clear_error():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        diagnose(GaussianNB())
    with pytest.raises(
        NaivelyError, match=r"a fitted estimator of naively's; got sklearn.*LogisticReg"
    ):
        diagnose(LogisticRegression())
    with pytest.raises(NaivelyError, match=r"got pandas.*DataFrame"):
        diagnose(clean()[0])


def test_degenerate_tables_are_diagnosed():
    one_class = diagnose(
        NaiveBayes().fit(np.random.default_rng(0).normal(size=(50, 2)), ["a"] * 50)
    )
    assert not one_class.of("leak")
    weighted = NaiveBayes().fit(*clean(), sample_weight=np.random.default_rng(0).random(N))
    assert not [one for one in diagnose(weighted).findings if one.severity == "high"]
    forgotten = NaiveBayes().fit(*clean()).forget(*clean())
    with pytest.raises(NaivelyError):
        diagnose(forgotten)


def test_a_diagnosis_reads_the_summary_alone():
    X, y = clean()
    model = NaiveBayes().fit(X, y)
    again = NaiveBayes.from_summary(model.summary_)
    assert diagnose(model).to_dict() == diagnose(again).to_dict()


def test_rows_of_weight_two_are_rows_twice():
    X, y = clean()
    X = X[[*"abcd"]]
    schema = Schema(4, tuple("abcd"), sample=4000)
    twice = summarize(pd.concat([X, X]), np.tile(y, 2), schema=schema)
    heavy = summarize(X, y, schema=schema, sample_weight=np.full(N, 2.0))
    a, b = (diagnose(GaussianNB.from_summary(one)) for one in (twice, heavy))
    assert a.calibration == pytest.approx(b.calibration, rel=1e-9)
    for mine, its in zip(a.fits, b.fits, strict=True):
        assert (mine.n_rows, mine.distance, mine.p_value) == pytest.approx(
            (its.n_rows, its.distance, its.p_value), rel=1e-9
        )


def test_rows_of_huge_weights_are_looked_at():
    X, y = clean()
    model = GaussianNB(calibration="temperature")
    found = diagnose(model.fit(X[[*"abcd"]], y, sample_weight=np.full(N, 1e200)))
    assert np.isfinite(found.effective_columns)


def test_sparse_samples_of_moments_are_looked_at():
    X, y = np.random.default_rng(0).normal(size=(N, 3)), np.arange(N) % 2
    model = NaiveBayes().fit(as_sparse(X), y)
    assert diagnose(model).fits
