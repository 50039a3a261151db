"""The options of commands that make a model: which one, and how it is read off what was seen."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from naively.errors import NaivelyError

if TYPE_CHECKING:
    from naively.engines.files import SchemaFromFirstRows

_model = partial(typer.Option, rich_help_panel="The model")
_gaussian = partial(typer.Option, rich_help_panel="With --model gaussian")
_naive_bayes = partial(typer.Option, rich_help_panel="With --model naive-bayes")

Name = Literal["gaussian", "naive-bayes", "multinomial", "complement", "bernoulli"]
Kind = Annotated[
    Name | None,
    _model(
        "--model",
        help="naive-bayes (default) for any columns; gaussian, the textbook's, for numbers; the "
        "other three for columns of counts.",
    ),
]


@dataclass(frozen=True)
class ModelOptions:
    """How the model is read off what was seen: parameters of GaussianNB or NaiveBayes."""

    model: Kind = None
    priors: Annotated[
        str | None,
        _model(
            metavar="TEXT",
            help="Class probabilities, 'yes=0.2,no=0.8'; by default the frequencies in the data.",
        ),
    ] = None
    class_weight: Annotated[
        str | None,
        _model(
            metavar="TEXT",
            help="Factors of class probabilities: 'yes=5,no=1', or balanced for equal ones.",
        ),
    ] = None
    calibration: Annotated[
        Literal["weights", "temperature", "none"] | None,
        _model(
            help="Calibration: one weight per column (default of naive-bayes), one "
            "temperature for all, or none (default of gaussian)."
        ),
    ] = None
    interactions: Annotated[
        str | None,
        _model(
            metavar="KINDS",
            help="Interactions of columns: auto, none, or some of canonical, quadratic and "
            "pairs, with commas between (naive-bayes).",
        ),
    ] = None
    family: Annotated[
        list[str] | None,
        _naive_bayes(
            metavar="NAME=FAMILY",
            help="Of a column: student_t, histogram, gaussian, log_normal, exponential, gamma, "
            "beta, von_mises, kernel_density, poisson, negative_binomial, bernoulli, categorical, "
            "or best. best alone is for all columns of numbers.",
        ),
    ] = None
    reject: Annotated[
        str | None,
        _naive_bayes(
            metavar="P=LABEL", help="Predict LABEL if no class has probability P: '0.8=unknown'."
        ),
    ] = None
    variance: Annotated[
        Literal["class", "shared"],
        _gaussian(help="One variance per class and column, or one per column (a linear model)."),
    ] = "class"
    ddof: Annotated[
        int, _gaussian(min=0, metavar="N", help="1 for the sample variance (n - 1).")
    ] = 0
    smoothing: Annotated[
        Literal["global", "column"],
        _gaussian(help="Smooth by the largest variance of all, or each column by its own."),
    ] = "global"
    var_smoothing: Annotated[
        float,
        _gaussian(
            min=0,
            metavar="X",
            help="The fraction of that variance that is added to every variance.",
        ),
    ] = 1e-9

    def check(self) -> None:
        """Raise what can be told before the data is read."""
        for text, option in (self.priors, "priors"), (self.class_weight, "--class-weight"):
            if text is not None and (option, text) != ("--class-weight", "balanced"):
                _pairs(text, option)
        model = self.name
        others = {"gaussian": _OF_FAMILIES, "naive-bayes": _OF_GAUSSIANS}
        self.check_none_of(others.get(model, _OF_FAMILIES + _OF_GAUSSIANS), f"--model {model}")
        if model in _OF_COUNTS and self.calibration == "weights":
            raise NaivelyError(
                f"--calibration must be temperature or none with --model {model}; got weights."
            )
        self.classifier()

    @property
    def name(self) -> str:
        """The model: the one that was named, or that has the options which were given."""
        is_gaussian = self._given(_OF_GAUSSIANS) and not self._given(_OF_FAMILIES)
        return self.model or ("gaussian" if is_gaussian else "naive-bayes")

    def check_none_of(self, names: tuple[str, ...] | None, what: str) -> None:
        """Raise where one of some options is given, or any of all, that have no meaning here."""
        for name in self._given(names)[:1]:
            raise NaivelyError(f"--{name.replace('_', '-')} has no meaning with {what}.")

    def _given(self, names: tuple[str, ...] | None) -> list[str]:
        """Return which of some options are given, or of all."""
        given = [o.name for o in fields(self) if getattr(self, o.name) not in (o.default, [])]
        return [name for name in given if names is None or name in names]

    @property
    def kinds(self) -> dict[str, Any] | None:
        """What columns hold, as the engine is told: None where all hold numbers."""
        return self.classifier().fixed_kinds() if self.name == "naive-bayes" else None

    def measured(self) -> SchemaFromFirstRows:
        """Return what is measured, as the engine is told."""
        return self.classifier().files_schema()

    def estimator(self, classes: Any = None) -> Any:
        """Return the estimator, for labels of these classes if they are known."""
        from naively.estimators.loading import ESTIMATORS

        return ESTIMATORS[NAMES[self.name]](**self.params(classes))

    def classifier(self, classes: Any = None) -> Any:
        """Return the same without scikit-learn: what measures files and reads a model off."""
        from naively.estimators.loading import classifier

        return classifier(NAMES[self.name])(**self.params(classes))

    def params(self, classes: Any = None) -> dict[str, Any]:
        """Return the estimator's parameters, for labels of these classes if they are known."""
        params: dict[str, Any] = {}
        if self.priors is not None and classes is not None:
            name = "class_prior" if self.name in _OF_COUNTS else "priors"
            params[name] = _priors(self.priors, classes.tolist())
        if self.class_weight == "balanced":
            params["class_weight"] = "balanced"
        elif self.class_weight is not None and classes is not None:
            params["class_weight"] = _class_weight(self.class_weight, classes.tolist())
        if self.calibration is not None:
            params["calibration"] = None if self.calibration == "none" else self.calibration
        if self.name == "gaussian":
            return params | {name: getattr(self, name) for name in _OF_GAUSSIANS}
        if self.name in _OF_COUNTS:
            return params
        if self.interactions is not None:
            from naively.estimators.choice import interactions_from_text

            params["interactions"] = interactions_from_text(self.interactions)
        params["families"] = _families(self.family or []) or None
        if self.reject is not None:
            params["reject"] = _reject(self.reject, classes)
        return params


