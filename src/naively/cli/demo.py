"""``naively demo``: everything at once, on tables that come with scikit-learn."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
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

    from naively.display.report import report
    from naively.estimators.gaussian_nb import GaussianNB
    from naively.evaluation import compare

    need("matplotlib", "drawing plots", extra="plots").use("agg")  # no window is opened
    tables = _tables()
    for table in tables:
        _make_folder(output / table.folder)
    for table in tables:
        folder = output / table.folder
        with console.working(table.name, _STEPS, "steps") as advance:
            comparison: Any = compare(GaussianNB(), table.array, table.y, repeats=_REPEATS)
            advance(1)
            for name, figure in _pictures(table, comparison):
                _save(figure, folder / f"{name}.png")
                advance(1)
            page = report(table.model(), table.X, table.y, title=table.name, compare=comparison)
            page.save(folder / "report.html")
            page.save_json(folder / "report.json")
        heading = f"{table.name}: {table.y.size} rows, {len(table.names)} columns"
        console.show(Text(heading, style="bold"), comparison)
    listed = "\n".join(f"  {output / table.folder / 'report.html'}" for table in tables)
    console.show(f"Reports to open in a browser, with seven pictures beside each:\n{listed}")


@dataclass(frozen=True)
class _Table:
    """A table of scikit-learn's, its labels as text."""

    name: str
    folder: str
    names: list[str]
    array: Any
    y: Any

    @property
    def X(self) -> Any:  # noqa: N802
        pyarrow = need("pyarrow", "tables with column names", extra="files")
        return pyarrow.table(dict(zip(self.names, self.array.T.copy(), strict=True)))

    def model(self) -> Any:
        from naively.estimators.gaussian_nb import GaussianNB

        return GaussianNB().fit(self.X, self.y)


def _tables() -> list[_Table]:
    from sklearn.datasets import load_breast_cancer, load_iris

    return [
        _Table(name, folder, list(data.feature_names), data.data, _labels(data))
        for name, folder, data in (
            ("Iris", "iris", load_iris()),
            ("Breast Cancer", "breast-cancer", load_breast_cancer()),
        )
    ]


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


def _pictures(table: _Table, comparison: Any) -> Iterator[tuple[str, Any]]:
    """Draw one picture after the other: its name, and its figure."""
    from naively import plots

    model, X, y = table.model(), table.X, table.y
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
