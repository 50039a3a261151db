"""How the package is built."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import naively

ROOT = Path(__file__).parent.parent


def test_installs_of_one_checkout_do_not_share_a_build_folder():
    """Two at once would write into each other's: pip's own folder is a temporary one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    assert "build-dir" not in settings


def test_every_install_of_the_makefile_says_where_it_builds():
    """There, a folder that stays saves compiling anew what did not change."""
    lines = re.sub(r"\\\n\s*", "", (ROOT / "Makefile").read_text()).splitlines()
    builds = [
        line for line in lines if re.search(r"pip (install|wheel) .*( '?\.['\[]?|wheel \.)", line)
    ]
    assert len(builds) == 5
    assert all("$(INTO)/" in line for line in builds), builds


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("vendor.github-workflows", "workflows/*.yml"),
        ("vendor.github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml"),
    ],
)
def test_files_for_hosted_machines_follow_their_schema(schema, pattern):
    """They cannot run here."""
    files = sorted((ROOT / ".github").glob(pattern))
    assert len(files) == 2
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    subprocess.run(command, check=True)


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" not in project
    assert re.fullmatch(r"\d+\.\d+\.\d+", naively.__version__)
