"""How the package is built."""

import re
import tomllib
from pathlib import Path

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
    assert len(builds) == 4
    assert all("$(INTO)/" in line for line in builds), builds
