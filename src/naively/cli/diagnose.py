"""``naively diagnose``: where the assumptions of a saved model fail, and what to do."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import typer

from naively.cli import console
from naively.cli.options import AsJson, Saved

_FOUND = 3  # the exit code


_Severity = Literal["high", "medium", "low"]


def diagnose(
    model: Saved,
    fail_on: Annotated[
        _Severity | None,
        typer.Option(
            help="Exit with code 3 if there is a finding of this severity or higher.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say where the assumptions of a saved model fail, and what to do.

    It looks at what the model holds, not at data: families that do not fit,
    columns that depend on each other or give the class away, identifiers, rare
    classes, missing cells that tell the class, and more.

    For example:

      naively diagnose iris.safetensors
      naively diagnose iris.safetensors --json
      naively diagnose iris.safetensors --fail-on high
    """
    from naively.estimators.loading import load
    from naively.inspection.diagnosis import diagnose as look

    found = look(load(model))
    if as_json:
        console.show_json(found.to_dict())
    else:
        console.show(str(found))
    severities = get_args(_Severity)
    severe = severities[: 0 if fail_on is None else severities.index(fail_on) + 1]
    if any(one.severity in severe for one in found.findings):
        raise typer.Exit(_FOUND)
