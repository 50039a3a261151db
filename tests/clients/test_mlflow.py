"""MLflow logs a model with its signature, and loads it."""

import numpy as np
import pytest

from tests.clients.page import code, run

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own


def test_mlflow_loads_what_it_logged_and_refuses_other_tables(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: make test SPARK=1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    names = run()
    exec(code("## MLflow", "py"), names)
    X, model = names["X"], names["model"]
    native = mlflow.sklearn.load_model(names["logged"].model_uri)
    assert np.array_equal(native.predict_proba(X), model.predict_proba(X))
    with pytest.raises(mlflow.exceptions.MlflowException, match="fare"):
        names["same"].predict(X.assign(fare="cheap"))
