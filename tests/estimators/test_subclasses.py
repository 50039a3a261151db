"""How estimators are made: parameters by name, and subclasses that are heard or refused."""

import inspect
import pickle
import re

import numpy as np
import pytest
import sklearn.naive_bayes
from sklearn.base import clone

from naively import GaussianNB, NaivelyError
from naively.estimators.loading import ESTIMATORS

X = np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
Y = ["a", "a", "b", "b"]


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def kind(request):
    return request.param


@pytest.mark.parametrize(
    "given", [({"age": "gaussian"},), ([0.5, 0.5],), (X, Y)], ids=["dict", "list", "rows"]
)
def test_parameters_without_names_are_an_error_that_shows_how_to_give_them(kind, given):
    name, first = kind.__name__, next(iter(inspect.signature(kind).parameters))
    match = rf"^{name} takes its parameters by name, such as {name}\({first}=\.\.\.\)"
    with pytest.raises(TypeError, match=match):
        kind(*given)


def test_a_parameter_that_does_not_exist_names_the_one_that_was_meant(kind):
    name = kind.__name__
    with pytest.raises(TypeError, match=f"^{name} has no parameter 'class_wieght'; did you mean"):
        kind(class_wieght="balanced")
    with pytest.raises(TypeError, match=f"^{name} has no parameter 'gamma'; it has .*class_weight"):
        kind(gamma=1)


def test_the_signature_is_that_of_the_parameters(kind):
    named = inspect.signature(kind).parameters
    assert sorted(named) == sorted(kind().get_params())
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in named.values())


HOOKS = [
    name
    for base in vars(sklearn.naive_bayes).values()
    if inspect.isclass(base) and issubclass(base, sklearn.naive_bayes._BaseNB)
    for name, value in vars(base).items()
    if name.startswith("_") and not name.startswith("__") and callable(getattr(base, name))
]

CALLED = {"_check_alpha"}


@pytest.mark.parametrize("hook", sorted({*HOOKS}))
def test_a_method_that_only_scikit_learn_calls_is_refused_or_called(kind, hook):
    called = []

    def override(self, *args, **options):
        called.append(hook)
        return getattr(super(Own, self), hook)(*args, **options)

    if hook in CALLED:
        if hasattr(kind, hook):
            Own = type("Own", (kind,), {hook: override})
            Own().fit(X, Y).predict(X)
            assert called
        return
    Mixin = type("Mixin", (), {hook: override})
    for bases, own in [((kind,), {hook: override}), ((Mixin, kind), {})]:
        with pytest.raises(NaivelyError, match=f"^Own must not override {hook},"):
            type("Own", bases, own)


def test_subclasses_override_public_methods_and_have_parameters_of_their_own(kind):
    class Careful(kind):
        def __init__(self, least=0.9):
            super().__init__()
            self.least = least

        def predict(self, X):
            p = self.predict_proba(X)
            return np.where(p.max(axis=1) >= self.least, self.classes_[p.argmax(axis=1)], "?")

    careful = clone(Careful(1.1)).fit(X, Y)
    assert set(careful.predict(X)) == {"?"}
    assert set(kind().fit(X, Y).predict(X)) <= {"a", "b"}
    assert pickle.loads(pickle.dumps(kind().fit(X, Y))).predict(X).tolist() == (
        kind().fit(X, Y).predict(X).tolist()
    )


def test_an_estimator_has_few_classes_of_its_own(kind):
    assert len([one for one in kind.__mro__ if one.__module__.startswith("naively.")]) <= 4


def test_every_parameter_is_described_with_its_type(kind):
    described = re.findall(r"^    (\w+) : .", inspect.getdoc(kind).replace("\n", "\n    "), re.M)
    assert {*kind().get_params()} <= {*described}
    assert {"summary_", "classes_", "n_features_in_"} <= {*described}


@pytest.mark.parametrize("name", ["summary_", "_state"])
def test_a_pickle_of_another_version_is_refused(name):
    model = GaussianNB()
    with pytest.raises(NaivelyError, match="must be of the same version"):
        model.__setstate__({**model.__getstate__(), name: {}})
