"""The smallest change that changes an answer, beside a search of all cells by plain loops."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from naively import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, NaivelyError, load
from tests.inspection.explanations.cases import CASES, case_of, counts, mixed, numbers, sparse

STEPS = 400  # of a grid to either side


def row_of(X, i):
    return X.iloc[i].to_dict() if isinstance(X, pd.DataFrame) else X[i].tolist()


def tables_of(X, rows):
    return pd.DataFrame(rows).astype(X.dtypes.to_dict()) if isinstance(X, pd.DataFrame) else rows


def changed(row, column, cell):
    other = row.copy()
    other[column] = cell
    return other


def nearest_by_loops(model, X, row):
    """Return the smallest distance of one cell that changes the answer, on a grid of cells."""
    answer, best = model.predict_one(row), np.inf
    columns = list(X.columns) if isinstance(X, pd.DataFrame) else range(X.shape[1])
    for j, column in enumerate(columns):
        cells = X[column].to_numpy() if isinstance(X, pd.DataFrame) else X[:, column]
        before = row[column]
        if before is None or before != before or column == "note":
            continue
        is_category = j in model.summary_.schema.categories
        if is_category:
            others = [cell for cell in pd.unique(cells) if cell == cell and cell is not None]
            tried = [(1.0, cell) for cell in others if cell != before]
        else:
            counted = model.summary_.schema.counted is not None
            spread = 1.0 if counted else np.nanstd(cells)
            whole = counted or not model.model_.by_column[j][0][0].family.support[0] < 0
            step = 1.0 if whole else spread * 5 / STEPS
            moves = step * np.arange(-STEPS, STEPS + 1)
            tried = [(abs(d) / spread, before + d) for d in moves.tolist() if d]
            tried = [(d, cell) for d, cell in tried if cell >= 0 or not whole]
            tried = [(d, cell) for d, cell in tried if not whole or abs(cell - before) <= 20]
        if not tried:
            continue
        rows = [changed(row, column, cell) for _, cell in tried]
        given = tables_of(X, rows) if isinstance(X, pd.DataFrame) else np.array(rows)
        hits = model.predict(given) != answer
        best = min([best, *(d for (d, _), hit in zip(tried, hits, strict=True) if hit)])
    return best


@pytest.mark.parametrize("name", [name for name in CASES if "BernoulliNB" not in name])
def test_no_smaller_change_of_one_cell_changes_the_answer(name):
    model, X = case_of(name)
    for i in (1,):
        row = row_of(X, i)
        found = model.counterfactual(row)
        expected = nearest_by_loops(model, X, row)
        if len(found.changes) == 1:
            assert found.distance <= expected * (1 + 1e-12)
            assert expected <= 5 - 1e-9 or found.distance > 5 - 0.01
        else:
            assert expected == np.inf


@pytest.mark.parametrize("name", CASES)
def test_the_change_changes_the_answer_of_the_model_itself(name, tmp_path):
    model, X = case_of(name)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    for i in range(8):
        row = row_of(X, i)
        found = model.counterfactual(row)
        assert found.predicted == model.predict_one(row)
        assert found.becomes == model.predict_one(found.row)
        assert (found.becomes != found.predicted) == bool(found)
        assert found.distance == pytest.approx(sum(c.distance for c in found.changes) or np.inf)
        same = again.counterfactual(row)
        assert same.changes == found.changes


def test_a_number_moves_to_where_two_classes_are_equally_probable():
    model = GaussianNB().fit([[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"])
    found = model.counterfactual([4.0])
    assert found.changes[0].after == 4.5 or found.changes[0].after == np.nextafter(4.5, 5)
    assert found.distance == pytest.approx(0.5 / np.std([0, 2, 7, 9]))
    np.testing.assert_allclose(found.after, [0.5, 0.5], atol=1e-12)


def test_an_interval_narrower_than_the_grid_is_found():
    """Bell curves of almost the same width, and a prior for which they only just cross."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    a, b = (x - x.mean()) / x.std(), (x - x.mean()) / x.std() * 0.99 + 0.01
    X, y = np.concatenate([a, b])[:, None], np.repeat([0, 1], 2000)
    grid = np.linspace(-2, 2, 400_001)
    even = GaussianNB(var_smoothing=0, priors=[0.5, 0.5]).fit(X, y)
    joint = even.predict_joint_log_proba(grid[:, None])
    odds = (joint[:, 1] - joint[:, 0]).max()
    p = 1 / (1 + np.exp(1e-7 - odds))
    model = GaussianNB(var_smoothing=0, priors=[p, 1 - p]).fit(X, y)
    wins = grid[model.predict(grid[:, None]) == 1]
    assert 0 < np.ptp(wins) < X.std() / 80
    found = model.counterfactual([-1.0])
    assert found
    assert found.changes[0].after == pytest.approx(wins.min(), abs=1e-4)


