"""Every statistic obeys the same laws, and a new one needs no other file.

`Present` and `Above` are new to the package: they are defined here, registered for their tests, and
pass them all. `Above` fixes something in each column beforehand.
"""

import json
import pickle
from dataclasses import replace
from functools import reduce
from operator import add, sub

import numpy as np
import pandas as pd
import pytest

import naively
from naively import GaussianNB, NaivelyError, Summary, summarize
from naively.data.functions import ColumnFunction
from naively.data.schema import FixedByColumn, Schema
from naively.data.tensors import Tensors
from naively.statistics import STATISTICS, Documents, MissingCells, Occurrences, Sample
from naively.statistics.axes import Axes
from naively.statistics.model_file import pack, unpack
from naively.statistics.weights import Weights


class Present(Weights):
    """How many cells are present, by class and column of numbers, whatever they weigh."""

    name = "present"
    counted = "a column"

    @classmethod
    def shape(cls, schema, axes):
        return axes.classes.size, len(schema.numbers)

    @classmethod
    def measure(cls, block):
        numbers = block.rows.numbers
        columns = numbers if isinstance(numbers, list) else numbers.T
        found = np.zeros(cls.shape(block.schema, block.axes))
        for j, column in enumerate(columns):
            np.add.at(found[:, j], block.classes, ~np.isnan(column))
        return cls(found)

    def with_columns(self, move):
        values = np.zeros((len(self.values), len(move.after.numbers)))
        to, of = move.numbers()
        values[:, to] = self.values[:, of]
        return type(self)(values)

    def by_class(self, axes):
        return self.values


class Limits(FixedByColumn):
    """For each column of numbers, what its cells are compared with."""

    name = "limits"
    agreement = "compare cells with the same limits"


class Above(Present):
    """How many cells are above the limits of their columns."""

    name = "above"
    counted = "a limit"

    @classmethod
    def is_measured(cls, schema):
        return schema.limits is not None

    @classmethod
    def measure(cls, block):
        numbers = block.rows.numbers
        columns = numbers if isinstance(numbers, list) else numbers.T
        found = np.zeros(cls.shape(block.schema, block.axes))
        for j, (column, limit) in enumerate(zip(columns, block.schema.limits, strict=True)):
            np.add.at(found[:, j], block.classes, column > limit)
        return cls(found)


ALL = [*STATISTICS, Present, Above]


@pytest.fixture(params=ALL, ids=lambda kind: kind.name)
def statistic(request):
    added = request.param not in STATISTICS
    if added:
        STATISTICS.append(request.param)
    yield request.param
    if added:
        STATISTICS.remove(request.param)


SCHEMA = Schema(
    4,
    ("age", "town", "size", "flag"),
    ("number", "category", "number", "category"),
    edges=((20.0, 40.0, 60.0), (0.2, 0.7, 2.0)),
    knots=((10.0, 30.0, 50.0, 70.0), (0.1, 0.5, 1.0, 3.0)),
    sample=1000,
    centres=(45.0, 1.0),
    functions=(ColumnFunction(0, "cos", 24.0), ColumnFunction(2, "log")),
    limits=(40.0, 0.5),
)


PLAIN = replace(SCHEMA, edges=None, knots=None, centres=None, functions=(), limits=None)
COUNTED = {
    Occurrences: replace(PLAIN, counted="occurrences"),
    Documents: replace(PLAIN, counted="documents", threshold=20.0),
    MissingCells: replace(PLAIN, counted="documents"),
}


@pytest.fixture
def schema(statistic):
    return COUNTED.get(statistic, SCHEMA)


def table(seed, towns, classes, n=60):
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.integers(10, 90, n))
    frame = pd.DataFrame(
        {
            "age": age,
            "town": rng.choice([*towns, None], n),
            "size": rng.exponential(size=n),
            "flag": rng.random(n) < 0.5,
        }
    )
    return frame, rng.choice(classes, n)


TABLES = [
    table(0, ["Ulm", "Bonn"], ["no", "yes"]),
    table(1, ["Aachen", "Ulm"], ["maybe", "yes"]),
    table(2, ["Zwickau"], ["a"]),
]


@pytest.fixture
def parts(statistic, schema):
    return [summarize(frame, y, schema=schema) for frame, y in TABLES]


