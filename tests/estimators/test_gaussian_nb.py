"""The mathematics of the textbooks, line by line, on tables small enough to check by hand."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from naively import GaussianNB, NaivelyError
from naively.families.gaussian import density as gaussian_density
from naively.families.gaussian import log_density as gaussian_log_density

# Height and weight of children and adults: 12 and 4 rows.
HEIGHT = [110, 115, 120, 122, 125, 128, 130, 133, 135, 138, 140, 145, 160, 170, 175, 185]
WEIGHT = [19, 21, 22, 25, 24, 27, 28, 30, 31, 33, 35, 38, 55, 68, 72, 85]
PEOPLE = np.array([HEIGHT, WEIGHT], dtype=float).T
AGE = np.array(["child"] * 12 + ["adult"] * 4)


@pytest.fixture(params=[load_iris, load_breast_cancer], ids=["iris", "breast cancer"])
def table(request):
    return request.param(return_X_y=True)


def test_priors_are_shares_of_the_rows():
    model = GaussianNB().fit(PEOPLE, AGE)
    assert model.classes_.tolist() == ["adult", "child"]
    assert model.class_prior_.tolist() == [4 / 16, 12 / 16]
    assert model.class_count_.tolist() == [4, 12]


def test_means_are_averages():
    theta = GaussianNB().fit(PEOPLE, AGE).theta_
    for k, label in enumerate(["adult", "child"]):
        rows = PEOPLE[label == AGE].tolist()
        exact = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
        np.testing.assert_allclose(theta[k], exact, rtol=4e-16)


@pytest.mark.parametrize("ddof", [0, 1], ids=["maximum likelihood", "sample variance"])
def test_variances_divide_by_n_minus_ddof(ddof):
    variance = GaussianNB(ddof=ddof, var_smoothing=0).fit(PEOPLE, AGE).var_
    for k, label in enumerate(["adult", "child"]):
        rows = PEOPLE[label == AGE]
        np.testing.assert_allclose(variance[k], rows.var(axis=0, ddof=ddof), rtol=1e-15)


def test_a_class_with_one_row_has_no_sample_variance():
    X, y = [[1.0], [2.0], [3.0]], ["a", "a", "b"]
    with pytest.raises(NaivelyError, match=r"class 'b' has no variance with ddof=1"):
        GaussianNB(ddof=1).fit(X, y)


def test_the_density_is_the_bell_curve():
    x = np.linspace(-40, 40, 201)
    np.testing.assert_allclose(
        gaussian_log_density(x, 1.5, 2.25), norm.logpdf(x, 1.5, 1.5), rtol=1e-14
    )
    np.testing.assert_allclose(gaussian_density(x, 1.5, 2.25), norm.pdf(x, 1.5, 1.5), rtol=1e-11)
    assert gaussian_density(0.0, 0.0, 1.0) == pytest.approx(1 / math.sqrt(2 * math.pi), rel=1e-15)


def test_the_joint_is_the_prior_times_the_product_of_densities():
    model = GaussianNB(var_smoothing=0).fit(PEOPLE, AGE)
    joint = np.exp(model.predict_joint_log_proba(PEOPLE))
    for i, x in enumerate(PEOPLE):
        for k in range(2):
            densities = gaussian_density(x, model.theta_[k], model.var_[k])
            assert joint[i, k] == pytest.approx(model.class_prior_[k] * densities.prod(), rel=1e-12)


def test_prediction_is_the_argmax_of_the_joint(table):
    X, y = table
    model = GaussianNB().fit(X, y)
    joint = model.predict_joint_log_proba(X)
    assert (model.predict(X) == model.classes_[joint.argmax(axis=1)]).all()


def test_probabilities_are_the_normalized_joint(table):
    X, y = table
    model = GaussianNB().fit(X, y)
    joint = model.predict_joint_log_proba(X)
    log_sum = np.logaddexp.reduce(joint, axis=1, keepdims=True)
    # The joint is some hundreds, and its rounding is what the difference is good for.
    np.testing.assert_allclose(model.predict_log_proba(X), joint - log_sum, rtol=1e-14, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), np.exp(joint - log_sum), atol=1e-13)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-15)


def test_ties_go_to_the_first_class():
    model = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], ["b", "b", "a", "a"])
    assert model.predict([[0.0]]) == "a"


def test_numbers_are_those_of_scikit_learn(table):
    X, y = table
    ours, theirs = GaussianNB().fit(X, y), SklearnGaussianNB().fit(X, y)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-13)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-12)
    assert ours.epsilon_ == pytest.approx(theirs.epsilon_, rel=1e-12)
    assert (ours.predict(X) == theirs.predict(X)).all()
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


# --- shared variance ------------------------------------------------------------------------------


def test_shared_variance_is_pooled_within_the_classes(table):
    X, y = table
    model = GaussianNB(variance="shared", var_smoothing=0).fit(X, y)
    deviations = np.concatenate([X[y == k] - X[y == k].mean(axis=0) for k in np.unique(y)])
    np.testing.assert_allclose(model.var_[0], (deviations**2).mean(axis=0), rtol=1e-12)
    assert (model.var_ == model.var_[0]).all()
    unbiased = GaussianNB(variance="shared", var_smoothing=0, ddof=1).fit(X, y)
    free = len(y) - len(np.unique(y))
    np.testing.assert_allclose(unbiased.var_[0], (deviations**2).sum(axis=0) / free, rtol=1e-12)


def test_shared_variance_needs_more_rows_than_classes_for_a_sample_variance():
    with pytest.raises(NaivelyError, match="variance='shared' and ddof=1"):
        GaussianNB(variance="shared", ddof=1).fit([[1.0], [2.0]], ["a", "b"])


def test_two_classes_with_shared_variance_are_the_logistic_form():
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB(variance="shared", smoothing="column").fit(X, y)
    mu, sigma2, prior = model.theta_, model.var_[0], model.class_prior_
    w = (mu[0] - mu[1]) / sigma2
    w0 = math.log(prior[0] / prior[1]) + ((mu[1] ** 2 - mu[0] ** 2) / (2 * sigma2)).sum()
    logistic = 1 / (1 + np.exp(X @ w + w0))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], logistic, atol=1e-12)
    np.testing.assert_allclose(model.coef_, [-w], rtol=1e-12)  # the textbook's with turned sign
    np.testing.assert_allclose(model.intercept_, [-w0], rtol=1e-12)


def test_a_positive_decision_means_the_second_class():
    X, y = load_breast_cancer(return_X_y=True)
    model = GaussianNB(variance="shared").fit(X, y)
    decision = model.decision_function(X)
    assert (model.classes_[(decision > 0).astype(int)] == model.predict(X)).all()
    linear = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(decision, linear, rtol=1e-9, atol=1e-9)
    assert (decision > 0).mean() == pytest.approx(0.66, abs=0.05)


def test_many_classes_with_shared_variance_are_linear():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB(variance="shared").fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    scores = X @ model.coef_.T + model.intercept_
    posterior = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), posterior, atol=1e-12)


def test_shared_variance_in_one_column_is_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    X = X[:, 2:3]
    ours = GaussianNB(variance="shared", var_smoothing=0).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_only_a_linear_model_has_weights():
    model = GaussianNB().fit(PEOPLE, AGE)
    for name in ("coef_", "intercept_", "decision_function"):
        assert not hasattr(model, name)


# --- scores ---------------------------------------------------------------------------------------


def test_loss_is_the_mean_negative_log_likelihood(table):
    X, y = table
    model = GaussianNB().fit(X, y)
    terms = model.predict_log_proba(X)[np.arange(len(y)), y]
    assert model.loss(X, y) == pytest.approx(-math.fsum(terms) / len(y), rel=1e-14)
    weight = np.arange(len(y)) % 3
    assert model.loss(X, y, sample_weight=weight) == pytest.approx(
        -np.average(terms, weights=weight), rel=1e-12
    )


def test_loss_of_a_label_never_seen_is_infinite():
    assert GaussianNB().fit(PEOPLE, AGE).loss(PEOPLE[:1], ["giant"]) == math.inf


def test_accuracy_is_the_score(table):
    X, y = table
    model = GaussianNB().fit(X, y)
    assert model.accuracy(X, y) == model.score(X, y) == (model.predict(X) == y).mean()


def test_score_samples_is_the_log_density_of_the_row(table):
    X, y = table
    model = GaussianNB().fit(X, y)
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(
        model.score_samples(X), np.logaddexp.reduce(joint, axis=1), rtol=1e-14, atol=1e-12
    )


def test_score_samples_spots_an_outlier():
    X, y = load_iris(return_X_y=True)
    strange = X.mean(axis=0) + 20 * X.std(axis=0)
    scores = GaussianNB().fit(X, y).score_samples(np.vstack([X, strange]))
    assert scores.argmin() == len(X)


# --- smoothing ------------------------------------------------------------------------------------


def test_global_smoothing_adds_a_part_of_the_largest_variance():
    model = GaussianNB(var_smoothing=0.25).fit(PEOPLE, AGE)
    assert model.epsilon_ == pytest.approx(0.25 * PEOPLE.var(axis=0).max(), rel=1e-14)
    plain = GaussianNB(var_smoothing=0).fit(PEOPLE, AGE)
    np.testing.assert_allclose(model.var_, plain.var_ + model.epsilon_, rtol=1e-15)


def test_column_smoothing_makes_units_irrelevant(table):
    X, y = table
    units = 10.0 ** np.linspace(-6, 6, X.shape[1])
    model = GaussianNB(smoothing="column").fit(X, y)
    rescaled = GaussianNB(smoothing="column").fit(X * units, y)
    np.testing.assert_allclose(model.epsilon_, 1e-9 * X.var(axis=0), rtol=1e-12)
    np.testing.assert_allclose(rescaled.predict_proba(X * units), model.predict_proba(X), atol=1e-9)


# --- one row --------------------------------------------------------------------------------------


def test_one_row_may_be_an_array_a_list_or_a_dict():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(PEOPLE, columns=["height", "weight"])
    model = GaussianNB().fit(frame, AGE)
    for row in (PEOPLE[0], [110, 19], {"weight": 19, "height": 110, "name": "Ann"}):
        assert model.predict_one(row) == "child"
        assert (model.predict_proba_one(row) == model.predict_proba(frame[:1])[0]).all()


def test_one_row_may_miss_cells():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(PEOPLE, columns=["height", "weight"])
    model = GaussianNB().fit(frame, AGE)
    only_height = GaussianNB().fit(PEOPLE[:, :1], AGE).predict_proba([[150.0]])[0]
    for row in ([150, None], [150, np.nan], {"height": 150, "weight": None}):
        np.testing.assert_allclose(model.predict_proba_one(row), only_height, rtol=1e-7)


def test_a_row_of_missing_cells_is_left_to_the_priors():
    X = np.random.default_rng(0).normal(size=(400, 8))
    model = GaussianNB().fit(X, np.arange(100).repeat(4))
    nothing = np.full((1, 8), np.nan)
    assert model.predict(nothing) == 0  # of a hundred equals, the first
    assert (model.predict_joint_log_proba(nothing) == np.log(0.01)).all()
    skewed = GaussianNB(priors=np.arange(1, 101) / 5050).fit(X, np.arange(100).repeat(4))
    np.testing.assert_allclose(skewed.predict_proba(nothing)[0], skewed.class_prior_, rtol=1e-14)


# --- the model as a value -------------------------------------------------------------------------


def test_another_model_is_read_off_the_same_summary(table):
    X, y = table
    params = {"ddof": 1, "variance": "shared", "smoothing": "column", "var_smoothing": 1e-3}
    seen = GaussianNB().fit(X, y).summary_
    again, fitted = GaussianNB.from_summary(seen, **params), GaussianNB(**params).fit(X, y)
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()


def test_open_classes_welcome_new_labels():
    model = GaussianNB(open_classes=True)
    for x, label in [(1.0, "b"), (5.0, "a"), (2.0, "b"), (9.0, "c"), (6.0, "a")]:
        model.partial_fit([[x]], [label])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.theta_[:, 0].tolist() == [5.5, 1.5, 9.0]


def test_a_refit_forgets_names_and_classes():
    pd = pytest.importorskip("pandas")
    model = GaussianNB().fit(pd.DataFrame({"a": [1.0, 2.0]}), ["x", "y"])
    model.fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    assert model.classes_.tolist() == [0, 1]


def test_a_clone_is_unfitted():
    assert not hasattr(clone(GaussianNB(ddof=1).fit(PEOPLE, AGE)), "classes_")


def test_float32_data_gives_float32_answers_from_float64_statistics():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X.astype(np.float32), y)
    exact = GaussianNB().fit(X.astype(np.float32).astype(np.float64), y)
    assert model.theta_.dtype == model.var_.dtype == model.class_prior_.dtype == np.float32
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32
    assert model.predict_proba(X).dtype == np.float64
    assert model.summary_ == exact.summary_