def two_needed(families=None, **options):
    """Either of two columns alone cannot outweigh the other, and a third tells nothing."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 500)
    X = rng.normal(size=(1000, 3))
    X[:, :2] = np.clip(rng.random((1000, 2)) < np.where(y[:, None], 0.95, 0.05), 0, 1)
    return NaiveBayes(families=families, **options).fit(X, y)


def test_where_one_cell_does_not_suffice_there_is_no_change():
    families = {0: "bernoulli", 1: "bernoulli", 2: "gaussian"}
    model = two_needed(families, calibration=None, priors=[0.5, 0.5])
    assert model.predict_one([1.0, 1.0, 0.0]) == 1
    none = model.counterfactual([0.0, 0.0, 0.0], columns=[0, 1])
    assert not none
    assert (none.becomes, none.distance, none.row) == (0, np.inf, [0.0, 0.0, 0.0])


def test_a_wanted_answer_and_columns_that_may_change():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("vwxyz"))
    model = GaussianNB().fit(frame, y)
    row = frame.iloc[[0]]
    for label in set("abc") - {model.predict(row)[0]}:
        found = model.counterfactual(row, to=label)
        assert found.becomes == label == model.predict_one(found.row)
    found = model.counterfactual(row, columns=["v", "w"])
    assert {change.column for change in found.changes} <= {"v", "w"}
    assert found.row.keys() == set("vwxyz")
    assert found.to_frame().columns.tolist() == ["column", "before", "after", "distance"]


def test_costs_and_refusal_decide_what_the_answer_is():
    X, y = mixed()
    dear = NaiveBayes(costs=[[0, 1], [20, 0]]).fit(X, y)
    refusing = NaiveBayes(reject=(0.9, "?")).fit(X, y)
    for model in (dear, refusing):
        for i in range(5):
            found = model.counterfactual(X.iloc[[i]])
            assert not found or model.predict_one(found.row) == found.becomes != found.predicted
    refused = int(np.argmax(refusing.predict(X) == "?"))
    assert refusing.counterfactual(X.iloc[[refused]], to="yes").becomes == "yes"


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB", "NaiveBayes of numbers"])
def test_a_sparse_row_is_changed_as_a_dense_one(name):
    model, X = case_of(name)
    rows = sparse(X)
    for i in range(3):
        found, dense = model.counterfactual(rows[[i]]), model.counterfactual(rows.toarray()[i])
        assert found.changes == dense.changes
        assert found.row == dense.row


@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_a_count_far_from_the_next_class_is_changed_as_little_as_possible(family):
    rng = np.random.default_rng(0)
    X = rng.poisson(np.repeat([1000.0, 1500.0], 100))[:, np.newaxis].astype(float)
    model = NaiveBayes(families={0: family}, calibration=None).fit(X, np.repeat([0, 1], 100))
    (change,) = model.counterfactual([1000.0]).changes
    cells = np.arange(1000.0, 1600.0)
    assert change.after == cells[model.predict(cells[:, np.newaxis]) == 1][0]


@pytest.mark.parametrize("family", ["log_normal", "gamma"])
def test_a_class_near_the_end_of_the_support_is_found(family):
    rng = np.random.default_rng(0)
    X = rng.lognormal(np.repeat([-7.0, 0.0, 9.0], 100), 0.5)[:, np.newaxis]
    model = NaiveBayes(families={0: family}, calibration=None).fit(X, np.repeat([*"abc"], 100))
    (change,) = model.counterfactual([1.0]).changes
    cells = np.geomspace(1.0, 1e-4, 10_000)
    nearest = cells[model.predict(cells[:, np.newaxis]) == "a"][0]
    np.testing.assert_allclose(change.after, nearest, rtol=1e-3)


def test_counts_stay_whole_and_not_negative():
    X, y = counts()
    wide = np.concatenate([X, np.zeros((len(X), 700))], axis=1)
    model = MultinomialNB().fit(scipy.sparse.csr_array(wide), y)
    for i in range(5):
        for change in model.counterfactual(wide[i]).changes:
            assert change.after == int(change.after) >= 0


def test_missing_cells_and_texts_stay():
    X, y = mixed(texts=True)
    model = NaiveBayes(families={"note": "text"}).fit(X, y)
    for i in (0, 17, 23):  # age or town is missing
        found = model.counterfactual(X.iloc[[i]])
        names = {change.column for change in found.changes}
        assert "note" not in names
        assert found.row["note"] == X["note"][i]
        assert not names & set(X.columns[X.iloc[i].isna()])


def test_a_category_becomes_another_one():
    model = CategoricalNB().fit([[0, 1], [1, 0], [2, 0], [2, 1]], ["a", "a", "b", "b"])
    found = model.counterfactual([0, 1])
    assert found.changes == (("column 0", 0, 2, 1.0),)
    assert model.predict_one(found.row) == "b"


def test_it_prints_and_can_be_written_as_json():
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    found = model.counterfactual(X.iloc[[1]])
    head, columns, *lines = str(found).splitlines()
    assert head.startswith(f"{found.predicted!r} (")
    assert columns.split() == ["before", "after", "distance"]
    assert len(lines) == len(found.changes)
    assert json.loads(json.dumps(found.to_dict()))["becomes"] == found.becomes
    assert "<table>" in found._repr_html_()
    none = GaussianNB().fit([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1]).counterfactual([0.5])
    assert not none
    assert str(none) == "0: no change of one cell changes the answer"


def test_where_no_other_class_is_possible_there_is_no_change():
    assert not GaussianNB().fit([[1.0], [2.0]], ["a", "a"]).counterfactual([1.5])
    X, y = numbers()
    model = GaussianNB(priors=[0.0, 0.5, 0.5]).fit(X, y)
    assert model.counterfactual(X[0]).becomes in ("b", "c")
    assert not model.counterfactual(X[0], to="a")


def test_a_date_is_changed_by_its_name_or_by_that_of_a_part():
    days = pd.date_range("2024-01-01", periods=120, freq="7D")
    X = pd.DataFrame({"when": days, "x": np.arange(120) % 7})
    model = NaiveBayes().fit(X, np.where(days.month < 6, "spring", "autumn"))
    for columns in ("when", ["when"], ["when.month"]):
        found = model.counterfactual(X.iloc[[60]], columns=columns)
        assert [change.column for change in found.changes] == ["when.month"]


def test_bad_requests_are_errors_that_say_what_to_do():
    X, y = mixed()
    model = NaiveBayes().fit(X, y)
    row = X.iloc[1].to_dict()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        NaiveBayes().counterfactual(row)
    with pytest.raises(NaivelyError, match="the row has no column 'town'"):
        model.counterfactual({name: cell for name, cell in row.items() if name != "town"})
    with pytest.raises(NaivelyError, match="a row must have 5 cells; got 2 of them"):
        model.counterfactual([1.0, 2.0])
    with pytest.raises(NaivelyError, match="no column 'twon'; did you mean 'town'"):
        model.counterfactual(row, columns=["twon"])
    with pytest.raises(NaivelyError, match="no column 9; the model has 5, from 0"):
        model.counterfactual(row, columns=[9])
    with pytest.raises(NaivelyError, match="to must be a class \\('no', 'yes'\\); got 'maybe'"):
        model.counterfactual(row, to="maybe")
    with pytest.raises(NaivelyError, match=r"the row is .* already"):
        model.counterfactual(row, to=model.predict_one(row))
    with pytest.raises(NaivelyError, match="of one row; got a table of 400 rows"):
        model.counterfactual(X)
    with pytest.raises(NaivelyError, match="a row must have 5 numbers; got shape"):
        GaussianNB().fit(*numbers()).counterfactual([1.0])
