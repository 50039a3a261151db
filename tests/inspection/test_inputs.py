"""Models, summaries, frames, files and pairs: each inspection takes them in one way."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from naively import GaussianNB, NaiveBayes, NaivelyError, diagnose, drift
from tests.inspection.explanations.cases import mixed, numbers


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A model, its rows and labels, both in one frame, and a folder with all of them."""
    X, y = mixed()
    folder = tmp_path_factory.mktemp("shop")
    frame = X.assign(bought=y)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    model = NaiveBayes(interactions=None).fit(X, y)
    model.save(folder / "model.safetensors")
    return model, X, y, frame, folder


WAYS = {
    "rows and labels": lambda s: ((s[1], s[2]), {}),
    "a pair": lambda s: (((s[1], s[2]),), {}),
    "a frame and its column": lambda s: ((s[3],), {"target": "bought"}),
    "a file": lambda s: ((s[4] / "rows.parquet",), {"target": "bought"}),
    "text": lambda s: ((str(s[4] / "rows.csv"),), {"target": "bought"}),
    "a list of files": lambda s: (([s[4] / "rows.parquet"],), {"target": "bought"}),
    "a stream": lambda s: ((pa.Table.from_pandas(s[3]).to_reader(),), {"target": "bought"}),
    "a lazy frame": lambda s: ((pl.from_pandas(s[3]).lazy(),), {"target": "bought"}),
    "a summary": lambda s: ((s[0].summary_,), {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_importance_is_the_same_of_data_wherever_it_is(shop, way):
    model, X, y, *_ = shop
    data, options = WAYS[way](shop)
    found = model.importance(*data, **options)
    assert found.n_rows == len(X)
    expected = model.importance(X, y)
    np.testing.assert_allclose(found.increase, expected.increase, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_a_diagnosis_is_the_same_of_data_wherever_it_is(shop, way):
    data, options = WAYS[way](shop)
    found = diagnose(*data, **options)
    assert found.title == diagnose(NaiveBayes().fit(*shop[1:3])).title


@pytest.mark.parametrize("way", WAYS)
def test_data_that_a_model_knows_has_not_drifted_wherever_it_is(shop, way):
    data, options = WAYS[way](shop)
    data = data if len(data) == 1 else (data,)
    found = drift(shop[0], *data, **options)
    assert found.greatest == 0.0
    assert found.classes.tolist() == ["no", "yes"]


def test_a_diagnosis_takes_weights_and_the_file_of_a_model(shop):
    model, X, y, _, folder = shop
    assert diagnose(folder / "model.safetensors").to_dict() == diagnose(model).to_dict()
    assert diagnose(X, y, np.full(len(X), 2.0)).n_rows == 2 * len(X)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_files_are_explained_as_their_rows(shop, name):
    model, X, *_, folder = shop
    expected = model.explain(X)
    for files in (folder / name, [str(folder / name)]):
        found = model.explain(files)
        np.testing.assert_array_equal(found.values, expected.values)
        assert isinstance(found.to_frame(), pd.DataFrame)


def test_importance_without_rows_is_that_of_the_sample(shop):
    model = shop[0]
    assert model.importance() is model.importance_
    np.testing.assert_array_equal(
        model.feature_importances_, np.maximum(model.importance().increase, 0.0)
    )
    with pytest.raises(NaivelyError, match=r"the summary of this GaussianNB holds none"):
        GaussianNB().fit(*numbers()).importance()


def test_what_lacks_labels_or_rows_is_an_error_that_says_so(shop):
    model, X, y, frame, _ = shop
    for wrong, match in (
        (lambda: model.importance(X), "rows need labels"),
        (lambda: model.importance(X, y, target="bought"), "as y or as target, not as both"),
        (lambda: model.importance(frame, target="sold"), "no column 'sold'"),
        (lambda: diagnose(model, X, y), "diagnose takes a fitted model alone"),
        (lambda: diagnose(frame), "Data needs its labels, too"),
        (lambda: model.explain("free lunch"), "X must be a table, or texts"),
    ):
        with pytest.raises(NaivelyError, match=match):
            wrong()
    plain = GaussianNB().fit(*numbers())
    with pytest.raises(NaivelyError, match="the summary holds none"):
        plain.importance(plain.summary_)
