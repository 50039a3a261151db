"""The options of commands that make a model: how it is read off what was seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import typer

from naively.exceptions import NaivelyError

__all__ = ["Model"]

_MODEL = "The model"


@dataclass(frozen=True)
class Model:
    """How the model is read off what was seen: GaussianNB's parameters."""

    variance: Annotated[
        Literal["class", "shared"],
        typer.Option(
            help="One per class and column, or one per column: a linear model.",
            rich_help_panel=_MODEL,
        ),
    ] = "class"
    ddof: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="1 for the sample variance (n - 1).", rich_help_panel=_MODEL
        ),
    ] = 0
    smoothing: Annotated[
        Literal["global", "column"],
        typer.Option(
            help="Smooth by the largest variance of all, or each column by its own.",
            rich_help_panel=_MODEL,
        ),
    ] = "global"
    var_smoothing: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="X",
            help="The part of it that is added to variances.",
            rich_help_panel=_MODEL,
        ),
    ] = 1e-9
    priors: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Class probabilities, 'yes=0.2,no=0.8'; the shares in the data by default.",
            rich_help_panel=_MODEL,
        ),
    ] = None

    def check(self) -> None:
        """Raise what can be told before the classes are known."""
        if self.priors is not None:
            _pairs(self.priors)

    def params(self, classes: Any) -> dict[str, Any]:
        """Return the estimator's parameters for labels of these classes."""
        priors = None if self.priors is None else _priors(self.priors, classes.tolist())
        return {**asdict(self), "priors": priors}

    def estimator(self, classes: Any) -> Any:
        """Return the estimator for labels of these classes."""
        from naively.estimators.gaussian_nb import GaussianNB

        return GaussianNB(**self.params(classes))


def _pairs(text: str) -> tuple[list[str], list[float]]:
    """Read 'a=0.2,b=0.8': the names, if there are any, and the numbers."""
    pairs = [part.rpartition("=") for part in text.split(",")]
    try:
        values = [float(number) for _, _, number in pairs]
    except ValueError:
        raise NaivelyError(f"priors must be like 'a=0.2,b=0.8'; got {text!r}.") from None
    return [name.strip() for name, equals, _ in pairs if equals], values


def _priors(text: str, classes: list[Any]) -> list[float]:
    """Read 'a=0.2,b=0.8', or '0.2,0.8' in the order of the sorted classes."""
    names = [str(label) for label in classes]
    given, values = _pairs(text)
    if not given:
        return values
    if sorted(given) != sorted(names):
        raise NaivelyError(
            f"priors must name each class once ({', '.join(names)}); got {', '.join(given)}."
        )
    by_name = dict(zip(given, values, strict=False))
    return [by_name[name] for name in names]
