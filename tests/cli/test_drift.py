"""``naively drift``: files and models, in the terminal, as JSON, as a page, and as an exit code."""

import json

import pytest

from naively import NaiveBayes, drift, load
from tests.commands import fails, run, run_well
from tests.inspection.explanations.cases import mixed


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A folder with a model, the rows that it was fitted on, and rows that have moved."""
    X, y = mixed(texts=True)
    monkeypatch.chdir(tmp_path)
    later = X.assign(age=X["age"] + 9.0)
    for name, rows in (("same", X), ("later", later)):
        rows.to_csv(f"{name}.csv", index=False)
        rows.assign(answer=y).to_parquet(f"{name}.parquet")
    NaiveBayes(families={"note": "text"}).fit(X, y).save("m.safetensors")
    return later, y


@pytest.mark.parametrize("name", ["later.csv", "later.parquet"])
def test_files_are_compared_as_rows_in_memory(people, name):
    later, y = people
    found = json.loads(run_well("drift", "m.safetensors", name, "--json").stdout)
    model = load("m.safetensors")
    expected = drift(model, (later, y) if name.endswith("parquet") else later)
    assert found["greatest"] == pytest.approx(expected.greatest)
    assert [one["severity"] for one in found["columns"]] == list(expected.severity.values())
    assert found["groups"] == expected.groups
    assert found["unusual"]["share"] == pytest.approx(expected.unusual.share)


def test_the_exit_code_is_3_above_the_limit_and_0_below(people):
    command = "drift", "m.safetensors", "later.csv", "--fail-above"
    above = run(*command, 0.2)
    assert above.exit_code == 3
    assert "the greatest drift is 0.3" in above.stderr
    assert "age" in above.stdout
    assert run(*command, 0.5).exit_code == 0
    assert run("drift", "m.safetensors", "same.csv", "--fail-above", 0).exit_code == 0


def test_labels_are_found_where_one_other_column_holds_the_models_classes(people):
    later, _ = people
    done = run_well("drift", "m.safetensors", "later.parquet")
    assert "the labels are in 'answer'" in done.stderr
    assert "Shares of classes" in done.stdout
    later.assign(number=range(len(later))).to_csv("numbered.csv", index=False)
    other = run_well("drift", "m.safetensors", "numbered.csv")
    assert "Shares of classes" not in other.stdout


def test_two_models_are_compared_without_rows(people):
    later, y = people
    model = load("m.safetensors")
    model.partial_fit(later, y).save("both.safetensors")
    found = json.loads(run_well("drift", "m.safetensors", "both.safetensors", "--json").stdout)
    assert found["n_after"][0] == 2 * found["n_before"][0]
    assert found["columns"][0]["severity"] in ("moderate", "severe")


def test_a_page_needs_nothing_else(people, tmp_path):
    done = run_well("drift", "m.safetensors", "later.parquet", "-o", "drift.html")
    assert done.stdout.startswith("drift.html: <Drift of 6 columns: 1 moderate or severe")
    page = (tmp_path / "drift.html").read_text(encoding="utf-8")
    assert "Drift from m.safetensors to later.parquet" in page
    for own in ("http-equiv", "http://www.w3.org/2000/svg"):  # what may run, and the icon
        page = page.replace(own, "")
    assert "http" not in page


def test_bad_requests_are_errors_of_one_line(people):
    later, _ = people
    command = "drift", "m.safetensors", "later.csv"
    assert "--fail-above must be from 0 to 1; got 2.0" in fails(*command, "--fail-above", 2)
    assert "must be another file" in fails(*command, "-o", "later.csv")
    later.drop(columns="town").to_csv("less.csv", index=False)
    assert "no column 'town'" in fails("drift", "m.safetensors", "less.csv")
    later.head(0).to_csv("none.csv", index=False)
    assert "none.csv" in fails("drift", "m.safetensors", "none.csv")
