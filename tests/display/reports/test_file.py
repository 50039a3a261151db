"""The report as a file."""

import json
import stat

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import naively
from naively import GaussianNB, NaiveBayes, NaivelyError
from naively.display.report import Report, report
from tests.report_tables import (
    CUSTOMERS,
    FRAME,
    MIXED,
    SPECIES,
    X,
    Y,
    categories,
    histograms,
    quick,
    wide,
)


@pytest.mark.parametrize(
    ("most", "page"),
    [
        (122, lambda: report(GaussianNB(), FRAME, SPECIES)),
        (305, lambda: quick(GaussianNB(), *wide())),
        (149, lambda: quick(GaussianNB(), *load_breast_cancer(return_X_y=True))),
        (150, lambda: quick(NaiveBayes(), MIXED, CUSTOMERS)),
        (300, lambda: quick(NaiveBayes(calibration=None), *categories(), folds=None)),
        (300, histograms),
    ],
    ids=[
        "iris",
        "1,000 columns and 50 classes",
        "breast cancer",
        "mixed",
        "many categories",
        "many histograms",
    ],
)
def test_the_page_is_small(most, page):
    assert len(page().html.encode()) < most * 1000


def test_it_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "report.html"
    page = quick(GaussianNB(), X, Y, path=target)
    assert target.read_text("utf-8") == page.html
    page.save_json(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == page.data
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "report.json"}
    assert stat.S_IMODE(target.stat().st_mode) & 0o400


def test_an_unwritable_path_is_a_clear_error(tmp_path):
    nowhere = tmp_path / "nowhere" / "report.html"
    with pytest.raises(NaivelyError, match=r"cannot write '.*report.html': No such file"):
        quick(GaussianNB(), X, Y, path=nowhere)
    with pytest.raises(NaivelyError, match="it is not a plain file"):
        quick(GaussianNB(), X, Y, path=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_value_says_what_it_is():
    page = quick(GaussianNB(), X, Y)
    assert isinstance(page, Report)
    assert repr(page) == (
        "<Report 'Naive Bayes report': 150 rows, 4 columns, 3 classes, accuracy 0.9533>"
    )
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    with pytest.raises(AttributeError):
        page.data = {}


def test_the_name_is_a_function_even_when_it_is_the_package():
    assert naively.report(GaussianNB(), X, Y, compare=False).data["data"]["rows"] == 150


def test_nothing_in_the_page_points_elsewhere():
    html = report(GaussianNB(), X, Y).html
    outside = html.replace("http://www.w3.org/2000/svg", "")
    assert "http:" not in outside
    assert "https:" not in outside
    assert "url(" not in outside.replace("url(#", "")
    assert "@import" not in outside


def test_labels_cannot_end_the_data_in_the_page():
    nasty = np.array(["</script><script>alert(1)</script>", "<!--", "{{title}}"])[Y]
    html = quick(GaussianNB(), X, nasty, title="<b>{{data}}</b>").html
    assert html.count("<script") == 2
    assert "<script>alert" not in html
    assert "<title>&lt;b&gt;{{data}}&lt;/b&gt;</title>" in html
