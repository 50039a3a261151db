"""Terms of a score against plain loops and fifty digits, and what is read off their sum."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from naively import _kernel
from tests import oracles
from tests.kernel.test_kernel import DTYPES, LAYOUTS, numbers
from tests.kernel.test_tally import codes_of, offsets_of

EPS = np.finfo(float).eps
LARGEST = np.finfo(float).max
LIMIT = Decimal("1e300")


def rows_of(n_rows, n_columns, missing=0.2, seed=0):
    rng = np.random.default_rng(seed)
    X = 3 * rng.standard_normal((n_rows, n_columns))
    X[rng.random(X.shape) < missing] = np.nan
    return X


def parameters_of(kind, n_columns, n_classes, seed=1):
    """A, B, mu and s as they are needed, over some powers of ten."""
    rng = np.random.default_rng(seed)
    shape = (n_columns, n_classes)
    A, mu = rng.normal(size=shape), 3 * rng.normal(size=shape)
    B, s = 10.0 ** rng.uniform(-3, 3, shape), 10.0 ** rng.uniform(-3, 1, shape)
    return {"students": (A, B, mu, s), "quadratics": (A, B, mu), "lines": (A, mu, -2.0)}[kind]


def log_of_one_plus(u):
    """Thirty digits of it, at least: 1 + u alone would lose the small u."""
    return u - u * u / 2 + u**3 / 3 if u < Decimal("1e-15") else (1 + u).ln()


def student(x, A, B, mu, s):
    with localcontext(oracles.FIFTY):
        z = (Decimal(x) - Decimal(mu)) * Decimal(s)
        return Decimal(A), -Decimal(B) * log_of_one_plus(z * z)


def quadratic(x, A, B, mu):
    with localcontext(oracles.FIFTY):
        return Decimal(A), -min(Decimal(B) * (Decimal(x) - Decimal(mu)) ** 2, LIMIT)


def line(x, A, B, lowest):
    with localcontext(oracles.FIFTY):
        bounded = max(min(Decimal(x), LIMIT), -LIMIT)
        return (Decimal(A), Decimal(B) * bounded) if x >= lowest else (Decimal(0), Decimal(0))


KINDS = {"students": student, "quadratics": quadratic, "lines": line}


def add(kind, X, parameters, n_classes):
    n_rows = len(X[0]) if isinstance(X, list) else X.shape[0]
    joint = np.zeros((n_rows, n_classes))
    assert getattr(_kernel, f"add_{kind}")(X, *parameters, joint)
    return joint


def assert_exact(kind, joint, X, parameters):
    """A part is off by 8 ulp of itself at most (z has 2, its square 5, the logarithm 2 more), and
    where x and mu nearly cancel not even by that; a sum of J terms by J ulp of their sizes.
    """
    for (i, k), value in np.ndenumerate(joint):
        parts = [
            KINDS[kind](float(x), *(p if np.isscalar(p) else float(p[j, k]) for p in parameters))
            for j, x in enumerate(X[i])
            if not math.isnan(x)
        ]
        exact = sum(sum(part) for part in parts)
        size = sum(abs(a) + abs(b) for a, b in parts)
        assert abs(Decimal(float(value)) - exact) <= Decimal(EPS) * (len(parts) + 8) * size


@pytest.mark.parametrize("classes", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_terms_agree_with_fifty_digits(kind, classes):
    X, parameters = rows_of(9, 5), parameters_of(kind, 5, classes)
    assert_exact(kind, add(kind, X, parameters, classes), X, parameters)


@pytest.mark.parametrize("exponent", [-140, -20, -8, -3, -1, 0, 1, 20, 149, 200])
def test_the_logarithm_keeps_its_digits_at_any_size(exponent):
    z = 10.0**exponent * np.random.default_rng(2).uniform(1, 10, 500)
    nothing, one = np.zeros((1, 1)), np.ones((1, 1))
    joint = add("students", z[:, np.newaxis], (nothing, one, nothing, one), 1)
    with localcontext(oracles.FIFTY):
        exact = [log_of_one_plus(Decimal(x) ** 2) for x in z.tolist()]
        errors = [
            abs(Decimal(-v) / e - 1) for v, e in zip(joint[:, 0].tolist(), exact, strict=True)
        ]
    assert max(errors) <= 3 * EPS  # the logarithm's own, and the square's


HUGE = [1e80, -1e120, 1e150, -1e155, 1e200, LARGEST, -LARGEST]


@pytest.mark.parametrize("s", [1e-300, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("mu", [0.0, 1.0, -1e154, LARGEST], ids=str)
def test_students_are_finite_for_every_finite_number(mu, s):
    X = np.array([HUGE]).T
    with localcontext(oracles.FIFTY):
        z = [abs(Decimal(x) - Decimal(mu)) * Decimal(s) for x in HUGE]
        exact = [float(log_of_one_plus(min(v, Decimal(LARGEST)) ** 2)) for v in z]
    joint = add("students", X, tuple(np.array([[p]]) for p in (0.0, 1.0, mu, s)), 1)
    np.testing.assert_allclose(joint[:, 0], np.negative(exact), rtol=8 * EPS)


@pytest.mark.parametrize("B", [0.0, 1e-300, 1.0, 1e300])
def test_a_term_too_large_is_1e300(B):
    X = np.array([HUGE]).T
    parameters = tuple(np.array([[p]]) for p in (0.5, B, -1.0))
    joint = add("quadratics", X, parameters, 1)
    assert_exact("quadratics", joint, X, parameters)
    assert np.isfinite(joint).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_row_that_is_far_from_every_class_has_a_nearest_one(sign):
    X = np.array([[1e149, *HUGE[2:]]]).T
    A, mu = np.zeros((1, 3)), np.array([[0.0, -3.0, 5.0]])
    joint = add("quadratics", X, (A, sign * np.array([[0.5, 0.02, 0.1]]), mu), 3)
    assert np.isfinite(joint).all()
    assert (np.argsort(sign * joint, axis=1) == [0, 2, 1]).all()


def test_a_line_takes_every_finite_number():
    X, parameters = np.array([HUGE]).T, parameters_of("lines", 1, 3)
    joint = add("lines", X, parameters, 3)
    assert np.isfinite(joint).all()
    farthest = 1e300 / max(1.0, np.abs(parameters[1]).max())  # of all classes
    assert_exact("lines", joint, np.clip(X, -farthest, farthest), parameters)


def test_a_scale_stands_for_what_is_no_ordinary_number():
    """B of 1e-320 or 1e320 cannot be written; with s it can."""
    for s in (1e-160, 1e160):
        X, one = np.array([[-3.0, 0.0, 2.5, np.nan]]).T / s, np.ones((1, 1))
        joint = np.zeros((4, 1))
        assert _kernel.add_quadratics(X, 0 * one, one, 0 * one, joint, None, s * one)
        np.testing.assert_allclose(joint[:, 0], [-9.0, 0.0, -6.25, 0.0], rtol=8 * EPS)


@pytest.mark.parametrize("kind", KINDS)
def test_huge_numbers_do_not_change_a_bit_of_their_neighbours(kind):
    X, parameters = rows_of(100, 5), parameters_of(kind, 5, 3)
    expected = add(kind, X, parameters, 3)
    X[40, :] = HUGE[:5]
    rest = np.delete(np.arange(100), 40)
    assert np.array_equal(add(kind, X, parameters, 3)[rest], expected[rest])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_layout_does_not_change_a_bit_of_the_terms(kind, dtype, layout):
    X, parameters = numbers(dtype, (45, 70)), parameters_of(kind, 70, 3)
    expected = add(kind, X.astype(float), parameters, 3)
    assert np.array_equal(add(kind, LAYOUTS[layout](X), parameters, 3), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_scored_alike_alone_and_in_any_company(kind):
    X, parameters = rows_of(70, 20), parameters_of(kind, 20, 4)
    together = add(kind, X, parameters, 4)
    alone = np.concatenate([add(kind, x[np.newaxis], parameters, 4) for x in X])
    assert np.array_equal(alone, together)


def arrays_of(parameters):
    return [p for p in parameters if not np.isscalar(p)]


def columns_of(parameters, at):
    return tuple(p if np.isscalar(p) else p[at] for p in parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_unknown_adds_exactly_nothing(kind):
    X, parameters = rows_of(50, 6, 0.0), parameters_of(kind, 6, 3)
    X[7], X[8, 1:] = np.nan, np.nan
    for p in arrays_of(parameters):
        p[2], p[4, 1] = np.nan, np.nan
    start = np.random.default_rng(3).normal(size=(50, 3))
    joint = start.copy()
    assert getattr(_kernel, f"add_{kind}")(X, *parameters, joint)
    assert np.array_equal(joint[7], start[7])
    known = [columns_of(parameters, [0]), columns_of(parameters, [4])]
    first = add(kind, X[[8]][:, [0]], known[0], 3)
    assert np.array_equal(joint[8], start[8] + first[0])
    fourth = start.copy()
    assert getattr(_kernel, f"add_{kind}")(X[:, [4]], *known[1], fourth)
    assert np.array_equal(fourth[:, 1], start[:, 1])


def add_pieces(X, knots, values):
    n_rows = len(X[0]) if isinstance(X, list) else X.shape[0]
    joint = np.zeros((n_rows, values.shape[2]))
    assert _kernel.add_pieces(X, knots, values, joint)
    return joint


def piece_by_hand(x, knots, values):
    below = sum(knot < x for knot in knots)
    if below == 0 or below == len(knots):
        return values[max(below - 1, 0)]
    a, b = knots[below - 1], knots[below]
    t = (x / 2 - a / 2) / (b / 2 - a / 2)
    return (1 - t) * values[below - 1] + t * values[below]


def pieces_by_hand(X, knots, values):
    joint = np.zeros((X.shape[0], values.shape[2]))
    for (i, j), x in np.ndenumerate(X):
        if not np.isnan(x):
            joint[i] += piece_by_hand(x, knots[j].tolist(), values[j])
    return joint


def pieces_of(n_columns, n_knots, n_classes, seed=4):
    rng = np.random.default_rng(seed)
    knots = np.sort(rng.normal(size=(n_columns, n_knots)))
    knots[:, 1::4] = knots[:, 0 : n_knots - 1 : 4]
    return knots, rng.normal(size=(n_columns, n_knots, n_classes))


PIECES = [(m, 3) for m in (1, 2, 3, 8, 15, 31, 32, 63, 64, 65, 200)]
PIECES += [(16, k) for k in (1, 2, 4, 5, 8, 10, 16, 17, 33)]


@pytest.mark.parametrize(
    ("knots", "classes"), PIECES, ids=[f"{m} knots {k} classes" for m, k in PIECES]
)
def test_pieces_are_lines_between_their_knots(knots, classes):
    X, (at, values) = rows_of(90, 7) / 2, pieces_of(7, knots, classes)
    X[::3, 2] = at[2, np.arange(30) % knots]  # where a jump belongs to the first of its knots
    expected = pieces_by_hand(X, at, values)
    # Two roundings for each value and sum; none is above 4.
    np.testing.assert_allclose(add_pieces(X, at, values), expected, rtol=0, atol=7 * 8 * EPS * 4)


def test_pieces_go_through_their_knots_and_are_constant_outside():
    knots, values = np.array([[-1e308, 0.0, 0.1, 1e308]]), np.array([[[0.1], [0.2], [0.7], [0.3]]])
    X = np.array([[-LARGEST, -1e308, 0.0, 0.1, 1e308, LARGEST, -5e307, np.nan]]).T
    got = add_pieces(X, knots, values)[:, 0]
    assert np.array_equal(got, [0.1, 0.1, 0.2, 0.7, 0.3, 0.3, 0.5 * 0.1 + 0.5 * 0.2, 0.0])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_layout_does_not_change_a_bit_of_the_pieces(dtype, layout):
    X, (knots, values) = numbers(dtype, (45, 70)), pieces_of(70, 8, 3)
    knots = 100 * knots
    expected = add_pieces(X.astype(float), knots, values)
    assert np.array_equal(add_pieces(LAYOUTS[layout](X), knots, values), expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 33, 69], ids=["first", "middle", "last"])
@pytest.mark.parametrize("kind", [*KINDS, "pieces"])
def test_infinity_is_reported(kind, at, value):
    X = np.zeros((70, 3))
    X[at, 1] = value
    given = pieces_of(3, 4, 2) if kind == "pieces" else parameters_of(kind, 3, 2)
    assert not getattr(_kernel, f"add_{kind}")(X, *given, np.zeros((70, 2)))


def tables_by_hand(X, sizes, values):
    joint, offsets = np.zeros((X.shape[0], values.shape[1])), offsets_of(sizes)
    for (i, j), code in np.ndenumerate(X):
        if code >= 0:
            joint[i] += values[offsets[j] + int(code)]
    return joint


def add_tables(X, sizes, values):
    n_rows = len(X[0]) if isinstance(X, list) else X.shape[0]
    joint = np.zeros((n_rows, values.shape[1]))
    _kernel.add_tables(X, offsets_of(sizes), values, joint)
    return joint


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tables_are_read_by_codes_of_any_dtype_and_layout(dtype, layout):
    sizes = [2, 2, 2] if dtype == "bool" else [2, 1, 5]
    X, values = codes_of(dtype, (131, 3), sizes), np.random.default_rng(5).normal(size=(8, 3))
    values = values[: sum(sizes)]
    expected = tables_by_hand(X, sizes, values)
    assert np.array_equal(add_tables(LAYOUTS[layout](X), sizes, values), expected)


@pytest.mark.parametrize("rows", [0, 1, 64, 65])
@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 8, 10, 16, 17, 40])
def test_tables_have_any_number_of_classes(classes, rows):
    sizes = [1, 2, 3]
    X = codes_of("int32", (rows, 3), sizes)
    X[::2, 2] = 2  # the last line of the table
    values = np.random.default_rng(6).normal(size=(6, classes))
    assert np.array_equal(add_tables(X, sizes, values), tables_by_hand(X, sizes, values))


@pytest.mark.parametrize("columns", [0, 1, 100, 1000])
def test_tables_have_any_number_of_columns(columns):
    sizes = [2] * columns
    X, values = codes_of("int8", (20, columns), sizes), np.ones((2 * columns, 2))
    assert np.array_equal(add_tables(X, sizes, values), tables_by_hand(X, sizes, values))


def test_a_category_may_be_impossible():
    values = np.array([[-np.inf, -1.0], [-2.0, -np.inf]])
    got = add_tables(np.array([[0], [1], [-1]]), [2], values)
    assert np.array_equal(got, [[-np.inf, -1.0], [-2.0, -np.inf], [0.0, 0.0]])


def finish(joint, want, dtype=np.float64):
    per_row = 1 if want == "evidence" else joint.shape[1]
    out = np.empty((len(joint), per_row), dtype)
    if want == "labels":
        out = np.empty(len(joint), np.int64)
    _kernel.finish(joint, want, out)
    return out


def joints_of(n_rows, n_classes):
    rng = np.random.default_rng(7)
    joint = rng.normal(size=(n_rows, n_classes)) * 10.0 ** rng.uniform(-3, 4, (n_rows, 1))
    joint[::3, n_classes // 2] = joint[::3].max(axis=1)  # ties
    joint[1::5, 1:] = -np.inf
    return joint


@pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 100])
@pytest.mark.parametrize("classes", [1, 2, 3, 8, 9, 17])
def test_what_is_read_off_agrees_with_fifty_digits(classes, rows):
    joint = joints_of(rows, classes)
    labels, evidence = finish(joint, "labels"), finish(joint, "evidence")
    proba, log_proba = finish(joint, "proba"), finish(joint, "log_proba")
    assert np.array_equal(labels, joint.argmax(axis=1))
    for i, row in enumerate(joint.tolist()):
        exact = [Decimal(v) for v in row]
        bound = EPS * (classes + 4) * (1 + abs(max(row)))
        assert abs(evidence[i, 0] - float(oracles.evidence(exact))) <= bound
        p = np.array(oracles.proba(exact), float)
        # An exponential's argument is a difference of joints, which is rounded.
        slack = EPS * np.where(p > 0, np.abs(row), 0).max() + (classes + 8) * EPS
        assert (np.abs(proba[i] - p) <= slack * p + 1e-300).all()
        for got, want in zip(log_proba[i], oracles.log_proba(exact), strict=True):
            assert got == float(want) or abs(got - float(want)) <= bound + EPS * abs(got)


@pytest.mark.parametrize("want", ["log_proba", "proba", "evidence"])
def test_a_short_output_is_the_long_one_rounded(want):
    joint = joints_of(50, 6)
    short = finish(joint, want, np.float32)
    assert np.array_equal(short, finish(joint, want).astype(np.float32))


@pytest.mark.parametrize("want", ["labels", "log_proba", "proba", "evidence"])
def test_scores_are_read_off_as_the_gaussian_model_does(want):
    log_prior = joints_of(1, 5)[0]
    nothing, out = np.empty((5, 0)), finish(log_prior[np.newaxis], want)
    expected = np.empty_like(out)
    assert getattr(oracles.gaussian_model(nothing, nothing, log_prior), want)(
        np.empty((1, 0)), expected
    )
    assert np.array_equal(out, expected)


def test_a_row_without_a_possible_class_has_no_probabilities():
    joint = np.full((2, 3), -np.inf)
    joint[1, 2] = 0.0
    assert np.array_equal(finish(joint, "labels"), [0, 2])
    assert np.array_equal(finish(joint, "evidence"), [[-np.inf], [0.0]])
    assert np.array_equal(finish(joint, "proba"), [[np.nan] * 3, [0, 0, 1]], equal_nan=True)
    assert np.isnan(finish(joint, "log_proba")[0]).all()


WRONG = {
    "another want": ("joint", np.empty((2, 3))),
    "too short": ("proba", np.empty((2, 2))),
    "integers for numbers": ("proba", np.empty((2, 3), np.int64)),
    "numbers for labels": ("labels", np.empty(2)),
}


@pytest.mark.parametrize(("want", "out"), WRONG.values(), ids=WRONG)
def test_an_output_that_does_not_fit_is_refused(want, out):
    with pytest.raises(ValueError, match=r"must be|want|place"):
        _kernel.finish(np.zeros((2, 3)), want, out)


def test_parameters_that_do_not_fit_are_refused():
    X, joint, p = np.zeros((5, 3)), np.zeros((5, 2)), np.zeros((3, 2))
    with pytest.raises(ValueError, match="by column and class"):
        _kernel.add_students(X, p, p, p, np.zeros((2, 3)), joint)
    with pytest.raises(ValueError, match="by column, knot and class"):
        _kernel.add_pieces(X, np.zeros((3, 4)), np.zeros((3, 3, 2)), joint)
    with pytest.raises(ValueError, match="some knots"):
        _kernel.add_pieces(X, np.zeros((3, 0)), np.zeros((3, 0, 2)), joint)


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("kind", ["students", "quadratics"])
def test_weighed_terms_are_centred_over_the_classes(kind, classes):
    X, parameters = rows_of(40, 6), parameters_of(kind, 6, classes)
    weights = np.random.default_rng(2).normal(size=(6, classes))
    joint = np.zeros((40, classes))
    assert getattr(_kernel, f"add_{kind}")(X, *parameters, joint, weights)
    expected = np.zeros_like(joint)
    for j in range(6):
        terms = add(kind, X[:, j : j + 1], [p[j : j + 1] for p in parameters], classes)
        expected += weights[j] * (terms - terms.mean(axis=1, keepdims=True))
    size = np.abs(expected).max()
    np.testing.assert_allclose(joint, expected, rtol=1e-12, atol=1e-13 * size)


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("rows", [4, 6])
def test_another_number_of_rows_is_refused(rows, columns):
    X, joint, p = np.zeros((rows, columns)), np.zeros((5, 2)), np.zeros((columns, 2))
    with pytest.raises(ValueError, match="equally long"):
        _kernel.add_quadratics(X, p, p, p, joint)
    with pytest.raises(ValueError, match="equally long"):
        _kernel.add_pieces(X, np.zeros((columns, 4)), np.zeros((columns, 4, 2)), joint)
    with pytest.raises(ValueError, match="equally long"):
        add_tables_to(X, joint)


@pytest.mark.parametrize("X", [[], np.zeros((5, 0))], ids=["a list", "an array"])
def test_no_columns_add_nothing(X):
    joint, p = np.ones((5, 2)), np.zeros((0, 2))
    assert _kernel.add_students(X, p, p, p, p, joint)
    assert _kernel.add_quadratics(X, p, p, p, joint)
    assert _kernel.add_lines(X, p, p, 0.0, joint)
    assert _kernel.add_pieces(X, np.zeros((0, 4)), np.zeros((0, 4, 2)), joint)
    add_tables_to(X, joint)
    assert (joint == 1).all()


def add_tables_to(X, joint):
    columns = 0 if isinstance(X, list) else X.shape[1]
    _kernel.add_tables(X, np.zeros(columns + 1, np.int64), np.zeros((0, 2)), joint)
