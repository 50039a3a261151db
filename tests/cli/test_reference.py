"""The page of all commands is written by the program."""

import importlib.util
from pathlib import Path

import pytest

from naively.cli.program import Commands

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def reference():
    found = importlib.util.spec_from_file_location(
        "command_reference", DOCS / "command_reference.py"
    )
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_page_has_the_place_where_commands_are_written(reference):
    assert reference.MARK in (DOCS / "command-reference.md").read_text()


@pytest.mark.parametrize("name", Commands())
def test_every_command_is_on_the_page_with_all_its_options(reference, name):
    text = reference.commands_as_markdown()
    section = text.partition(f"## naively {name}\n")[2].partition("\n## ")[0]
    assert f"naively {name}" in section.partition("For example:")[2]
    for parameter in Commands()[name].params:
        for option in parameter.opts if parameter.param_type_name == "option" else []:
            assert option in section


def test_what_a_help_text_holds_means_nothing_to_markdown(reference):
    assert reference._plain("a*b_c <d> `e` [f] | $g") == r"a\*b\_c \<d\> \`e\` \[f\] \| \$g"
