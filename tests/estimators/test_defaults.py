"""Which model is judged where none is given."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import naively
from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.evaluation import compare, evaluate
from tests.commands import fails, folder, iris, run_well  # noqa: F401

RNG = np.random.default_rng(0)
Y = RNG.choice(["no", "yes"], 120)
NUMBERS = pd.DataFrame({"age": RNG.normal(40, 9, 120) + 9 * (Y == "yes"), "size": range(120)})
TOWNS = NUMBERS.assign(town=RNG.choice(["Ulm", "Bonn"], 120))
TABLES = {
    "text": TOWNS,
    "booleans": NUMBERS.assign(smokes=Y == "yes"),
    "categories": NUMBERS.assign(town=pd.Categorical(TOWNS["town"])),
    "polars": pl.DataFrame(TOWNS),
    "pyarrow": pa.Table.from_pandas(TOWNS),
    "objects": TOWNS.to_numpy(object),
    "lists": TOWNS.to_numpy(object).tolist(),
    "numbers": NUMBERS,
    "an array": NUMBERS.to_numpy(),
    "lists of numbers": NUMBERS.to_numpy().tolist(),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_naive_bayes_is_judged_whatever_columns_hold_and_the_result_says_so(table):
    result = evaluate(data=table, y=Y, folds=3)
    assert result.accuracy == evaluate(NaiveBayes(), table, Y, folds=3).accuracy
    assert result.model == result.to_dict()["model"] == "NaiveBayes"
    assert str(result).startswith("NaiveBayes, 3 folds: 120 rows")


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_naive_bayes_is_compared_whatever_columns_hold(table):
    assert compare(data=table, y=Y, repeats=1).names == ("NaiveBayes", "GaussianNB")


def test_compare_fills_missing_numbers_with_means():
    holes = TOWNS.assign(age=TOWNS["age"].mask(RNG.random(120) < 0.2))
    assert compare(NaiveBayes(), holes, Y, repeats=1).names == ("NaiveBayes", "GaussianNB")
    with pytest.raises(NaivelyError, match="there is no such column"):
        compare(NaiveBayes(), TOWNS[["town"]], Y, repeats=1)


def test_a_model_that_is_given_is_respected():
    assert evaluate(NaiveBayes(), NUMBERS, Y, folds=3).model == "NaiveBayes"
    with pytest.raises(NaivelyError, match="column 'town' must hold numbers"):
        evaluate(GaussianNB(), TOWNS, Y)


def test_a_table_of_dates_is_judged_by_naive_bayes():
    dated = NUMBERS.assign(born=pd.Timestamp("2024-01-01"))
    assert evaluate(data=dated, y=Y, folds=3).model == "NaiveBayes"
    with pytest.raises(NaivelyError, match="column 'born' holds dates"):
        evaluate(GaussianNB(), dated, Y)


@pytest.fixture
def people(folder):  # noqa: F811
    TOWNS.assign(sick=Y).to_csv("people.csv", index=False)
    dated = TOWNS.assign(sick=Y, born=pd.Timestamp("2024-01-01"), tags=[["a", "b"]] * 120)
    dated.to_parquet("people.parquet")
    NUMBERS.assign(sick=Y).to_csv("numbers.csv", index=False)
    return folder


@pytest.mark.parametrize("file", ["people.csv", "people.parquet"])
@pytest.mark.parametrize("command", ["fit", "evaluate", "compare", "report"])
def test_commands_learn_from_mixed_files(people, command, file):
    done = run_well(command, file, "-t", "sick", *(["--repeats", 1] * (command == "compare")))
    if file == "people.parquet":
        assert "'born'" not in done.stderr
        assert "left out 'tags': of type list<" in done.stderr


def test_a_command_that_is_told_which_model_takes_it(people):
    run_well("fit", "people.csv", "-t", "sick", "-o", "m")
    assert isinstance(naively.load("m"), NaiveBayes)
    assert naively.load("m").feature_names_in_.tolist() == ["age", "size", "town"]
    done = run_well("fit", "people.csv", "-t", "sick", "-o", "g", "--model", "gaussian")
    assert "left out 'town': text." in done.stderr
    assert isinstance(naively.load("g"), GaussianNB)
    done = run_well("fit", "numbers.csv", "-t", "sick", "-o", "n")
    assert done.stdout.startswith("n: NaiveBayes of ")
    assert isinstance(naively.load("n"), NaiveBayes)


def test_an_option_of_one_model_asks_for_it(people):
    run_well("fit", "people.csv", "-t", "sick", "-o", "g", "--variance", "shared")
    assert naively.load("g").variance == "shared"
    run_well("fit", "numbers.csv", "-t", "sick", "-o", "m", "--family", "age=histogram")
    assert isinstance(naively.load("m"), NaiveBayes)
    line = fails("fit", "people.csv", "-t", "sick", "--family", "age=histogram", "--ddof", 1)
    assert line == "--ddof has no meaning with --model naive-bayes."
