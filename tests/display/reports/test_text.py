"""Columns of text in the page of a report."""

import numpy as np
import pandas as pd
import pytest

from naively import NaiveBayes
from naively.display.report import report
from naively.families import Text
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


# --- the texts of rows -------------------------------------------------------------------------

ODD = {
    "markup": "<script>alert(1)</script> & <b>bold</b>",
    "quotes": 'it\'s "quoted", `so`, \\n',
    "lines": "one\ntwo\r\nthree\ttabs",
    "emoji": "👩\u200d🚀 prize 🙂",
    "right to left": "جائزة \u202eabc\u202c مرحبا",
    "long": "free prize " * 400,
    "zero": "a\0b win",
}


def odd_rows():
    """Rows of which those with odd texts are surely mistaken; and dates and booleans beside."""
    y = Y.copy()
    notes, size = list(NOTES), X["size"].to_numpy().copy()
    for at, text in enumerate(ODD.values()):
        notes[at] = f"{text} win prize free GELD"
        y[at], size[at] = "ham", 4.0
    frame = pd.DataFrame({"note": notes, "size": size})
    frame["paid"] = RNG.random(N) < np.where(y == "spam", 0.8, 0.3)
    frame["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, N), "D")
    return frame, y


@pytest.mark.parametrize(
    ("place", "family"),
    [
        ("memory", None),
        ("memory", Text(hashed=64)),
        ("memory", Text(analyzer="char_wb", ngram_range=(2, 3))),
        ("csv", None),
        ("parquet", None),
    ],
    ids=["memory", "hashed", "characters", "csv", "parquet"],
)
def test_the_surest_mistakes_have_their_texts(look, tmp_path, place, family):
    frame, y = odd_rows()
    model = NaiveBayes(families=family and {"note": family})
    if place == "memory":
        page = report(model, frame, y, folds=3, compare=False)
    else:
        path, rows = tmp_path / f"t.{place}", frame.assign(y=y)
        _ = rows.to_csv(path, index=False) if place == "csv" else rows.to_parquet(path)
        page = report(model, path, "y", folds=3, compare=False)
    in_memory = place == "memory"
    model = model.fit(frame, y) if in_memory else NaiveBayes.from_files(path, target="y")
    column = [c["name"] for c in page.data["columns"]].index("note")
    seen, shown = look(page), 0
    for button, mistake in enumerate(page.data["mistakes"]):
        text = frame["note"][mistake["row"]]
        assert mistake["values"][column] == (text if len(text) <= 2000 else f"{text[:1999]}…")
        seen.run("document.querySelectorAll('.mistakes button')[arguments[0]].click()", button)
        expected = model.predict_proba(frame[mistake["row"] : mistake["row"] + 1])[0]
        assert same(seen.posterior(), expected)
        shown += any(odd in text for odd in ODD.values())
    assert shown >= (4 if in_memory else 3)
    cells = seen.run("return document.querySelector('.mistakes').textContent")
    assert "missing" not in cells
    listed = [mistake["row"] for mistake in page.data["mistakes"]]
    assert in_memory <= (0 in listed)  # the folds of files are others
    assert ("“\u2068<script>alert(1)</" in cells) == (0 in listed)
    assert seen.run("return document.querySelectorAll('.mistakes script, .mistakes b').length") == 0
    if family is None and in_memory:
        seen.show_all()
        typed = "free lunch, notes"
        seen.run(
            "const box = document.querySelector('[data-column=note] textarea');"
            "box.value = arguments[0]; box.dispatchEvent(new Event('input'));",
            typed,
        )
        row = frame[mistake["row"] : mistake["row"] + 1].assign(note=typed)
        assert same(seen.posterior(), model.predict_proba(row)[0])
