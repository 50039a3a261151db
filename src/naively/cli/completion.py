"""``naively completion``: let a shell complete commands, options and their values."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, Literal

import typer

ASKED_BY_SHELLS = "_NAIVELY_COMPLETE"  # what is set in the environment when a shell asks


def completion(
    shell: Annotated[
        Literal["bash", "zsh", "fish"],
        typer.Argument(metavar="SHELL", help="bash, zsh or fish.", show_default=False),
    ],
) -> None:
    """Print a script by which a shell completes commands, options and files.

    Load it whenever the shell starts: write one of the lines below into
    ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish.

    For example:

      eval "$(naively completion bash)"
      eval "$(naively completion zsh)"
      naively completion fish | source
    """
    names = {"prog_name": "naively", "complete_var": ASKED_BY_SHELLS}
    script = _typers().get_completion_script(**names, shell=shell)
    if shell == "zsh":  # whose completions may not have been loaded
        load = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }"
        script = script.replace("\ncompdef ", f"\n{load}\ncompdef ")
    print(script)


def answer_shells() -> None:
    """Let typer know the ways in which shells ask it what may come next."""
    _typers().completion_init()


def _typers() -> Any:
    return import_module("typer.completion")
