"""Scores of many candidates, added up by the kernel, against loops over rows and candidates."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from naively import _kernel

rng = np.random.default_rng(2)


def slow_scores(distance, offset, codes, weights, score):
    n_classes, n_rows, n_candidates = distance.shape
    found = []
    for c in range(n_candidates):
        parts = []
        for i in range(n_rows):
            joint = [offset[k, c] - distance[k, i, c] for k in range(n_classes)]
            best, y = max(joint), int(codes[i])
            power = [math.exp(one - best) for one in joint]
            p = [one / math.fsum(power) for one in power]
            if score == "log_loss":
                part = math.log(math.fsum(power)) - (joint[y] - best)
            elif score == "accuracy":
                part = float(joint.index(best) == y)  # ties go to the first class
            else:
                part = math.fsum((one - (k == y)) ** 2 for k, one in enumerate(p))
            parts.append(part * (1.0 if weights is None else weights[i]))
        found.append(math.fsum(parts))
    return found


@pytest.mark.parametrize("score", ["log_loss", "accuracy", "brier"])
@pytest.mark.parametrize("shape", [(1, 3, 2), (2, 5, 1), (3, 40, 9), (11, 7, 17)])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["rows", "weighted rows"])
def test_scores_are_those_of_loops(score, shape, is_weighted):
    distance = np.round(rng.gamma(1.0, 4.0, size=shape))  # of which some tie
    distance[:, :1] += 2000.0  # where every density underflows
    offset = np.round(rng.normal(size=shape[::2]))
    codes = rng.integers(shape[0], size=shape[1]).astype(np.int32)
    weights = rng.random(shape[1]) if is_weighted else None
    total = np.full(shape[2], 5.0)
    _kernel.add_scores(distance, offset, codes, weights, score, total)
    expected = slow_scores(distance, offset, codes, weights, score)
    assert_allclose(total - 5.0, expected, rtol=1e-12, atol=1e-12)


def test_a_class_without_a_prior_costs_infinity():
    offset, codes = np.array([[0.0], [-np.inf]]), np.array([0, 1], np.int32)
    for score, expected in {"log_loss": np.inf, "accuracy": 1.0, "brier": 2.0}.items():
        total = np.zeros(1)
        _kernel.add_scores(np.zeros((2, 2, 1)), offset, codes, None, score, total)
        assert total[0] == expected


def test_shapes_that_do_not_fit_are_refused():
    given = np.zeros((2, 3, 4)), np.zeros((2, 4)), np.zeros(3, np.int32), None
    total = np.zeros(4)
    wrong = {
        "by class and candidate": (given[0], np.zeros((2, 3)), *given[2:], "brier", total),
        "equally long": (*given[:2], np.zeros(2, np.int32), None, "brier", total),
        "one total per candidate": (*given, "brier", np.zeros(3)),
        "log_loss, accuracy or brier": (*given, "speed", total),
        "a code has no class": (*given[:2], np.full(3, 2, np.int32), None, "brier", total),
    }
    for message, arguments in wrong.items():
        with pytest.raises(ValueError, match=message):
            _kernel.add_scores(*arguments)
