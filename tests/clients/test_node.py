"""ONNX Runtime in Node gives the model's probabilities."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.clients.page import ROOT, code, run

MODULES = ROOT / "build" / "node" / "node_modules"
PLACES = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
NODE = shutil.which("node", path=PLACES)
pytestmark = pytest.mark.skipif(
    not (NODE and MODULES.exists()),
    reason="ONNX Runtime for Node is not installed: make test SPARK=1",
)


def test_node_gives_the_probabilities_of_the_model():
    names = run("## ONNX, in Python and Node")
    model, folder = names["model"], names["folder"]
    (folder / "node_modules").symlink_to(MODULES)
    (folder / "score.js").write_text(code("## ONNX, in Python and Node", "js"))
    done = subprocess.run(
        [NODE, "score.js"], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    answer = json.loads(done.stdout)
    rows = pd.DataFrame({"age": [22, np.nan], "fare": [7.2, 53.1], "port": ["S", None]})
    assert answer["prediction"] == model.predict(rows).tolist()
    expected = model.predict_proba(rows).ravel()
    np.testing.assert_allclose(answer["probabilities"], expected, rtol=0, atol=1e-12)