def close(a, b):
    """Compare every number of two statistics: to rounding, but codes and hashes exactly."""
    mine, its = a.tensors(), b.tensors()
    assert mine.keys() == its.keys()
    for name, array in mine.items():
        exact = array.dtype.kind != "f"
        tolerance = 0.0 if exact else 1e-12 * max(1.0, np.max(np.abs(its[name]), initial=0.0))
        np.testing.assert_allclose(array, its[name], rtol=0, atol=tolerance)


def test_adding_nothing_changes_nothing(statistic, schema, parts):
    zero = statistic.zero(*statistic.shape(schema, parts[0].axes))
    assert parts[0][statistic] + zero == parts[0][statistic] == zero + parts[0][statistic]


def test_everything_without_everything_is_nothing(statistic, schema, parts):
    for part in parts:
        zero = statistic.zero(*statistic.shape(schema, part.axes))
        assert (part - part)[statistic] == Summary.zero(schema, part.classes)[statistic]
        assert 0 * part[statistic] == zero


def test_a_sum_on_other_axes_is_that_of_what_moved(statistic, schema, parts):
    a, b = parts[:2]
    axes = a.axes.united(b.axes, schema)
    own, its = a.axes.move(axes), b.axes.move(axes)
    moved = a[statistic].moved(own) + b[statistic].moved(its)
    assert a[statistic].plus(b[statistic], own, its) == moved
    assert (a + b)[statistic] == moved


def test_the_parts_add_up_to_the_whole(statistic, schema, parts):
    frames, labels = zip(*TABLES, strict=True)
    whole = summarize(pd.concat(frames), np.concatenate(labels), schema=schema)
    close(reduce(add, parts)[statistic], whole[statistic])
    close(reduce(add, parts[::-1])[statistic], whole[statistic])


def test_what_was_added_can_be_removed(statistic, parts):
    a, b = parts[:2]
    left = (a + b) - b
    at = np.searchsorted(left.classes, a.classes)
    close(left.with_classes(at)[statistic], a[statistic])


def test_twice_is_the_sum_with_itself(statistic, parts):
    a = parts[0]
    close((2 * a)[statistic], (a + a)[statistic])


def test_threads_do_not_change_a_bit(statistic, schema):
    frame, y = table(5, ["Ulm", "Bonn", "Jena"], ["no", "yes"], n=200_000)
    one, many = (summarize(frame, y, schema=schema, n_jobs=n) for n in (1, 7))
    assert one[statistic] == many[statistic]


@pytest.mark.parametrize("at", [[2, 1], [3], [1, 0, 3], []], ids=str)
def test_some_columns_are_as_if_they_alone_had_been_measured(statistic, schema, parts, at):
    frame, y = TABLES[0]
    few = parts[0].with_columns(at)
    if at:
        alone = summarize(frame.iloc[:, at], y, schema=schema.columns(at))
        assert few == alone
    assert few.schema == schema.columns(at)


def test_some_classes_are_as_if_they_alone_had_been_measured(statistic, schema, parts):
    frame, y = TABLES[0]
    alone = summarize(frame[y == "yes"], y[y == "yes"], schema=schema)
    few = parts[0].with_classes([1]).ordered()
    assert few[statistic] == alone[statistic]


def test_classes_of_one_label_add_up(statistic, schema, parts):
    frame, _ = TABLES[0]
    joined = parts[0].relabelled(np.array(["any", "any"]))
    close(joined[statistic], summarize(frame, ["any"] * len(frame), schema=schema)[statistic])


def test_chosen_classes_stay_sorted_so_that_they_add(statistic, parts):
    a = parts[0]
    chosen = a.with_classes([1, 0])
    assert chosen.classes.tolist() == a.classes.tolist()
    close((chosen + a)[statistic], (a + a)[statistic])


def test_nothing_weighs_more_than_its_class(statistic, parts):
    for part in parts:
        assert (part[statistic].by_class(part.axes) <= part.class_weight[:, np.newaxis]).all()


def test_tensors_come_back(statistic, schema, parts):
    for part in parts:
        again = statistic.from_tensors(Tensors(part[statistic].tensors()), schema, part.axes)
        assert again == part[statistic]
        header, tensors = pack(part)
        assert unpack(json.loads(json.dumps(header)), tensors) == part


