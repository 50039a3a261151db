"""Many threads read a model while one thread learns: each answer is of one state."""

import pickle
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from naively import CategoricalNB, GaussianNB, NaiveBayes
from naively.families import FAMILIES

KINDS = {
    "gaussian": lambda: GaussianNB(open_classes=True),
    "shared": lambda: GaussianNB(open_classes=True, variance="shared", var_smoothing=1e-3),
    "naive": lambda: NaiveBayes(open_classes=True, calibration=None),
    "reject": lambda: NaiveBayes(open_classes=True, calibration=None, reject=(0.1, "none")),
    "categorical": lambda: CategoricalNB(open_classes=True),
}

LABELS = list("zyxwvutsrq")  # each comes before all that are known, and moves their places


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def model(request):
    return request.param()


def rows_of(k, n=4):
    """Rows of class k, which no other class resembles."""
    return np.full((n, 3), 10 * k) + np.arange(n)[:, np.newaxis] % 2


def learn(model, k):
    return model.partial_fit(rows_of(k, 8), [LABELS[k]] * 8)


def started(model):
    for k in range(3):
        learn(model, k)
    return model


class RowsThatTeach:
    """Rows during whose reading the model learns a class, as another thread might teach it."""

    def __init__(self, rows, teach):
        self.rows, self.teach = rows, teach

    def __array__(self, dtype=None, copy=None):
        self.teach()
        self.teach = lambda: None
        return np.array(self.rows, dtype=dtype)

    def __len__(self):
        return len(self.rows)


def test_labels_are_of_the_model_that_scored_the_rows(model):
    started(model)
    rows = RowsThatTeach(rows_of(1), lambda: learn(model, 3))
    assert set(model.predict(rows)) == {LABELS[1]}
    assert set(model.predict(rows_of(3))) == {LABELS[3]}


def test_probabilities_are_of_the_model_that_was_asked(model):
    before = pickle.loads(pickle.dumps(started(model)))
    rows = RowsThatTeach(rows_of(1), lambda: learn(model, 3))
    assert model.predict_proba(rows).tolist() == before.predict_proba(rows_of(1)).tolist()
    assert model.predict_proba(rows_of(1)).shape[1] == 4


def test_a_loss_compares_with_the_classes_of_its_own_model(model):
    started(model)
    before = pickle.loads(pickle.dumps(model)).loss(rows_of(1), [LABELS[1]] * 4)
    labels = RowsThatTeach([LABELS[1]] * 4, lambda: learn(model, 3))
    assert model.loss(rows_of(1), labels) == before


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("categorical",)])
def test_one_row_is_answered_by_one_model(kind):
    model = started(KINDS[kind]())
    learn(model, 3)
    assert model.predict_one(rows_of(1)[0]) == LABELS[1]
    row = RowsThatTeach(rows_of(1)[0], lambda: learn(model, 4))
    if kind in ("gaussian", "shared"):
        assert model.predict_one(row) == LABELS[1]
        assert model.predict_proba_one(rows_of(1)[0]).size == 5


def test_a_model_that_is_read_while_another_batch_comes_is_not_kept_for_it():
    @dataclass(frozen=True)
    class Slow(FAMILIES["gaussian"]):
        def parameters(self, statistic, *given, **more):
            teach, meanwhile[:] = meanwhile[:], []
            for one in teach:
                one()
            return super().parameters(statistic, *given, **more)

    meanwhile = []
    model = NaiveBayes(families={0: Slow()}, calibration=None, open_classes=True)
    model.partial_fit([[0.0], [1.0], [9.0], [10.0]], ["a", "a", "b", "b"])
    meanwhile.append(lambda: model.partial_fit([[20.0], [21.0]], ["c", "c"]))
    assert model.predict([[0.5]]).tolist() == ["a"]
    assert model.predict([[0.5], [20.5]]).tolist() == ["a", "c"]


def test_what_was_learned_does_not_depend_on_who_reads(model):
    """Threads read all the time while classes arrive; every answer is right, and so is the end."""
    started(model)
    wrong, done = [], threading.Event()

    def read():
        while not done.is_set():
            for k in range(3):
                answers = [*model.predict(rows_of(k)), model.predict_one(rows_of(k)[0])]
                if set(answers) != {LABELS[k]}:
                    wrong.append((LABELS[k], answers))
            proba = model.predict_proba(rows_of(0))
            if not np.allclose(proba.sum(axis=1), 1):
                wrong.append(proba)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    readers = [threading.Thread(target=read) for _ in range(4)]
    try:
        for reader in readers:
            reader.start()
        for _ in range(3):
            for k in range(3, len(LABELS)):
                learn(model, k)
    finally:
        done.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(interval)
    assert not wrong
    alone = started(clone(model))
    for _ in range(3):
        for k in range(3, len(LABELS)):
            learn(alone, k)
    points = np.concatenate([rows_of(k) for k in range(len(LABELS))])
    assert model.predict_proba(points).tolist() == alone.predict_proba(points).tolist()


def test_a_fitted_model_has_the_attributes_of_scikit_learn(model):
    names = ("summary_", "classes_", "n_features_in_", "class_count_")
    assert not any(hasattr(model, name) for name in (*names, "feature_names_in_"))
    started(model)
    assert all(hasattr(model, name) for name in names)
    assert not hasattr(model, "feature_names_in_")  # an array has no names
    assert not any(hasattr(clone(model), name) for name in names)


def test_a_parameter_counts_from_the_next_batch_on():
    model = GaussianNB().fit([[0.0], [2.0], [9.0]], ["a", "a", "b"])
    prior = model.class_prior_
    model.set_params(priors=[0.5, 0.5])
    assert model.class_prior_.tolist() == prior.tolist()
    assert model.partial_fit([[1.0]], ["a"]).class_prior_.tolist() == [0.5, 0.5]
