"""dbt runs the exported query as one of its models."""

import os
import subprocess

import duckdb
import numpy as np
import pytest

from naively import NaiveBayes
from tests.clients.page import ROOT, code, run

DBT = ROOT / ".venv-dbt" / "bin" / "dbt"
pytestmark = pytest.mark.skipif(not DBT.exists(), reason="dbt is not installed: make test SPARK=1")
PROJECT = "{name: people, version: '1.0', profile: people, config-version: 2}"
PROFILE = "people: {target: dev, outputs: {dev: {type: duckdb, path: people.duckdb, threads: 1}}}"


def scored(project):
    """Build everything, and return the rows of the model that scores."""
    command = [DBT, "--quiet", "build", "--project-dir", project, "--profiles-dir", project]
    environment = {**os.environ, "DO_NOT_TRACK": "1"}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with duckdb.connect(str(project / "people.duckdb"), read_only=True) as database:
        return database.sql("SELECT * FROM scored ORDER BY id").df()


def test_dbt_gives_the_probabilities_of_the_model_also_where_a_category_looks_like_a_template(
    tmp_path,
):
    names = run()
    people = names["people"].replace({"port": {"S": "{{ 1 / 0 }}", "C": "{% endraw %}{# '"}})
    X = people[["age", "fare", "port"]]
    model = names["model"] = NaiveBayes().fit(X, names["survived"])
    exec(code("## dbt"), names)
    (tmp_path / "models").mkdir()
    (tmp_path / "seeds").mkdir()
    (tmp_path / "dbt_project.yml").write_text(PROJECT)
    (tmp_path / "profiles.yml").write_text(PROFILE)
    (names["folder"] / "scored.sql").rename(tmp_path / "models" / "scored.sql")
    people.to_csv(tmp_path / "seeds" / "passengers.csv", index=False)
    found = scored(tmp_path)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    expected = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(found["p_yes"], expected, rtol=0, atol=1e-12)
