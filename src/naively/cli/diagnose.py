"""``naively diagnose``: where the assumptions of a saved model fail, and what to do."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from naively.cli import console
from naively.cli.options import AsJson, Saved

_FOUND = 3  # the exit code


class _Least(StrEnum):
    high = "high"
    medium = "medium"
    low = "low"


def diagnose(
    model: Saved,
    fail_on: Annotated[
        _Least | None,
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
    severe = list(_Least)[: 0 if fail_on is None else list(_Least).index(fail_on) + 1]
    if any(one.severity in severe for one in found.findings):
        raise typer.Exit(_FOUND)
