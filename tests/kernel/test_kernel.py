"""The kernel against its slow twins: what it reads, what it sums, what it scores."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.special

from naively import _kernel
from naively.data.functions import gammaln
from tests import oracles

EPS = np.finfo(float).eps
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = ["bool", *INTEGERS, "float32", "float64"]


def numbers(dtype, shape, seed=0):
    """Numbers of a dtype, its extremes among them."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return (100 + 10 * rng.standard_normal(shape)).astype(dtype)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    info = np.iinfo(dtype)
    values = rng.integers(max(info.min, -90), 91, size=shape).astype(dtype)
    values.flat[:: max(1, values.size // 3)] = info.max
    values.flat[1 :: max(1, values.size // 3)] = info.min
    return values


def codes_for(n_rows, n_classes, seed=1):
    return np.random.default_rng(seed).integers(n_classes, size=n_rows).astype(np.int32)


def summarize(X, codes, n_classes, weights=None):
    n_columns = len(X) if isinstance(X, list) else X.shape[1]
    class_weight, values = np.zeros(n_classes), np.zeros((4, n_classes, n_columns))
    assert _kernel.summarize(X, codes, weights, class_weight, values)
    return class_weight, values


def assert_exact(values, exact, n):
    """A sum of n terms is off by n ulp at most; the squares lose at most a factor 32 on top.

    The terms are deviations from a shift at most sqrt(32) standard deviations from the mean.
    """
    weight, mean, m2 = np.moveaxis(np.array(exact, dtype=float), 2, 0)
    sd = np.sqrt(m2 / np.where(weight > 0, weight, 1))
    errors = [
        [errors_of(values[:, k, j], cell) for j, cell in enumerate(columns)]
        for k, columns in enumerate(exact)
    ]
    of_weight, of_mean, of_m2, of_both = np.abs(np.moveaxis(np.array(errors), 2, 0))
    assert (of_weight <= n * EPS * weight).all()
    assert (of_mean <= EPS * abs(mean) + 8 * n * EPS * sd).all()
    assert (of_m2 <= 32 * n * EPS * m2).all()
    assert (of_both <= EPS * EPS * abs(mean) + 8 * n * EPS * sd).all()


def errors_of(values, exact):
    """Return what weight, mean, m2 and the mean with its rest are off by, subtracted exactly."""
    weight, mean, m2, rest = map(Fraction, values.tolist())
    of_mean = mean - exact.mean
    errors = weight - exact.weight, of_mean, m2 - exact.m2, of_mean + rest
    return [float(error) for error in errors]


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every third column": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "rows backwards": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "columns backwards": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "both backwards": lambda X: np.asfortranarray(X[::-1, ::-1])[::-1, ::-1],
    "inside a wider array": lambda X: np.pad(X, ((1, 1), (3, 2)), mode="edge")[1:-1, 3:-2],
    "a list of columns": lambda X: list(np.ascontiguousarray(X.T)),
    "a list of strided columns": lambda X: [X[:, j] for j in range(X.shape[1])],
    "not to be written": lambda X: np.broadcast_to(X, X.shape),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_summarized_as_the_doubles_it_holds(dtype):
    X, codes = numbers(dtype, (65, 9)), codes_for(65, 3)
    _, values = summarize(X, codes, 3)
    assert_exact(values, oracles.moments(X.astype(float), codes, 3), 65)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_layout_does_not_change_a_bit_of_the_sums(dtype, layout):
    X, codes = numbers(dtype, (131, 19)), codes_for(131, 3)
    _, expected = summarize(X.astype(float), codes, 3)
    _, values = summarize(LAYOUTS[layout](X), codes, 3)
    assert np.array_equal(values, expected)


MANY = 600  # classes, whose sums do not fit the cache


@pytest.mark.parametrize("missing", [0.0, 0.1], ids=["complete", "some NaN"])
@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_classes_are_summed_class_by_class_to_the_same_bits(dtype, weighted, missing):
    rng = np.random.default_rng(10)
    X, codes = numbers(dtype, (3000, 37)), codes_for(3000, MANY)
    X[rng.random(X.shape) < missing] = np.nan
    X[codes == 5] *= np.where(np.arange(37) % 2, 1, 1e6)  # its first row may be an outlier
    weights = np.where(rng.random(3000) < 0.2, 0.0, rng.uniform(0.1, 9, 3000)) if weighted else None
    class_weight, values = summarize(X, codes, MANY, weights)
    for layout in ("columns", "a list of columns", "columns backwards"):
        other_weight, other = summarize(LAYOUTS[layout](X), codes, MANY, weights)
        assert np.array_equal(other, values)
        assert np.array_equal(other_weight, class_weight)
    assert_exact(values, oracles.moments(X, codes, MANY, weights), 3000)


def test_infinity_is_reported_among_many_classes():
    X, codes = numbers("float64", (3000, 37)), codes_for(3000, MANY)
    X[1234, 36] = np.inf
    assert not _kernel.summarize(X, codes, None, np.zeros(MANY), np.zeros((4, MANY, 37)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_repeated_by_a_zero_stride_is_read_again_and_again(dtype):
    X, codes = np.broadcast_to(numbers(dtype, (1, 9)), (70, 9)), codes_for(70, 2)
    _, values = summarize(X, codes, 2)
    assert np.array_equal(values[1], X[:2].astype(float))
    assert not values[2].any()


def test_columns_of_different_dtypes_stand_side_by_side():
    columns = [numbers(dtype, 100, seed) for seed, dtype in enumerate(DTYPES * 2)]
    codes = codes_for(100, 3)
    _, values = summarize(columns, codes, 3)
    _, expected = summarize(np.array([c.astype(float) for c in columns]).T.copy(), codes, 3)
    assert np.array_equal(values, expected)


@pytest.mark.parametrize("outside", [np.nan, np.inf, 1e300], ids=["missing", "infinite", "huge"])
def test_what_lies_outside_the_view_is_never_seen(outside):
    wide, codes = np.full((50, 24), outside), codes_for(50, 2)
    wide[:, :9] = numbers("float64", (50, 9))
    assert np.array_equal(
        summarize(wide[:, :9], codes, 2)[1], summarize(wide[:, :9].copy(), codes, 2)[1]
    )


SHAPES = [(rows, 3, 2) for rows in (1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 3000)]
SHAPES += [(33, columns, 2) for columns in (1, 7, 8, 9, 63, 64, 65)]
SHAPES += [(40, 1, 1), (3, 8209, 1), (500, 137, 200), (2000, 2, 300)]


@pytest.mark.parametrize(
    ("rows", "columns", "classes"),
    SHAPES,
    ids=[f"{n} rows {p} columns {k} classes" for n, p, k in SHAPES],
)
def test_any_number_of_rows_columns_and_classes_is_summarized(rows, columns, classes):
    X, codes = numbers("float64", (rows, columns)), codes_for(rows, classes)
    class_weight, values = summarize(X, codes, classes)
    assert_exact(values, oracles.moments(X, codes, classes), rows)
    assert np.array_equal(class_weight, np.bincount(codes, minlength=classes))


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.9], ids=["complete", "some NaN", "mostly NaN"])
@pytest.mark.parametrize("layout", ["rows", "columns", "a list of columns"])
def test_weights_count_and_missing_cells_do_not(missing, layout):
    rng = np.random.default_rng(2)
    X, codes = numbers("float64", (200, 9)), codes_for(200, 3)
    X[rng.random(X.shape) < missing] = np.nan
    weights = np.where(rng.random(200) < 0.2, 0.0, 10.0 ** rng.uniform(-3, 3, 200))
    _, values = summarize(LAYOUTS[layout](X), codes, 3, weights)
    assert_exact(values, oracles.moments(X, codes, 3, weights), 200)


def test_missing_cells_are_skipped_in_rows_without_weights():
    X, codes = numbers("float64", (3000, 3)), codes_for(3000, 3)
    X[::3, 0] = X[1200:2500, 1] = X[:, 2] = np.nan
    _, values = summarize(X, codes, 3)
    assert_exact(values, oracles.moments(X, codes, 3), 3000)


@pytest.mark.parametrize("weight", [1.0, 1e-20], ids=["like others", "next to none"])
def test_an_outlier_in_the_first_row_costs_no_digits(weight):
    X, codes = np.random.default_rng(3).standard_normal((500, 2)), np.zeros(500, np.int32)
    X[0] = 1e8
    weights = np.ones(500)
    weights[0] = weight
    _, values = summarize(X, codes, 1, weights)
    assert_exact(values, oracles.moments(X, codes, 1, weights), 500)


def test_twenty_missing_first_cells_far_from_zero_cost_no_digits():
    X, codes = 1e8 + np.random.default_rng(4).standard_normal((400, 2)), codes_for(400, 2)
    for k in range(2):
        X[np.flatnonzero(codes == k)[:20], 0] = np.nan
    _, values = summarize(X, codes, 2)
    assert_exact(values, oracles.moments(X, codes, 2), 400)


@pytest.mark.parametrize("at", [0, 77, 199], ids=["first", "middle", "last"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_reported_by_fit_and_by_scoring(at, value):
    X, codes = numbers("float64", (200, 9)), np.zeros(200, np.int32)
    X[at, 4] = value
    assert not _kernel.summarize(X, codes, None, np.zeros(1), np.zeros((4, 1, 9)))
    model = oracles.gaussian_model(np.zeros((1, 9)), np.ones((1, 9)), np.zeros(1))
    assert not model.labels(X, np.empty(200, np.int64))
    assert model.label_one(X[at]) == -1


def test_a_row_without_weight_may_hold_anything():
    X, codes, weights = numbers("float64", (50, 3)), codes_for(50, 2), np.ones(50)
    rest = np.delete(np.arange(50), 7)
    X[7], weights[7] = [np.inf, np.nan, 1e300], 0.0
    _, values = summarize(X, codes, 2, weights)
    assert np.array_equal(values, summarize(X[rest], codes[rest], 2, weights[rest])[1])


@pytest.mark.parametrize("code", [-1, 2], ids=["negative", "too large"])
def test_a_code_without_a_class_is_refused(code):
    codes = np.array([0, code, 1], np.int32)
    with pytest.raises(ValueError, match="a code has no class"):
        _kernel.summarize(np.ones((3, 1)), codes, None, np.zeros(2), np.zeros((4, 2, 1)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_labels_become_codes_in_their_order(dtype):
    info = np.iinfo(dtype)
    for low, high in [(info.min, info.min + 100), (info.max - 100, info.max), (1, 9)]:
        labels = np.random.default_rng(5).integers(low, high, 300, dtype, endpoint=True)
        codes = np.empty(300, np.int32)
        classes, expected = np.unique(labels, return_inverse=True)
        assert _kernel.encode(labels, codes) == classes.tolist()
        assert np.array_equal(codes, expected)


@pytest.mark.parametrize("least", [0, -5, 2**40])
def test_labels_with_gaps_and_late_ones_become_codes_in_their_order(least):
    few = least + np.random.default_rng(5).choice([3, 4, 9, 63], 5000)
    late, far = few.copy(), few.copy()
    late[4000], far[4500] = least, least + 1000
    for labels in (few, late, far):
        codes = np.empty(labels.size, np.int32)
        classes, expected = np.unique(labels, return_inverse=True)
        assert _kernel.encode(labels, codes) == classes.tolist()
        assert np.array_equal(codes, expected)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32"])
def test_labels_too_far_apart_for_a_table_are_left_to_sorting(dtype):
    info = np.iinfo(dtype)
    labels = np.array([info.max, info.min, info.max], dtype)
    assert _kernel.encode(labels, np.empty(3, np.int32)) == []


def test_a_single_label_may_be_a_broadcast_one():
    codes = np.empty(1, np.int32)
    assert _kernel.encode(np.broadcast_to(np.array([7]), 1), codes) == [7]
    assert codes.tolist() == [0]


def model_for(n_classes, n_columns, seed=6):
    """Return means, variances over eight powers of ten, and unequal log-priors."""
    rng = np.random.default_rng(seed)
    mean = 5 * rng.standard_normal((n_classes, n_columns))
    variance = 10.0 ** rng.uniform(-4, 4, (n_classes, n_columns))
    return mean, variance, np.log(rng.dirichlet(np.ones(n_classes)))


def rows_for(n_rows, n_columns, missing, seed=7):
    rng = np.random.default_rng(seed)
    X = 5 * rng.standard_normal((n_rows, n_columns))
    X[rng.random(X.shape) < missing] = np.nan
    return X


def values_of(model, want, X, n_classes, dtype=np.float64):
    n_rows = len(X[0]) if isinstance(X, list) else X.shape[0]
    out = np.empty((n_rows, 1 if want == "evidence" else n_classes), dtype)
    assert getattr(model, want)(X, out)
    return out


def bounds(X, parameters):
    """Each of the J terms of a joint is off by a few ulp of itself, their sum by J ulp more."""
    return [(X.shape[1] + 8) * EPS * np.array(oracles.roughness(x, *parameters)) for x in X]


SIZES = [(classes, 5) for classes in (*range(1, 12), 100)]
SIZES += [(3, columns) for columns in (1, 63, 64, 65, 130)]


@pytest.mark.parametrize("missing", [0.0, 0.3], ids=["complete", "some NaN"])
@pytest.mark.parametrize(
    ("classes", "columns"), SIZES, ids=[f"{k} classes {p} columns" for k, p in SIZES]
)
def test_scores_agree_with_fifty_digits(classes, columns, missing):
    parameters = model_for(classes, columns)
    model, X = oracles.gaussian_model(*parameters), rows_for(5, columns, missing)
    joint, log_proba, proba, evidence = (
        values_of(model, want, X, classes) for want in ("joint", "log_proba", "proba", "evidence")
    )
    for i, bound in enumerate(bounds(X, parameters)):
        exact = oracles.joint(X[i], *parameters)
        worst = bound.max()
        assert (np.abs(joint[i] - np.array(exact, float)) <= bound).all()
        assert abs(evidence[i, 0] - float(oracles.evidence(exact))) <= worst
        assert (np.abs(log_proba[i] - np.array(oracles.log_proba(exact), float)) <= 3 * worst).all()
        p = np.array(oracles.proba(exact), float)  # e^(v + e) is e^v times 1 + e, nearly
        assert (np.abs(proba[i] - p) <= (4 * worst + 8 * EPS) * p + 1e-300).all()


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 6, 11, 100])
def test_the_label_is_the_first_of_the_largest_joints(classes):
    model, X = oracles.gaussian_model(*model_for(classes, 4)), rows_for(100, 4, 0.2)
    labels = np.empty(100, np.int64)
    assert model.labels(X, labels)
    assert np.array_equal(labels, values_of(model, "joint", X, classes).argmax(axis=1))
    assert [model.label_one(x) for x in X] == labels.tolist()


def test_a_row_is_labelled_alike_alone_and_in_any_company():
    model, X = oracles.gaussian_model(*model_for(7, 20)), rows_for(600, 20, 0.001)
    X[::50] *= 10.0 ** np.random.default_rng(8).uniform(10, 300, (12, 1))
    labels = np.empty(600, np.int64)
    assert model.labels(X, labels)
    assert [model.label_one(x) for x in X] == labels.tolist()


@pytest.mark.parametrize("classes", [2, 5, 7])
def test_ties_go_to_the_first_class(classes):
    model = oracles.gaussian_model(np.ones((classes, 2)), np.ones((classes, 2)), np.zeros(classes))
    assert model.label_one(np.array([3.0, np.nan])) == 0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_layout_does_not_change_a_bit_of_the_scores(dtype, layout):
    model, X = oracles.gaussian_model(*model_for(3, 70)), numbers(dtype, (45, 70))
    expected = values_of(model, "joint", X.astype(float), 3)
    assert np.array_equal(values_of(model, "joint", LAYOUTS[layout](X), 3), expected)


@pytest.mark.parametrize("want", ["joint", "log_proba", "proba", "evidence"])
@pytest.mark.parametrize("missing", [0.0, 0.02], ids=["complete", "few NaN"])
def test_a_row_scores_alike_alone_and_in_any_company(want, missing):
    model, X = oracles.gaussian_model(*model_for(7, 20)), rows_for(150, 20, missing)
    together = values_of(model, want, X, 7)
    alone = np.concatenate([values_of(model, want, x[np.newaxis], 7) for x in X])
    order = np.random.default_rng(8).permutation(150)
    assert np.array_equal(alone, together)
    assert np.array_equal(values_of(model, want, X[order], 7), together[order])


@pytest.mark.parametrize("want", ["joint", "log_proba", "proba", "evidence"])
def test_a_short_output_is_the_long_one_rounded(want):
    model, X = oracles.gaussian_model(*model_for(6, 4)), rows_for(50, 4, 0.1)
    short = values_of(model, want, X, 6, np.float32)
    assert np.array_equal(short, values_of(model, want, X, 6).astype(np.float32))


@pytest.mark.parametrize("exponents", [(0, 1), (0, 40), (600, 707)], ids=["near", "mid", "far"])
def test_probabilities_are_within_three_ulp(exponents):
    """One each for the exponential (1.1), the sum and the quotient: no column can err."""
    nothing, row = np.empty((2, 0)), np.empty((1, 0))
    for t in np.random.default_rng(9).uniform(*exponents, 300):
        log_prior = np.array([0.0, -t])
        model = oracles.gaussian_model(nothing, nothing, log_prior)
        got = values_of(model, "proba", row, 2)[0]
        for p, exact in zip(got, oracles.proba(oracles.joint([], [], [], log_prior)), strict=True):
            assert abs(Fraction(float(p)) - Fraction(exact)) <= 3 * Fraction(float(np.spacing(p)))


def test_log_gamma_is_that_of_scipy():
    x = np.concatenate([10.0 ** np.linspace(-300, 300, 601), np.arange(1.0, 171), [-0.5, 0.0]])
    np.testing.assert_allclose(gammaln(x), scipy.special.gammaln(x), rtol=4e-15, atol=4e-16)
    assert gammaln(np.empty((0, 3))).shape == (0, 3)
