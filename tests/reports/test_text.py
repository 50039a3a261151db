"""Columns of text in the page of a report."""

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes, Text
from naively.reports import report
from tests.browser import chromium, look, same

__all__ = ["chromium", "look"]  # fixtures

RNG = np.random.default_rng(0)
WORDS = {
    "spam": ["win", "prize", "free", "GELD", "奖品", "جائزة", "naïve", "x_1"],
    "ham": ["lunch", "notes", "Meeting", "ΟΔΟΣ", "会议", "غداء", "Ångström", "İş"],
}
N = 150
Y = RNG.choice(["ham", "spam"], N)
NOTES = [" ".join(RNG.choice([*WORDS[k], "the", "and", "of"], 6)) for k in Y]
X = pd.DataFrame({"note": NOTES, "size": RNG.normal(size=N) + (Y == "spam")})
ASKED = [
    "free PRIZE, win!",
    "notes of the οδος: İş?",
    "会议 غداء and Ångström",
    "x_1 nothing-known",
]


def quick(model, table, **options):
    return report(model, table, Y, folds=3, compare=False, **options)


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayes(calibration=None),
        NaiveBayes(families={"note": Text(ngram_range=(1, 2), lowercase=False)}),
    ],
    ids=["weights", "textbook", "n-grams"],
)
def test_the_box_computes_what_python_computes(look, model):
    seen, fitted = look(quick(model, X)), model.fit(X, Y)
    for text in ASKED:
        seen.run(
            "const box = document.querySelector('[data-column=note] textarea');"
            "box.value = arguments[0]; box.dispatchEvent(new Event('input'));",
            text,
        )
        seen.fill({"size": 0.5})
        expected = fitted.predict_proba(pd.DataFrame({"note": [text], "size": [0.5]}))[0]
        assert same(seen.posterior(), expected)
    assert seen.run("return document.querySelectorAll('.lit .word').length") >= 1


def test_a_page_of_text_alone_is_made(look):
    seen = look(quick(NaiveBayes(), X[["note"]]))
    assert seen.columns() == ["note"]


@pytest.mark.parametrize("family", [Text(hashed=64), Text(analyzer="char_wb", ngram_range=(2, 3))])
def test_a_column_without_a_box_says_so(look, family):
    seen = look(quick(NaiveBayes(families={"note": family}), X))
    assert "cannot cut this column" in seen.find("[data-column=note]").text


def test_words_that_speak_for_a_class_are_listed():
    data = quick(NaiveBayes(), X).data
    (column,) = [column for column in data["columns"] if column["name"] == "note"]
    ham, spam = ({word for word, _ in of_class} for of_class in column["top"])
    assert "lunch" in ham
    assert "prize" in spam
    assert column["n_words"] == len(column["words"])
