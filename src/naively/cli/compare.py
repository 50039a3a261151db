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
    source = look(files, data)
    chosen = ModelOptions(model)
    table = read_labelled(source, data, chosen.kinds)
    if against is not None:
        names = [name.strip() for name in against.split(",")]
        how: dict[str, Any] = {"against": names, "folds": folds or FOLDS, "random_state": seed}
        with console.working("comparing"), user_errors():
            peers = evaluation.compare(chosen.estimator(), table.X, table.y, **how)
        console.show_json(peers.to_dict()) if as_json else console.show(peers)
        return
    ours, theirs, X = _models(chosen, table.X)
    with console.working("comparing"), user_errors():
        result = evaluation.compare(
            (ours, theirs), X, table.y, test_size=test_size, random_state=seed, repeats=repeats
        )
    console.show_json(result.to_dict()) if as_json else console.show(result)


def _models(chosen: ModelOptions, X: Any) -> tuple[Any, Any, Any]:
    """Return the two to compare, and the rows as both can read them."""
    import numpy as np
    from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

    from naively.evaluation.classifiers import GaussianNB

    ours = chosen.estimator()
    if chosen.name == "gaussian":
        _check_no_missing(X)
        columns = [column.to_numpy() for column in X.columns]
        return ours, TheirGaussianNB(), np.column_stack(columns).astype(np.float64)
    return ours, GaussianNB(), X


def _check_no_missing(X: Any) -> None:
    """Raise what scikit-learn would, with the column's name."""
    for name, column in zip(X.column_names, X.columns, strict=True):
        if column.null_count or column.is_null(nan_is_null=True).to_numpy().any():
            raise NaivelyError(
                f"scikit-learn's GaussianNB takes no missing cells, and column {name!r} has some; "
                "--exclude it to compare the rest. 'naively evaluate' takes them."
            )
