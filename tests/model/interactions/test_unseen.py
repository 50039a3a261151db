"""Interactions of rows as if they had not been seen, with a column missing: slow loops judge."""

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes
from naively.model.calibration import terms_of_sample
from naively.model.column_losses import column_losses
from naively.model.interactions import UnseenInteractions, canonical, quadratic
from naively.model.interactions.features import ClassScatter, by_class

RNG = np.random.default_rng(11)
N = 300
CODES = np.arange(N) % 3


def fitted(kinds=("canonical", "quadratic", "pairs")):
    frame = pd.DataFrame(RNG.normal(size=(N, 3)) + CODES[:, None] * [0.5, 0.0, 1.0])
    frame.columns = ["a", "b", "c"]
    frame["town"] = np.array(["Ulm", "Bonn"])[(frame["a"] * frame["b"] > 0).astype(int)]
    frame.loc[::11, "b"] = np.nan
    frame.loc[::13, "town"] = None
    y = np.where((frame["b"] > 0) ^ (frame["town"] == "Ulm"), CODES % 2, 2)
    model = NaiveBayes(interactions=kinds).fit(frame, y)
    return model.model_, model.summary_.sample


def centred(terms, weight):
    return (terms - terms.mean()) * weight


def test_a_student_without_a_row_and_a_cell_is_that_of_the_other_rows():
    values = RNG.normal(size=(N, 4)) + CODES[:, None] * [0.5, 0.0, 1.0, 0.2]
    weight = np.where(np.arange(N) % 5 == 0, 2.5, 1.0)
    given = quadratic.parameters(ClassScatter.of(values, by_class(CODES, weight, 3)))
    found = quadratic.honest_terms(values, CODES, weight, given, without_each=True)
    p, nu = 4, 4.0 * 6
    inverse = [factor.T @ factor for factor in given.factor]
    B = [np.linalg.inv(one) for one in inverse]
    for i in range(0, N, 7):
        for j in range(4):
            x = values[i].copy()
            x[j] = 0.0
            for k in range(3):
                N_k, M, B_k = given.weight[k], given.mean[k], B[k]
                if k == CODES[i]:  # take one of the row's weight out, by the definition
                    away = values[i] - M
                    B_k = B_k - np.outer(away, away) * N_k / (N_k - 1)
                    M = M - away / (N_k - 1)
                    N_k = N_k - 1
                q = (x - M) @ np.linalg.solve(B_k, x - M)
                m = N_k + nu
                term = -0.5 * (np.linalg.slogdet(B_k)[1] - p * np.log(m))
                term -= 0.5 * (4 + p) * np.log1p(m * q / 4)
                assert found[i, k, j] == pytest.approx(term, abs=1e-9)


@pytest.mark.parametrize("kinds", [("canonical",), ("quadratic",), ("pairs",), None], ids=str)
def test_the_log_loss_is_that_of_the_terms_that_calibration_saw(kinds):
    kinds = kinds or ("canonical", "quadratic", "pairs")
    model, sample = fitted(kinds)
    together = model.interactions
    assert together is not None
    single = terms_of_sample(model.terms, sample, 3)
    weight = np.concatenate([term.weight for term in model.terms], axis=1)
    joint = model.constant + np.einsum(
        "nkt,kt->nk", single - single.mean(axis=1, keepdims=True), weight
    )
    joint += UnseenInteractions(together, sample, model.schema, 3).joint(slice(0, N))
    own = joint[np.arange(N), sample.codes]
    expected = np.average(np.logaddexp.reduce(joint, axis=1) - own, weights=sample.weight)
    assert column_losses(model, sample).loss == pytest.approx(expected, abs=1e-12)


def test_directions_without_a_cell_are_those_that_leave_the_whole_row_out():
    model, sample = fitted(("canonical",))
    together = model.interactions
    found = UnseenInteractions(together, sample, model.schema, 3)
    given, f = together.canonical, together.features.values(sample.numbers, sample.categories)
    rows = sample.codes, sample.weight, given.scatter, given.W
    without = canonical.DirectionsWithoutEach(f, *rows)
    weight = np.concatenate([term.weight for term in given.terms], axis=1)
    each = found.without_each(slice(0, N))
    for j in range(4):
        numbers, codes = sample.numbers.copy(), sample.categories.copy()
        if j < 3:
            numbers[:, j] = np.nan
        else:
            codes[:] = -1
        terms = without.terms(given.terms, together.features.values(numbers, codes))
        for i in range(0, N, 9):
            expected = np.sum(
                [centred(terms[i, :, t], weight[:, t]) for t in range(terms.shape[2])], axis=0
            )
            np.testing.assert_allclose(each[i, :, j], expected, rtol=0, atol=1e-9)


def test_a_block_of_rows_is_judged_as_among_all_rows():
    model, sample = fitted()
    found = UnseenInteractions(model.interactions, sample, model.schema, 3)
    whole, each = found.joint(slice(0, N)), found.without_each(slice(0, N))
    for rows in (slice(0, 7), slice(7, 8), slice(8, N)):
        np.testing.assert_allclose(found.joint(rows), whole[rows], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.without_each(rows), each[rows], rtol=0, atol=1e-12)


def test_pairs_of_a_missing_column_add_nothing():
    model, sample = fitted(("pairs",))
    together, schema = model.interactions, model.schema
    found = UnseenInteractions(together, sample, schema, 3)
    pairs = [one["columns"] for one in together.table(schema, schema.names)]
    assert pairs
    for j, name in enumerate(schema.names):
        if all(name in pair for pair in pairs):
            assert not found.without_each(slice(0, N))[:, :, j].any()
        if not any(name in pair for pair in pairs):
            each = found.without_each(slice(0, N))[:, :, j]
            np.testing.assert_array_equal(each, found.joint(slice(0, N)))
