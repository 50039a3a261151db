"""``naively demo``: everything at once, on tables that come with scikit-learn."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from naively.cli import console
from naively.data.whole_files import write_atomically
from naively.errors import NaivelyError, need

_REPEATS = 100  # fits take a fraction of a millisecond
_STEPS = 9  # per table: the comparison, seven pictures, the report


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for pictures and reports.")
    ] = Path("out"),
) -> None:
    """Fit and evaluate on two well-known tables, Iris and Breast Cancer.

    Compare with scikit-learn, and write plots and a report for each table.

    For example:

      naively demo
      naively demo -o pictures
    """
    from rich.text import Text
    from sklearn.datasets import load_breast_cancer, load_iris

    from naively.display.report import report
    from naively.estimators.gaussian_nb import GaussianNB
    from naively.evaluation import compare

    need("matplotlib", "drawing plots", extra="plots").use("agg")  # no window is opened
    pyarrow = need("pyarrow", "tables with column names", extra="files")
    tables = {"Iris": load_iris(), "Breast Cancer": load_breast_cancer()}
    folders = {name: output / name.lower().replace(" ", "-") for name in tables}
    for folder in folders.values():
        _make_folder(folder)
    for name, table in tables.items():
        names, array, y = list(table.feature_names), table.data, _labels(table)
        X = pyarrow.table(dict(zip(names, array.T.copy(), strict=True)))
        model = GaussianNB().fit(X, y)
        with console.working(name, _STEPS) as advance:
            comparison: Any = compare(GaussianNB(), array, y, repeats=_REPEATS)
            advance(1)
            for picture, figure in _pictures(model, X, y, comparison):
                _save(figure, folders[name] / f"{picture}.png")
                advance(1)
            page = report(model, X, y, title=name, compare=comparison)
            page.save(folders[name] / "report.html")
            page.save_json(folders[name] / "report.json")
        heading = f"{name}: {y.size} rows, {len(names)} columns"
        console.show(Text(heading, style="bold"), comparison)
    listed = "\n".join(f"  {folder / 'report.html'}" for folder in folders.values())
    console.show(f"Reports to open in a browser, with seven pictures beside each:\n{listed}")


def _labels(data: Any) -> Any:
    """Return labels as text that sorts as the numbers do.

    A stratified split depends on the order of the classes, and the published figures are those
    of the numbers.
    """
    import numpy as np

    names = data.target_names.astype(str)
    if not (names[1:] > names[:-1]).all():
        names = np.array([f"{code} {name}" for code, name in enumerate(names)])
    return names[data.target]


def _pictures(model: Any, X: Any, y: Any, comparison: Any) -> Iterator[tuple[str, Any]]:
    """Draw one picture after the other: its name, and its figure."""
    from naively import plots

    yield "decision-regions", plots.DecisionRegionDisplay.from_estimator(model, X, y).figure_
    yield "bell-curves", plots.BellCurveDisplay.from_estimator(model, X, y).figure_
    yield "density-surface", plots.density_surface(model).figure
    yield "confusion", plots.ConfusionDisplay.from_comparison(comparison).figure_
    yield "accuracy", plots.accuracy_bars(comparison).figure
    yield "training-time", plots.time_bars(comparison).figure
    yield "reliability", plots.ReliabilityDisplay.from_comparison(comparison).figure_


def _save(figure: Any, path: Path) -> None:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    need("matplotlib.pyplot", "drawing plots", extra="plots").close(figure)
    write_atomically(path, content.getvalue())


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NaivelyError(f"cannot write {str(path)!r}: {error.strerror}.") from None
