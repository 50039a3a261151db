"""Use naively as after ``pip install .``: every public name, every verb, README and start page.

.venv-plain/bin/python tests/plain.py

It runs without pytest, since nothing that is optional is installed there; pandas is, as the pages
use it.
"""

import os
import re
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/start.md")
OPTIONAL = ("pyarrow", "safetensors", "matplotlib", "polars", "rich", "typer")
TABLE = """
import pandas as pd
from naively import *
from naively import plots
X = pd.DataFrame({"age": [31.0, 54, 22, 61] * 9, "town": ["Ulm", "Bonn", "Ulm", None] * 9})
y = ["no", "yes", "no", "yes"] * 9
X.assign(sick=y).to_csv("people.csv", index=False)
model = NaiveBayes().fit(X, y)
"""
WORKS = """
model.explain(X.head(2))
model.counterfactual(X.head(1))
model.importance(X, y)
model.partial_fit(X, y)
model.predict_one({"age": 31.0, "town": "Ulm"})
evaluate(NaiveBayes(), X, y, folds=3)
compare(data=X, y=y, repeats=2)
tune(NaiveBayes(), X, y)
diagnose(model)
drift(model, X)
report(model, X, y).html
summarize(X, y) + summarize(X, y)
"""
NEEDS = {  # and the extra that brings what is missing
    "model.save('model.safetensors')": "files",
    "summarize('people.csv', target='sick')": "files",
    "plots.BellCurveDisplay.from_estimator(model)": "plots",
    "model.to_sql('people')": "sql",
    "model.to_onnx('model.onnx')": "onnx",
}


def main():
    present = [package for package in OPTIONAL if find_spec(package)]
    assert not present, f"this environment holds optional packages: {present}"
    public = {}
    exec("from naively import *", public)
    for module in ("families", "plots", "results"):
        exec(f"from naively.{module} import *", {})
    import naively

    assert "site-packages" in naively.__file__, naively.__file__
    assert set(naively.__all__) <= public.keys()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        use()
        for page in PAGES:
            text, names = (ROOT / page).read_text(), {}
            blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
            for block in blocks:
                exec(compile(block, page, "exec"), names)
            print(f"{page}: {len(blocks)} passed")
        os.chdir(ROOT)


def use():
    """Call every verb: it works, or says what to install."""
    names = {}
    exec(TABLE, names)
    for line in WORKS.split("\n"):
        exec(line, names)
    for line, extra in NEEDS.items():
        try:
            exec(line, names)
            raise AssertionError(f"{line} needs nothing?")
        except names["NaivelyError"] as error:
            if f"pip install '.[{extra}]'" not in str(error):
                raise


if __name__ == "__main__":
    sys.exit(main())
