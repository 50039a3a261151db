"""The page about clients: its code is what the tests run."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def code(heading, language="python"):
    """The first block of a language below a heading."""
    _, _, section = (ROOT / "docs" / "clients.md").read_text().partition(f"{heading}\n")
    return re.search(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[1]


def run(*headings):
    """What is defined after the blocks of Python below the headings ran."""
    namespace = {}
    for heading in ("# Use a model elsewhere", *headings):
        exec(code(heading), namespace)
    return namespace