def test_pickles_come_back(statistic, parts):
    assert pickle.loads(pickle.dumps(parts[0])) == parts[0]
    assert pickle.loads(pickle.dumps(parts[0][statistic])) == parts[0][statistic]


@pytest.mark.parametrize("at", [[0, 0], [-1], [7], [True, False], ["yes"], [0.5], [[0]]], ids=str)
def test_places_are_different_whole_numbers(at):
    seen = summarize(*TABLES[0], schema=SCHEMA)
    for chosen in (seen.with_classes, seen.with_columns):
        with pytest.raises(NaivelyError, match=r"places must be different whole numbers from 0 to"):
            chosen(at)


def test_every_class_gets_a_label():
    seen = summarize([[1.0], [2.0]], ["a", "b"])
    assert seen.relabelled(["y", "x"]).classes.tolist() == ["x", "y"]
    with pytest.raises(NaivelyError, match=r"one label per class \(2: 'a', 'b'\); got 1 of them"):
        seen.relabelled(["x"])


@pytest.mark.parametrize("other", [0, None, "a"])
def test_a_summary_adds_to_summaries_alone(other):
    seen = summarize([[1.0], [2.0]], ["a", "b"])
    for operation in (add, sub):
        with pytest.raises(TypeError, match="unsupported operand"):
            operation(seen, other)


def test_operands_are_not_modified(statistic, parts):
    a, b = parts[:2]
    before = pickle.dumps((a, b))
    _ = a + b, (a + b) - b, 0.5 * a, a.with_columns([1]), a.with_classes([0])
    assert pickle.dumps((a, b)) == before


def test_a_model_keeps_it_in_its_file(statistic, tmp_path):
    model = GaussianNB().fit(np.arange(8.0).reshape(4, 2), ["a", "b", "a", "b"])
    model.save(tmp_path / "model.safetensors")
    assert naively.load(tmp_path / "model.safetensors").summary_ == model.summary_
    assert pickle.loads(pickle.dumps(model)).summary_ == model.summary_


@pytest.mark.parametrize("statistic", [Above], indirect=True)
def test_files_measure_what_a_new_statistic_fixed(statistic, tmp_path):
    frame, y = TABLES[0]
    frame.assign(y=y).to_csv(tmp_path / "all.csv", index=False)
    frame[:25].assign(y=y[:25]).to_parquet(tmp_path / "first.parquet")
    schema = replace(SCHEMA, limits=(30.0, 1.0))
    whole, first = (
        summarize(tmp_path / name, target="y", schema=schema)
        for name in ("all.csv", "first.parquet")
    )
    assert whole[Above] == summarize(frame, y, schema=schema)[Above]
    rest = whole - first
    assert rest[Above] == summarize(frame[25:], y[25:], schema=schema)[Above]
    model = naively.NaiveBayes.from_summary(whole)
    model.save(tmp_path / "model.safetensors")
    for again in (naively.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert again.summary_ == model.summary_
        assert again.summary_.schema.limits == (30.0, 1.0)


def test_what_a_new_statistic_fixed_must_agree():
    a, b = (Summary.zero(replace(SCHEMA, limits=(limit, 1.0))) for limit in (1.0, 2.0))
    with pytest.raises(NaivelyError, match=r"must compare cells with the same limits; got diff"):
        a + b
    empty = Schema(2, kinds=("undecided", "number"), limits=(2.0,))
    seen = Schema(2, kinds=("number", "number"), limits=(1.0, 2.0))
    assert empty.united(seen) == seen == seen.united(empty)
    assert empty.decided(("number", "number")).limits == (0.0, 2.0)


def test_labels_are_united_by_axes_alone():
    a = Axes(np.array(["a"]), (np.array([1, 3]),))
    b = Axes(np.array(["b"]), (np.array([2, 3]),))
    schema = Schema(1, kinds=("category",))
    both = a.united(b, schema)
    assert both == Axes(np.array(["a", "b"]), (np.array([1, 2, 3]),))
    assert b.move(both).vocabularies[0].tolist() == [1, 2]
    assert both.united(a, schema) is both


def test_a_sample_that_is_incomplete_loses_its_hashes_with_its_columns():
    frame, y = TABLES[0]
    few = summarize(frame, y, schema=Schema(4, SCHEMA.names, SCHEMA.kinds, sample=10))
    assert few.with_columns([0, 1])[Sample].drawn
