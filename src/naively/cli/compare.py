"""``naively compare``: our models beside scikit-learn's."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from naively.cli import console
from naively.cli.options import AsJson, Data, Files, Seed
from naively.cli.parameters import Kind, ModelOptions
from naively.errors import NaivelyError


def compare(
    files: Files,
    data: Data,
    model: Kind = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Compare by cross-validation with these, and test the differences: "
            "logistic, hgb, forest, tree, knn, gaussian, dummy, separated by "
            "commas.",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="How many folds, with --against; 10 by default."),
    ] = None,
    test_size: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of rows to hold out.")
    ] = 0.3,
    repeats: Annotated[int, typer.Option(min=1, metavar="N", help="Number of timed runs.")] = 10,
    seed: Seed = 42,
    as_json: AsJson = False,
) -> None:
    """Compare with scikit-learn's GaussianNB: accuracy, confidence, time.

    GaussianNB reads only numbers. If the table holds more, it gets the columns
    of numbers, with means in place of missing cells.

    With --against, compare with other classifiers of scikit-learn, which read
    all columns: all are evaluated on the same folds, and the differences are
    tested.

    For example:

      naively compare iris.csv --target species
      naively compare iris.csv -t species --repeats 100 --json
      naively compare people.csv -t sick
      naively compare people.csv -t sick --against logistic,hgb,forest
    """
    from naively import evaluation
    from naively.cli.data import check_test_size, look, read_labelled, user_errors
    from naively.evaluation.inputs import FOLDS

    check_test_size(test_size)
    source, chosen = look(files, data), ModelOptions(model)
    table = read_labelled(source, data, chosen.kinds)
    compared: Any = chosen.estimator()
    how: dict[str, Any] = {"test_size": test_size, "repeats": repeats}
    X = table.X
    if against is not None:
        how = {"against": [name.strip() for name in against.split(",")], "folds": folds or FOLDS}
    elif chosen.name == "gaussian":
        import numpy as np

        _check_no_missing(X)
        X = np.column_stack([column.to_numpy() for column in X.columns]).astype(np.float64)
    else:
        from naively.evaluation.classifiers import GaussianNB

        compared = compared, GaussianNB()
    with console.working("comparing"), user_errors():
        result: Any = evaluation.compare(compared, X, table.y, random_state=seed, **how)
    console.result(result, as_json)


def _check_no_missing(X: Any) -> None:
    """Raise what scikit-learn would, with the column's name."""
    for name, column in zip(X.column_names, X.columns, strict=True):
        if column.null_count or column.is_null(nan_is_null=True).to_numpy().any():
            raise NaivelyError(
                f"scikit-learn's GaussianNB takes no missing cells, and column {name!r} has some; "
                "--exclude it to compare the rest. 'naively evaluate' takes them."
            )
