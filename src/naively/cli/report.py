"""``naively report``: one page about the data, the model and its quality."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from naively.cli import console
from naively.cli.options import Data, Files, Folds
from naively.cli.outputs import check_output, file_at, is_standard, tell_written
from naively.cli.parameters import ModelOptions
from naively.errors import NaivelyError


def report(
    files: Files,
    data: Data,
    model: ModelOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The page's title.")] = None,
    folds: Folds = None,
    no_compare: Annotated[
        bool, typer.Option("--no-compare", help="Leave out the comparison with scikit-learn.")
    ] = False,
    hide_rows: Annotated[
        bool, typer.Option("--hide-rows", help="Show no single row, only means and counts.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Also write its data as a JSON file.")
    ] = False,
) -> None:
    """Write one HTML page: the figures, the plots, and an explorer.

    Files may be larger than memory: they are read twice, and what draws
    single rows uses a random sample of them.

    For example:

      naively report iris.csv --target species -o report.html
      naively report iris.csv -t species --variance shared --json
      naively report people.csv -t sick --hide-rows
      naively report people.csv -t sick --folds 5 --no-compare
    """
    from naively.cli.data import files_to_judge, look, tell_unlabelled, user_errors
    from naively.display.report import Report
    from naively.display.report.collect import PageOptions, collect_files
    from naively.evaluation.folds import ContentFolds
    from naively.evaluation.inputs import FOLDS

    model.check()
    source = look(files, data)
    check_output(output, *source.inputs)
    if as_json and is_standard(output):
        raise NaivelyError("--json writes a file beside the page; name the page: --output FILE.")
    figures = check_output(output.with_suffix(".json"), *source.inputs) if as_json else None
    judged = files_to_judge(source, data, model)
    with console.working("writing the report") as tell, user_errors():
        title = title or f"Predicting {data.target}"
        options = PageOptions(title, not no_compare, not hide_rows, tell)
        page = Report(collect_files(judged, ContentFolds(folds or FOLDS), options))
        html = page.html
    tell_unlabelled(judged.plan.n_unlabelled())
    with file_at(output) as path:
        page.save(path)
    tell_written(output, f"{len(html.encode()) / 1e6:.1f} MB, open it in a browser")
    if figures is not None:
        page.save_json(figures)
        console.show(f"{figures}: its figures")
