"""What is computed on the host takes tensors too: they are copied there.

NumPy does not read tensors of bfloat16, as it does not read those on a GPU.
"""

import numpy as np
import pytest

from naively import GaussianNB, compare, evaluate, report, tune
from tests.gpus import tensor

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = np.round(RNG.normal(size=(60, 2)) + Y[:, np.newaxis], 1)

WORK = {
    "evaluate": lambda model, X, y: evaluate(model, X, y),
    "evaluate by folds": lambda model, X, y: evaluate(GaussianNB(), X, y, folds=3),
    "compare": lambda model, X, y: (
        compare((model, GaussianNB(variance="shared")), X, y, repeats=1).test_accuracy
    ),
    "compare with peers": lambda model, X, y: (
        compare(model, X, y, against=["dummy"], folds=3).differences
    ),
    "report": lambda model, X, y: report(model, X, y, compare=False),
    "tune": lambda model, X, y: tune(GaussianNB(), X, y, folds=3, grid={"ddof": [0, 1]}),
    "explain": lambda model, X, y: model.explain(X[:3]),
    "counterfactual": lambda model, X, y: model.counterfactual(X[0]),
    "counterfactual of a table": lambda model, X, y: model.counterfactual(X[:1]),
    "predict_one": lambda model, X, y: model.predict_one(X[0]),
    "predict_proba_one": lambda model, X, y: model.predict_proba_one(X[0]),
    "learn_one": lambda model, X, y: model.learn_one(X[0], y[1]).theta_,
    "forget_one": lambda model, X, y: model.forget_one(X[0], y[0]).theta_,
    "predict_one in a stream": lambda model, X, y: model.learn_one(X[0], y[0]).predict_one(X[0]),
    "classes": lambda model, X, y: GaussianNB().partial_fit(X, y, classes=y[:3]).classes_,
}


@pytest.mark.parametrize("name", WORK)
def test_what_the_host_computes_takes_tensors(name):
    given, labels = tensor(X, "bfloat16"), tensor(Y, "bfloat16")
    numbers, y = given.float().cpu().numpy(), Y.astype(np.float32)
    fitted = [GaussianNB().fit(numbers, y) for _ in range(2)]
    got, expected = WORK[name](fitted[0], given, labels), WORK[name](fitted[1], numbers, y)
    if isinstance(got, np.ndarray):
        np.testing.assert_allclose(got, expected, rtol=1e-14)
    else:
        assert str(got) == str(expected)
