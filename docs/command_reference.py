"""The page of all commands and options, written by the program itself when the site is built."""

from __future__ import annotations

import re
from typing import Any

import typer

from naively.cli.help_page import HelpPage
from naively.cli.program import Commands, program

__all__ = ["MARK", "commands_as_markdown", "setup"]

MARK = "<!-- every command -->"  # where the page has them


def commands_as_markdown() -> str:
    """Return a section for each command: what it does, its usage, options and examples."""
    parts = [_section("naively", typer.main.get_command(program))]
    parts += [_section(f"naively {name}", command) for name, command in Commands().items()]
    return "\n\n".join(parts)


def _section(name: str, command: Any) -> str:
    page = HelpPage.of(command, typer.Context(command, info_name=name))
    parts = [f"## {name}", _plain(page.text), _block(page.usage)]
    for topic, rows in page.topics.items():
        lines = [f"| {topic} | |", "|---|---|"]
        lines += [f"| {_code(names)} | {_plain(meaning)} |" for names, meaning in rows]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, "For example:", _block("\n".join(page.examples))])


def _block(text: str) -> str:
    return f"```console\n{text}\n```"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    """Return a text in which no character means anything to Markdown."""
    return re.sub(r"([\\`*_<>\[\]|$])", r"\\\1", text)


def _write(app: Any, docname: str, source: list[str]) -> None:
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, commands_as_markdown())


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