NAMES = {  # of the estimators
    "gaussian": "GaussianNB",
    "naive-bayes": "NaiveBayes",
    "multinomial": "MultinomialNB",
    "complement": "ComplementNB",
    "bernoulli": "BernoulliNB",
}
_OF_COUNTS = "multinomial", "complement", "bernoulli"
_OF_GAUSSIANS = "variance", "ddof", "smoothing", "var_smoothing"
_OF_FAMILIES = "interactions", "family", "reject"


def _pairs(text: str, option: str) -> list[tuple[str, float]]:
    """Read 'a=0.2,b=0.8': names, which are empty where there are none, and numbers."""
    pairs = [part.rpartition("=") for part in text.split(",")]
    try:
        return [(name.strip(), float(number)) for name, _, number in pairs]
    except ValueError:
        raise NaivelyError(f"{option} must be like 'a=0.2,b=0.8'; got {text!r}.") from None


def _priors(text: str, classes: list[Any]) -> list[float]:
    """Read 'a=0.2,b=0.8', or '0.2,0.8' in the order of the sorted classes."""
    names, values = zip(*_pairs(text, "priors"), strict=True)
    if not any(names):
        return list(values)
    known = list(map(str, classes))
    if sorted(names) != sorted(known):
        listed, got = ", ".join(known), ", ".join(filter(None, names))
        raise NaivelyError(f"priors must name each class once ({listed}); got {got}.")
    return [values[names.index(name)] for name in known]


def _class_weight(text: str, classes: list[Any]) -> dict[Any, float]:
    """Read 'a=5,b=1': the weights of some classes, by their labels."""
    pairs, known = _pairs(text, "--class-weight"), {str(label): label for label in classes}
    if not all(name in known for name, _ in pairs):
        raise NaivelyError(f"--class-weight must name classes ({', '.join(known)}); got {text!r}.")
    return {known[name]: value for name, value in pairs}


def _families(given: list[str]) -> dict[str, Any] | str:
    """Read 'age=histogram', or 'age=student_t,histogram' for both; 'best' is for all numbers.

    >>> [family.name for family in _families(["age=student-t,histogram"])["age"]]
    ['student_t', 'histogram']
    """
    from naively.estimators.choice import BEST, family_of

    if BEST in given and len(given) == 1:
        return BEST
    families: dict[str, Any] = {}
    for text in given:
        column, equals, names = text.rpartition("=")
        if not equals or not column:
            raise NaivelyError(f"--family must be like 'age=histogram'; got {text!r}.")
        wanted = [name.strip().replace("-", "_") for name in names.split(",")]
        several = tuple(family_of(name, column) for name in wanted if name != BEST)
        families[column] = BEST if wanted == [BEST] else several
    return families


def _reject(given: str, classes: Any) -> tuple[float, Any]:
    """Read '0.8=unknown': a probability, and a label of the classes' type."""
    from naively.data.labels import is_text

    number, _, text = given.partition("=")
    label: Any = text
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1 or not text:
        raise NaivelyError(f"--reject must be like '0.8=unknown'; got {given!r}.")
    if classes is not None and not is_text(classes):
        try:
            label = float(text) if classes.dtype.kind == "f" else int(text)
        except ValueError:
            raise NaivelyError(
                f"the label of --reject must be a number, as the classes are; got {text!r}."
            ) from None
    return least, label
