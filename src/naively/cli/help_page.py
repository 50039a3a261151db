"""The help of a command, as a value: the terminal and the site show the same.

typer's own help is drawn by rich, whose import takes as long as NumPy's.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

_NAMES_WIDTH = 26  # characters of names, at most, that have their meaning beside them
_RARE = {  # options that --help-all shows, beside those of one model
    *("--separator", "--decimal", "--missing", "--encoding", "--drop-missing-target", "--priors"),
    *("--class-weight", "--calibration", "--interactions", "--checkpoint", "--skip-bad-files"),
    "--like",
}
_OF_ONE_MODEL = "With --model"  # how topics begin that are of one model's options


@dataclass(frozen=True)
class HelpPage:
    """What a command does, how it is called, its options by topic, and examples to copy."""

    usage: str
    text: str
    topics: dict[str, list[tuple[str, str]]]  # names and what they mean, by topic
    examples: list[str]
    n_hidden: int = 0

    @classmethod
    def of(cls, command: Any, context: Any) -> HelpPage:
        """Collect the help of a command of typer's."""
        text, _, examples = inspect.cleandoc(command.help).partition("For example:")
        topics: dict[str, list[tuple[str, str]]] = {}
        pieces = ["[OPTIONS]"]
        if hasattr(command, "commands"):
            pieces = ["COMMAND ..."]
            lines = {name: one.help.strip() for name, one in command.commands.items()}
            topics["Commands"] = [(name, line.partition("\n")[0]) for name, line in lines.items()]
        options = []  # come after those that are for this command alone
        for parameter in command.get_params(context):
            row = _names(parameter), _meaning(parameter)
            if parameter.param_type_name == "argument":
                pieces.append(parameter.metavar)
                topics.setdefault("Arguments", []).append(row)
            elif parameter.rich_help_panel:
                topics.setdefault(parameter.rich_help_panel, []).append(row)
            else:
                options.append(row)
        listed = [line.strip() for line in examples.splitlines() if line.strip()]
        usage = " ".join([context.command_path, *pieces])
        return cls(usage, text.strip(), topics | {"Options": options}, listed)

    def in_short(self) -> HelpPage:
        """Return the page with the options that most people use."""
        shown = {
            topic: common
            for topic, rows in self.topics.items()
            if (common := [row for row in rows if not _is_rare(topic, row[0])])
        }
        n_hidden = sum(map(len, self.topics.values())) - sum(map(len, shown.values()))
        return replace(self, topics=shown, n_hidden=n_hidden)

    def write(self, formatter: Any) -> None:
        """Write the page by a formatter of typer's."""
        formatter.write(f"{_title('Usage:')} {self.usage}\n\n")
        formatter.indent()
        formatter.write_text(self.text)
        formatter.dedent()
        for topic, rows in self.topics.items():
            formatter.write(f"\n{_title(f'{topic}:')}\n")
            formatter.indent()
            formatter.write_dl(rows, _NAMES_WIDTH)
            formatter.dedent()
        if self.n_hidden:
            s = "s" * (self.n_hidden > 1)
            formatter.write(f"\n  --help-all shows {self.n_hidden} more option{s}.\n")
        listed = "".join(f"  {line}\n" for line in self.examples)
        formatter.write(f"\n{_title('For example:')}\n{listed}")


def _is_rare(topic: str, names: str) -> bool:
    options = {name.split(" ")[0] for name in names.split(", ")}
    return bool(options & _RARE) or (topic.startswith(_OF_ONE_MODEL) and "--family" not in options)


def _title(text: str) -> str:
    return typer.style(text, bold=True)  # which is left out where the output is no terminal


def _names(parameter: Any) -> str:
    """Return how a parameter is given: '-o, --output FILE'."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    names = ", ".join(sorted(parameter.opts, key=len))
    if parameter.is_flag:
        return names
    kind = parameter.type_descriptor
    value = "|".join(kind.choices) if kind.is_choice else "FILE" if kind.annotation is Path else ""
    return f"{names} {parameter.metavar or value}"


def _meaning(parameter: Any) -> str:
    """Return what a parameter means, and its default or that there is none."""
    default = parameter.default
    if parameter.param_type_name == "option" and parameter.required:
        return f"{parameter.help} [required]"
    is_shown = parameter.show_default and default not in (None, False, [])
    return f"{parameter.help} [default: {default}]" if is_shown else str(parameter.help)
