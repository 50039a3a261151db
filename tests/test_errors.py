"""Warnings point at the line of the user, however deep in the package they arise."""

import re
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import naively
from naively import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB, NaiveBayes, evaluate

Y = np.array(["a", "b"] * 20)
COUNTS = np.arange(80).reshape(40, 2) % 5
FRAME = pd.DataFrame({"x": COUNTS[:, 0], "y": COUNTS[:, 1]})
MORE = FRAME.assign(extra=1)
TEXTS = [f"word{i % 7} and word{i % 5} in row {i}" for i in range(40)]
SMALL = {"alpha": 0.0, "force_alpha": False}
FITTED = NaiveBayes(calibration=None).fit(FRAME, Y)


def many_categories(how):
    table = pd.DataFrame({"id": [f"row {i}" for i in range(40)]})
    if how == "fit":
        return NaiveBayes(calibration=None).fit(table, Y)
    return NaiveBayes.from_files(table.assign(label=Y), target="label", calibration=None)


def of_another_unicode(folder):
    NaiveBayes().fit(TEXTS, Y).save(folder / "model")
    content, now = (folder / "model").read_bytes(), unicodedata.unidata_version.encode()
    (folder / "model").write_bytes(content.replace(now, b"9" * len(now)))
    return naively.load(folder / "model")


CALLS = {
    f"{kind.__name__}, small alpha, {verb}": lambda _, kind=kind, call=call: call(kind(**SMALL))
    for kind in (BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB)
    for verb, call in {
        "fit": lambda model: model.fit(COUNTS, Y).predict(COUNTS),
        "partial_fit": lambda model: model.partial_fit(COUNTS, Y, ["a", "b"]).predict(COUNTS),
        "from_summary": lambda model: type(model).from_summary(
            type(model)().fit(COUNTS, Y).summary_, **SMALL
        ),
        "evaluate": lambda model: evaluate(model, COUNTS, Y, folds=2),
    }.items()
}
CALLS |= {
    f"more columns, {verb}": lambda _, verb=verb, more=more: getattr(FITTED, verb)(MORE, *more)
    for verb, more in {
        **dict.fromkeys(["predict", "predict_proba", "score_samples", "explain"], ()),
        **dict.fromkeys(["score", "loss", "importance"], (Y,)),
    }.items()
}
CALLS["many categories, fit"] = lambda _: many_categories("fit")
CALLS["many categories, from_files"] = lambda _: many_categories("from_files")
CALLS["another Unicode, load"] = of_another_unicode


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_points_at_the_line_of_the_user(name, tmp_path, monkeypatch):
    monkeypatch.setattr("naively.estimators.mixed._MAX_QUIET_CATEGORIES", 20)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CALLS[name](tmp_path)
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


def test_all_warnings_of_the_package_are_given_at_one_place():
    source = Path(naively.__file__).parent
    files = [path for path in source.rglob("*.py") if re.search(r"\.warn\(", path.read_text())]
    assert [path.name for path in files] == ["errors.py"]
