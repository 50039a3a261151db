"""The report: one HTML page that says what a model learned, how good it is, and why.

The page is one file. It loads nothing, opens from disk, and holds an explorer: move a value, and
see the curves, the posterior, and the sum that led there, by the model's own arithmetic.

First a plain dict is collected (`collect`), then it is rendered. It travels in the page as JSON,
with ``<`` written as an escape, so that no label can end the element it stands in; the scripts
put it into the page as text, never as markup. The drawings are SVG that the page's own few hundred
lines of JavaScript make from that dict. No charting library: the usual ones (Vega, ECharts, Plotly)
take one megabyte or several, where this page takes a tenth of one; none draws a bell curve with a
slider under it; and hand-made drawings take their colours from the page, so that they are right in
the dark, on paper and for the colour-blind.

>>> from sklearn.datasets import load_iris
>>> from naively import GaussianNB
>>> page = report(GaussianNB(), *load_iris(return_X_y=True), compare=False)
>>> page
<Report 'Naive Bayes report': 150 rows, 4 columns, 3 classes, accuracy 0.9533>
>>> page.html[:15]
'<!DOCTYPE html>'
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from naively.data.whole_files import write_atomically
from naively.display.pages import asset, shell
from naively.display.report.collect import PageOptions, collect, collect_files
from naively.errors import NaivelyError
from naively.evaluation import Comparison
from naively.evaluation.files import FilesToJudge, content_folds
from naively.evaluation.inputs import (
    FOLDS,
    Files,
    check_no_options,
    clear_about_arguments,
    file_options,
    is_fitted,
    labelled,
    model_or_default,
)

__all__ = ["Report", "report"]

_SCRIPTS = (
    "forms arithmetic elements words interactions no_interactions explorer controls curves "
    "nomogram map figures theme address sections glance diagnosis start"
)
_SHOWN = ("average", "spread", "share", "importance")
_COMPARED = ("method", "n_rows", "classes", "confusion", "loss", "brier", "calibration_error")
_BRANDS = {"GaussianNB": "Gaussian naive Bayes"}


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A report, ready to be saved; a notebook shows it.

    Attributes
    ----------
    data : dict
        Everything the page shows, as JSON can hold it.
    html : str
        The page.

    Examples
    --------
    >>> from naively import report
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], ["a", "a", "a", "b", "b", "b"]
    >>> page = report(data=X, y=y, compare=False)
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """

    data: dict[str, Any]

    @cached_property
    def html(self) -> str:
        """The page: one file that needs no other."""
        return _render(self.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all.

        Parameters
        ----------
        path : path-like
            The file, by custom ``report.html``.
        """
        write_atomically(path, self.html.encode())

    def save_json(self, path: str | os.PathLike[str]) -> None:
        """Write the dict that the page was made of, whole or not at all.

        Parameters
        ----------
        path : path-like
            The file, by custom ``report.json``.
        """
        text = json.dumps(self.data, allow_nan=False, indent=1)
        write_atomically(path, f"{text}\n".encode())

    def __repr__(self) -> str:
        data = self.data["data"]
        return (
            f"<Report {self.data['title']!r}: {data['rows']:,} rows, {data['columns']:,} columns, "
            f"{data['classes']} classes, accuracy {self.data['evaluation']['accuracy']:.4f}>"
        )

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" title="{escape(self.data["title"])}" '
            'sandbox="allow-scripts" width="100%" height="760" style="border: 0"></iframe>'
        )


@clear_about_arguments
def report(
    model: Any = None,
    data: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    folds: Any = "auto",
    compare: bool | Comparison = True,
    show_rows: bool = True,
    progress: Callable[[str], None] | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    skip_columns: bool | None = None,
    drop_missing_target: bool | None = None,
    label_type: str | None = None,
    types: Mapping[str, str] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | None = None,
    encoding: str | None = None,
    n_jobs: int | None = None,
) -> Report:
    """Report on a model and its data: ``report(model, data, y)``.

    Labels that are a column of the data are named: ``report(model, data, target="species")``.

    Parameters
    ----------
    model : GaussianNB or NaiveBayes, default=NaiveBayes()
        A fitted model is explored as it is; another one is fitted on the data. May be left out
        where data and labels are given by name: ``report(data=X, y=y)``.
    data : array-like or data frame of shape (n_rows, n_columns), or files
        Numbers, and for `NaiveBayes` text, booleans and categories; NaN and null are missing.
        Files of any size, as `naively.summarize` takes them.
    y : array-like of shape (n_rows,)
        Labels: strings, integers or booleans, of 2 to 100 classes.
    target : str
        The column of the labels, of a frame or of files, instead of y.
    path : path-like, optional
        Where to write the page, whole or not at all.
    title : str, optional
        The page's title. By default it names the target, where that has a name.
    folds : "auto", int, "leave-one-out" or None, default="auto"
        How the evaluation holds rows out, as in `naively.evaluate`: models like this one are
        fitted on the other rows. "auto" is 10 folds, or as many as the smallest class has rows.
        None evaluates the fitted model itself on these rows, which it should not have seen. Of
        files, "auto" is 10 folds, and the content of a row decides its fold.
    compare : bool or Comparison, default=True
        Whether to compare with scikit-learn's GaussianNB, which takes some seconds where there
        are millions of cells. It is left out where there are missing cells or categories. What
        `naively.compare` returned is shown as it is.
    show_rows : bool, default=True
        Whether single rows may be in the page: the first five, up to 300 as points of the map,
        and the ten surest mistakes. With False it holds means, variances and counts alone, and for
        `NaiveBayes` the names of categories and a value from the middle of each bin.
    progress : callable, optional
        Called with a few words whenever another part of the report is begun.
    columns, exclude, skip_columns, drop_missing_target, label_type, types
        How files are read, as for `naively.engines.files.scan`.
    separator, decimal, missing, encoding, n_jobs
        The same.

    Returns
    -------
    Report
        With ``data``, ``html``, ``save(path)`` and ``save_json(path)``.

    Notes
    -----
    The explorer computes in the browser what `predict_proba` computes here, to 1e-9. Where there
    are very many columns or categories, the page holds the most important columns and the most
    frequent categories, and says in place what it left out: a row that is sent to the explorer
    brings what the columns left out add to each class, and for other rows they count as missing.
    A family of your own is read off a table of its values, and then the page says that it is not
    exact.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> flowers = iris.data.assign(species=iris.target_names[iris.target])
    >>> report(data=flowers, target="species", compare=False).data["title"]
    'Predicting species'
    """
    options = file_options(locals())
    page_options = PageOptions(title, compare, show_rows, progress or (lambda _part: None))
    model = model_or_default(model, "report")
    rows = labelled(data, y, target, "report")
    if isinstance(rows, Files):
        if is_fitted(model):
            raise NaivelyError(
                "a report on files fits the model itself; got a fitted one. Give an unfitted one, "
                "such as sklearn.base.clone(model), or read the rows into memory."
            )
        files = FilesToJudge.of(model, *rows, **options)
        wanted = FOLDS if isinstance(folds, str) and folds == "auto" else folds
        page = Report(collect_files(files, content_folds(wanted, None, None), page_options))
    else:
        check_no_options(options)
        page = Report(collect(model, *rows, folds, page_options))
    if path is not None:
        page.save(path)
    return page


# --- the page -------------------------------------------------------------------------------------


def _render(data: dict[str, Any]) -> str:
    """Return the page of a collected dict."""
    unused = set() if any("words" in column for column in data["columns"]) else {"words"}
    unused.add("no_interactions" if data["interactions"] else "interactions")
    scripts = [asset(f"{name}.js") for name in _SCRIPTS.split() if name not in unused]
    lead, main = asset("report.html").split("<!-- main -->")
    return shell(
        data["title"],
        main,
        brand=_BRANDS.get(data["model"]["name"], "Naive Bayes"),
        lead=lead,
        style=asset("report.css"),
        script="\n".join(['"use strict";', "(() => {", *scripts, "})();"]),
        data=_json(_needed(data)),
    )


def _needed(data: dict[str, Any]) -> dict[str, Any]:
    """Return the dict with as many figures and digits as the page shows."""
    found = {**data, "columns": [_rounded(column) for column in data["columns"]]}
    if data["sample"] is not None:
        pairs = zip(data["sample"]["values"], data["columns"], strict=False)
        found["sample"] = {**data["sample"], "values": [_places(*pair) for pair in pairs]}
    if data["comparison"] and "evaluations" in data["comparison"]:
        judged = data["comparison"]["evaluations"]
        short = [{key: one[key] for key in _COMPARED} for one in judged]
        found["comparison"] = {**data["comparison"], "evaluations": short}
    return found


def _rounded(column: dict[str, Any]) -> dict[str, Any]:
    short = {key: column[key] for key in _SHOWN if column.get(key) is not None}
    return column | {key: float(f"{value:.6g}") for key, value in short.items()}


def _places(values: list[float | None] | None, column: dict[str, Any]) -> list[int | None] | None:
    """Return where the points of the map are, in thousandths of the slider's range."""
    if values is None:
        return None
    low, high = column["slider"]["low"], column["slider"]["high"]
    across = high / 1000 - low / 1000
    return [None if v is None else round((v / 1000 - low / 1000) / across * 1000) for v in values]


def _json(data: dict[str, Any]) -> str:
    """Write JSON that no HTML parser can take for markup; ASCII, so that any text survives."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
