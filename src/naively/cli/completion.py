"""``naively completion``: let a shell complete commands, options and their values."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

__all__ = ["completion"]


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
    from typer import completion as typers

    names = {"prog_name": "naively", "complete_var": "_NAIVELY_COMPLETE"}
    print(typers.get_completion_script(**names, shell=shell))  # type: ignore[attr-defined]
