"""The commands by name; the file of one is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

from naively.cli.help_page import HelpPage
from naively.cli.options import grouped
from naively.cli.values import read_plainly

_LEARNING = "fit", "predict", "update", "forget", "merge", "stream"
_JUDGING = "evaluate", "compare", "report", "tune", "drift"
_NAMES = "demo", *_LEARNING, *_JUDGING, "inspect", "explain", "diagnose", "export", "completion"

_OTHER_WORDS = {
    "fit": "train learn build",
    "predict": "classify infer label apply",
    "evaluate": "score test validate cv cross-validate",
    "update": "partial-fit add append",
    "forget": "unlearn remove delete",
    "stream": "serve online",
    "merge": "combine join sum",
    "tune": "search optimize grid-search",
    "compare": "benchmark versus",
    "drift": "monitor",
    "inspect": "show info describe summary summarize",
    "explain": "why",
    "diagnose": "check profile",
    "export": "convert onnx sql to-onnx to-sql",
    "report": "plot html",
    "demo": "example try start",
}
OTHER_WORDS = {word: name for name, words in _OTHER_WORDS.items() for word in words.split()}
"""The commands by what other programs call them: they are named in messages, and do not run."""


class _Command(TyperCommand):
    """A command that reads its values and shows its help without pydantic and rich."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(str(HelpPage.of(self, ctx)))


class Commands(Mapping[str, Any]):
    """All commands; each is made when it is first looked up."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in _NAMES:
            raise KeyError(name)
        if name not in self._made:
            function = getattr(import_module(f"naively.cli.{name}"), name)
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            settings = {"help_option_names": ["-h", "--help"]}
            alone.command(name, cls=_Command, context_settings=settings)(grouped(function))
            self._made[name] = typer.main.get_command(alone)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)
