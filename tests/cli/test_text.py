"""Text from the command line: spam in three lines."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.commands import run_well

WORDS = {"spam": ["win", "prize", "free", "money"], "ham": ["lunch", "notes", "meeting", "today"]}


@pytest.fixture
def mail(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.choice(["ham", "spam"], 300)
    texts = [" ".join(rng.choice([*WORDS[k], "the", "and", "you"], 6)) for k in y]
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"mail": texts, "spam": y}).to_parquet("mail.parquet")
    pd.DataFrame({"mail": ["free money now", "notes of today"]}).to_csv("new.csv", index=False)


def test_spam_is_told_in_three_lines(mail):
    fitted = run_well("fit", "mail.parquet", "--target", "spam", "--output", "model")
    assert (
        "'mail' is read as text, word by word; --family 'mail'=categorical if not" in fitted.stderr
    )
    run_well("predict", "model", "new.csv", "--output", "out.csv")
    assert pd.read_csv("out.csv")["prediction"].tolist() == ["spam", "ham"]
    shown = run_well("inspect", "model").stdout
    assert "11 words" in shown
    assert all(word in shown for word in ("prize", "lunch"))


def test_top_words_are_listed_with_what_they_contribute(mail):
    run_well("fit", "mail.parquet", "--target", "spam", "--output", "model")
    (column,) = json.loads(run_well("inspect", "model", "--json").stdout)["terms"]
    assert column["kind"] == "text"
    assert column["n_words"] == 11
    ham, spam = ({one["word"] for one in of_class[:4]} for of_class in column["top_words"])
    assert (ham, spam) == (set(WORDS["ham"]), set(WORDS["spam"]))
    assert all(one["contribution"] > 0 for of_class in column["top_words"] for one in of_class)


def test_rows_of_text_are_added_and_removed_again(mail):
    run_well("fit", "mail.parquet", "--target", "spam", "--output", "model")
    before = run_well("inspect", "model", "--json").stdout
    run_well("update", "model", "mail.parquet", "--target", "spam")
    run_well("forget", "model", "mail.parquet", "--target", "spam")
    assert run_well("inspect", "model", "--json").stdout == before


@pytest.mark.parametrize("family", ["categorical", "text"])
def test_a_family_says_what_text_is(mail, family):
    args = ("mail.parquet", "--target", "spam", "--output", "model", "--family", f"mail={family}")
    run_well("fit", *args)
    (column,) = json.loads(run_well("inspect", "model", "--json").stdout)["terms"]
    assert column["families"] == [family]


def test_folds_are_judged(mail):
    found = json.loads(run_well("evaluate", "mail.parquet", "--target", "spam", "--json").stdout)
    assert found["accuracy"] > 0.9
