"""What is said about the text of files is an error for files that hold none."""

import re

import pandas as pd
import pytest

from naively import NaiveBayes, NaivelyError, summarize
from naively.engines.files import predict
from tests.engines.test_dates import TABLE, Y
from tests.every_engine import FORMATS, labelled, written

SAID = {"separator": ";", "decimal": ",", "missing": ("?",), "encoding": "latin-1"}


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "csv"])
@pytest.mark.parametrize("name", SAID)
def test_a_dialect_is_for_text_alone(form, name, tmp_path):
    path = written(labelled(TABLE.select(["x"]), Y), form, tmp_path)
    option = {name: SAID[name]}
    if form == "jsonl" and name == "encoding":
        assert summarize(path, target="the_label", **option).class_weight.sum() == len(Y)
        return
    message = rf"{name} is for CSV.* alone; got {name}={re.escape(repr(SAID[name]))} for .*{form}"
    with pytest.raises(NaivelyError, match=message):
        summarize(path, target="the_label", **option)
    model = NaiveBayes().fit(pd.DataFrame({"x": [1.0, 2.0]}), ["a", "b"])
    with pytest.raises(NaivelyError, match=message):
        predict(model, path, tmp_path / "out.csv", **option)


def test_a_folder_with_some_files_of_text_may_have_a_dialect(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    frame = pd.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]})
    frame.to_parquet(folder / "a.parquet")
    frame.to_csv(folder / "b.csv", sep=";", index=False)
    assert summarize(folder, target="y", separator=";").class_weight.sum() == 4
