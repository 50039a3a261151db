"""A family of each sort is one class here and one line of the registry: no module knows it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naively
from naively import NaiveBayes
from naively.families import FAMILIES, Family
from naively.families.family import moments_without
from naively.families.forms import Lines
from naively.families.function_family import FunctionFamily
from naively.statistics import ClassWeight, Sample

RNG = np.random.default_rng(0)
Y = RNG.integers(2, size=400)
X = RNG.gamma(2.0, 1.0 + Y)


class Rate(NamedTuple):
    """The rate by class and column, and the mean of the column."""

    rate: Any
    prior: Any


@dataclass(frozen=True)
class Waiting(Family):
    """Waiting times: log rate - rate x. It reads moments."""

    name = "waiting"
    kind = "number"
    oracle = "expon"
    support = (0, np.inf)

    def parameters(self, statistic, prior=None):
        if prior is None:
            mean = statistic.pooled().mean
            prior = np.where(mean > 0, mean, np.nan)
        return Rate(self._rate(statistic.weight, statistic.mean, prior), prior)

    def log_density(self, x, parameters):
        return self._log(x[:, np.newaxis, :], parameters.rate)

    def left_out(self, x, codes, weights, statistic, parameters):
        weight, mean, _ = moments_without(x, codes, weights, statistic)
        return self._log(x, self._rate(weight, mean, parameters.prior))

    def form(self, parameters, weight):
        return Lines.of(np.log(parameters.rate), -parameters.rate, weight, lowest=0.0)

    def _rate(self, weight, mean, prior):
        return (weight + 1) / (np.maximum(weight * mean, 0.0) + prior)

    def _log(self, x, rate):
        far = np.minimum(np.where(x < 0, np.nan, x), 1e300)
        return np.nan_to_num(np.log(rate) - rate * far, nan=0.0)


@dataclass(frozen=True)
class Powers(FunctionFamily):
    """A line of the logarithm, whose slope falls with its mean. It reads functions."""

    name = "powers"
    support = (5e-324, np.inf)
    cells = "above 0"
    parts = ("log",)

    def line(self, means):
        a = 1 / np.maximum(means[..., 0, :] + 10.0, 1e-6)
        return np.log(a) - 10 * a, -a[..., np.newaxis, :]


class Medians(NamedTuple):
    x: Any
    codes: Any
    n_classes: int


class Laplaces(NamedTuple):
    median: Any
    width: Any
    prior: None = None


@dataclass(frozen=True)
class Laplace(Family):
    """A Laplace distribution at the median. It reads what no other family does, in its own way."""

    width: float = 1.0

    name = "laplace"
    reads = Sample

    def statistic_of(self, summary, columns, at):
        assert summary[ClassWeight].values.all()
        sample = summary[Sample]
        return Medians(sample.numbers[:, at], sample.codes, summary.classes.size)

    def parameters(self, statistic, prior=None):
        parts = [statistic.x[statistic.codes == k] for k in range(statistic.n_classes)]
        median = np.array([np.median(part, axis=0) for part in parts])
        return Laplaces(median, np.full(median.shape, self.width))

    def log_density(self, x, parameters):
        return self._log(x[:, np.newaxis], *parameters[:2])

    def left_out(self, x, codes, weights, statistic, parameters):
        return self._log(x, parameters.median[codes], parameters.width[codes])

    def _log(self, x, median, width):
        return np.nan_to_num(-np.abs(x - median) / width - np.log(2 * width), nan=0.0)


@pytest.fixture(params=[Waiting, Powers, Laplace], ids=lambda kind: kind.name)
def name(request, monkeypatch):
    monkeypatch.setitem(FAMILIES, request.param.name, request.param)
    return request.param.name


@pytest.fixture
def frame():
    return pd.DataFrame({"x": X, "town": np.array(list("abc"))[(Y + RNG.integers(2, size=400))]})


def test_a_new_family_is_called_by_its_name_calibrated_and_streamed(name, frame):
    model = NaiveBayes(families={"x": name}).fit(frame, Y)
    assert model.families_["x"][0].name == name
    assert model.score(frame, Y) > 0.6
    parts = NaiveBayes(families={"x": name})
    for rows in (slice(0, 150), slice(150, 400)):
        parts.partial_fit(frame[rows], Y[rows], classes=[0, 1])
    np.testing.assert_allclose(parts.predict_proba(frame), model.predict_proba(frame), atol=1e-6)


def test_a_new_family_of_the_registry_is_saved(name, frame, tmp_path):
    model = NaiveBayes(families={"x": name}).fit(frame, Y)
    model.save(tmp_path / "model.safetensors")
    again = naively.load(tmp_path / "model.safetensors")
    assert (again.predict_proba(frame) == model.predict_proba(frame)).all()


@pytest.mark.parametrize("family", [Waiting(), Powers()], ids=lambda family: family.name)
def test_a_new_family_with_a_form_is_exported(family, frame):
    model = NaiveBayes(families={"x": family}, interactions=None).fit(frame, Y)
    shares = duckdb.sql(model.to_sql("frame")).df()[["p_0", "p_1"]]
    np.testing.assert_allclose(shares, model.predict_proba(frame), rtol=1e-9)


def test_what_a_family_reads_is_what_its_own_method_says(frame):
    model = NaiveBayes(families={"x": Laplace(width=2.0)}, calibration=None).fit(frame, Y)
    expected = [stats.laplace(np.median(X[k == Y]), 2.0).logpdf(X) for k in (0, 1)]
    (term,) = (term for term in model.model_.terms if term.family.name == "laplace")
    found = term.family.log_density(X[:, np.newaxis], term.parameters)[:, :, 0]
    np.testing.assert_allclose(found, np.transpose(expected))
