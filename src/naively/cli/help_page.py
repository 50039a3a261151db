"""The help of a command, as a value: the terminal and the site show the same.

typer's own help is drawn by rich, whose import takes as long as NumPy's.
"""

from __future__ import annotations

import inspect
import shutil
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

_LEFT = 30  # where meanings begin, at most
_WIDEST = 100
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
        text, _, examples = inspect.cleandoc(command.help or "").partition("For example:")
        topics: dict[str, list[tuple[str, str]]] = {}
        if hasattr(command, "commands"):
            topics["Commands"] = [
                (name, _first_line(one)) for name, one in command.commands.items()
            ]
        for parameter in command.get_params(context):
            is_argument = parameter.param_type_name == "argument"
            topic = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None)
            if not getattr(parameter, "hidden", False):
                row = _names(parameter), _meaning(parameter)
                topics.setdefault(topic or "Options", []).append(row)
        if "Options" in topics:  # after those that are for this command alone
            topics["Options"] = topics.pop("Options")
        pieces = [p.metavar for p in command.params if p.param_type_name == "argument"]
        pieces = ["COMMAND ..."] if hasattr(command, "commands") else ["[OPTIONS]", *pieces]
        listed = [line.strip() for line in examples.splitlines() if line.strip()]
        return cls(" ".join([context.command_path, *pieces]), text.strip(), topics, listed)

    def in_short(self) -> HelpPage:
        """Return the page with the options that most people use."""
        shown = {
            topic: common
            for topic, rows in self.topics.items()
            if (common := [row for row in rows if not _is_rare(topic, row[0])])
        }
        n_hidden = sum(map(len, self.topics.values())) - sum(map(len, shown.values()))
        return replace(self, topics=shown, n_hidden=n_hidden)

    def __str__(self) -> str:
        width = min(shutil.get_terminal_size().columns, _WIDEST)
        text = "\n\n".join(_filled(part, width) for part in self.text.split("\n\n"))
        parts = [f"{_title('Usage:')} {self.usage}", text]
        for topic, rows in self.topics.items():
            left = min(_LEFT, 4 + max(len(names) for names, _ in rows))
            lines = (_row(*row, left, width) for row in rows)
            parts.append("\n".join([_title(f"{topic}:"), *lines]))
        if self.n_hidden:
            s = "s" * (self.n_hidden > 1)
            parts.append(_filled(f"--help-all shows {self.n_hidden} more option{s}.", width))
        listed = "\n".join(f"  {line}" for line in self.examples)
        return "\n\n".join([*parts, f"{_title('For example:')}\n{listed}"])


def _is_rare(topic: str, names: str) -> bool:
    is_common = topic.startswith(_OF_ONE_MODEL) and names.startswith("--family")
    options = {name.split(" ")[0] for name in names.split(", ")}
    return not is_common and (topic.startswith(_OF_ONE_MODEL) or bool(options & _RARE))


def _filled(paragraph: str, width: int) -> str:
    return textwrap.fill(
        " ".join(paragraph.split()), width, initial_indent="  ", subsequent_indent="  "
    )


def _title(text: str) -> str:
    return typer.style(text, bold=True)  # which is left out where the output is no terminal


def _row(names: str, meaning: str, left: int, width: int) -> str:
    """Return names and beside them, or below where they are long, what they mean."""
    is_long = len(names) > left - 4
    first = f"  {names}\n{' ' * left}" if is_long else f"  {names:{left - 2}}"
    lines = textwrap.wrap(meaning, max(width - left, 20))
    return (first + f"\n{' ' * left}".join(lines)).rstrip()


def _first_line(command: Any) -> str:
    return inspect.cleandoc(command.help or "").partition("\n")[0]


def _names(parameter: Any) -> str:
    """Return how a parameter is given: '-o, --output FILE'."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    names = ", ".join(sorted(parameter.opts, key=len))
    value = "" if parameter.is_flag else _value(parameter)
    return f"{names} {value}".strip()


def _value(parameter: Any) -> str:
    """Return what stands for the value of an option."""
    if parameter.metavar:
        return str(parameter.metavar)
    kind = parameter.type_descriptor.annotation
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    if isinstance(kind, type) and hasattr(kind, "__members__"):
        return "|".join(one.value for one in kind)  # type: ignore[attr-defined]
    return {Path: "FILE", int: "N", float: "X"}.get(kind, "TEXT")


def _meaning(parameter: Any) -> str:
    """Return what a parameter means, and its default or that there is none."""
    text, default = (parameter.help or "").strip(), parameter.default
    is_shown = getattr(parameter, "show_default", True) and not getattr(parameter, "is_flag", False)
    if parameter.required and parameter.param_type_name == "option":
        return f"{text} [required]"
    return f"{text} [default: {default}]" if is_shown and default not in (None, []) else text
